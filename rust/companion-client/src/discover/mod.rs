//! Predicts the client's connection attempts, by repeating its decisions step by step.
//!
//! Source: the client's `ide-client.js` (`connect`), `ide-connection-utils.js`, `detect-ide.js` and
//! `process-utils.js`, in the versions that the profile names. All results depend only on an
//! [`Environment`] and on the files in the folder that it names. This module does not connect to
//! companions, and does not change files.

mod by_port;
mod by_process;
mod environment;
mod files;
mod ide_process;
mod terminal_editor;
#[cfg(test)]
mod tests;
mod workspace;

use std::fmt;
use std::path::{Path, PathBuf};

use companion_platform::Platform;
use companion_protocol::profile::Naming;

pub use environment::{Environment, HERE};
pub use files::{Candidate, CandidateStatus, Connection, Reason, Search};
pub use ide_process::ide_process_from;
pub(crate) use workspace::decode_uri_component;
pub use workspace::{WorkspaceError, normalize, resolve_path, resolve_to_real_path, validate};

/// A bearer token. `Debug` does not show it, so that no log contains it by accident.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(String);

impl Token {
    /// Returns the token, only for the `Authorization` header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for Token {
    fn from(token: String) -> Self {
        Self(token)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A program that speaks MCP on its stdin and stdout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The source of a [`Route`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The chosen discovery file.
    File,
    /// An environment variable.
    Variable,
}

/// An address of a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `http://host:port/mcp`.
    Http {
        /// `127.0.0.1`, or `host.docker.internal` in a container.
        host: &'static str,
        /// 1 to 65535.
        port: u16,
    },
    /// A port that the client refuses because it is not valid.
    BadPort(String),
    /// A program that the client starts.
    Stdio(Stdio),
}

/// One attempt of the client to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The address.
    pub target: Target,
    /// The source of the value.
    pub origin: Origin,
    /// A token that replaces the plan's token for this attempt.
    pub token: Option<Token>,
}

/// The client's plan. The client tries `routes` in order. It tries nothing if `workspace` is an
/// error or if `ide` is `None`.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All discovery files, with the client's judgement of each.
    pub search: Search,
    /// The client's name for the editor. With `None` the client reports "IDE integration is not
    /// supported in your current environment".
    pub ide: Option<String>,
    /// Whether the client's folder is in the editor's workspace.
    pub workspace: Result<(), WorkspaceError>,
    /// The token of every HTTP route: the file's token, or else the variable's. The source of the
    /// port does not matter.
    pub token: Option<Token>,
    /// The source of that token.
    pub token_origin: Origin,
    /// In the client's order.
    pub routes: Vec<Route>,
    /// Whether a file for another folder came before the chosen file. Some clients report that.
    pub rejected: bool,
}

impl Plan {
    /// Whether the chosen file is of an editor that has ended.
    pub fn is_left_over(&self) -> bool {
        self.search.chosen().is_some_and(|one| !one.alive)
    }

