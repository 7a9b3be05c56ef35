//! The four tools: what the model reads about them, and their arguments.
//!
//! A call that can't be carried out has a result with `isError` whose text names the argument,
//! because that text is what the client fails the edit with.

use std::sync::Arc;

use companion_protocol::ide::{DiffArguments, truncate_utf16};
use companion_protocol::jsonrpc::{Params, describe};
use companion_protocol::mcp::{CallToolParams, CallToolResult, ListToolsResult, Tool};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::core::Core;
use crate::host::Proposal;
use crate::session::Session;
use companion_platform::{Platform, is_absolute};

/// The longest path of any system, in UTF-16 units: that of Windows.
const MAX_PATH: usize = 32_767;

/// `tools/list`. Without openDiff and closeDiff the client does not review edits here.
pub(crate) fn list(diffs: bool) -> ListToolsResult {
    ListToolsResult { tools: if diffs { tools() } else { Vec::new() } }
}

fn tools() -> Vec<Tool> {
    let file_path = json!({
        "type": "string",
        "minLength": 1,
        "description": "The absolute path of the file. It names the diff in later calls and in \
            notifications, character for character.",
    });
    let only_path = schema(&json!({ "filePath": file_path }), &["filePath"]);
    vec![
        Tool {
            name: "openDiff",
            title: "Open a diff",
            description: "Shows a proposed edit in the user's editor: the file as it is beside \
                the proposed content, which the user can edit, accept or reject. The file may be \
                new. Returns as soon as the diff shows; the decision follows as a notification, \
                ide/diffAccepted with the final content or ide/diffRejected. Nothing is written \
                to the file. A diff that is open for the same file is replaced.",
            input_schema: schema(
                &json!({
                    "filePath": file_path,
                    "newContent": {
                        "type": "string",
                        "description": "The whole proposed content of the file; may be empty.",
                    },
                }),
                &["filePath", "newContent"],
            ),
        },
        Tool {
            name: "closeDiff",
            title: "Close a diff",
            description: "Closes an open diff without a decision. Returns JSON, \
                {\"content\": \"...\"} with the final text of the proposal, or {} if no diff is \
                open for the file.",
            input_schema: schema(
                &json!({
                    "filePath": file_path,
                    "suppressNotification": {
                        "type": "boolean",
                        "description": "Do not send ide/diffRejected to the caller. \
                            The default is false.",
                    },
                }),
                &["filePath"],
            ),
        },
        Tool {
            name: "acceptDiff",
            title: "Accept a diff",
            description: "Accepts an open diff in the user's place: the editor puts the \
                proposal, with the edits made so far, into the file, and ide/diffAccepted is \
                sent to the client that opened the diff. Only for files within the workspace; \
                others the user accepts in the editor.",
            input_schema: only_path.clone(),
        },
        Tool {
            name: "rejectDiff",
            title: "Reject a diff",
            description: "Rejects an open diff in the user's place: the proposal is dropped, \
                and ide/diffRejected is sent to the client that opened the diff.",
            input_schema: only_path,
        },
    ]
}

fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// `tools/call`
pub(crate) async fn call(
    core: &Core,
    session: &Session,
    params: Params<'_>,
) -> Result<CallToolResult, serde_json::Error> {
    let call = match params.parse::<CallToolParams<DiffArguments>>() {
        Ok(call) => call,
        Err(error) => {
            // Wrong arguments are for the model to read; all else is an error of the protocol.
            let call: CallToolParams<IgnoredAny> = params.parse()?;
            let wrong = match find(core, &call.name) {
                Ok(_) => format!("Invalid arguments: {}", describe(&error)),
                Err(unknown) => unknown,
            };
            return Ok(CallToolResult::error(wrong));
        }
    };
    let tool = match find(core, &call.name) {
        Ok(tool) => tool,
        Err(unknown) => return Ok(CallToolResult::error(unknown)),
    };
    Ok(match run(core, session, tool, call.arguments).await {
        Ok(result) => result,
        Err(wrong) => CallToolResult::error(format!("Invalid arguments: {wrong}")),
    })
}

/// The tool of that name, if it is offered.
fn find(core: &Core, name: &str) -> Result<&'static str, String> {
    let known = ["openDiff", "closeDiff", "acceptDiff", "rejectDiff"];
    let tool = known.into_iter().find(|tool| core.config.settings.diffs && *tool == name);
    tool.ok_or_else(|| format!("Unknown tool: {name}"))
}

/// Calls a tool of [`tools`], or says which argument is wrong.
async fn run(
    core: &Core,
    session: &Session,
    tool: &str,
    arguments: DiffArguments,
) -> Result<CallToolResult, &'static str> {
    let path = arguments.file_path.ok_or("filePath is missing")?;
    if path.is_empty() {
        return Err("filePath is empty");
    }
    if !is_absolute(Platform::CURRENT, &path) {
        return Err("filePath must be an absolute path");
    }
    if path.contains('\0') {
        return Err("filePath contains a NUL character");
    }
    if truncate_utf16(&path, MAX_PATH).len() < path.len() {
        return Err("filePath is too long for a path");
    }
    Ok(match tool {
        "openDiff" => {
            let proposal = Proposal {
                file_path: path,
                new_content: arguments.new_content.ok_or("newContent is missing")?,
                kinds: Arc::clone(&core.kinds),
                untaken: None,
            };
            core.diffs.open(session, proposal).await
        }
        "closeDiff" => {
            let suppress = arguments.suppress_notification.unwrap_or_default();
            core.diffs.close(session.id, path, suppress).await
        }
        "acceptDiff" => {
            // The user may accept any proposal in the editor; a client has no business elsewhere.
            let patience = core.config.limits.host_timeout;
            match core.workspace.check(&path, patience).await {
                Ok(()) => core.diffs.decide(path, true).await,
                Err(why) => {
                    CallToolResult::error(format!("acceptDiff: {why}; accept it in the editor"))
                }
            }
        }
        _ => core.diffs.decide(path, false).await,
    })
}
