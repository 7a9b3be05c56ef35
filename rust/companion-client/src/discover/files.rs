//! Reads the discovery files as a client does, in its order and with its judgement of each.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use companion_platform::owner;
use companion_protocol::ide::IdeInfo;
use companion_protocol::profile::Naming;
use serde_json::Value;

use super::{Environment, Stdio, Token, WorkspaceError, validate};

/// The fields that the client reads from a discovery file. The client accepts almost any value.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// As written in the file. The client accepts a number or a text.
    pub port: Option<String>,
    /// A program in place of a port.
    pub stdio: Option<Stdio>,
    /// The workspace's roots, joined by `:`, or on Windows by `;`.
    pub workspace_path: Option<String>,
    /// The folders of `workspace_path` that the editor does not have open. The client does not read them.
    pub worktrees: Vec<String>,
    /// The bearer token.
    pub auth_token: Option<Token>,
    /// The editor's process ID, if the file names it.
    pub ppid: Option<u32>,
    /// The editor, if the file has both names.
    pub ide_info: Option<IdeInfo>,
}

impl Connection {
    fn parse(json: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(json).ok()?;
        if !json.is_object() {
            return None;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(text).collect()
        };
        let name = |key: &str| text(&json["ideInfo"][key]).filter(|name| !name.is_empty());
        Some(Self {
            port: match &json["port"] {
                Value::Null => None,
                Value::String(port) => Some(port.clone()),
                port => Some(port.to_string()),
            },
            stdio: text(&json["stdio"]["command"])
                .map(|command| Stdio { command, args: texts(&json["stdio"]["args"]) }),
            workspace_path: text(&json["workspacePath"]),
            worktrees: texts(&json["worktrees"]),
            auth_token: text(&json["authToken"]).map(Token::from),
            ppid: json["ppid"].as_u64().map(|pid| u32::try_from(pid).unwrap_or(u32::MAX)),
            ide_info: name("name")
                .zip(name("displayName"))
                .map(|(name, display_name)| IdeInfo { name, display_name }),
        })
    }

    /// Returns the port if it is truthy in JavaScript.
    pub(super) fn truthy_port(&self) -> Option<&str> {
        self.port.as_deref().filter(|port| !["", "0", "false"].contains(port))
    }
}

/// A file that the client checks.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The path.
    pub path: PathBuf,
    /// The editor's process, from the file's name or content.
    pub ide_pid: Option<u32>,
    /// Whether that process runs, as far as is known.
    pub alive: bool,
    /// The content, if it could be read and parsed.
    pub connection: Option<Connection>,
    /// The client's verdict on the file.
    pub standing: CandidateStatus,
}

/// The client's verdict on a discovery file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CandidateStatus {
    /// The client connects by this file.
    Chosen(Reason),
    /// The file belongs to the user with this id, so the client does not read it.
    NotOurs(u32),
    /// The file can't be opened.
    Unreadable(String),
    /// The file is not a JSON object.
    Malformed,
    /// The client's folder is not in the file's workspace.
    Workspace(WorkspaceError),
    /// The file would be valid, but another one was chosen.
    Outranked,
    /// The editor's process has ended, or the folder is gone. The client removes the file.
    Stale,
}

/// The reason why a file was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The file's name has the old form with the editor's process. The client makes no further
    /// checks.
    OldName,
    /// It is the only file whose workspace contains the client's folder.
    OnlyOne,
    /// Its port equals the port of the variable.
    Port,
    /// Several files are valid, and this is the first of them: of the editor's process, alive, of
    /// the newest process; or the one that was written last.
    First,
    /// No file is valid. This one is chosen so that the client can name the open folders.
    NoneFits,
}

/// All files that the client checks.
#[derive(Clone, Debug)]
pub struct Search {
    /// The searched folder.
    pub dir: PathBuf,
    /// Whether the folder could be listed.
    pub listed: Result<(), io::ErrorKind>,
    /// In the client's order.
    pub candidates: Vec<Candidate>,
}

impl Candidate {
    /// Returns the port as written in the file.
    pub(super) fn port(&self) -> Option<&str> {
        self.connection.as_ref()?.port.as_deref()
    }

    /// Returns the port and the token of the companion that the file names.
    pub fn address(&self) -> Option<(u16, Option<Token>)> {
        let Connection { port, auth_token, .. } = self.connection.as_ref()?;
        Some((super::port(port.as_deref()?)?, auth_token.clone()))
    }

    /// Whether the client's folder is in its workspace, and the client may choose it.
    pub fn fits(&self) -> bool {
        match self.standing {
            CandidateStatus::Chosen(reason) => reason != Reason::NoneFits,
            CandidateStatus::Outranked => true,
            _ => false,
        }
    }
}

impl Search {
    /// Returns the file that the client chooses.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|one| matches!(one.standing, CandidateStatus::Chosen(_)))
    }

    /// Returns the files that `fits` selects, the one that the client chooses first.
    pub fn chosen_first(&self, fits: impl Fn(&Candidate) -> bool) -> Vec<&Candidate> {
        let mut fitting: Vec<_> = self.candidates.iter().filter(|one| fits(one)).collect();
        fitting.sort_by_key(|one| !matches!(one.standing, CandidateStatus::Chosen(_)));
        fitting
    }
}

/// Returns the names in the folder that match the client's pattern, in Node's order, and whether the
/// folder could be listed.
pub(super) fn names(naming: Naming, dir: &Path) -> (Vec<String>, Result<(), io::ErrorKind>) {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return (Vec::new(), Err(error.kind())),
    };
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| naming.parse(name).is_some_and(|numbers| numbers.port.is_some()));
    names.sort();
    (names, Ok(()))
}

/// Reads and judges a file as the client does. The status is `Outranked` until a file is chosen.
/// `ide_pid` is the editor's process, if the name contains it.
pub(super) fn candidate(
    environment: &Environment,
    path: PathBuf,
    ide_pid: Option<u32>,
) -> Candidate {
    let (connection, standing) = match read(environment, &path) {
        Ok(json) => match Connection::parse(&json) {
            Some(connection) => {
                let roots = connection.workspace_path.as_deref();
                let workspace = validate(environment.profile.roots, roots, &environment.cwd);
                (
                    Some(connection),
                    workspace
                        .map_or_else(CandidateStatus::Workspace, |()| CandidateStatus::Outranked),
                )
            }
            None => (None, CandidateStatus::Malformed),
        },
        Err(standing) => (None, standing),
    };
    let ide_pid = ide_pid.or(connection.as_ref().and_then(|connection| connection.ppid));
    let alive = ide_pid.is_none_or(environment.is_alive);
    Candidate { path, ide_pid, alive, connection, standing }
}

fn read(environment: &Environment, path: &Path) -> Result<String, CandidateStatus> {
    let unreadable = |error: io::Error| CandidateStatus::Unreadable(error.to_string());
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(CandidateStatus::Unreadable("it is not a file".to_owned())); // a pipe would block
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let found = owner(&file.metadata().map_err(unreadable)?);
    if let (Some(expected), Some(found)) = (environment.uid, found)
        && expected != found
    {
        return Err(CandidateStatus::NotOurs(found));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
