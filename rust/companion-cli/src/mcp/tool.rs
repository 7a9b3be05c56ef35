//! Lists the tools for models.

use companion_protocol::mcp::{CallToolResult, ToolDefinition};
use companion_protocol::tool::Tool;
use serde_json::Value;
use strum::VariantArray;
use tokio::time::Instant;

use super::companions::{Companions, Failure};
use super::diagnostics;

/// A tool for models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub(super) enum ModelTool {
    /// Returns the diagnostics of the editor.
    GetDiagnostics,
}

impl ModelTool {
    /// All tools. `tools/list` has this order.
    pub(super) const ALL: &'static [Self] = Self::VARIANTS;

    /// Finds the tool of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.definition().name == name)
    }

    /// The companion's tool that answers it.
    pub(super) const fn companion_tool(self) -> Tool {
        match self {
            Self::GetDiagnostics => Tool::GetDiagnostics,
        }
    }

    /// The tool's entry in `tools/list`. The name has the form that models know.
    pub(super) fn definition(self) -> ToolDefinition {
        match self {
            Self::GetDiagnostics => diagnostics::definition(),
        }
    }

    /// Answers a call with the arguments of a model. A wrong argument gives a text for the model.
    pub(super) async fn call(
        self,
        arguments: Option<Value>,
        companions: &Companions,
        deadline: Instant,
    ) -> CallToolResult {
        match self {
            Self::GetDiagnostics => diagnostics::call(arguments, companions, deadline).await,
        }
    }

    /// The text for the model if no companion answers the tool.
    pub(super) fn explain(self, failure: &Failure) -> String {
        match self {
            Self::GetDiagnostics => diagnostics::explain(failure),
        }
    }
}
