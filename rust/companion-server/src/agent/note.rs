//! Declares the notes that a model gets: what the user has written for it, and reverts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::text::{Digest, Text};

/// The `session_id` of a CLI's hooks. It stays the same over restarts of the companion.
pub(crate) type AgentId = Arc<str>;

/// Names a note, also for the next process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct NoteId(pub(crate) u64);

/// A text for a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Note {
    Reason(Reason),
    Comment(Comment),
    Revert(Revert),
}

/// The user has reverted changes of a CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Revert {
    pub(crate) agent: AgentId,
    /// The files.
    pub(crate) paths: Vec<Arc<str>>,
}

/// The reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) agent: AgentId,
    /// The file of the rejected proposal.
    pub(crate) path: Arc<str>,
    pub(crate) text: Text,
    /// When the user wrote it, in milliseconds since 1970.
    pub(crate) since: u64,
    /// The file's text that the client got in place of a rejection.
    #[serde(skip)]
    pub(crate) sent: Option<Digest>,
}

/// A comment on lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comment {
    /// Chosen by the editor.
    pub(crate) id: Arc<str>,
    pub(crate) path: Arc<str>,
    /// The first line, from 1.
    pub(crate) line: u32,
    pub(crate) end_line: u32,
    /// The content of the lines when the user wrote the comment.
    pub(crate) content: Text,
    pub(crate) text: Text,
}
