//! Compares an accepted text with the proposal, without keeping the proposal.

use crate::session::ClientTraits;
use crate::text::{Digest, Text};

/// The digest of a proposed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proposed {
    digest: Digest,
    /// The client that proposed it.
    client: ClientTraits,
}

impl Proposed {
    /// Digests the text that this client proposes.
    pub fn new(text: &str, client: ClientTraits) -> Self {
        Self { digest: Digest::of(text), client }
    }

    /// The length of the proposal, in bytes.
    pub(crate) fn len(self) -> usize {
        self.digest.len()
    }

    /// Whether the user has changed the proposal.
    pub(crate) fn is_changed_by(self, accepted: &Text) -> bool {
        !self.digest.is_of(accepted)
    }

    /// Returns the accepted text. Clients take an empty text for an unchanged proposal
    /// (`resolution.content ?`), so an emptied one becomes a line ending.
    pub(crate) fn accept(self, text: Text) -> Text {
        if text.is_empty() && self.len() > 0 { "\n".to_owned().into() } else { text }
    }

    /// The content that the client receives for an accepted text: nothing if the text is
    /// unchanged and the client understands that.
    pub(crate) fn content(self, accepted: &Text) -> Text {
        if self.client.empty_is_unchanged && self.digest.is_of(accepted) {
            Text::default()
        } else {
            accepted.clone()
        }
    }
}
