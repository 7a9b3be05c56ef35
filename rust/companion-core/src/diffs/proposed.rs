//! Compares an accepted text with the proposal, without keeping the proposal.

use super::Accepted;
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
    pub(crate) fn is_changed_by(self, accepted: &Accepted) -> bool {
        !self.digest.is_of(&accepted.content)
    }

    /// Returns the acceptance. Clients take an empty text for an unchanged proposal
    /// (`resolution.content ?`), so an emptied one becomes a line ending.
    pub(crate) fn accept(self, mut accepted: Accepted) -> Accepted {
        if accepted.content.is_empty() && self.len() > 0 {
            accepted.content = "\n".to_owned().into();
        }
        accepted
    }

    /// The acceptance as the client receives it: without the text if that is unchanged and the client
    /// understands that.
    pub(crate) fn to_send(self, mut accepted: Accepted) -> Accepted {
        if self.client.empty_is_unchanged && !self.is_changed_by(&accepted) {
            accepted.content = Text::default();
        }
        accepted
    }
}
