//! Lists the tools for models.

use companion_protocol::jsonrpc::describe;
use companion_protocol::mcp::{CallToolResult, ToolDefinition};
use companion_protocol::tool::Tool;
use serde::de::DeserializeOwned;
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

    /// Checks the arguments of a model. The error is a text for the model.
    pub(super) fn parse(self, arguments: Option<Value>) -> Result<ToolCall, String> {
        match self {
            Self::GetDiagnostics => parse(arguments).map(ToolCall::GetDiagnostics),
        }
    }

    /// The text for the model if no companion answers the tool.
    pub(super) fn explain(self, failure: &Failure) -> String {
        match self {
            Self::GetDiagnostics => diagnostics::explain(failure),
        }
    }
}

/// A call of a tool, with valid arguments.
#[derive(Debug)]
pub(super) enum ToolCall {
    GetDiagnostics(diagnostics::Arguments),
}

impl ToolCall {
    /// Asks a companion, and returns its answer.
    pub(super) async fn answer(self, companions: &Companions, deadline: Instant) -> CallToolResult {
        match self {
            Self::GetDiagnostics(arguments) => {
                diagnostics::call(arguments, companions, deadline).await
            }
        }
    }
}

fn parse<A: DeserializeOwned + Default>(arguments: Option<Value>) -> Result<A, String> {
    let Some(arguments) = arguments else { return Ok(A::default()) };
    serde_json::from_value(arguments)
        .map_err(|error| format!("Invalid arguments: {}", describe(&error)))
}
