//! Where Gemini CLI would connect, and why: its own decisions, taken again step by step.
//!
//! Source: the client's `ide-client.js` (`connect`), `ide-connection-utils.js`, `detect-ide.js`
//! and `process-utils.js` (`@google/gemini-cli-core` 0.61.0). Everything depends only on an
//! [`Environment`] and on the files in the folder that it names. Nothing here talks to a
//! companion, and nothing changes a file.

mod environment;
mod files;
mod ide;
mod process;
#[cfg(test)]
mod tests;
mod workspace;

use std::fmt;

pub use environment::Environment;
pub use files::{Candidate, Connection, Reason, Search, Standing};
pub use process::{ide_process, ide_process_from};
pub use workspace::{WorkspaceError, resolve_to_real_path, validate};

/// A bearer token. It is not shown by `Debug`, so that no log has it by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// For the `Authorization` header only.
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

/// Where a [`Route`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From the discovery file that was chosen.
    File,
    /// From an environment variable.
    Variable,
}

/// One way to a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `http://host:port/mcp`.
    Http {
        /// `127.0.0.1`, or `host.docker.internal` from within a container.
        host: &'static str,
        /// 1 to 65535.
        port: u16,
    },
    /// A port that the client refuses because it is none.
    BadPort(String),
    /// A program that the client starts.
    Stdio(Stdio),
}

/// One attempt of the client to connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where to.
    pub target: Target,
    /// Who says so.
    pub origin: Origin,
}

/// What the client would do: it tries `routes` in order, unless `workspace` is an error or
/// `ide` is `None`. Then it tries nothing at all.
#[derive(Clone, Debug)]
pub struct Plan {
    /// All discovery files, with the client's judgement of each.
    pub search: Search,
    /// What the client calls the editor; `None`: "IDE integration is not supported in your
    /// current environment".
    pub ide: Option<String>,
    /// Whether the client's folder is in the workspace that the editor has open.
    pub workspace: Result<(), WorkspaceError>,
    /// Sent with every HTTP route, wherever the route's port comes from: the file's token, and
    /// only without one the variable's.
    pub token: Option<Token>,
    /// Where that token comes from.
    pub token_origin: Origin,
    /// In the client's order.
    pub routes: Vec<Route>,
}

impl Plan {
    /// What a client in this environment would do.
    pub fn of(environment: &Environment) -> Self {
        let names = &environment.dialect.variables;
        let search = Search::of(environment);
        let chosen = search.chosen().and_then(|candidate| candidate.connection.as_ref());

        let token_from_file = chosen.and_then(|connection| connection.auth_token.clone());
        let token_origin = if token_from_file.is_some() { Origin::File } else { Origin::Variable };
        let token =
            token_from_file.or_else(|| Some(environment.var(names.auth_token)?.to_owned().into()));
        let workspace_path = chosen
            .and_then(|connection| connection.workspace_path.as_deref())
            .or_else(|| environment.var(names.workspace_path));
        let workspace = validate(workspace_path, &environment.cwd);

        let mut routes = Vec::new();
        let mut add = |target, origin| routes.push(Route { target, origin });
        if let Some(connection) = chosen {
            if let Some(port) = connection.truthy_port() {
                add(http(environment, port), Origin::File);
            }
            if let Some(stdio) = &connection.stdio {
                add(Target::Stdio(stdio.clone()), Origin::File);
            }
        }
        if let Some(port) = environment.set(names.port) {
            add(http(environment, port), Origin::Variable);
        }
        if let Some(stdio) = stdio_from(environment) {
            add(Target::Stdio(stdio), Origin::Variable);
        }
        let ide = ide::detect(environment, chosen.and_then(|c| c.ide_info.as_ref()));
        Self { search, ide, workspace, token, token_origin, routes }
    }
}

fn http(environment: &Environment, text: &str) -> Target {
    match leading_number(text).and_then(|number| u16::try_from(number).ok()) {
        Some(port) => Target::Http { host: environment.server_host(), port },
        None => Target::BadPort(text.to_owned()),
    }
}

/// JavaScript's `parseInt(text, 10)`, if that is more than 0.
fn leading_number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok().filter(|number| *number > 0)
}

fn stdio_from(environment: &Environment) -> Option<Stdio> {
    let names = &environment.dialect.variables;
    let command = environment.set(names.stdio_command)?.to_owned();
    let args = environment.set(names.stdio_args);
    let args = args.and_then(|args| serde_json::from_str(args).ok()).unwrap_or_default();
    Some(Stdio { command, args })
}
