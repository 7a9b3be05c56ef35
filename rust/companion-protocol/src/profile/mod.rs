//! Describes how the clients differ, mainly how each finds a companion.
//!
//! The clients are forks of one program, and behave alike after they have connected. *Invariant:*
//! each difference between clients is a value in this module; no other code compares clients. The
//! recipe *A client* in docs/architecture/recipes.md lists the places of a further fork.

mod clients;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::hook::{HookEventKind, HookProfile};
pub use clients::{GEMINI, QWEN};

/// The profile of a client: how it finds a companion, and how it is installed.
#[derive(Debug, PartialEq, Eq)]
pub struct ClientProfile {
    /// For options and settings; also the name of the client's program.
    pub id: &'static str,
    /// For people.
    pub name: &'static str,
    /// Its names in the `clientInfo` of `initialize`.
    pub client_names: &'static [&'static str],
    /// The version there, if it is the same for all versions of the client.
    pub client_version: Option<&'static str>,
    /// The first minor version 0.x that reads an acceptance with an empty text as "unchanged". With
    /// a text, the client discards the model's edit and overwrites the whole file with the text.
    pub empty_is_unchanged_since: Option<u32>,
    /// The environment variables that the client reads.
    pub variables: Variables,
    /// The folder of its discovery files.
    pub folder: Folder,
    /// The names of its discovery files.
    pub naming: Naming,
    /// Whether it refuses files of other users.
    pub asks_owner: bool,
    /// The format of the workspace's roots.
    pub roots: Roots,
    /// Without a discovery file, the client requires one of these marks of an editor's terminal.
    pub terminals: &'static [Mark],
    /// The variable and value of the mark with the fewest side effects.
    pub terminal: (&'static str, &'static str),
    /// Its message if it finds neither a file nor a mark.
    pub unsupported: &'static str,
    /// Its message if a port does not answer, for a client that shows no details then.
    pub lost: Option<&'static str>,
    /// How it runs hooks.
    pub hooks: HookProfile,
    /// Its package, settings and versions.
    pub installation: Installation,
}

/// A variable that identifies a terminal.
#[derive(Debug, PartialEq, Eq)]
pub enum Mark {
    /// The variable is set and not empty.
    Set(&'static str),
    /// The variable has this value.
    Is(&'static str, &'static str),
    /// The variable's value contains this text, ignoring case.
    Contains(&'static str, &'static str),
}

impl Mark {
    /// Whether the terminal has this mark. `var` reads an environment variable.
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

/// The format of paths: of a list of roots, and of a tool's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Each root may be a percent-encoded `file://` URI.
    Uris,
    /// Absolute paths, unencoded. The list may be a JSON array, too.
    Paths,
}

/// The package, versions and settings of a client.
#[derive(Debug, PartialEq, Eq)]
pub struct Installation {
    /// Its npm package.
    pub package: &'static str,
    /// The version that this program is tested with.
    pub tested: &'static str,
    /// The folder of its settings, in a project and in the user's home folder.
    pub settings: &'static str,
    /// The variable that replaces the home folder there, if the client has one.
    pub home: Option<&'static str>,
    /// The variable with the path of the system's settings.
    pub system_settings: &'static str,
    /// The folders of that file on Linux, macOS and Windows.
    pub system_folders: [&'static str; 3],
    /// The variable with the path of the system's default settings.
    pub system_defaults: &'static str,
    /// The setting that runs tools in a sandbox, if the client then has no IDE mode. The
    /// client ignores it in a project's settings.
    pub tool_sandbox: Option<&'static str>,
    /// The variable and the setting that start the client in a sandbox.
    pub sandbox: (&'static str, &'static str),
    /// The beginnings of a proxy's URL that its HTTP library accepts. Another one stops it at its
    /// start.
    pub proxies: &'static [&'static str],
    /// The variables that it ignores in a file `.env` outside of its own folders, unless a setting
    /// names others.
    pub ignored_in_env_file: &'static [&'static str],
    /// The files `.env` that it reads.
    pub env_files: EnvFiles,
    /// Whether its settings may begin with a byte order mark.
    pub allows_bom: bool,
    /// Whether it replaces a project's settings that are not JSON by empty ones when it starts.
    /// Otherwise it does not start.
    pub resets_settings: bool,
    /// Whether it reads the system's settings only if nobody but root can change them.
    pub asks_for_root: bool,
    /// The setting that, if it is `false`, lets a model correct an edit that does not fit.
    pub no_correction: Option<&'static str>,
}

