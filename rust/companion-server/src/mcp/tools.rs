//! Lists the tools, reads their arguments and carries them out.
//!
//! If a call can't be carried out, its result has `isError` and names the argument. The client
//! fails the edit with this text.

use std::sync::Arc;
use std::time::Duration;

use companion_core::calls::CallOrigin;
use companion_core::companion::Action;
use companion_protocol::diagnostics::{DiagnosticsReport, DiagnosticsRequest, Severity};
use companion_protocol::editor::ReasonArrival;
use companion_protocol::jsonrpc::{Params, describe};
use companion_protocol::mcp::{CallToolParams, CallToolResult, ListToolsResult};
use companion_protocol::settings::Settings;
use companion_protocol::tool::{Tool, ToolArguments};
use serde::de::IgnoredAny;
use tokio::time::Instant;

use crate::agent;
use crate::disk::paths::check_path;
use crate::host::Proposal;
use crate::mcp::result::ToolResult;
use crate::session::Session;
use crate::state::ServerState;
use crate::workspace::DISK_TIMED_OUT;

/// The most open files whose diagnostics are reported: the files that had the focus last.
const MAX_FILES: usize = 100;

/// The time to check again which files may be shared, even if the editor answers late.
const LAST_CHECK_TIME: Duration = Duration::from_millis(250);

/// Lists the tools (`tools/list`). Without openDiff and closeDiff the client does not review edits
/// here.
pub(crate) fn list(settings: &Settings) -> ListToolsResult {
    let offered = Tool::ALL.into_iter().filter(|tool| tool.is_offered(settings));
    ListToolsResult { tools: offered.map(Tool::definition).collect() }
}

/// The parameters of `tools/call`.
pub(crate) struct Call {
    /// A call, or the error that the model reads.
    call: Result<(Tool, ToolArguments), String>,
    /// When the model would get the reason of a rejection, for a proposal.
    reason: ReasonArrival,
}

impl Call {
    /// A call whose arguments have the right types.
    pub(crate) fn new(settings: &Settings, params: CallToolParams<'_, ToolArguments>) -> Self {
        let tool = match find(settings, &params.name) {
            Ok(tool) => tool,
            Err(unknown) => return Err(unknown).into(),
        };
        let mut arguments = params.arguments;
        if tool != Tool::OpenDiff {
            arguments.new_content = None;
        }
        if let Some(wrong) = arguments.file_path.as_deref().and_then(|path| check_path(path).err())
        {
            return Err(format!("Invalid arguments: {wrong}")).into();
        }
        Ok((tool, arguments)).into()
    }

    /// The tool, if the call is valid.
    pub(crate) fn tool(&self) -> Option<Tool> {
        self.call.as_ref().ok().map(|(tool, _)| *tool)
    }

    /// Finds out when the model would get the reason of a rejection, if the call is a proposal.
    /// Call this before the next request of the session may start: it may wait for a disk.
    pub(crate) async fn prepare(&mut self, state: &ServerState, session: &Session) {
        if let Ok((Tool::OpenDiff, ToolArguments { file_path: Some(path), .. })) = &self.call {
            self.reason = agent::reason_arrival(state, session, path).await;
        }
    }

    /// The bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        let size = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match &self.call {
            Ok((_, arguments)) => size(&arguments.file_path) + size(&arguments.new_content),
            Err(wrong) => wrong.len(),
        }
    }
}

impl From<Result<(Tool, ToolArguments), String>> for Call {
    fn from(call: Result<(Tool, ToolArguments), String>) -> Self {
        Self { call, reason: ReasonArrival::Never }
    }
}

/// Reads the parameters of `tools/call`. The model reads an error about arguments. Other errors are
/// errors of the protocol.
pub(crate) fn read(settings: &Settings, params: Params<'_>) -> Result<Call, serde_json::Error> {
    params.parse().map(|params| Call::new(settings, params)).or_else(|error| {
        let call: CallToolParams<IgnoredAny> = params.parse()?;
        let wrong = |_| format!("Invalid arguments: {}", describe(&error));
        Ok(Err(find(settings, &call.name).map_or_else(|unknown| unknown, wrong)).into())
    })
}

/// Handles `tools/call`.
pub(crate) async fn run(
    state: &ServerState,
    session: &Session,
    from: CallOrigin<'_>,
    call: Call,
) -> ToolResult {
    let Call { call, reason } = call;
    match call {
        Ok((tool, arguments)) => {
            match carry_out(state, session, from, tool, arguments, reason).await {
                Ok(result) => result,
                Err(wrong) => ToolResult::error(&format!("Invalid arguments: {wrong}")),
            }
        }
        Err(wrong) => ToolResult::error(&wrong),
    }
}

/// Finds the tool of that name, if the server offers it.
fn find(settings: &Settings, name: &str) -> Result<Tool, String> {
    let tool = Tool::named(name).filter(|tool| tool.is_offered(settings));
    tool.ok_or_else(|| format!("Unknown tool: {name}"))
}

