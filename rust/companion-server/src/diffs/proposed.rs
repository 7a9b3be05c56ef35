//! Compares an accepted text with the proposal, without keeping the proposal.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::mcp::session::ClientTraits;
use crate::text::Text;

/// The digest of a proposed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Proposed {
    /// Bytes.
    length: usize,
    digest: u64,
    /// The client that proposed it.
    client: ClientTraits,
}

/// The key of all digests. It is random, so that nobody can craft a proposal that collides with
/// the user's changed text.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl Proposed {
    pub(crate) fn new(text: &str, client: ClientTraits) -> Self {
        Self { length: text.len(), digest: KEY.hash_one(text), client }
    }

    /// The length of the proposal, in bytes.
    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// Returns the accepted text. Clients take an empty text for an unchanged proposal
    /// (`resolution.content ?`), so an emptied one becomes a line end.
    pub(crate) fn accept(self, text: Text) -> Text {
        if text.is_empty() && self.length > 0 { "\n".to_owned().into() } else { text }
    }

    /// The content that the client receives for an accepted text: nothing if the text is
    /// unchanged and the client understands that.
    pub(crate) fn content(self, accepted: &Text) -> Text {
        let is_unchanged =
            || accepted.len() == self.length && KEY.hash_one(&**accepted) == self.digest;
        if self.client.empty_is_unchanged && is_unchanged() {
            Text::default()
        } else {
            accepted.clone()
        }
    }
}
