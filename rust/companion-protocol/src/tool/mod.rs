//! Defines the tools that a companion offers to clients: names, descriptions, path arguments.
//!
//! Gemini CLI and Qwen Code call these tools themselves, and do not offer them to their models. The
//! tools for a model are in `mcp.rs` of companion-cli.
//!
//! The server and the bridge match on [`Tool`] without a default, so that a new tool fails to
//! compile until both handle it.

mod arguments;

use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::diagnostics::Severity;
use crate::mcp::{ToolAnnotations, ToolDefinition};
use crate::settings::Settings;
pub use arguments::{RawArguments, ToolArguments};

/// A tool that a companion offers. `tools/list` has this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "camelCase")]
pub enum Tool {
    /// Shows a proposed edit.
    OpenDiff,
    /// Closes a proposal without a decision.
    CloseDiff,
    /// Accepts a proposal in the user's place.
    AcceptDiff,
    /// Rejects a proposal in the user's place.
    RejectDiff,
    /// Returns the diagnostics that the editor has found.
    GetDiagnostics,
}

impl Tool {
    /// The argument that is a path. A bridge maps it, and keeps calls about one path in order. Paths
    /// in the answer are mapped only for [`Tool::GetDiagnostics`].
    pub const PATH_ARGUMENT: &'static str = "filePath";

    /// All tools.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Finds the tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The name for `tools/call`, such as `openDiff`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the tool changes nothing.
    pub const fn is_read_only(self) -> bool {
        match self {
            Self::OpenDiff | Self::CloseDiff | Self::AcceptDiff | Self::RejectDiff => false,
            Self::GetDiagnostics => true,
        }
    }

    /// Whether a call must not overtake an earlier one, which it may be about.
    pub const fn follows_earlier_calls(self) -> bool {
        match self {
            Self::OpenDiff | Self::AcceptDiff | Self::RejectDiff | Self::GetDiagnostics => false,
            Self::CloseDiff => true,
        }
    }

    /// Whether a server with these settings offers the tool.
    pub const fn is_offered(self, settings: &Settings) -> bool {
        match self {
            Self::OpenDiff | Self::CloseDiff | Self::AcceptDiff | Self::RejectDiff => {
                settings.review
            }
            Self::GetDiagnostics => settings.diagnostics,
        }
    }

    /// The tool's entry in `tools/list`.
    pub fn definition(self) -> ToolDefinition {
        let (title, description) = match self {
            Self::OpenDiff => (
                "Open a diff",
                "Shows a proposed edit in the user's editor: the file as it is beside \
                the proposed content, which the user can edit, accept or reject. The file may be \
                new. Returns as soon as the diff shows; the decision follows as a notification, \
                ide/diffAccepted with the final content or ide/diffRejected. Nothing is written \
                to the file. A diff that is open for the same file is replaced.",
            ),
            Self::CloseDiff => (
                "Close a diff",
                "Closes an open diff without a decision. Returns JSON, \
                {\"content\": \"...\"} with the final text of the proposal, or {} if no diff is \
                open for the file.",
            ),
            Self::AcceptDiff => (
                "Accept a diff",
                "Accepts an open diff in the user's place: the editor puts the \
                proposal, with the edits made so far, into the file, and ide/diffAccepted is \
                sent to the client that opened the diff. Only for files within the workspace \
                that have not changed since; others the user accepts in the editor.",
            ),
            Self::RejectDiff => (
                "Reject a diff",
                "Rejects an open diff in the user's place: the proposal is dropped, \
                and ide/diffRejected is sent to the client that opened the diff.",
            ),
            Self::GetDiagnostics => (
                "Get problems",
                "Returns the errors and warnings that the user's editor has found in a file of \
                the workspace, or in the open files, for the text that is on the disk: a line for \
                each, path:line:column: severity: message, the worst if there are many. The same \
                is in structuredContent.",
            ),
        };
        let annotations = self
            .is_read_only()
            .then_some(ToolAnnotations { read_only_hint: true, open_world_hint: false });
        let input_schema = self.schema();
        ToolDefinition {
            name: self.name(),
            title,
            description,
            input_schema,
            output_schema: None,
            annotations,
        }
    }

    /// The tool's entry for a client without a session; `None` if such a client has no use for the tool.
    /// Its call of [`Tool::OpenDiff`] ends with the decision, so it needs no [`Tool::CloseDiff`].
    pub fn stateless_definition(self) -> Option<ToolDefinition> {
        match self {
            Self::OpenDiff => Some(ToolDefinition {
                description: "Shows a proposed edit in the user's editor: the file as it is beside \
                    the proposed content, which the user can edit, accept or reject. The file may be \
                    new. Returns when the user has decided, with the accepted content in \
                    structuredContent. Nothing is written to the file. A cancelled call withdraws \
                    the proposal. A diff that is open for the same file is replaced.",
                output_schema: Some(json!({
                    "type": "object",
                    "properties": {
                        "decision": { "enum": ["accepted", "rejected"] },
                        "content": {
                            "type": "string",
                            "description": "The whole accepted content, with the user's edits.",
                        },
                    },
                    "required": ["decision"],
                })),
                ..self.definition()
            }),
            Self::CloseDiff => None,
            Self::AcceptDiff | Self::RejectDiff | Self::GetDiagnostics => Some(self.definition()),
        }
    }

    /// Makes the JSON Schema of the arguments.
    fn schema(self) -> Value {
        let path = Self::PATH_ARGUMENT;
        let about = match self {
            Self::GetDiagnostics => "The absolute path of the file; absent, all open files.",
            Self::OpenDiff | Self::CloseDiff | Self::AcceptDiff | Self::RejectDiff => {
                "The absolute path of the file. It names the diff in later calls and in \
                notifications, character for character."
            }
        };
        let mut properties = json!({
            path: { "type": "string", "minLength": 1, "description": about },
        });
        let mut required = vec![path];
        match self {
            Self::OpenDiff => {
                properties["newContent"] = json!({
                    "type": "string",
                    "description": "The whole proposed content of the file; may be empty.",
                });
                required.push("newContent");
            }
            Self::CloseDiff => {
                properties["suppressNotification"] = json!({
                    "type": "boolean",
                    "description": "Do not send ide/diffRejected to the caller. The default is false.",
                });
            }
            Self::AcceptDiff | Self::RejectDiff => {}
            Self::GetDiagnostics => {
                required.clear();
                properties["severity"] = Severity::schema();
                properties["onlyNew"] = json!({
                    "type": "boolean",
                    "description": "List new problems only. Problems from the previous answer are \
                        counted, not listed. The default is false.",
                });
            }
        }
        json!({ "type": "object", "properties": properties, "required": required })
    }
}
