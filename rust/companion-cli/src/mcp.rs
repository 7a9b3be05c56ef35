//! Serves the editor's diagnostics to the model, as an MCP server on stdin and stdout.
//!
//! The tool is offered from the beginning. A client considers a server without tools broken, and
//! Qwen Code never asks it again. The server withdraws the tool while no editor can answer.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use companion_client::http::block_on;
use companion_protocol::diagnostics::Severity;
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Params, Payload, Response, describe,
    invalid_params, method_not_found, parse,
};
use companion_protocol::mcp::{
    CallToolParams, CallToolResult, Empty, Implementation, InitializeParams, InitializeResult,
    ListToolsResult, ServerCapabilities, ToolAnnotations, ToolDefinition, ToolsCapability,
    negotiate,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::diagnostics::{Companions, DiagnosticsReply, NoDiagnostics, Question};
use crate::find::{FindArgs, Parent};
use crate::serve::current_folder;
use crate::stdio::{self, Output};

/// The name of the tool, in the form that models know.
const NAME: &str = "get_diagnostics";

/// The time for a call. The companion gives the editor 3 s.
const ANSWER: Duration = Duration::from_secs(6);

/// The time for which the tool stays offered although no editor is found. An editor that starts
/// together with the CLI is running by then.
const OFFER_GRACE: Duration = Duration::from_secs(3);

/// The first pause between two searches for an editor. It doubles with each search, …
const MIN_SEARCH_INTERVAL: Duration = Duration::from_millis(50);
/// … up to this pause, …
const MAX_SEARCH_INTERVAL: Duration = Duration::from_secs(5);
/// … or up to this one, while the only editor does not support diagnostics.
const MAX_UNSUPPORTED_INTERVAL: Duration = Duration::from_mins(1);

/// Run an MCP server that gives the model the editor's diagnostics.
///
/// Gemini CLI and Qwen Code start it through the extension and connect by stdin and stdout. It
/// searches for the companion by the CLI's own rules, again for each call.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    find: FindArgs,
}

/// Runs until the client closes stdin.
pub(crate) fn mcp(args: McpArgs) -> Result<(), Box<dyn Error>> {
    block_on(run(args))
}