    /// Returns the folders that running editors have open, if the client's folder is not among them.
    pub fn open_folders(&self) -> Vec<PathBuf> {
        if let Err(WorkspaceError::Elsewhere(folders)) = &self.workspace
            && !self.is_left_over()
        {
            return folders.clone();
        }
        let running = self.search.candidates.iter().filter(|one| one.alive);
        let passed_over = running.filter_map(|one| match &one.standing {
            CandidateStatus::Workspace(WorkspaceError::Elsewhere(folders)) => Some(folders),
            _ => None,
        });
        let mut folders: Vec<_> = passed_over.flatten().cloned().collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Returns the folder at or above `cwd` that an editor has open, but that the client reads as several,
    /// because its name contains the separator of a list.
    pub fn split_folder<'a>(&self, cwd: &'a Path) -> Option<&'a Path> {
        let separator = Platform::CURRENT.list_separator();
        let is_split = |folder: &&Path| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.contains(separator))
        };
        let folder = cwd.ancestors().filter(is_split).last()?;
        let text = folder.to_str()?;
        let is_open = |one: &Candidate| {
            let workspace = one.connection.as_ref().and_then(|one| one.workspace_path.as_deref());
            let mut rest =
                workspace.into_iter().flat_map(|workspace| workspace.split(text).skip(1));
            rest.any(|rest| rest.is_empty() || rest.starts_with([separator, '/', '\\']))
        };
        self.search.candidates.iter().any(is_open).then_some(folder)
    }

    /// Returns the files whose companions have the client's folder open, the chosen one first.
    pub fn fitting(&self) -> Vec<&Candidate> {
        let fits = |one: &Candidate| {
            one.standing == CandidateStatus::Outranked || (one.fits() && self.workspace.is_ok())
        };
        self.search.chosen_first(fits)
    }

    /// Predicts the client's connection attempts in this environment.
    pub fn of(environment: &Environment) -> Self {
        let names = &environment.profile.variables;
        let search = Search::of(environment);
        let chosen = search.chosen().and_then(|candidate| candidate.connection.as_ref());

        let token_from_file = chosen.and_then(|connection| connection.auth_token.clone());
        let token_origin = if token_from_file.is_some() { Origin::File } else { Origin::Variable };
        let token = token_from_file.or_else(|| environment.token());
        let workspace_path = chosen
            .and_then(|connection| connection.workspace_path.as_deref())
            .or_else(|| environment.var(names.workspace_path));
        let workspace = validate(environment.profile.roots, workspace_path, &environment.cwd);

        let mut routes = Vec::new();
        // The client keeps the last token that it finds.
        let mut own_token = None;
        if let Some(connection) = chosen {
            let targets = connection.truthy_port().map(|port| http(environment, port));
            let targets = targets.into_iter().flatten();
            let route = |target| Route { target, origin: Origin::File, token: None };
            routes.extend(targets.map(route));
            if !routes.is_empty() && matches!(environment.profile.naming, Naming::Port { .. }) {
                own_token = add_others(environment, &search, connection, &mut routes);
            }
            let stdio = connection.stdio.clone().map(Target::Stdio);
            routes.extend(stdio.map(route));
        }
        let is_rejected =
            |port: &&str| rejected(environment, &search).any(|one| one.port() == Some(*port));
        let port = environment.set(names.port).filter(|port| !is_rejected(port));
        let targets = port.into_iter().flat_map(|port| http(environment, port));
        let targets = targets.chain(environment.stdio().map(Target::Stdio));
        let route = |target| Route { target, origin: Origin::Variable, token: own_token.clone() };
        routes.extend(targets.map(route));
        let ide = terminal_editor::detect(environment, chosen.and_then(|c| c.ide_info.as_ref()));
        let rejected = rejected(environment, &search).any(|one| one.port().is_some());
        Self { search, ide, workspace, token, token_origin, routes, rejected }
    }
}

/// Adds the files that a client with ports in file names tries after the chosen file. Files for its
/// folder come first, then files without a workspace. Returns the token that the client uses in the
/// end.
fn add_others(
    environment: &Environment,
    search: &Search,
    chosen: &Connection,
    routes: &mut Vec<Route>,
) -> Option<Token> {
    let of = |standing: CandidateStatus| {
        search.candidates.iter().filter(move |one| one.standing == standing)
    };
    let others = of(CandidateStatus::Outranked)
        .chain(of(CandidateStatus::Workspace(WorkspaceError::Unknown)));
    let mut token = None;
    for other in others.filter_map(|one| one.connection.as_ref()) {
        let Some(port) = other.truthy_port().filter(|port| Some(*port) != chosen.truthy_port())
        else {
            continue;
        };
        token = other.auth_token.clone().or(token);
        let targets = http(environment, port).into_iter();
        routes.extend(targets.map(|target| Route {
            target,
            origin: Origin::File,
            token: token.clone(),
        }));
    }
    token
}

/// Returns the files for other folders that the client has skipped, if the files' names have the
/// port.
fn rejected<'a>(
    environment: &Environment,
    search: &'a Search,
) -> impl Iterator<Item = &'a Candidate> {
    let by_port = matches!(environment.profile.naming, Naming::Port { .. });
    let elsewhere = |one: &&Candidate| matches!(&one.standing, CandidateStatus::Workspace(why) if *why != WorkspaceError::Unknown);
    let before = |one: &&Candidate| !matches!(one.standing, CandidateStatus::Chosen(_));
    search.candidates.iter().take_while(before).filter(elsewhere).filter(move |_| by_port)
}

fn http(environment: &Environment, text: &str) -> Vec<Target> {
    match port(text) {
        Some(port) => environment.hosts().iter().map(|host| Target::Http { host, port }).collect(),
        None => vec![Target::BadPort(text.to_owned())],
    }
}

/// Reads a port as the client does.
fn port(text: &str) -> Option<u16> {
    leading_number(text).and_then(|number| u16::try_from(number).ok())
}

/// Returns the result of JavaScript's `parseInt(text, 10)`, if it is above 0.
fn leading_number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok().filter(|number| *number > 0)
}

impl Search {
    /// Finds all files that a client in this environment checks.
    pub(crate) fn of(environment: &Environment) -> Self {
        let dir = environment.discovery_dir();
        match environment.profile.naming {
            Naming::Process { prefix } => by_process::search(environment, dir, prefix),
            Naming::Port { old_prefix, .. } => by_port::search(environment, dir, old_prefix),
        }
    }
}