/// The files `.env` that a client reads when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvFiles {
    /// The first one in the project, above it, or of the user. None in a folder without trust.
    First,
    /// The first one in the project or above it, if the folder has trust, and all of the user.
    FirstAndUsers,
}

/// The names of the environment variables that a terminal inside the editor gets.
#[derive(Debug, PartialEq, Eq)]
pub struct Variables {
    /// The server's port, which selects one of several windows with the same workspace.
    pub port: &'static str,
    /// The workspace's roots, as in the discovery file.
    pub workspace_path: &'static str,
    /// The bearer token, for a client without a discovery file; `None` if the client needs the
    /// file.
    pub auth_token: Option<&'static str>,
    /// The editor's process id. The client's own guess, the shell's grandparent, can be wrong.
    pub pid: Option<&'static str>,
    /// If `1`, a client in a container connects to 127.0.0.1; otherwise it connects to the host. A
    /// client without such a variable tries 127.0.0.1 first, and then the host.
    pub stay_local: Option<&'static str>,
    /// The program that the client starts if no port answers; it speaks MCP on stdin and stdout.
    pub stdio_command: &'static str,
    /// That program's arguments, as a JSON array.
    pub stdio_args: &'static str,
}

impl Variables {
    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let always = [self.port, self.workspace_path, self.stdio_command, self.stdio_args];
        let some = [self.auth_token, self.pid, self.stay_local];
        always.into_iter().chain(some.into_iter().flatten())
    }
}

/// The folder where a client looks for discovery files.
#[derive(Debug, PartialEq, Eq)]
pub struct Folder {
    /// The folder above.
    pub base: Base,
    /// The names of the folders below `base`, each inside the one before.
    pub names: &'static [&'static str],
}

/// The start of a [`Folder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The user's folder for temporary files.
    Temp,
    /// The client's own folder, which exists only if the user uses the client.
    Own {
        /// The variable with its path.
        variable: &'static str,
        /// Its name in the user's home folder, without that variable.
        name: &'static str,
    },
}

/// The folders that the path of a [`Folder`] depends on.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The folder for temporary files, by Node's rule.
    pub temp_dir: &'a Path,
    /// The user's home folder, if known.
    pub home: Option<&'a Path>,
    /// The client's working folder.
    pub cwd: &'a Path,
}

impl Base {
    /// The variable and the name of a client's own folder.
    pub fn own(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Temp => None,
            Self::Own { variable, name } => Some((variable, name)),
        }
    }

    /// Returns the path. `var` reads an environment variable.
    pub fn path(self, around: Surroundings<'_>, var: impl Fn(&str) -> Option<String>) -> PathBuf {
        let Some((variable, name)) = self.own() else { return around.temp_dir.to_owned() };
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
        path.components().collect() // without a final separator, which would follow a link
    }
}

/// The naming scheme of discovery files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By the editor's process and the port.
    Process {
        /// The start of `<prefix><process>-<port>.json`, formerly `<prefix><process>.json`.
        prefix: &'static str,
    },
    /// By the port; the file contains the editor's process.
    Port {
        /// The end of `<port><suffix>`.
        suffix: &'static str,
        /// The start of the former names `<prefix><process>.json` and `<prefix><port>.json`, in the
        /// folder for temporary files.
        old_prefix: &'static str,
    },
}

impl Naming {
    /// Makes the file name for an editor's process and its server's port.
    pub fn file_name(self, pid: u32, port: u16) -> String {
        match self {
            Self::Process { prefix } => format!("{prefix}{pid}-{port}.json"),
            Self::Port { suffix, .. } => format!("{port}{suffix}"),
        }
    }

    /// Reads the process and the port from a file name, as far as it contains them.
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

/// The numbers in the name of a discovery file. They may exceed the range of process ids and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileName<'a> {
    /// The editor's process.
    pub pid: Option<&'a str>,
    /// The server's port.
    pub port: Option<&'a str>,
}

