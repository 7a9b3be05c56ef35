//! Defines and answers the tool `get_diagnostics`.

use companion_protocol::diagnostics::{DiagnosticsReport, Severity};
use companion_protocol::mcp::{CallToolResult, ToolAnnotations, ToolDefinition};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::Instant;

use super::companions::{Answer, Companions, Failure};
use super::tool::ModelTool;

/// The arguments of a model.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Arguments {
    /// `None` means all open files.
    #[serde(default)]
    path: Option<String>,
    /// The least severe diagnostics to report. `None` means the companion's default.
    #[serde(default)]
    severity: Option<Severity>,
}

/// The arguments for a companion.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CompanionArguments {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
}

pub(super) fn definition() -> ToolDefinition {
    ToolDefinition {
        name: "get_diagnostics",
        title: "Get problems",
        description: "Returns the errors and warnings that the user's editor shows for a file of the \
            project, or for the files that are open in it: a line for each, \
            path:line:column: severity: message, the worst if there are many.",
        input_schema: json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, absolute or relative to the current folder; absent, all \
                        files that are open in the editor.",
                },
                "severity": Severity::schema(),
            },
        }),
        output_schema: None,
        annotations: Some(ToolAnnotations { read_only_hint: true, open_world_hint: false }),
    }
}

pub(super) async fn call(
    arguments: Arguments,
    companions: &Companions,
    deadline: Instant,
) -> CallToolResult {
    let Arguments { path, severity } = arguments;
    // Some models write an empty text for a missing argument.
    let path = path.filter(|path| !path.is_empty());
    let file_path = path.map(|path| companions.to_companion(&path));
    let arguments = CompanionArguments { file_path, severity };
    let answer = companions.ask(ModelTool::GetDiagnostics, arguments, deadline).await;
    let answer: Answer<DiagnosticsReport> = match answer {
        Ok(answer) => answer,
        Err(failure) => return CallToolResult::error(explain(&failure)),
    };
    let mut text = answer.text();
    let mut report = DiagnosticsReport::default();
    if let Some(structured) = answer.structured_content {
        report = companions.mapping.report_to_client(structured);
        text = report.text();
    }
    if answer.is_error {
        return CallToolResult::error(text);
    }
    CallToolResult::structured(text, serde_json::to_value(&report).expect("a report is JSON"))
}

pub(super) fn explain(failure: &Failure) -> String {
    match failure {
        Failure::Absent(why) => {
            format!("No editor is connected. Continue without its problems. ({why})")
        }
        Failure::NotOffered => "The user's editor does not report problems.".to_owned(),
        Failure::Failed(why) => why.clone(),
    }
}
