//! Defines the messages about a CLI's turns, its changes, and comments for its model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::revert::Hunk;

/// The parameters of `diff/reasonLost`: no model gets the reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonLost {
    /// The path from `diff/open`, byte for byte.
    pub file_path: String,
    /// The user's text.
    pub reason: String,
    /// Why no model gets it, for the user, as the end of a sentence.
    pub why: String,
}

/// The parameters of `cli/waiting`: a CLI asks the user something in its terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CliWaiting {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The question, in one line.
    pub message: String,
}

/// The parameters of `cli/answered`: the question of a CLI does not wait for the user any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CliAnswered {
    /// The CLI session, from its hooks.
    pub session: String,
}

/// The parameters of `cli/finished`: a turn of a CLI has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CliFinished {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The seconds since the prompt.
    pub seconds: u64,
}

/// The parameters of `cli/command`: a shell command of a CLI begins, perhaps after a question to the user,
/// or has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CliCommand {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt.
    pub prompt: u64,
    /// The first line of the prompt, 100 UTF-16 units at most; may be empty.
    pub title: String,
    /// The time of the prompt, in milliseconds since 1970.
    pub time: u64,
    /// Whether it begins.
    pub running: bool,
    /// Whether no hook has reported its end, as of a command that the user has denied.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

/// The parameters of `cli/changed`: all files that a CLI has changed since a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CliChanged {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt, from 1 for each companion.
    pub prompt: u64,
    /// The first line of the prompt, 100 UTF-16 units at most; may be empty.
    pub title: String,
    /// The time of the prompt, in milliseconds since 1970; 0 if the prompt has left the list.
    pub time: u64,
    /// In the order of their first edits.
    pub files: Vec<ChangedFile>,
}

/// A file that a CLI has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ChangedFile {
    /// Absolute.
    pub path: String,
    /// What happened to the file since the prompt.
    pub kind: ChangeKind,
    /// The number of added lines; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// The number of removed lines; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// The text from before is kept.
    pub revertible: bool,
    /// The user has reverted the change.
    pub reverted: bool,
    /// The file is private.
    pub private: bool,
    /// Something else may have changed the file during the prompt, so ask before a revert.
    pub mixed: bool,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Its text was changed.
    Changed,
    /// It was created.
    Created,
    /// It was deleted.
    Deleted,
}

/// The parameters of `cli/texts`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ChangedPath {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt.
    pub prompt: u64,
    /// A path from `cli/changed`.
    pub path: String,
}

/// The parameters of `cli/reverted`, `cli/revertUndone` and `cli/kept`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ChangedPaths {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt.
    pub prompt: u64,
    /// Paths from `cli/changed`.
    pub paths: Vec<String>,
    /// The only change that is meant, of one path; absent if all.
    #[serde(default)]
    pub hunk: Option<Hunk>,
}

/// The result of `cli/texts`: a file's texts as they were on the disk, with the line endings and
/// the byte order mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedText {
    /// Before the first edit since the prompt; absent if the file did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Arc<str>>,
    /// After the last edit; absent if the CLI has deleted the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Arc<str>>,
}

/// A comment of the user on lines of a file, for the model. The companion keeps it, also in its resume file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommentOnLines {
    /// Chosen by the editor; at most 64 bytes.
    pub id: Arc<str>,
    /// The file, absolute.
    pub path: Arc<str>,
    /// The first line, from 1.
    pub line: u32,
    /// The last line.
    pub end_line: u32,
    /// The content of these lines.
    pub content: Arc<str>,
    /// The comment.
    pub text: Arc<str>,
}

impl CommentOnLines {
    /// What the user has written. The lines and the path follow the file.
    pub fn words(&self) -> &str {
        let Self { id: _, path: _, line: _, end_line: _, content: _, text } = self;
        text
    }
}

/// The parameters of `comment/removed`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CommentId {
    /// The comment.
    pub id: String,
}

/// The parameters of `comment/pending`: comments that wait again, of the last run or because the CLI took them
/// out of its model's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentsPending {
    /// In the order in which the user wrote them.
    pub comments: Vec<CommentOnLines>,
}

/// The parameters of `comment/delivered`: a model has got these comments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentsDelivered {
    /// The comments.
    pub ids: Vec<String>,
}

/// The parameters of `comment/refused`: no model gets the comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentRefused {
    /// The comment.
    pub id: String,
    /// A sentence for the user.
    pub reason: String,
}