/// All profiles.
pub static ALL: [&ClientProfile; 2] = [&GEMINI, &QWEN];

impl fmt::Display for ClientProfile {
    /// Writes the id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Serialize for ClientProfile {
    /// Writes the id.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for &'static ClientProfile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = Cow::<str>::deserialize(deserializer)?;
        named(&id).ok_or_else(|| D::Error::custom(format_args!("unknown client {id:?}")))
    }
}

/// Whether a client writes accepted files itself, and applies an unchanged edit again to the file.
///
/// `name` comes from its `clientInfo`.
pub fn replays_edits(name: &str) -> bool {
    ALL.into_iter().any(|client| client.client_names.contains(&name))
}

/// The client whose version reads an acceptance with an empty text as the unchanged proposal.
///
/// `name` and `version` come from its `clientInfo`.
///
/// Qwen Code uses the same names as Gemini CLI, with version 1.0.0. It compares the texts, so it
/// needs no empty text, and it would write an empty file for a `sed -i` that it shows as an edit.
/// Therefore there is no such client for an unknown version.
pub fn with_empty_acceptance(name: &str, version: &str) -> Option<&'static ClientProfile> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (Some(Ok(0)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    ALL.into_iter().find(|client| {
        client.client_names.contains(&name)
            && client.empty_is_unchanged_since.is_some_and(|since| minor >= since)
    })
}

/// The name and the version of a client for the user; the version is empty if it is not known.
///
/// `name` and `version` come from its `clientInfo`.
pub fn shown_name<'a>(name: &'a str, version: &'a str) -> (&'a str, &'a str) {
    if let Some(client) = with_empty_acceptance(name, version) {
        return (client.name, version);
    }
    let constant = ALL.into_iter().find(|client| client.client_version == Some(version));
    match constant.filter(|client| client.client_names.contains(&name)) {
        Some(client) => (client.name, ""),
        None => (name, version),
    }
}

/// The client and the kind of a hook event. If several clients have the name ([`names_client`]), this is
/// the first one in [`ALL`].
pub fn hook(event: &str) -> Option<(&'static ClientProfile, HookEventKind)> {
    ALL.into_iter().find_map(|client| Some((client, client.hooks.event_kind(event)?)))
}

/// Whether the name of a hook event shows the client: no other one has the name.
pub fn names_client(event: &str) -> bool {
    ALL.into_iter().filter(|client| client.hooks.event_kind(event).is_some()).count() == 1
}

/// The one with this id.
pub fn named(id: &str) -> Option<&'static ClientProfile> {
    ALL.into_iter().find(|profile| profile.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_clients_read_them() {
        let read = |profile: &ClientProfile, name| {
            profile.naming.parse(name).map(|FileName { pid, port }| (pid, port))
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
    fn clients_are_distinguished_by_name_and_version() {
        let (http, stdio) = ("streamable-http-client", "stdio-client");
        let nightly = "0.62.0-nightly.20261125";
        for (name, version, replays, empty, shown) in [
            (http, "0.61.0", true, true, ("Gemini CLI", "0.61.0")),
            (stdio, nightly, true, true, ("Gemini CLI", nightly)),
            (http, "1.0.0", true, false, ("Qwen Code", "")),
            (http, "0.24.4", true, false, (http, "0.24.4")),
            (http, "", true, false, (http, "")),
            (http, "0", true, false, (http, "0")),
            ("gemini-companion", "0.61.0", false, false, ("gemini-companion", "0.61.0")),
            ("gemini-companion", "1.0.0", false, false, ("gemini-companion", "1.0.0")),
            ("", "0.61.0", false, false, ("", "0.61.0")),
        ] {
            assert_eq!(replays_edits(name), replays, "{name}");
            let client = with_empty_acceptance(name, version);
            assert_eq!(client, empty.then_some(&GEMINI), "{name} {version}");
            assert_eq!(shown_name(name, version), shown, "{name} {version}");
        }
    }

    #[test]
    fn the_variable_moves_a_clients_own_folder() {
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