async fn run(args: McpArgs) -> Result<(), Box<dyn Error>> {
    let companions = Companions::new(args.find, Parent::Client, current_folder()?)?;
    let output = Output::start()?;
    let mut input = stdio::input()?;
    let server = Arc::new(Server { companions, output, is_offered: AtomicBool::new(true) });
    let reading = async {
        while let Some(line) = input.recv().await {
            server.take(&line).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = server.output.closed() => {}
    }
    Ok(())
}

/// The server of one client.
struct Server {
    companions: Companions,
    output: Output,
    /// Whether the tool is listed. The server answers calls in any case.
    is_offered: AtomicBool,
}

/// The arguments of the tool.
#[derive(Debug, Default, Deserialize)]
struct Arguments {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    severity: Option<Severity>,
}

impl Server {
    async fn take(self: &Arc<Self>, line: &[u8]) {
        match parse(line) {
            Ok(Payload::Single(Message::Request { id, method, params })) => {
                self.request(id, &method, params).await;
            }
            Ok(Payload::Single(Message::Notification { method, .. })) => {
                if method == "notifications/initialized" {
                    let server = Arc::clone(self);
                    tokio::spawn(async move { server.watch().await });
                }
            }
            Ok(Payload::Single(Message::Response { .. })) => {}
            Ok(Payload::Batch(_)) => log::warn!("the client sent a batch; it is skipped"),
            // An answer would need the id `null`, which MCP does not have.
            Err(error) => log::warn!("the client sent an invalid line; it is skipped: {error}"),
        }
    }

    async fn request(self: &Arc<Self>, id: Id, method: &str, params: Params<'_>) {
        match method {
            "initialize" => match params.parse::<InitializeParams<'_>>() {
                Ok(params) => self.answer(&id, &initialized(&params)).await,
                Err(error) => self.refuse(&id, invalid_params(method, &error)).await,
            },
            "tools/list" => {
                let is_offered = self.is_offered.load(Ordering::Relaxed);
                let tools = is_offered.then(definition).into_iter().collect();
                self.answer(&id, &ListToolsResult { tools }).await;
            }
            "tools/call" => match question(params) {
                Ok(Ok(question)) => {
                    let server = Arc::clone(self);
                    tokio::spawn(async move {
                        let result = server.call(&question).await;
                        server.answer(&id, &result).await;
                    });
                }
                Ok(Err(wrong)) => self.answer(&id, &CallToolResult::error(wrong)).await,
                Err(error) => self.refuse(&id, error).await,
            },
            "ping" | "logging/setLevel" => self.answer(&id, &Empty {}).await,
            _ => self.refuse(&id, method_not_found(method)).await,
        }
    }

    async fn call(&self, question: &Question) -> CallToolResult {
        match self.companions.ask(question, Instant::now() + ANSWER).await {
            Ok(DiagnosticsReply { text, report }) => {
                let structured = serde_json::to_value(&report).expect("a report is JSON");
                CallToolResult::structured(text, structured)
            }
            Err(why) => CallToolResult::error(why.to_string()),
        }
    }

    /// Searches for an editor until one can answer. Later, each call searches again, because an
    /// editor's restart does not change the list of tools.
    async fn watch(&self) {
        let begun = Instant::now();
        let mut pause = MIN_SEARCH_INTERVAL;
        while let Err(why) = self.companions.are_there().await {
            log::debug!("{why}");
            if begun.elapsed() >= OFFER_GRACE {
                self.offer(false).await;
            }
            let longest = match why {
                NoDiagnostics::NotOffered => MAX_UNSUPPORTED_INTERVAL,
                NoDiagnostics::Absent(_) | NoDiagnostics::Failed(_) => MAX_SEARCH_INTERVAL,
            };
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
        self.offer(true).await;
    }

    async fn offer(&self, is_offered: bool) {
        if self.is_offered.swap(is_offered, Ordering::Relaxed) != is_offered {
            self.send(&Notification::new("notifications/tools/list_changed", Empty {})).await;
        }
    }

    async fn answer(&self, id: &Id, result: &impl Serialize) {
        self.send(&Response::new(id, result)).await;
    }

    async fn refuse(&self, id: &Id, error: ErrorObject) {
        self.send(&ErrorResponse::new(Some(id), error)).await;
    }

    async fn send(&self, message: &impl Serialize) {
        self.output.send(serde_json::to_vec(message).expect("our messages are JSON")).await;
    }
}

fn initialized(params: &InitializeParams<'_>) -> InitializeResult {
    InitializeResult {
        protocol_version: negotiate(params.protocol_version.as_deref()),
        capabilities: ServerCapabilities {
            tools: ToolsCapability { list_changed: true },
            ..ServerCapabilities::default()
        },
        server_info: Implementation {
            name: "gemini-companion",
            title: "Problems in the editor",
            version: env!("CARGO_PKG_VERSION"),
        },
        instructions: "Returns the errors and warnings of the user's editor.",
    }
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        name: NAME,
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

/// Parses a tool call. Invalid arguments give a text for the model; an invalid call gives an error.
fn question(params: Params<'_>) -> Result<Result<Question, String>, ErrorObject> {
    let invalid = |error| invalid_params("tools/call", &error);
    let call: CallToolParams<'_, Option<serde_json::Value>> = params.parse().map_err(invalid)?;
    if call.name != NAME {
        return Ok(Err(format!("Unknown tool: {}", call.name)));
    }
    let arguments = call.arguments.map_or_else(|| Ok(Arguments::default()), serde_json::from_value);
    Ok(match arguments {
        Ok(Arguments { path, severity }) => {
            // Some models write an empty text for a missing argument.
            let path = path.filter(|path| !path.is_empty()).map(PathBuf::from);
            Ok(Question { path, severity })
        }
        Err(error) => Err(format!("Invalid arguments: {}", describe(&error))),
    })
}
