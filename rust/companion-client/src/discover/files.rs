//! The discovery files, in the client's order and with its judgement of each
//! (`getConnectionConfigFromFile`).

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use companion_platform::owner;
use companion_protocol::dialect::Dialect;
use companion_protocol::ide::IdeInfo;
use serde_json::Value;

use super::{Environment, Stdio, Token, WorkspaceError, validate};

/// What the client reads out of a discovery file. It takes almost anything, so this does too.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// As it is written there; the client takes a text as well.
    pub port: Option<String>,
    /// A program in place of a port.
    pub stdio: Option<Stdio>,
    /// The workspace's roots, joined by `:`, or on Windows by `;`.
    pub workspace_path: Option<String>,
    /// The bearer token.
    pub auth_token: Option<Token>,
    /// Which editor it is, if both names are there.
    pub ide_info: Option<IdeInfo>,
}

impl Connection {
    fn parse(json: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(json).ok()?;
        if !json.is_object() {
            return None;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let name = |key: &str| text(&json["ideInfo"][key]).filter(|name| !name.is_empty());
        Some(Self {
            port: match &json["port"] {
                Value::Null => None,
                Value::String(port) => Some(port.clone()),
                port => Some(port.to_string()),
            },
            stdio: text(&json["stdio"]["command"]).map(|command| Stdio {
                command,
                args: json["stdio"]["args"]
                    .as_array()
                    .map(|args| args.iter().filter_map(text).collect())
                    .unwrap_or_default(),
            }),
            workspace_path: text(&json["workspacePath"]),
            auth_token: text(&json["authToken"]).map(Token::from),
            ide_info: name("name")
                .zip(name("displayName"))
                .map(|(name, display_name)| IdeInfo { name, display_name }),
        })
    }

    /// The port if JavaScript takes it for true.
    pub(super) fn truthy_port(&self) -> Option<&str> {
        self.port.as_deref().filter(|port| !["", "0", "false"].contains(port))
    }
}

/// A file that the client looks at.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// The editor's process, from the file's name.
    pub ide_pid: u32,
    /// Whether that process runs.
    pub alive: bool,
    /// Its content, if it could be read and made sense.
    pub connection: Option<Connection>,
    /// What becomes of it.
    pub standing: Standing,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The client connects by it.
    Chosen(Reason),
    /// It belongs to another user, whose id this is; the client does not read it.
    NotOurs(u32),
    /// It can't be opened.
    Unreadable(String),
    /// It is not a JSON object.
    Malformed,
    /// The client's folder is not in its workspace.
    Workspace(WorkspaceError),
    /// It would do, but another was chosen.
    Outranked,
}

/// Why a file was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It has a name of the old form with the editor's process; the client asks for nothing more.
    OldName,
    /// It is the only one whose workspace has the client's folder.
    OnlyOne,
    /// Several would do, and the variable for the port has its port.
    Port,
    /// Several would do, and it is the first of them: of the editor's process, alive, newest.
    First,
    /// None would do. It is taken so that the client can name the folders that are open.
    NoneFits,
}

/// All files that the client looks at.
#[derive(Clone, Debug)]
pub struct Search {
    /// Where it looks.
    pub dir: PathBuf,
    /// Whether the folder could be listed.
    pub listed: Result<(), io::ErrorKind>,
    /// In the client's order.
    pub candidates: Vec<Candidate>,
}

impl Search {
    pub(crate) fn of(environment: &Environment) -> Self {
        let dir = environment.discovery_dir();
        let mut candidates = Vec::new();

        let pid = environment.ide_pid;
        let old_name = environment.dialect.old_file_name(pid);
        let old = candidate(environment, dir.join(old_name), pid);
        let old_is_chosen = old.connection.is_some();
        candidates.extend(old_is_chosen.then_some(old));

        let (mut named, listed) = match names(environment.dialect, &dir) {
            Ok(names) => (names, Ok(())),
            Err(error) => (Vec::new(), Err(error.kind())),
        };
        named.sort_by_key(|(_, pid)| {
            let matches = *pid == environment.ide_pid;
            (!matches, !(environment.is_alive)(*pid), Reverse(*pid))
        });
        let first = candidates.len();
        candidates.extend(
            named.into_iter().map(|(name, pid)| candidate(environment, dir.join(name), pid)),
        );
        if old_is_chosen {
            candidates[0].standing = Standing::Chosen(Reason::OldName);
        } else {
            choose(environment, &mut candidates[first..]);
        }
        Self { dir, listed, candidates }
    }

    /// The file by which the client connects, or learns why it can't.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|one| matches!(one.standing, Standing::Chosen(_)))
    }
}

/// The files of the folder that are named as the client expects, with the process, in the order
/// in which Node lists them.
fn names(dialect: &Dialect, dir: &Path) -> io::Result<Vec<(String, u32)>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        names.extend(process(dialect, &name).map(|pid| (name, pid)));
    }
    names.sort();
    Ok(names)
}

/// The process whose file this is by its name, which has to have a port.
fn process(dialect: &Dialect, name: &str) -> Option<u32> {
    let (pid, Some(_)) = dialect.parse_file_name(name)? else { return None };
    // No process has a larger number, so it is none that runs.
    Some(pid.parse().unwrap_or(u32::MAX))
}

/// `Outranked` until there is a choice.
fn candidate(environment: &Environment, path: PathBuf, ide_pid: u32) -> Candidate {
    let (connection, standing) = match read(environment, &path) {
        Ok(json) => match Connection::parse(&json) {
            Some(connection) => {
                let workspace = validate(connection.workspace_path.as_deref(), &environment.cwd);
                (
                    Some(connection),
                    workspace.map_or_else(Standing::Workspace, |()| Standing::Outranked),
                )
            }
            None => (None, Standing::Malformed),
        },
        Err(standing) => (None, standing),
    };
    let alive = (environment.is_alive)(ide_pid);
    Candidate { path, ide_pid, alive, connection, standing }
}

fn read(environment: &Environment, path: &Path) -> Result<String, Standing> {
    let unreadable = |error: io::Error| Standing::Unreadable(error.to_string());
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Standing::Unreadable("it is not a file".to_owned())); // a pipe would block
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let found = owner(&file.metadata().map_err(unreadable)?);
    if let (Some(expected), Some(found)) = (environment.uid, found)
        && expected != found
    {
        return Err(Standing::NotOurs(found));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn choose(environment: &Environment, candidates: &mut [Candidate]) {
    let fits = |one: &Candidate| one.standing == Standing::Outranked;
    let port = environment.set(environment.dialect.variables.port);
    let has_port = |one: &Candidate| {
        port.is_some() && one.connection.as_ref().and_then(|c| c.port.as_deref()) == port
    };
    let fitting = candidates.iter().filter(|one| fits(one)).count();
    let (pool, reason): (&dyn Fn(&Candidate) -> bool, _) = match fitting {
        0 => (&|one| one.connection.is_some(), Reason::NoneFits),
        1 => (&fits, Reason::OnlyOne),
        _ => (&fits, Reason::First),
    };
    let by_port = candidates.iter().position(|one| pool(one) && has_port(one));
    let reason = if by_port.is_some() && fitting > 1 { Reason::Port } else { reason };
    let chosen = by_port.or_else(|| candidates.iter().position(pool));
    if let Some(chosen) = chosen {
        candidates[chosen].standing = Standing::Chosen(reason);
    }
}
