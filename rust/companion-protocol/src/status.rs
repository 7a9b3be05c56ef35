//! What a server has to say about itself. Across JNI it goes as one JSON text.

use std::net::SocketAddr;

use serde::Serialize;

/// What a server has to say about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The port of all addresses.
    pub port: u16,
    /// Where it listens: on loopback (or `0.0.0.0`, if the user wants that), and then on further
    /// addresses.
    pub listening: Vec<SocketAddr>,
    /// Where it does not listen although it was to: a sentence for each address.
    pub not_listening: Vec<String>,
    /// The file by which the CLI finds it; absent if it could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discovery_file: Option<String>,
    /// How many CLIs are connected.
    pub connected: usize,
    /// How many diffs are open.
    pub open_diffs: usize,
    /// How many connections and calls of tools are being served.
    pub tasks: usize,
}
