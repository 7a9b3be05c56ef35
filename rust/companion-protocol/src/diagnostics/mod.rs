//! Defines diagnostics: the errors and warnings that an editor found in its files.
//!
//! The companion sends a [`DiagnosticsRequest`] to the editor, and the editor answers with
//! [`Diagnostics`]. From these the companion makes a bounded [`DiagnosticsReport`] for the model.
//! Shapes and severities come from the Language Server Protocol, except that positions start at 1.

mod report;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ide::Position;
pub use report::{DiagnosticsReport, FileReport};

/// The severity of a diagnostic, the most severe first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file does not compile or work.
    Error,
    /// Probably a mistake.
    Warning,
    /// Possibly a mistake: a weak warning of JetBrains IDEs.
    #[default]
    Information,
    /// A matter of taste, spelling among them.
    Hint,
}

impl Severity {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }

    /// Makes the JSON Schema of the argument `severity`.
    pub fn schema() -> Value {
        json!({
            "type": "string",
            "enum": [Self::Error, Self::Warning, Self::Information, Self::Hint],
            "description": "The least severe problems to list. The default is information; hints \
                are matters of style and spelling.",
        })
    }
}

/// The parameters of the request `editor/diagnostics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsRequest {
    /// The files, absolute.
    pub paths: Vec<String>,
    /// The least severe diagnostics to return.
    pub severity: Severity,
}

/// The result of the request `editor/diagnostics`, for the texts on the disk.
///
/// The editor answers within 2.5 s, if necessary with incomplete diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// One entry per file. A file without an entry is unknown to the editor.
    pub files: Vec<FileDiagnostics>,
}

/// The diagnostics of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiagnostics {
    /// The path from the request, byte for byte.
    pub path: String,
    /// In any order.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the list may be incomplete: a clause for people, such as "the IDE is still indexing".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// An error or warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The message, in plain text.
    pub message: String,
    /// The part of the file.
    pub range: Range,
    /// The tool that found it, such as a compiler or a linter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name or number of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first position.
    pub start: Position,
    /// The end: the first position that is not part of the range.
    pub end: Position,
}
