//! Hides the differences between operating systems.
//!
//! Rules for paths are pure functions of a [`Platform`], so that each system tests the rules of
//! all. Processes and private files are in one small module per system.

mod ancestors;
mod program;
pub mod quote;
mod suspended;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
mod watch;
mod worktrees;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use ancestors::{
    Ancestor, ancestors, find_process, listens_on_loopback_only, loopback_ports, process_identity,
};
pub use program::{program_version, version_text};
pub use suspended::{MARK_DIRS, SuspendedMark};
pub use watch::Watch;
pub use worktrees::{
    GitDirs, Repository, are_of_one_repository, is_opened, opened_folders, shared_git_folder,
    sibling_worktrees,
};

pub use system::{
    PrivateDir, check_writable, current_user, foreign_owner, is_executable, is_process_alive,
    only_root_can_change, open_file, open_plain_file, others_can_rename_in, owner, parent_process,
    process_info, run_instead,
};

/// Reads the first bytes of a plain file, at most `limit` of them. A pipe or a device in its place does
/// not block.
///
/// # Errors
/// If it can't be read, or is not a plain file.
pub fn read_plain_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain_file(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the path without links, or as it is if that can't be found. Blocks for the disk.
pub fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Replaces musl's allocator, which requests memory from the system for each large text. That costs
/// a third of the time for a proposal of 1 MB. Without `no_thp`, mimalloc would start with 8 MB
/// more.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A process's parent and command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    /// The parent's process id; 0 if there is none.
    pub parent: u32,
    /// The program and its arguments, separated by spaces.
    pub command: String,
}

/// A family of operating systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux, macOS and similar systems.
    Unix,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform that this program was built for.
    pub const CURRENT: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    /// The separator of paths in a list, like Node's `path.delimiter`.
    pub const fn list_separator(self) -> char {
        match self {
            Self::Unix => ':',
            Self::Windows => ';',
        }
    }

    fn is_separator(self, byte: u8) -> bool {
        byte == b'/' || (self == Self::Windows && byte == b'\\')
    }
}

/// Whether `path` is absolute: `/a`, on Windows `C:\a` or `\\server\share`.
pub fn is_absolute(platform: Platform, path: &str) -> bool {
    match (platform, path.as_bytes()) {
        (Platform::Unix, [b'/', ..]) => true,
        (Platform::Windows, [drive, b':', next, ..]) => {
            drive.is_ascii_alphabetic() && platform.is_separator(*next)
        }
        (Platform::Windows, [first, second, ..]) => {
            platform.is_separator(*first) && platform.is_separator(*second)
        }
        _ => false,
    }
}

/// Returns the rest of `path` after `ancestor`: empty if they are equal, else it starts with a
/// separator. `None` if `path` is not within `ancestor`. Compares names only; Windows ignores case.
pub fn relative_to<'a>(platform: Platform, path: &'a str, ancestor: &str) -> Option<&'a str> {
    let same = |a: u8, b: u8| match platform {
        Platform::Unix => a == b,
        Platform::Windows => {
            a.eq_ignore_ascii_case(&b) || (platform.is_separator(a) && platform.is_separator(b))
        }
    };
    let ancestor =
        ancestor.trim_end_matches(|c| u8::try_from(c).is_ok_and(|b| platform.is_separator(b)));
    let (head, rest) = path.split_at_checked(ancestor.len())?;
    let within = head.bytes().zip(ancestor.bytes()).all(|(a, b)| same(a, b))
        && rest.bytes().next().is_none_or(|next| platform.is_separator(next));
    within.then_some(rest)
}

/// Returns the environment variables of this process, except values that are not Unicode. Of the PATH only
/// the folders with such names are lost.
pub fn vars() -> BTreeMap<String, String> {
    let unicode = |(name, value): (OsString, OsString)| {
        let name = name.into_string().ok()?;
        let is_path = name.eq_ignore_ascii_case("PATH");
        let value = value.into_string().or_else(|value| {
            if is_path { Ok(value.to_string_lossy().into_owned()) } else { Err(value) }
        });
        Some((name, value.ok()?))
    };
    std::env::vars_os().filter_map(unicode).collect()
}

