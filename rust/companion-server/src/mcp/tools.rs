//! Lists the tools, reads their arguments and carries them out.
//!
//! If a call can't be carried out, its result has `isError` and names the argument. The client
//! fails the edit with this text.

use std::sync::Arc;

use companion_core::calls::CallOrigin;
use companion_core::companion::{Action, End};
use companion_protocol::editor::ReasonArrival;
use companion_protocol::jsonrpc::{Params, describe};
use companion_protocol::mcp::{CallToolParams, CallToolResult, ListToolsResult};
use companion_protocol::text::{JsonString, not_unicode};
use companion_protocol::tool::{RawArguments, Tool, ToolArguments};
use serde::de::IgnoredAny;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diagnostics::SharedDiagnostics;
use crate::disk::paths::check_path;
use crate::driver::Driver;
use crate::host::Proposal;
use crate::mcp::result::ToolResult;
use crate::session::{Session, Sessions};
use crate::workspace::Workspace;
use crate::workspace::probe::TargetProbe;

/// The tools of a server.
pub(crate) struct Tools {
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) probe: Arc<TargetProbe>,
    pub(crate) diagnostics: Arc<SharedDiagnostics>,
    pub(crate) context: Arc<EditorContext>,
}

/// The parameters of `tools/call`: a call, or the error that the model reads.
pub(crate) struct Call(Result<(Tool, ToolArguments), String>);

impl Call {
    /// A call of `tools` with its arguments, but without the text of a proposal, which is returned.
    pub(crate) fn without_content<'a>(
        tools: &Tools,
        params: CallToolParams<'a, RawArguments<'a>>,
    ) -> (Self, Option<JsonString<'a>>) {
        let tool = match tools.find(&params.name) {
            Ok(tool) => tool,
            Err(unknown) => return (Self(Err(unknown)), None),
        };
        let RawArguments { others: arguments, new_content } = params.arguments;
        if let Some(wrong) = arguments.file_path.as_deref().and_then(|path| check_path(path).err())
        {
            return (Self(Err(format!("Invalid arguments: {wrong}"))), None);
        }
        (Self(Ok((tool, arguments))), new_content.filter(|_| tool == Tool::OpenDiff))
    }

    /// Adds the text of the proposal; `None` if it can't be decoded.
    pub(crate) fn with_content(mut self, content: Option<String>) -> Self {
        match (&mut self.0, content) {
            (Ok((_, arguments)), Some(content)) => arguments.new_content = Some(content),
            (call, _) => *call = Err(format!("Invalid arguments: {}", not_unicode("newContent"))),
        }
        self
    }

    /// The tool, if the call is valid.
    pub(crate) fn tool(&self) -> Option<Tool> {
        self.0.as_ref().ok().map(|(tool, _)| *tool)
    }

    /// The bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        let size = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        match &self.0 {
            Ok((_, arguments)) => size(&arguments.file_path) + size(&arguments.new_content),
            Err(wrong) => wrong.len(),
        }
    }
}

impl Tools {
    /// Lists the tools (`tools/list`). Without openDiff and closeDiff the client does not review
    /// edits here.
    pub(crate) fn list(&self) -> ListToolsResult {
        ListToolsResult { tools: self.offered().map(Tool::definition).collect() }
    }

    /// Lists the tools for clients without a session.
    pub(crate) fn stateless_list(&self) -> ListToolsResult {
        ListToolsResult { tools: self.offered().filter_map(Tool::stateless_definition).collect() }
    }

    fn offered(&self) -> impl Iterator<Item = Tool> {
        Tool::ALL.iter().copied().filter(|tool| tool.is_offered(&self.config.settings))
    }

    /// Finds the tool of that name, if the server offers it.
    fn find(&self, name: &str) -> Result<Tool, String> {
        let tool = Tool::named(name).filter(|tool| tool.is_offered(&self.config.settings));
        tool.ok_or_else(|| format!("Unknown tool: {name}"))
    }

    /// Reads the parameters of `tools/call`. The model reads an error about arguments. Other errors
    /// are errors of the protocol.
    pub(crate) fn read(&self, params: Params<'_>) -> Result<Call, serde_json::Error> {
        match params.parse() {
            Ok(params) => match Call::without_content(self, params) {
                (call, Some(content)) => Ok(call.with_content(content.decode())),
                (call, None) => Ok(call),
            },
            Err(error) => {
                let call: CallToolParams<IgnoredAny> = params.parse()?;
                let wrong = |_| format!("Invalid arguments: {}", describe(&error));
                Ok(Call(Err(self.find(&call.name).map_or_else(|unknown| unknown, wrong))))
            }
        }
    }

    /// Handles `tools/call`.
    pub(crate) async fn run(
        &self,
        session: &Session,
        from: CallOrigin<'_>,
        call: Call,
    ) -> ToolResult {
        match call.0 {
            Ok((tool, arguments)) => match self.carry_out(session, from, tool, arguments).await {
                Ok(result) => result,
                Err(wrong) => ToolResult::error(&format!("Invalid arguments: {wrong}")),
            },
            Err(wrong) => ToolResult::error(&wrong),
        }
    }

    /// Carries out a tool, or names the missing argument.
    async fn carry_out(
        &self,
        session: &Session,
        from: CallOrigin<'_>,
        tool: Tool,
        arguments: ToolArguments,
    ) -> Result<ToolResult, &'static str> {
        let ToolArguments { file_path, new_content, suppress_notification, severity, only_new } =
            arguments;
        let named = file_path.ok_or("filePath is missing");
        let answer = match tool {
            Tool::OpenDiff => {
                let proposal = Proposal {
                    file_path: named?,
                    new_content: new_content.ok_or("newContent is missing")?,
                    diff: None,
                    cli: self.sessions.number(session, |other| {
                        self.driver.ask(|companion| companion.diffs().count(other) > 0)
                    }),
                    client: session.client.traits,
                    reason: ReasonArrival::Never,
                    probe: Arc::clone(&self.probe),
                    untaken: None,
                };
                self.driver.open(from, proposal, self.context.is_shared()).await
            }
            Tool::CloseDiff => {
                let suppress = suppress_notification.unwrap_or_default();
                let close = Action::End(End::Close { suppress });
                self.driver.call(from, named?.into(), close, None).await
            }
            Tool::AcceptDiff | Tool::RejectDiff => {
                // The user may accept any proposal in the editor. A client may accept only within
                // the workspace.
                let (path, accept) = (named?, tool == Tool::AcceptDiff);
                let limit = self.config.limits.core.host_timeout;
                if accept && let Err(why) = self.workspace.check(&path, limit).await {
                    let why = format!("acceptDiff: {why}; accept it in the editor");
                    return Ok(ToolResult::error(&why));
                }
                let decide = Action::End(End::Decide { accept });
                self.driver.call(from, path.into(), decide, None).await
            }
            Tool::GetDiagnostics => {
                let severity = severity.unwrap_or_default();
                let only_new = only_new.unwrap_or_default();
                let report = self.diagnostics.report(named.ok(), severity, only_new).await;
                let result = match report {
                    Ok(Some(report)) => {
                        let structured = serde_json::to_value(&report).expect("a report is JSON");
                        CallToolResult::structured(report.text(), structured)
                    }
                    Ok(None) => {
                        CallToolResult::text("No file of the workspace is open in the editor.")
                    }
                    Err(why) => CallToolResult::error(why),
                };
                return Ok(result.into());
            }
        };
        Ok(answer.into())
    }
}
