//! Declares what a hook says of its CLI.

use crate::session::SessionId;

/// The connections of a CLI's process, as its hook sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Connected {
    /// The hook can't see them, or they lead through another program.
    #[default]
    Unknown,
    /// The process has no connection to this companion.
    No,
    /// They belong to these MCP sessions.
    To(Vec<SessionId>),
}

/// The CLI that has run a hook.
///
/// ```
/// use companion_core::cli::{Caller, Connected};
///
/// // On Linux a hook sees its process and its connections,
/// let sees = Caller { session: "c0ffee", process: Some("4026531836/4711/88"), connected: Connected::No };
/// // and in a container without the process, or on another system, neither of them.
/// let blind = Caller { session: "c0ffee", process: None, connected: Connected::default() };
/// # assert_ne!(sees.connected, blind.connected);
/// ```
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// Its session.
    pub session: &'a str,
    /// Its process; `None` if it is not known.
    pub process: Option<&'a str>,
    /// Its connections.
    pub connected: Connected,
}
