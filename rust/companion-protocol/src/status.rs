//! Defines the status that a server reports, as the result of `companion/status`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use crate::profile::ClientProfile;

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The port of all addresses.
    pub port: u16,
    /// The addresses where it listens: first loopback (or `0.0.0.0`, if the user wants that), then
    /// the user's addresses.
    pub listening: Vec<SocketAddr>,
    /// One sentence for each configured address where the server could not listen.
    pub not_listening: Vec<String>,
    /// The discovery files; none for a client whose folder does not exist.
    pub discovery_files: Vec<DiscoveryStatus>,
    /// The connected CLIs, and other connected clients.
    pub clis: Vec<ConnectedCli>,
    /// The number of open proposals.
    pub open_diffs: usize,
    /// The open private files: the focused one, and others as far as the server has checked them. Each has
    /// a sentence about the reason and how to share the file.
    pub private_files: BTreeMap<String, String>,
    /// The number of connections, and of looks at files that are in progress.
    pub tasks: usize,
}

/// A connected CLI, or another connected client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectedCli {
    /// The name of a known CLI, or the one in its `initialize`, as one line of a log. Empty if it is
    /// unknown.
    pub name: String,
    /// The version, likewise. Qwen Code does not give it.
    pub version: String,
    /// The client is a CLI with hooks, and no hook has identified it yet. A CLI runs the first hook
    /// with its first prompt at the latest.
    pub awaits_hook: bool,
}

/// The status of a discovery file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryStatus {
    /// The client that the file is for.
    pub client: &'static ClientProfile,
    /// The path, also if the file could not be written.
    pub path: String,
    /// Whether the file is in place. If the server could not write it, the log has the reason.
    pub in_place: bool,
}
