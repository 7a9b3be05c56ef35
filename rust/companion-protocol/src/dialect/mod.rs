//! What tells the clients of this protocol apart: how each finds a companion.
//!
//! They are forks of one program, and speak alike once they are connected. *Invariant:* whatever
//! differs between them is a value in here, and nothing else asks which client it is.

mod clients;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use clients::{GEMINI, QWEN};

/// How a client finds a companion.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// For options and settings; also the name of the client's program.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// The names of its MCP clients in `clientInfo` of `initialize`.
    pub client_names: &'static [&'static str],
    /// The first minor version 0.x that takes an acceptance with an empty text for an unchanged
    /// proposal. With a text it forgets the model's edit and writes the text over the whole file.
    pub empty_is_unchanged_since: Option<u32>,
    /// The environment variables that it reads.
    pub variables: Variables,
    /// Where its discovery files are.
    pub folder: Folder,
    /// How they are named.
    pub naming: Naming,
    /// Whether it reads only files that belong to its own user.
    pub asks_owner: bool,
    /// How it reads the workspace's roots.
    pub roots: Roots,
    /// Without a file that tells it of an editor it wants one of these marks of an editor's
    /// terminal.
    pub terminals: &'static [Mark],
    /// The one of them with the least other effects.
    pub terminal: (&'static str, &'static str),
    /// What it says if it finds neither.
    pub unsupported: &'static str,
    /// What it says once a port does not answer, if it then says no more than that.
    pub lost: Option<&'static str>,
    /// Where it is installed, and how it is set up.
    pub installation: Installation,
}

/// A mark of a terminal.
#[derive(Debug, PartialEq, Eq)]
pub enum Mark {
    /// A variable is set.
    Set(&'static str),
    /// A variable has this value.
    Is(&'static str, &'static str),
    /// A variable's value has this in it, in lower case.
    Contains(&'static str, &'static str),
}

impl Mark {
    /// Whether the terminal has it. `var` reads an environment variable.
    pub fn holds<'a>(&self, var: impl Fn(&str) -> Option<&'a str>) -> bool {
        match *self {
            Self::Set(name) => var(name).is_some_and(|value| !value.is_empty()),
            Self::Is(name, value) => var(name) == Some(value),
            Self::Contains(name, part) => {
                var(name).is_some_and(|value| value.to_lowercase().contains(part))
            }
        }
    }
}

/// How a client reads a list of roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Each may be a `file://` URI, with percent signs for what can't stand there.
    Uris,
    /// As they are, absolute ones only. The list may be a JSON array, too.
    Paths,
}

/// Where a client is installed, and how it is set up.
#[derive(Debug, PartialEq, Eq)]
pub struct Installation {
    /// Its npm package.
    pub package: &'static str,
    /// The version that this program is tested with.
    pub tested: &'static str,
    /// The folder of its settings, in a project and in the user's home folder.
    pub settings: &'static str,
    /// A variable that stands for the home folder there, if there is one.
    pub home: Option<&'static str>,
    /// A variable that names the file of the system's settings.
    pub system_settings: &'static str,
    /// The folder of that file, by the system's name for others, `macos` and `windows`.
    pub system_folders: [&'static str; 3],
    /// A variable that names the file of what the system's settings are by default.
    pub system_defaults: &'static str,
    /// The setting by which its tools run in a sandbox, if it then has no IDE integration. In a
    /// project's settings it counts for nothing.
    pub tool_sandbox: Option<&'static str>,
}

/// The names of environment variables, which a terminal inside the editor gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Variables {
    /// The port of the server; decides between several windows with the same workspace.
    pub port: &'static str,
    /// The workspace's roots, as in the discovery file.
    pub workspace_path: &'static str,
    /// The bearer token, for when the client finds no discovery file; absent if it needs the file.
    pub auth_token: Option<&'static str>,
    /// The editor's process id: the client's own guess, the shell's grandparent, can be wrong.
    pub pid: Option<&'static str>,
    /// Set to `1`, it keeps a client in a container at 127.0.0.1; otherwise that looks on the host.
    /// One without such a variable looks at 127.0.0.1 first, and then on the host.
    pub stay_local: Option<&'static str>,
    /// A program that the client starts and speaks to on its stdin and stdout, if no port answers.
    pub stdio_command: &'static str,
    /// That program's arguments, as a JSON array.
    pub stdio_args: &'static str,
}

