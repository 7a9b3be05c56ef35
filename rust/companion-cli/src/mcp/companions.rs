//! Asks companions for diagnostics.
//!
//! It finds a companion that offers them, and asks it in a new session. So no connection has to be kept
//! or restored between two calls.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_client::discover::normalize;
use companion_client::http::{Endpoint, Error, Session, connect};
use companion_protocol::diagnostics::{DiagnosticsReport, Severity};
use companion_protocol::mcp::CallToolResult;
use companion_protocol::tool::Tool;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::find::{FindArgs, Finder, Mapping, Parent};

/// The time for each of the two answers to a new session, which usually take milliseconds. Each edit
/// waits twice as long for a suspended companion.
const BEGIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The time for the end of a session.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The companions that can be asked.
#[derive(Debug)]
pub(super) struct Companions {
    finder: Arc<Finder>,
    mapping: Mapping,
    /// The client's folder, in which relative paths begin.
    cwd: PathBuf,
}

/// Why no companion can be asked. `Display` formats it for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unavailable {
    /// No companion answers.
    Absent(String),
    /// The companions that answer do not offer diagnostics.
    Unsupported,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => {
                write!(f, "No editor is connected. Continue without its problems. ({why})")
            }
            Self::Unsupported => f.write_str("The user's editor does not report problems."),
        }
    }
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

impl Companions {
    /// Creates it from the arguments that find a companion.
    pub(super) fn new(find: FindArgs) -> Result<Self, Box<dyn std::error::Error>> {
        let find = find.or_of_bridge();
        let (mapping, cwd) = (find.mapping(), find.folder()?);
        Ok(Self { finder: Arc::new(find.finder(Parent::Client)?), mapping, cwd })
    }

    /// Fails unless a companion offers diagnostics.
    pub(super) async fn check(&self) -> Result<(), Unavailable> {
        end(&self.begin().await?).await;
        Ok(())
    }

    /// Asks the first companion that offers diagnostics, and waits for the answer until `deadline`.
    ///
    /// # Errors
    /// A text for the model.
    pub(super) async fn diagnostics(
        &self,
        path: Option<String>,
        severity: Option<Severity>,
        deadline: Instant,
    ) -> Result<CallToolResult, String> {
        let file_path = path.map(|path| self.to_companion(&path));
        let arguments = CompanionArguments { file_path, severity };
        let session = self.begin().await.map_err(|why| why.to_string())?;
        let call = json!({ "name": Tool::GetDiagnostics.name(), "arguments": arguments });
        let answer = timeout_at(deadline, session.ask::<Value>("tools/call", call)).await;
        end(&session).await;
        let answer = answer
            .map_err(|_| "The user's editor did not answer in time.".to_owned())?
            .map_err(|error| error.explain(&session.endpoint().authority()))?;
        let blocks = answer["content"].as_array().into_iter().flatten();
        let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let text = texts.join("\n");
        if answer["isError"] == true {
            return Err(text);
        }
        // There is only a text if no file is open.
        if answer["structuredContent"].is_null() {
            return Ok(CallToolResult::text(text));
        }
        let report: DiagnosticsReport = serde_json::from_value(answer["structuredContent"].clone())
            .map_err(|_| "The user's editor did not answer with problems.".to_owned())?;
        let report = self.mapping.report_to_client(report);
        let json = serde_json::to_value(&report).expect("a report is JSON");
        Ok(CallToolResult::structured(report.text(), json))
    }

    /// Returns the companion's path of a client's file, without `..`. Like the client, it does not
    /// resolve links.
    fn to_companion(&self, path: &str) -> String {
        let path = normalize(&self.cwd.join(path)).to_string_lossy().into_owned();
        self.mapping.to_companion(&path).unwrap_or(path)
    }

    /// Begins a session with the first companion that offers diagnostics.
    async fn begin(&self) -> Result<Session, Unavailable> {
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find()).await;
        let found = found.unwrap_or_else(|error| Err(error.to_string()));
        let companions = found.map_err(Unavailable::Absent)?;
        let mut why = Vec::new();
        let mut is_refused = false;
        for hosts in companions {
            // In parallel, because the lookup of an unknown host name takes long.
            let mut begun: JoinSet<_> = hosts.into_iter().map(begin_at).collect();
            while let Some(begun) = begun.join_next().await {
                match begun {
                    Ok(Ok(Some(session))) => return Ok(session),
                    Ok(Ok(None)) => is_refused = true,
                    Ok(Err(error)) => why.push(error),
                    Err(panic) => why.push(panic.to_string()),
                }
            }
        }
        Err(if is_refused { Unavailable::Unsupported } else { Unavailable::Absent(why.join("; ")) })
    }
}

/// Begins a session at `endpoint`; `None` if the companion does not offer diagnostics.
async fn begin_at(endpoint: Endpoint) -> Result<Option<Session>, String> {
    let authority = endpoint.authority();
    let failed = |error: Error| error.explain(&authority);
    let session = connect(&endpoint, BEGIN_TIMEOUT).await.map_err(failed)?.session;
    let offered = timeout(BEGIN_TIMEOUT, session.ask::<Value>("tools/list", json!({}))).await;
    let offered = offered.map_err(|_| format!("{authority} did not answer in time"))?;
    let offered = offered.map_err(failed)?;
    let mut tools = offered["tools"].as_array().into_iter().flatten();
    if tools.any(|tool| tool["name"] == Tool::GetDiagnostics.name()) {
        return Ok(Some(session));
    }
    end(&session).await;
    Ok(None)
}

/// Ends a session. If that fails, the server keeps the session for a while, which does no harm.
async fn end(session: &Session) {
    let _ = timeout(CLOSE_TIMEOUT, session.end()).await;
}
