//! What a server has to say about itself. Across JNI it goes as one JSON text.

use std::net::SocketAddr;

use serde::Serialize;

use crate::dialect::Dialect;

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
    /// The files by which CLIs find it; none for clients that nobody here uses.
    pub discovery_files: Vec<DiscoveryStatus>,
    /// How many CLIs are connected.
    pub connected: usize,
    /// How many diffs are open.
    pub open_diffs: usize,
    /// The open files that are not told, because an ignore file names them; the one that has the focus,
    /// if it is one, and others as far as was looked.
    pub private_files: Vec<String>,
    /// How many connections and calls of tools are being served.
    pub tasks: usize,
}

/// What a server has to say about one of its discovery files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryStatus {
    /// Whose file it is.
    pub client: &'static Dialect,
    /// Where it is, or should be.
    pub path: String,
    /// Whether it is there; if it could not be written, the log says why.
    pub in_place: bool,
}
