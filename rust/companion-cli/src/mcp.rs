//! Serves the editor's diagnostics to the model, as an MCP server on stdin and stdout.
//!
//! Its only tool, `get_diagnostics`, is offered from the beginning. A client considers a server without
//! tools broken, and Qwen Code never asks it again. The server withdraws the tool while no editor can
//! answer.

mod companions;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
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
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use self::companions::{Companions, Unavailable};
use crate::find::FindArgs;
use crate::stdio::{self, Output};

/// The tool's name, in the form that models know.
const TOOL: &str = "get_diagnostics";

/// The time for a call. The companion gives the editor 3 s.
const ANSWER: Duration = Duration::from_secs(6);

/// The time for which the tool stays offered although no editor is found. An editor that starts
/// together with the CLI is running by then.
const OFFER_GRACE: Duration = Duration::from_secs(3);

/// The first pause between two searches for an editor. It doubles with each search, …
const MIN_SEARCH_INTERVAL: Duration = Duration::from_millis(50);
/// … up to this pause.
const MAX_SEARCH_INTERVAL: Duration = Duration::from_secs(5);

/// The pause if the only editor does not report problems. Each search opens a session with it.
const UNSUPPORTED_SEARCH_INTERVAL: Duration = Duration::from_mins(1);

/// Run an MCP server that gives the model the editor's diagnostics.
///
/// Gemini CLI and Qwen Code start it through the extension and connect by stdin and stdout. It
/// searches for the companion by the CLI's own rules, again for each call.
#[derive(Debug, clap::Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    find: FindArgs,
}

/// The arguments of a model.
#[derive(Debug, Deserialize)]
struct Arguments {
    /// `None` means all open files.
    #[serde(default)]
    path: Option<String>,
    /// The least severe diagnostics to report. `None` means the companion's default.
    #[serde(default)]
    severity: Option<Severity>,
}

/// Runs until the client closes stdin.
pub(crate) fn mcp(args: McpArgs) -> Result<(), Box<dyn Error>> {
    let companions = Companions::new(args.find)?;
    let (output, writer) = Output::start()?;
    let done = block_on(run(companions, output));
    // All senders are gone, so the thread ends when it has written the last answer.
    let _ = writer.join();
    done
}

async fn run(companions: Companions, output: Output) -> Result<(), Box<dyn Error>> {
    let mut input = stdio::input()?;
    let server = Arc::new(Server { companions, output, is_withdrawn: AtomicBool::new(false) });
    let mut calls = JoinSet::new();
    let serving = async {
        while let Some(line) = input.recv().await {
            server.take(&line, &mut calls).await;
            while calls.try_join_next().is_some() {}
        }
        // A client may send a call and close its end at once.
        while calls.join_next().await.is_some() {}
    };
    tokio::select! {
        () = serving => {}
        () = server.output.closed() => {}
    }
    Ok(())
}

/// The server of one client.
struct Server {
    companions: Companions,
    output: Output,
    /// Whether the tool is not listed. The server answers calls in any case.
    is_withdrawn: AtomicBool,
}

impl Server {
    /// Handles a message. Adds a call of the tool to `calls`.
    async fn take(self: &Arc<Self>, line: &[u8], calls: &mut JoinSet<()>) {
        match parse(line) {
            Ok(Payload::Single(Message::Request { id, method, params })) => {
                self.request(id, &method, params, calls).await;
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

    async fn request(
        self: &Arc<Self>,
        id: Id,
        method: &str,
        params: Params<'_>,
        calls: &mut JoinSet<()>,
    ) {
        match method {
            "initialize" => match params.parse::<InitializeParams<'_>>() {
                Ok(params) => self.answer(&id, &initialized(&params)).await,
                Err(error) => self.refuse(&id, invalid_params(method, &error)).await,
            },
            "tools/list" => {
                let is_offered = !self.is_withdrawn.load(Relaxed);
                let tools = is_offered.then(definition).into_iter().collect();
                self.answer(&id, &ListToolsResult { tools }).await;
            }
            "tools/call" => {
                match params.parse::<CallToolParams<'_, Option<Map<String, Value>>>>() {
                    Ok(call) => match arguments(call) {
                        Ok(arguments) => {
                            let server = Arc::clone(self);
                            calls.spawn(async move { server.call(&id, arguments).await });
                        }
                        Err(error) => self.answer(&id, &CallToolResult::error(error)).await,
                    },
                    Err(error) => self.refuse(&id, invalid_params(method, &error)).await,
                }
            }
            "ping" | "logging/setLevel" => self.answer(&id, &Empty {}).await,
            _ => self.refuse(&id, method_not_found(method)).await,
        }
    }

    async fn call(&self, id: &Id, Arguments { path, severity }: Arguments) {
        // Some models write an empty text for a missing argument.
        let path = path.filter(|path| !path.is_empty());
        let diagnostics = self.companions.diagnostics(path, severity, Instant::now() + ANSWER);
        self.answer(id, &diagnostics.await.unwrap_or_else(CallToolResult::error)).await;
    }

    /// Searches for an editor until one can answer the tool. Later, each call searches again, because
    /// an editor's restart does not change the list of tools.
    async fn watch(&self) {
        let begun = Instant::now();
        let mut pause = MIN_SEARCH_INTERVAL;
        while let Err(why) = self.companions.check().await {
            if begun.elapsed() >= OFFER_GRACE {
                self.withdraw(true).await;
                if why == Unavailable::Unsupported {
                    pause = UNSUPPORTED_SEARCH_INTERVAL;
                }
            }
            log::debug!("{why}; the next search is in {pause:?}");
            sleep(pause).await;
            pause = (pause * 2).min(MAX_SEARCH_INTERVAL);
        }
        self.withdraw(false).await;
    }

    /// Withdraws the tool, or offers it again.
    async fn withdraw(&self, is_withdrawn: bool) {
        if self.is_withdrawn.swap(is_withdrawn, Relaxed) != is_withdrawn {
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

/// Checks a model's call. The error is a text for the model.
fn arguments(call: CallToolParams<'_, Option<Map<String, Value>>>) -> Result<Arguments, String> {
    if call.name != TOOL {
        return Err(format!("Unknown tool: {}", call.name));
    }
    serde_json::from_value(call.arguments.unwrap_or_default().into())
        .map_err(|error| format!("Invalid arguments: {}", describe(&error)))
}

fn definition() -> ToolDefinition {
    ToolDefinition {
        name: TOOL,
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
        instructions: "Returns the errors and warnings of the user's editor.".to_owned(),
    }
}