impl Variables {
    /// All of them.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let always = [self.port, self.workspace_path, self.stdio_command, self.stdio_args];
        let some = [self.auth_token, self.pid, self.stay_local];
        always.into_iter().chain(some.into_iter().flatten())
    }
}

/// Where a client looks for discovery files.
#[derive(Debug, PartialEq, Eq)]
pub struct Folder {
    /// Where the folder begins.
    pub base: Base,
    /// The folders in which the files are, each in the one before.
    pub names: &'static [&'static str],
}

/// Where a [`Folder`] begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The user's folder for temporary files.
    Temp,
    /// A folder of the client's own, which only those have who use it.
    Own {
        /// The variable that names it.
        variable: &'static str,
        /// Its name in the user's home folder, without that variable.
        name: &'static str,
    },
}

/// What a [`Folder`] depends on.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The folder for temporary files, by Node's rule.
    pub temp_dir: &'a Path,
    /// The user's home folder, if there is one.
    pub home: Option<&'a Path>,
    /// Where the client is started.
    pub cwd: &'a Path,
}

impl Base {
    /// The path where the folder begins. `var` reads an environment variable.
    pub fn path(self, around: Surroundings<'_>, var: impl Fn(&str) -> Option<String>) -> PathBuf {
        let Self::Own { variable, name } = self else { return around.temp_dir.to_owned() };
        let Some(named) = var(variable).filter(|named| !named.is_empty()) else {
            return around.home.unwrap_or(around.temp_dir).join(name);
        };
        let below_home = match named.strip_prefix('~') {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix(['/', '\\']),
            None => None,
        };
        let path = match (below_home, around.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => around.cwd.join(named),
        };
        path.components().collect() // no separator at its end, by which a link would be followed
    }
}

/// How a discovery file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By the editor's process and the port.
    Process {
        /// What the name begins with: `<prefix><process>-<port>.json`, of old
        /// `<prefix><process>.json`.
        prefix: &'static str,
    },
    /// By the port; the editor's process is told in the file.
    Port {
        /// What the name ends with: `<port><suffix>`.
        suffix: &'static str,
        /// Of old `<prefix><process>.json` or `<prefix><port>.json`, in the folder for temporary
        /// files.
        old_prefix: &'static str,
    },
}

impl Naming {
    /// The name of the file of an editor's process whose server is at that port.
    pub fn file_name(self, pid: u32, port: u16) -> String {
        match self {
            Self::Process { prefix } => format!("{prefix}{pid}-{port}.json"),
            Self::Port { suffix, .. } => format!("{port}{suffix}"),
        }
    }

    /// The numbers in the name of a file: the process and the port, as far as they are in it.
    pub fn parse(self, name: &str) -> Option<FileName<'_>> {
        let numbers = match self {
            Self::Process { prefix } => name.strip_prefix(prefix)?.strip_suffix(".json")?,
            Self::Port { suffix, .. } => name.strip_suffix(suffix)?,
        };
        let (pid, port) = match (self, numbers.split_once('-')) {
            (Self::Process { .. }, Some((pid, port))) => (Some(pid), Some(port)),
            (Self::Process { .. }, None) => (Some(numbers), None),
            (Self::Port { .. }, _) => (None, Some(numbers)),
        };
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (pid.is_none_or(is_number) && port.is_none_or(is_number)).then_some(FileName { pid, port })
    }
}

/// The numbers in the name of a discovery file. They may be larger than a process or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'a> {
    /// The editor's process.
    pub pid: Option<&'a str>,
    /// The server's port.
    pub port: Option<&'a str>,
}

/// All of them.
pub static ALL: [&Dialect; 2] = [&GEMINI, &QWEN];