/// Returns the variables that name the folder for temporary files. The first one that is set counts.
pub const fn temp_dir_variables(platform: Platform) -> &'static [&'static str] {
    match platform {
        Platform::Unix => &["TMPDIR", "TMP", "TEMP"],
        Platform::Windows => &["TEMP", "TMP"],
    }
}

/// Returns the folder for temporary files by **Node's** rule (`os.tmpdir()`), because the client
/// looks there. The rules of the JVM and of Rust differ. `env` reads an environment variable.
pub fn temp_dir(platform: Platform, env: impl Fn(&str) -> Option<String>) -> String {
    let set = |name: &&str| env(name).filter(|value| !value.is_empty());
    let named = temp_dir_variables(platform).iter().find_map(set);
    let mut dir = named.unwrap_or_else(|| match platform {
        Platform::Unix => "/tmp".to_owned(),
        Platform::Windows => {
            let root = ["SystemRoot", "windir"].iter().find_map(set);
            format!("{}\\temp", root.as_deref().unwrap_or_default())
        }
    });
    let separator = if platform == Platform::Windows { '\\' } else { '/' };
    if dir.len() > 1 && dir.ends_with(separator) && !dir.ends_with(":\\") {
        dir.pop();
    }
    dir
}

/// Returns the user's home folder by Node's rule (`os.homedir()`), if the environment names it.
/// `env` reads an environment variable.
pub fn home_dir(platform: Platform, env: impl Fn(&str) -> Option<String>) -> Option<String> {
    let name = if platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
    env(name).filter(|home| !home.is_empty())
}

/// The product's folder in [`state_dir`]. Only the user can enter it.
pub const STATE_FOLDER: &str = "companion-for-gemini-cli";

/// Returns the folder where a program of this user stores its state between runs, on the system
/// `os` ([`std::env::consts::OS`]). `None` if the environment does not name it.
///
/// `$XDG_STATE_HOME` or `~/.local/state`; on macOS `~/Library/Application Support`; on Windows
/// `%LOCALAPPDATA%`. `env` reads an environment variable.
pub fn state_dir(os: &str, env: impl Fn(&str) -> Option<String>) -> Option<String> {
    let platform = if os == "windows" { Platform::Windows } else { Platform::Unix };
    let set = |name: &str| env(name).filter(|value| is_absolute(platform, value));
    match os {
        "windows" => set("LOCALAPPDATA").or_else(|| Some(set("USERPROFILE")? + "\\AppData\\Local")),
        "macos" => Some(set("HOME")? + "/Library/Application Support"),
        _ => set("XDG_STATE_HOME").or_else(|| Some(set("HOME")? + "/.local/state")),
    }
}

/// Returns the file that marks a container, if this program runs in one. The client checks the same
/// two files (`isInContainer`).
pub fn container_mark() -> Option<&'static str> {
    ["/.dockerenv", "/run/.containerenv"].into_iter().find(|mark| Path::new(mark).exists())
}

/// Returns the name for a file until it is complete. The client's patterns do not match this name.
fn temporary_name(name: &str) -> String {
    format!("{name}.tmp")
}

