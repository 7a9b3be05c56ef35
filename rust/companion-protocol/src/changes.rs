//! Defines the answer of the endpoint `/changes`, which `gemini-companion changes --json` prints.
//!
//! Scripts read it, so a new field may be added, but none is removed or changes its meaning without
//! a new [`VERSION`]. A new field has a serde default, because the program may be newer than the
//! companion that it asks.

use serde::{Deserialize, Serialize};

use crate::editor::ChangedFile;

/// The path of the endpoint.
pub const ENDPOINT: &str = "/changes";

/// The version of the format.
pub const VERSION: u32 = 1;

/// The changes of all CLIs of a companion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeList {
    /// [`VERSION`]
    pub version: u32,
    /// The prompts that have changed a file, the oldest first.
    pub prompts: Vec<PromptChanges>,
}

/// The changes since a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptChanges {
    /// The CLI session, from its hooks.
    pub session: String,
    /// The number of the prompt, from 1 for each companion.
    pub prompt: u64,
    /// The first line of the prompt; may be empty.
    pub title: String,
    /// The time of the prompt, in milliseconds since 1970.
    pub time: u64,
    /// In the order of their first edits.
    pub files: Vec<FileChange>,
}

/// The change of a file since a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The facts that the editor has, too.
    #[serde(flatten)]
    pub file: ChangedFile,
    /// The path from the root of its folder, with `/`.
    pub relative_path: String,
    /// A unified diff; absent for a private file, and if the texts are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}