impl fmt::Display for Dialect {
    /// Its id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Serialize for Dialect {
    /// By its id.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for &'static Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Cow::<str>::deserialize(deserializer)?;
        named(&id).ok_or_else(|| D::Error::custom(format_args!("there is no client {id:?}")))
    }
}

/// Whether a client writes accepted files, and makes an unchanged edit by itself. `name` is that in its
/// `clientInfo`.
pub fn replays_edits(name: &str) -> bool {
    ALL.into_iter().any(|client| client.client_names.contains(&name))
}

/// Whether an acceptance with an empty text stands for the unchanged proposal to a client, by its
/// `clientInfo`.
///
/// Qwen Code shares the names of Gemini CLI and calls itself 1.0.0. It would write an empty file for
/// a `sed -i` that it shows as an edit, and needs no empty text: it compares the texts. So in doubt
/// the answer is no.
pub fn empty_is_unchanged(name: &str, version: &str) -> bool {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (Some(Ok(0)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
    ALL.into_iter().any(|client| {
        client.client_names.contains(&name)
            && client.empty_is_unchanged_since.is_some_and(|since| minor >= since)
    })
}

/// The one with this id.
pub fn named(id: &str) -> Option<&'static Dialect> {
    ALL.into_iter().find(|dialect| dialect.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_clients_read_them() {
        let read = |dialect: &Dialect, name| {
            dialect.naming.parse(name).map(|FileName { pid, port }| (pid, port))
        };
        for (name, numbers) in [
            ("gemini-ide-server-12-4000.json", Some((Some("12"), Some("4000")))),
            ("gemini-ide-server-12.json", Some((Some("12"), None))),
            ("gemini-ide-server-.json", None),
            ("gemini-ide-server-a-1.json", None),
            ("gemini-ide-server-1-2-3.json", None),
            ("12-4000.json", None),
        ] {
            assert_eq!(read(&GEMINI, name), numbers, "{name}");
        }
        for (name, numbers) in [
            ("4000.lock", Some((None, Some("4000")))),
            ("12-4000.lock", None),
            (".lock", None),
            ("a.lock", None),
            ("4000.lock.tmp", None),
        ] {
            assert_eq!(read(&QWEN, name), numbers, "{name}");
        }
        assert_eq!(GEMINI.naming.file_name(12, 4000), "gemini-ide-server-12-4000.json");
        assert_eq!(QWEN.naming.file_name(12, 4000), "4000.lock");
    }

    #[test]
    fn clients_are_told_apart_by_name_and_version() {
        for (name, version, replays, empty) in [
            ("streamable-http-client", "0.61.0", true, true),
            ("stdio-client", "0.62.0-nightly.20261125", true, true),
            ("streamable-http-client", "1.0.0", true, false),
            ("streamable-http-client", "0.24.4", true, false),
            ("streamable-http-client", "", true, false),
            ("streamable-http-client", "0", true, false),
            ("gemini-companion", "0.61.0", false, false),
            ("", "0.61.0", false, false),
        ] {
            assert_eq!(replays_edits(name), replays, "{name}");
            assert_eq!(empty_is_unchanged(name, version), empty, "{name} {version}");
        }
    }

    #[test]
    fn a_clients_own_folder_is_where_it_says() {
        let [temp_dir, home, cwd] = ["/tmp", "/home/me", "/work"].map(Path::new);
        let path = |home, value: &str| {
            let around = Surroundings { temp_dir, home, cwd };
            QWEN.folder.base.path(around, |name| {
                assert_eq!(name, "QWEN_HOME");
                Some(value.to_owned())
            })
        };
        for (value, expected) in [
            ("", "/home/me/.qwen"),
            ("/a b/é", "/a b/é"),
            ("/a/b/", "/a/b"),
            ("~", "/home/me"),
            ("~/q", "/home/me/q"),
            ("~q", "/work/~q"),
            ("q", "/work/q"),
        ] {
            assert_eq!(path(Some(home), value), Path::new(expected), "{value}");
        }
        assert_eq!(path(None, ""), Path::new("/tmp/.qwen"));
        let around = Surroundings { temp_dir, home: Some(home), cwd };
        assert_eq!(GEMINI.folder.base.path(around, |_| None), temp_dir);
    }
}
