//! Explains to the user why a client does or does not connect.
//!
//! [`Facts`] are gathered once, with all the IO there is; [`diagnose`] judges them and is a pure
//! function. The result is a [`Diagnosis`]: for programs as JSON, for people by `Display`.
//! *Invariant:* no token is in it, nor anything that a companion knows of the user's files.

mod advice;
mod evidence;
mod facts;
mod judge;
mod probe;
mod settings;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

pub use facts::{Facts, Tried};
pub use judge::diagnose;
pub use probe::{Failure, Probed};
pub use settings::{Extension, IdeMode, OnOff, installed, user_settings};

/// The first problem that keeps the client from connecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// No file was found, and the terminal is none that the client takes for an editor's.
    UnknownTerminal,
    /// The terminal is an editor's, but neither a file nor a variable names a companion.
    NoCompanion,
    /// The editor has no folder open.
    NoFolder,
    /// The client's folder is not in the workspace.
    OtherFolder,
    /// A companion was found, but it gave neither a port nor a command.
    NoRoute,
    /// The value of a proxy variable is not a URL, so the client fails to start.
    BadProxy,
    /// Nobody listens at the port: the file or variable is left over from a companion that has ended.
    NotRunning,
    /// A left-over file is chosen, and spoils the connection to the companion that runs.
    StaleFile,
    /// The companion does not take the token.
    WrongToken,
    /// The companion rejects the host's name.
    WrongName,
    /// In a container: the name of the host has no address.
    UnknownHost,
    /// In a container: the host does not answer at the companion's port.
    HostSilent,
    /// In a container: the client looks on the host, but the companion is in the container.
    LooksOnHost,
    /// In a container: the client looks in the container, but the companion is on the host.
    LooksInContainer,
    /// Something listens, but it does not answer, or not as a companion does.
    NotACompanion,
    /// The command that is to lead to the companion does not work.
    BadCommand,
    /// A settings file of the client is not a JSON object, so the client does not start.
    BadSettings,
    /// The IDE integration is switched off in the client's settings.
    SwitchedOff,
    /// By the client's settings its tools run in a sandbox, and then it has no IDE integration.
    ToolSandbox,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Keeps the client from connecting, or its extension from working, or would in other circumstances.
    Bad,
}

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Where the client runs.
    Folder,
    /// The discovery files.
    Files,
    /// The client's connection attempts.
    Connection,
    /// Environment variables, the container, proxies.
    Environment,
    /// The client itself, and its settings.
    Client,
    /// The editors of this machine, and their plugins.
    Editors,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject.
    pub subject: Subject,
    /// How much it matters.
    pub level: Level,
    /// A sentence, or a few.
    pub text: String,
}

/// The result of doctor for one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnosis {
    /// Which client it is about.
    pub client: &'static str,
    /// The same for people.
    #[serde(skip)]
    pub name: &'static str,
    /// Whether the client would connect.
    pub connects: bool,
    /// If not, why.
    pub problem: Option<Problem>,
    /// The same in a sentence.
    pub verdict: String,
    /// The client's own message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_says: Option<String>,
    /// Fixes, the most promising first.
    pub advice: Vec<String>,
    /// The evidence.
    pub evidence: Vec<Finding>,
}
