//! Names the MCP session of a client, and describes the client as its `initialize` does.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Names a client: the value of the header `mcp-session-id`. It stays the same over restarts of the
/// companion, so the next process knows its clients.
///
/// ```
/// use companion_core::session::SessionId;
///
/// let id = SessionId::new();
/// assert_eq!(SessionId::parse(&id.to_string()), Some(id));
/// assert_eq!(SessionId::parse("1"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId(Uuid);

impl SessionId {
    /// Makes a random id.
    #[expect(clippy::new_without_default, reason = "each value is another one")]
    pub fn new() -> Self {
        Self(Uuid::new_v4())
    }

    /// Reads the value of the header; `None` if it is not a UUID.
    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Traits of a client that its `initialize` shows. Its profile stays unknown, because two clients
/// give the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each trait is independent of the others")]
pub struct ClientTraits {
    /// The client writes accepted files, and carries out an unchanged edit itself.
    pub replays_edits: bool,
    /// The client takes an acceptance with an empty text as an unchanged proposal.
    pub empty_is_unchanged: bool,
    /// The client runs the hook of an edit before it opens the diff.
    #[serde(default)]
    pub confirms_after_hook: bool,
    /// The client repeats a request if it has no answer, as the bridge does.
    pub repeats_requests: bool,
    /// The session is that of one request, and ends with the connection.
    #[serde(default)]
    pub is_one_request: bool,
}

/// A client, as its `initialize` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Client {
    /// Decides how the companion treats the client.
    #[serde(flatten)]
    pub traits: ClientTraits,
    /// For the user: one line of the client's text, or empty. Gemini CLI and Qwen Code give the same
    /// name.
    #[serde(default)]
    pub name: Arc<str>,
    /// For the user, as the name.
    #[serde(default)]
    pub version: Arc<str>,
}

impl From<ClientTraits> for Client {
    /// A client without a name.
    fn from(traits: ClientTraits) -> Self {
        Self { traits, ..Self::default() }
    }
}
