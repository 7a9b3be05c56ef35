//! Serves the editor to the model, as an MCP server on stdin and stdout. [`ModelTool`] has its tools.
//!
//! The tools are offered from the beginning. A client considers a server without tools broken, and
//! Qwen Code never asks it again. The server withdraws a tool while no editor can answer.

mod companions;
mod diagnostics;
mod tool;

use std::collections::HashSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use companion_client::http::block_on;
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Params, Payload, Response,
    invalid_params, method_not_found, parse,
};
use companion_protocol::mcp::{
    CallToolParams, CallToolResult, Empty, Implementation, InitializeParams, InitializeResult,
    ListToolsResult, ServerCapabilities, ToolsCapability, negotiate,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use self::companions::{Companions, Failure};
use self::tool::ModelTool;
use crate::find::FindArgs;
use crate::serve::current_folder;
use crate::stdio::{self, Output};

/// The time for a call. The companion gives the editor 3 s.
const ANSWER: Duration = Duration::from_secs(6);

/// The time for which a tool stays offered although no editor is found. An editor that starts
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
    let companions = Companions::new(args.find, current_folder()?)?;
    let (output, writer) = Output::start()?;
    let done = block_on(run(companions, output));
    // All senders are gone, so the thread ends when it has written the last answer.
    let _ = writer.join();
    done
}

async fn run(companions: Companions, output: Output) -> Result<(), Box<dyn Error>> {
    let mut input = stdio::input()?;
    let server = Arc::new(Server { companions, output, withdrawn: Mutex::default() });
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
    /// The tools that are not listed. The server answers calls in any case.
    withdrawn: Mutex<HashSet<ModelTool>>,
}

impl Server {
    async fn take(self: &Arc<Self>, line: &[u8]) {
        match parse(line) {
            Ok(Payload::Single(Message::Request { id, method, params })) => {
                self.request(id, &method, params).await;
            }
            Ok(Payload::Single(Message::Notification { method, .. })) => {
                if method == "notifications/initialized" {
                    for tool in ModelTool::ALL {
                        let server = Arc::clone(self);
                        tokio::spawn(async move { server.watch(*tool).await });
                    }
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
                let withdrawn = self.withdrawn.lock().clone();
                let offered = ModelTool::ALL.iter().filter(|tool| !withdrawn.contains(tool));
                let tools = offered.map(|tool| tool.definition()).collect();
                self.answer(&id, &ListToolsResult { tools }).await;
            }
            "tools/call" => match params.parse::<CallToolParams<'_, Option<Value>>>() {
                Ok(call) => self.call(id, &call.name, call.arguments).await,
                Err(error) => self.refuse(&id, invalid_params(method, &error)).await,
            },
            "ping" | "logging/setLevel" => self.answer(&id, &Empty {}).await,
            _ => self.refuse(&id, method_not_found(method)).await,
        }
    }

    async fn call(self: &Arc<Self>, id: Id, name: &str, arguments: Option<Value>) {
        let tool = ModelTool::named(name).ok_or_else(|| format!("Unknown tool: {name}"));
        let call = match tool.and_then(|tool| tool.parse(arguments)) {
            Ok(call) => call,
            Err(error) => return self.answer(&id, &CallToolResult::error(error)).await,
        };
        let server = Arc::clone(self);
        tokio::spawn(async move {
            let result = call.answer(&server.companions, Instant::now() + ANSWER).await;
            server.answer(&id, &result).await;
        });
    }

    /// Searches for an editor until one can answer the tool. Later, each call searches again, because
    /// an editor's restart does not change the list of tools.
    async fn watch(&self, tool: ModelTool) {
        let begun = Instant::now();
        let mut pause = MIN_SEARCH_INTERVAL;
        while let Err(failure) = self.companions.check(tool).await {
            log::debug!("{}", tool.explain(&failure));
            if begun.elapsed() >= OFFER_GRACE {
                self.offer(tool, false).await;
            }
            let longest = match failure {
                Failure::NotOffered => MAX_UNSUPPORTED_INTERVAL,
                Failure::Absent(_) | Failure::Failed(_) => MAX_SEARCH_INTERVAL,
            };
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
        self.offer(tool, true).await;
    }

    async fn offer(&self, tool: ModelTool, is_offered: bool) {
        let has_changed = if is_offered {
            self.withdrawn.lock().remove(&tool)
        } else {
            self.withdrawn.lock().insert(tool)
        };
        if has_changed {
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
        instructions: "Returns the errors and warnings of the user's editor.".to_owned(),
    }
}
