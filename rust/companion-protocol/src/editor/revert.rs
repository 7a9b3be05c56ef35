//! Defines the messages about the revert of a CLI's changes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The parameters of `cli/revertPlan`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanRevert {
    /// The files, each once.
    pub files: Vec<FileToRevert>,
    /// The editor's undo restores a deleted file, so the user is not asked about deletions.
    #[serde(default)]
    pub undoes_deletions: bool,
}

/// A file to revert, with its texts at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FileToRevert {
    /// A path from `cli/changed`.
    pub path: String,
    /// The prompts whose changes of the file to revert.
    pub prompts: Vec<PromptOfSession>,
    /// The text on the disk; absent if the file does not exist.
    #[serde(default)]
    pub disk: Option<String>,
    /// The unsaved text in the editor; absent if nothing is unsaved.
    #[serde(default)]
    pub unsaved: Option<String>,
    /// The only change to revert, of one prompt; absent if all.
    #[serde(default)]
    pub hunk: Option<Hunk>,
}

/// The result of `cli/hunks`: the changes in a file, from its first line to its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hunks {
    /// Empty if only the file as such was created or deleted.
    pub hunks: Vec<ListedHunk>,
}

/// A hunk with its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedHunk {
    /// As in a unified diff. An editor shows it, and need not send it back.
    pub header: String,
    /// The hunk.
    #[serde(flatten)]
    pub hunk: Hunk,
}

impl From<Hunk> for ListedHunk {
    fn from(hunk: Hunk) -> Self {
        Self { header: hunk.header(), hunk }
    }
}

/// A run of changed lines with the lines around it, as in a unified diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The number of its first line in the text before the prompt, from 1.
    pub before: usize,
    /// The number of its first line in the text as the CLI left it, from 1.
    pub after: usize,
    /// Its lines, each with its line ending. A line begins with a space if it stays, with `-` if it was
    /// removed, and with `+` if it was added. A last line of a file may have no line ending.
    pub lines: Vec<String>,
}

impl Hunk {
    /// Its header in a unified diff, such as `@@ -1,2 +1,3 @@`. A side without lines has the number of the line
    /// before.
    #[must_use]
    pub fn header(&self) -> String {
        let side = |first: usize, mark| {
            let count = self.lines.iter().filter(|line| line.starts_with([' ', mark])).count();
            format!("{},{count}", if count == 0 { first.saturating_sub(1) } else { first })
        };
        format!("@@ -{} +{} @@", side(self.before, '-'), side(self.after, '+'))
    }
}

/// Names a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PromptOfSession {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt.
    pub prompt: u64,
}

/// The result of `cli/revertPlan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RevertPlan {
    /// In the order of the parameters.
    pub files: Vec<PlannedFile>,
    /// The question before anything is written; absent if no file has a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// How to revert a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedFile {
    /// The file.
    pub path: String,
    /// The way to revert it.
    #[serde(flatten)]
    pub action: RevertAction,
    /// What the user would lose, as the end of a sentence about the file; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The file's text is not the text that the CLI left, which `cli/texts` returns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

/// The way to revert a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum RevertAction {
    /// Write this text, byte for byte.
    Write {
        /// With the line endings and the byte order mark of the file.
        text: Arc<str>,
    },
    /// Delete the file.
    Delete,
    /// The file has its text from before already.
    Nothing,
    /// Leave the file as it is.
    Refuse {
        /// For the user.
        reason: String,
    },
}