/// Carries out a tool, or names the missing argument.
async fn carry_out(
    state: &ServerState,
    session: &Session,
    from: CallOrigin<'_>,
    tool: Tool,
    arguments: ToolArguments,
    reason: ReasonArrival,
) -> Result<ToolResult, &'static str> {
    let ToolArguments { file_path, new_content, suppress_notification, severity, only_new } =
        arguments;
    if let Some(answer) =
        file_path.as_deref().and_then(|path| state.driver.repeated(from, tool, path))
    {
        // The first call has the proposal.
        drop(new_content);
        return Ok(answer.await.into());
    }
    let named = file_path.ok_or("filePath is missing");
    Ok(match tool {
        Tool::OpenDiff => {
            let proposal = Proposal {
                file_path: named?,
                new_content: new_content.ok_or("newContent is missing")?,
                cli: state.sessions.number(session, |other| {
                    state.driver.ask(|companion| companion.diffs().count(other) > 0)
                }),
                client: session.client,
                reason,
                probe: Arc::clone(&state.probe),
                untaken: None,
            };
            state.driver.open(from, proposal).await.into()
        }
        Tool::CloseDiff => {
            let suppress = suppress_notification.unwrap_or_default();
            state.driver.call(from, named?.into(), Action::Close { suppress }, None).await.into()
        }
        Tool::AcceptDiff => {
            // The user may accept any proposal in the editor. A client may accept only within the
            // workspace.
            let patience = state.config.limits.host_timeout;
            let path = named?;
            match state.workspace.check(&path, patience).await {
                Ok(()) => {
                    let accept = Action::Decide { accept: true };
                    state.driver.call(from, path.into(), accept, None).await.into()
                }
                Err(why) => {
                    ToolResult::error(&format!("acceptDiff: {why}; accept it in the editor"))
                }
            }
        }
        Tool::RejectDiff => {
            let reject = Action::Decide { accept: false };
            state.driver.call(from, named?.into(), reject, None).await.into()
        }
        Tool::GetDiagnostics => {
            let severity = severity.unwrap_or_default();
            let told = diagnostics(state, named.ok(), severity, only_new.unwrap_or_default());
            match told.await {
                Ok(Some(report)) => {
                    let structured = serde_json::to_value(&report).expect("a report is JSON");
                    CallToolResult::structured(report.text(), structured)
                }
                Ok(None) => CallToolResult::text("No file of the workspace is open in the editor."),
                Err(why) => CallToolResult::error(why),
            }
            .into()
        }
    })
}

/// Reports the diagnostics of a file of the workspace, or of the open files, as the tool does
/// without a `severity`.
pub(crate) async fn diagnostics_of(
    state: &ServerState,
    file_path: Option<String>,
    only_new: bool,
) -> Result<Option<DiagnosticsReport>, String> {
    diagnostics(state, file_path, Severity::default(), only_new).await
}

/// Reports the diagnostics of a file of the workspace, or of the open files; `None` if no file of
/// the workspace is open.
async fn diagnostics(
    state: &ServerState,
    file_path: Option<String>,
    severity: Severity,
    only_new: bool,
) -> Result<Option<DiagnosticsReport>, String> {
    let silent = || {
        let why = "getDiagnostics: the user shares nothing of this project with CLIs";
        if state.context.is_silent() { Err(why.to_owned()) } else { Ok(()) }
    };
    silent()?;
    let deadline = Instant::now() + state.config.limits.diagnostics_timeout;
    let check_shared = async |path: &str, deadline: Instant| {
        let patience = deadline.saturating_duration_since(Instant::now());
        state.workspace.check_shared(path, patience).await
    };
    let refusal = |why| format!("getDiagnostics: {why}");
    let is_one = file_path.is_some();
    let mut paths = Vec::new();
    if let Some(path) = file_path {
        check_shared(&path, deadline).await.map_err(refusal)?;
        paths.push(path);
    } else {
        let mut open = state.context.open_files();
        open.truncate(MAX_FILES);
        for path in open {
            match check_shared(&path, deadline).await {
                Ok(()) => paths.push(path),
                Err(DISK_TIMED_OUT) => return Err(refusal(DISK_TIMED_OUT)),
                Err(_) => {}
            }
        }
    }
    if paths.is_empty() {
        return Ok(None);
    }
    let request = DiagnosticsRequest { paths: paths.clone(), severity };
    let mut report = state.diagnostics.report(request, only_new, deadline).await?;
    // The user may have changed this setting in the meantime.
    silent()?;
    let deadline = deadline.max(Instant::now() + LAST_CHECK_TIME);
    for path in paths {
        match check_shared(&path, deadline).await {
            Err(why) if is_one || why == DISK_TIMED_OUT => return Err(refusal(why)),
            Err(_) => report.files.retain(|file| file.found.path != path),
            Ok(()) => {}
        }
    }
    Ok(Some(report))
}
