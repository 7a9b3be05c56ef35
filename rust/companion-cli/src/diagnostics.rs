//! Asks companions for diagnostics.
//!
//! It finds a companion that offers the tool `getDiagnostics`, and calls the tool in a new session.
//! So no connection has to be kept or restored between two calls.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use companion_client::discover::normalize;
use companion_client::http::{Endpoint, Session, connect};
use companion_protocol::diagnostics::{DiagnosticsReport, Severity};
use companion_protocol::tool::Tool;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::find::{FindArgs, Finder, Mapping, Parent, explain};

/// The time for a companion to begin a session, which usually takes milliseconds. Each edit waits
/// twice as long for a suspended companion.
const BEGINNING: Duration = Duration::from_millis(500);

/// The time for the end of a session.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The companions that can be asked.
#[derive(Debug)]
pub(crate) struct Companions {
    finder: Arc<Finder>,
    mapping: Mapping,
    /// The base of relative paths.
    cwd: PathBuf,
}

/// A question about the editor's diagnostics.
#[derive(Debug, Default)]
pub(crate) struct Question {
    /// The file; `None` for all open files.
    pub(crate) path: Option<PathBuf>,
    /// The least severe diagnostics to report. `None` means the companion's default.
    pub(crate) severity: Option<Severity>,
}

/// A companion's answer.
#[derive(Debug)]
pub(crate) struct DiagnosticsReply {
    /// The answer as text, for the model.
    pub(crate) text: String,
    /// The answer as data, for programs.
    pub(crate) report: DiagnosticsReport,
}

/// The reason why there are no diagnostics.
#[derive(Debug)]
pub(crate) enum NoDiagnostics {
    /// No companion answers.
    Absent(String),
    /// The companions that answer do not offer the tool.
    NotOffered,
    /// The call failed.
    Failed(String),
}

impl fmt::Display for NoDiagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => {
                write!(f, "No editor is connected. Continue without its problems. ({why})")
            }
            Self::NotOffered => f.write_str("The user's editor does not report problems."),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl Error for NoDiagnostics {}

/// The arguments of the tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
}

/// The tools that a companion offers.
#[derive(Deserialize)]
struct Offered {
    tools: Vec<Name>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// The result of the call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    content: Vec<Text>,
    structured_content: Option<DiagnosticsReport>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

impl Companions {
    /// Creates it from the arguments that find a companion, and from a folder of the client.
    pub(crate) fn new(
        find: FindArgs,
        parent: Parent,
        cwd: PathBuf,
    ) -> Result<Self, Box<dyn Error>> {
        let find = find.or_of_bridge();
        let mapping = find.mapping();
        Ok(Self { finder: Arc::new(find.finder(parent)?), mapping, cwd })
    }

    /// Fails unless a companion offers diagnostics.
    pub(crate) async fn are_there(&self) -> Result<(), NoDiagnostics> {
        end(&self.begin().await?).await;
        Ok(())
    }

    /// Asks the first companion that offers diagnostics, and waits for the answer until `deadline`.
    /// Paths are the client's.
    pub(crate) async fn ask(
        &self,
        question: &Question,
        deadline: Instant,
    ) -> Result<DiagnosticsReply, NoDiagnostics> {
        let session = self.begin().await?;
        let arguments = Arguments {
            file_path: question.path.as_deref().map(|path| self.to_companion(path)),
            severity: question.severity,
        };
        let call = json!({ "name": Tool::GetDiagnostics.name(), "arguments": arguments });
        let answer = timeout_at(deadline, session.ask::<Answer>("tools/call", call)).await;
        end(&session).await;
        let failed = NoDiagnostics::Failed;
        let answer = answer
            .map_err(|_| failed("The user's editor did not answer in time.".to_owned()))?
            .map_err(|error| failed(explain(&session.endpoint().authority(), &error)))?;
        let Answer { content, structured_content, is_error } = answer;
        let report = structured_content.map(|report| self.mapping.report_to_client(report));
        let text = report.as_ref().map_or_else(
            || content.into_iter().map(|block| block.text).collect::<Vec<_>>().join("\n"),
            DiagnosticsReport::text,
        );
        if is_error {
            Err(failed(text))
        } else {
            Ok(DiagnosticsReply { text, report: report.unwrap_or_default() })
        }
    }

    /// Returns the companion's path of a client's file, without `..`. Like the client, it does not
    /// resolve links.
    fn to_companion(&self, path: &Path) -> String {
        let path = normalize(&self.cwd.join(path)).to_string_lossy().into_owned();
        self.mapping.to_companion(&path).unwrap_or(path)
    }

    /// Begins a session with the first companion that offers the tool.
    async fn begin(&self) -> Result<Session, NoDiagnostics> {
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find()).await;
        let endpoints = found
            .map_err(|error| NoDiagnostics::Absent(error.to_string()))?
            .map_err(NoDiagnostics::Absent)?;
        let mut why = Vec::new();
        let mut is_silent = false;
        for hosts in endpoints.chunk_by(|a, b| (a.port, &a.token) == (b.port, &b.token)) {
            // In parallel, because the lookup of an unknown host name takes long.
            let mut begun: JoinSet<_> = hosts.iter().cloned().map(begin_at).collect();
            while let Some(begun) = begun.join_next().await {
                match begun {
                    Ok(Ok(session)) => return Ok(session),
                    Ok(Err(NoDiagnostics::NotOffered)) => is_silent = true,
                    Ok(Err(other)) => why.push(other.to_string()),
                    Err(panic) => why.push(panic.to_string()),
                }
            }
        }
        Err(if is_silent {
            NoDiagnostics::NotOffered
        } else {
            NoDiagnostics::Absent(why.join("; "))
        })
    }
}

/// Begins a session at `endpoint`, if the companion offers the tool.
async fn begin_at(endpoint: Endpoint) -> Result<Session, NoDiagnostics> {
    let deadline = Instant::now() + BEGINNING;
    let failed = |error| NoDiagnostics::Failed(explain(&endpoint.authority(), &error));
    // Only one timeout applies at a time. This one knows the unfinished step.
    let session = connect(&endpoint, BEGINNING).await.map_err(failed)?.session;
    let offered = timeout_at(deadline, session.ask::<Offered>("tools/list", json!({}))).await;
    let offered = offered.map_err(|_| {
        let why = format!("{} did not answer in time", endpoint.authority());
        NoDiagnostics::Failed(why)
    })?;
    if offered.map_err(failed)?.tools.iter().any(|tool| tool.name == Tool::GetDiagnostics.name()) {
        return Ok(session);
    }
    end(&session).await;
    Err(NoDiagnostics::NotOffered)
}

/// Ends a session. If that fails, the server keeps the session for a while, which does no harm.
async fn end(session: &Session) {
    let _ = timeout(CLOSE_TIMEOUT, session.end()).await;
}
