//! Declares the notes: reasons, comments and reverts.

use std::sync::Arc;
use std::time::Duration;

use companion_protocol::editor::CommentOnLines;
use serde::{Deserialize, Serialize};

use super::MAX_AGE;
use crate::cli::CliSessionId;
use crate::text::Text;

/// Names a note, also for the next process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NoteId(pub u64);

/// A text for a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Note {
    /// For the CLI whose edit was rejected.
    Reason(Reason),
    /// For the first CLI that can take it.
    Comment(CommentOnLines),
    /// For the CLI whose changes were reverted.
    Revert(Revert),
}

impl Note {
    /// The files that it names.
    pub fn paths(&self) -> &[Arc<str>] {
        match self {
            Self::Reason(Reason { path, .. }) | Self::Comment(CommentOnLines { path, .. }) => {
                std::slice::from_ref(path)
            }
            Self::Revert(Revert { paths, .. }) => paths,
        }
    }

    /// The bytes of the user's text. A revert has none, and the text for the model names few of its files.
    pub(super) fn text_bytes(&self) -> usize {
        match self {
            Self::Reason(Reason { text, .. }) => text.len(),
            Self::Comment(CommentOnLines { text, content, .. }) => text.len() + content.len(),
            Self::Revert(_) => 0,
        }
    }

    /// Whether it names this file.
    pub fn is_on(&self, path: &str) -> bool {
        self.paths().iter().any(|of| **of == *path)
    }

    /// Whether both are the same note of the user. A comment may have changed.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Comment(comment), Self::Comment(other)) => comment.id == other.id,
            _ => self == other,
        }
    }

    /// Takes a file out of a revert of this CLI session. Returns whether the file was in it.
    pub(crate) fn drop_revert(&mut self, of: &str, path: &str) -> bool {
        let Self::Revert(Revert { cli, paths, .. }) = self else { return false };
        let count = paths.len();
        paths.retain(|reverted| **cli != *of || **reverted != *path);
        paths.len() < count
    }

    /// Whether it has waited for too long at the time `now`, in milliseconds since 1970.
    pub fn is_over(&self, now: u64) -> bool {
        let age = |since| Duration::from_millis(now.saturating_sub(since));
        self.since().is_some_and(|since| age(since) >= MAX_AGE)
    }

    /// When it began to wait, in milliseconds since 1970. `None` for a comment, which waits until its user
    /// removes it.
    pub fn since(&self) -> Option<u64> {
        match self {
            Self::Reason(Reason { since, .. }) | Self::Revert(Revert { since, .. }) => Some(*since),
            Self::Comment(_) => None,
        }
    }
}

/// The user has reverted changes of a CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revert {
    /// The CLI session that made the changes.
    pub cli: CliSessionId,
    /// Its process; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Arc<str>>,
    /// The files.
    pub paths: Vec<Arc<str>>,
    /// Other changes of the CLI in these files stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// See [`Note::since`].
    pub since: u64,
}

/// The reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The CLI session that proposed the edit.
    pub cli: CliSessionId,
    /// Its process; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Arc<str>>,
    /// The file of the rejected proposal.
    pub path: Arc<str>,
    /// The user's text.
    pub text: Text,
    /// See [`Note::since`].
    pub since: u64,
}
