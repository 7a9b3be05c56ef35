//! Explains to the user why a client does or does not connect.
//!
//! [`Facts`] are collected once, with all IO. [`diagnose`] is a pure function of the facts. The
//! result is a [`Diagnosis`]: programs read it as JSON, and `Display` formats it for users.
//! *Invariant:* a diagnosis contains no token, and no data of the user's files.

mod client_program;
mod enablement;
mod env_file;
mod evidence;
mod explain;
mod facts;
mod features;
mod hook_program;
mod hooks;
mod judge;
mod probe;
mod sandbox;
mod settings;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod trust;

use serde::Serialize;

pub use client_program::{ClientProgram, installed};
pub use facts::{Facts, Tried};
pub use hook_program::RunnerProblem;
pub use hooks::{HookObstacle, Hooks, hook_switches};
pub use judge::diagnose;
pub use probe::{Failure, Probed};
pub use sandbox::Sandbox;
pub use settings::{IdeMode, Settings, Unread, corrects_edits, user_settings};
pub use terminal::diagnose_terminal;
pub use trust::Trust;

/// The first problem that keeps the client from connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// No file was found, and the client does not recognize the terminal as an editor's.
    UnknownTerminal,
    /// The terminal is an editor's, but neither a file nor a variable names a companion.
    NoCompanion,
    /// The editor has no folder open.
    NoFolder,
    /// The client's folder is not in the workspace.
    OtherFolder,
    /// A companion was found, but without a port or a command.
    NoRoute,
    /// The value of a proxy variable is not a URL, so the client fails to start.
    BadProxy,
    /// No program listens at the port: the file or variable remains from a companion that has
    /// ended.
    NotRunning,
    /// The client chooses a stale file, which prevents the connection to the running companion.
    StaleFile,
    /// The companion rejects the token.
    WrongToken,
    /// The companion rejects the host's name.
    WrongName,
    /// In a container: the host's name has no address.
    UnknownHost,
    /// In a container: the host does not answer at the companion's port.
    HostSilent,
    /// In a container: the client looks on the host, but the companion is in the container.
    LooksOnHost,
    /// In a container: the client looks in the container, but the companion is on the host.
    LooksInContainer,
    /// A program listens, but does not answer. The companion's editor may be suspended.
    Silent,
    /// A program listens, but does not answer like a companion.
    NotACompanion,
    /// The command that should connect to the companion does not work.
    BadCommand,
    /// The command that should connect to the companion works, but does not reach one.
    BehindCommand,
    /// A settings file of the client is not a JSON object, so the client does not start.
    BadSettings,
    /// A setting of the client refuses the companion's extension, so the client does not start.
    RefusedExtension,
    /// The IDE mode is off in the client's settings.
    SwitchedOff,
    /// The client starts in a sandbox that hides the companion.
    Sandbox,
    /// The client's settings run its tools in a sandbox, which disables IDE mode.
    ToolSandbox,
}

impl Problem {
    /// Whether the client fails only because no editor has its folder open yet.
    pub const fn needs_editor(self) -> bool {
        matches!(
            self,
            Self::UnknownTerminal | Self::NoCompanion | Self::NoFolder | Self::OtherFolder
        )
    }
}

/// The importance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everything is right.
    Good,
    /// Useful to know.
    Note,
    /// Prevents the client from connecting or a feature from working, now or in other
    /// circumstances.
    Bad,
}

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The folder in which the client runs.
    Folder,
    /// The discovery files.
    Files,
    /// The client's connection attempts.
    Connection,
    /// Environment variables, the container, proxies.
    Environment,
    /// The client itself, and its settings.
    Client,
    /// The client's hooks, and the features that need them.
    Hooks,
    /// The editors of this machine, and their plugins.
    Editors,
}

/// A checked fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject.
    pub subject: Subject,
    /// The importance.
    pub level: Level,
    /// One or more sentences.
    pub text: String,
}

/// The result of doctor for one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// The id of the client.
    pub client: &'static str,
    /// The name of the client for users.
    #[serde(skip)]
    pub name: &'static str,
    /// Whether the client would connect.
    pub connects: bool,
    /// The problem, if it would not connect.
    pub problem: Option<Problem>,
    /// The verdict, in one sentence.
    pub verdict: String,
    /// The client's own message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_says: Option<String>,
    /// Fixes, the most promising first; also for hooks that do not run.
    pub advice: Vec<String>,
    /// The evidence.
    pub evidence: Vec<Finding>,
}