fn try_lock(file: File) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Converts Windows' `\\?\C:\a` and `\\?\UNC\server\share` to the usual form.
pub fn strip_verbatim(path: PathBuf) -> PathBuf {
    if !cfg!(windows) {
        return path;
    }
    let text = path.to_string_lossy();
    if let Some(share) = text.strip_prefix(r"\\?\UNC\") {
        return format!(r"\\{share}").into();
    }
    match text.strip_prefix(r"\\?\") {
        Some(plain) => plain.into(),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::Platform::{Unix, Windows};
    use super::*;

    #[test]
    fn absolute_paths_of_each_system() {
        for path in ["/", "/a b", "/é/文"] {
            assert!(is_absolute(Unix, path), "{path}");
        }
        for path in ["", "a", "./a", "~/a", "C:\\a"] {
            assert!(!is_absolute(Unix, path), "{path}");
        }
        for path in ["C:\\", "c:/a", "\\\\server\\share", "//server/share", "\\\\wsl$\\Debian\\a"] {
            assert!(is_absolute(Windows, path), "{path}");
        }
        for path in ["", "a", "\\a", "/a", "C:", "C:a", "1:\\a"] {
            assert!(!is_absolute(Windows, path), "{path}");
        }
    }

    #[test]
    fn a_path_within_another_has_a_rest() {
        assert_eq!(relative_to(Unix, "/a/b/c", "/a/b"), Some("/c"));
        assert_eq!(relative_to(Unix, "/a/b", "/a/b"), Some(""));
        assert_eq!(relative_to(Unix, "/a/b", "/a/b/"), Some(""));
        assert_eq!(relative_to(Unix, "/a/bc", "/a/b"), None);
        assert_eq!(relative_to(Unix, "/a", "/"), Some("/a"));
        assert_eq!(relative_to(Unix, "/A/b", "/a"), None);
        assert_eq!(relative_to(Unix, "/é", "/\u{65}"), None, "cut within a character");
        assert_eq!(relative_to(Windows, "C:\\a\\b", "c:/A"), Some("\\b"));
        assert_eq!(relative_to(Windows, "C:\\ab", "C:\\a"), None);
        assert_eq!(relative_to(Windows, "C:\\a", "C:\\"), Some("\\a"));
    }

    #[test]
    fn temp_dir_follows_nodes_rule() {
        let dir = |platform, vars: &[(&str, &str)]| {
            temp_dir(platform, |name| {
                vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(dir(Unix, &[]), "/tmp");
        assert_eq!(dir(Unix, &[("TMPDIR", "/a"), ("TMP", "/b"), ("TEMP", "/c")]), "/a");
        assert_eq!(dir(Unix, &[("TMPDIR", ""), ("TMP", "/b/"), ("TEMP", "/c")]), "/b");
        assert_eq!(dir(Unix, &[("TEMP", "/c")]), "/c");
        assert_eq!(dir(Unix, &[("TMPDIR", "/")]), "/");
        assert_eq!(
            dir(Windows, &[("TMPDIR", "x"), ("TEMP", "C:\\t\\"), ("TMP", "C:\\u")]),
            "C:\\t"
        );
        assert_eq!(dir(Windows, &[("TMP", "C:\\")]), "C:\\");
        assert_eq!(dir(Windows, &[("SystemRoot", "C:\\Windows")]), "C:\\Windows\\temp");
        assert_eq!(dir(Windows, &[("windir", "C:\\W")]), "C:\\W\\temp");
    }

    #[test]
    fn state_dir_of_each_system() {
        let dir = |os, vars: &[(&str, &str)]| {
            state_dir(os, |name| {
                vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let home = ("HOME", "/home/u");
        for os in ["linux", "freebsd"] {
            assert_eq!(dir(os, &[home, ("XDG_STATE_HOME", "/s")]).as_deref(), Some("/s"));
            for unset in ["", "relative"] {
                let vars = [home, ("XDG_STATE_HOME", unset)];
                assert_eq!(dir(os, &vars).as_deref(), Some("/home/u/.local/state"), "{unset:?}");
            }
            assert_eq!(dir(os, &[]), None);
            assert_eq!(dir(os, &[("HOME", "")]), None);
        }
        assert_eq!(
            dir("macos", &[("HOME", "/Users/u"), ("XDG_STATE_HOME", "/s")]).as_deref(),
            Some("/Users/u/Library/Application Support")
        );
        assert_eq!(
            dir("windows", &[("LOCALAPPDATA", "D:\\L"), ("USERPROFILE", "C:\\u")]).as_deref(),
            Some("D:\\L")
        );
        assert_eq!(
            dir("windows", &[("USERPROFILE", "C:\\u"), ("HOME", "/home/u")]).as_deref(),
            Some("C:\\u\\AppData\\Local")
        );
        assert_eq!(dir("windows", &[home]), None);
    }
}
