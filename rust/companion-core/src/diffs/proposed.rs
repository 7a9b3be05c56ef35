//! Compares an accepted text with the proposal, without keeping the proposal.

use std::borrow::Cow;

use super::Accepted;
use crate::session::ClientTraits;
use crate::text::{Digest, Text, plain};

/// The digests of a proposed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Proposed {
    text: Digest,
    /// Of the [`plain`] text.
    plain: Digest,
    /// The client that proposed it.
    client: ClientTraits,
}

impl Proposed {
    /// Digests the text that this client proposes.
    pub fn new(text: &str, client: ClientTraits) -> Self {
        let digest = Digest::of(text);
        let plain = match plain(text) {
            Cow::Borrowed(plain) if plain.len() == text.len() => digest,
            plain => Digest::of(&plain),
        };
        Self { text: digest, plain, client }
    }

    /// The length of the proposal, in bytes.
    pub(crate) fn len(self) -> usize {
        self.text.len()
    }

    /// Whether the user has changed the proposal. The editor gives it the line endings and the byte order
    /// mark of its file.
    pub(crate) fn is_changed_by(self, accepted: &Accepted) -> bool {
        !self.text.is_of(&accepted.content) && !self.plain.is_of(&plain(&accepted.content))
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
        if self.client.empty_is_unchanged && self.text.is_of(&accepted.content) {
            accepted.content = Text::default();
        }
        accepted
    }
}
