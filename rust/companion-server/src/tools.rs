//! The tools: which are offered, their arguments, and who carries them out.
//!
//! A call that can't be carried out has a result with `isError` whose text names the argument,
//! because that text is what the client fails the edit with.

use std::sync::Arc;

use companion_protocol::ide::{DiffArguments, truncate_utf16};
use companion_protocol::jsonrpc::{Params, describe};
use companion_protocol::mcp::{CallToolParams, CallToolResult, ListToolsResult};
use companion_protocol::tool::Tool;
use serde::de::IgnoredAny;

use crate::core::Core;
use crate::host::Proposal;
use crate::session::Session;
use companion_platform::{Platform, is_absolute};

/// The longest path of any system, in UTF-16 units: that of Windows.
const MAX_PATH: usize = 32_767;

/// `tools/list`. Without openDiff and closeDiff the client does not review edits here.
pub(crate) fn list(diffs: bool) -> ListToolsResult {
    let offered: &[Tool] = if diffs { &Tool::ALL } else { &[] };
    ListToolsResult { tools: offered.iter().map(|tool| tool.definition()).collect() }
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
fn find(core: &Core, name: &str) -> Result<Tool, String> {
    let tool = Tool::named(name).filter(|_| core.config.settings.diffs);
    tool.ok_or_else(|| format!("Unknown tool: {name}"))
}

/// Carries a tool out, or says which argument is wrong.
async fn run(
    core: &Core,
    session: &Session,
    tool: Tool,
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
        Tool::OpenDiff => {
            let proposal = Proposal {
                file_path: path,
                new_content: arguments.new_content.ok_or("newContent is missing")?,
                kinds: Arc::clone(&core.kinds),
                untaken: None,
            };
            core.diffs.open(session, proposal).await
        }
        Tool::CloseDiff => {
            let suppress = arguments.suppress_notification.unwrap_or_default();
            core.diffs.close(session.id, path, suppress).await
        }
        Tool::AcceptDiff => {
            // The user may accept any proposal in the editor; a client has no business elsewhere.
            let patience = core.config.limits.host_timeout;
            match core.workspace.check(&path, patience).await {
                Ok(()) => core.diffs.decide(path, true).await,
                Err(why) => {
                    CallToolResult::error(format!("acceptDiff: {why}; accept it in the editor"))
                }
            }
        }
        Tool::RejectDiff => core.diffs.decide(path, false).await,
    })
}
