//! The problems that an editor knows of its files.
//!
//! The editor is asked by a [`DiagnosticsRequest`] and answers with [`Diagnostics`]; of these a
//! [`DiagnosticsReport`] is made for the model, which is bounded. Shapes and severities are those
//! of the Language Server Protocol, but for positions, which start at 1 as people count.

mod report;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ide::Position;
pub use report::{DiagnosticsReport, FileReport};

/// How bad a problem is, the worst first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The file can't be used as it is.
    Error,
    /// Probably a mistake.
    Warning,
    /// May be a mistake: a weak warning of JetBrains IDEs.
    #[default]
    Information,
    /// A matter of taste, spelling among them.
    Hint,
}

impl Severity {
    /// Its name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }

    /// JSON Schema of the argument by which a model says which problems it wants.
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
    /// The least severe problems that are wanted.
    pub severity: Severity,
}

/// The result of the request `editor/diagnostics`: what the editor knows after 2.5 s at most, of the
/// texts that are on the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// A file that is missing is one about which the editor says nothing.
    pub files: Vec<FileDiagnostics>,
}

/// The problems of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiagnostics {
    /// As it was asked for, byte for byte.
    pub path: String,
    /// In any order.
    pub diagnostics: Vec<Diagnostic>,
    /// Why there may be more of them: a clause for people, such as "the IDE is still indexing".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in plain text.
    pub message: String,
    /// Where it is.
    pub range: Range,
    /// Who found it, such as a compiler or a linter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name or number of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Where it starts.
    pub start: Position,
    /// Where it ends: the first place that is not part of it.
    pub end: Position,
}
