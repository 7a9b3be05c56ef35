//! Asks companions, for the tools of models.
//!
//! It finds a companion that offers a tool, and calls the tool in a new session. So no connection has
//! to be kept or restored between two calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_client::discover::normalize;
use companion_client::http::{Endpoint, Error, Session, connect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::tool::ModelTool;
use crate::find::{FindArgs, Finder, Mapping, Parent};

/// The time for a companion to begin a session, which usually takes milliseconds. Each edit waits
/// twice as long for a suspended companion.
const BEGINNING: Duration = Duration::from_millis(500);

/// The time for the end of a session.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The companions that can be asked.
#[derive(Debug)]
pub(super) struct Companions {
    finder: Arc<Finder>,
    pub(super) mapping: Mapping,
    /// The base of relative paths.
    cwd: PathBuf,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// No companion answers.
    Absent(String),
    /// The companions that answer do not offer the tool.
    NotOffered,
    /// The call failed.
    Failed(String),
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

/// A companion's answer to a call. Its paths are the companion's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer<S> {
    #[serde(default)]
    content: Vec<Text>,
    pub(super) structured_content: Option<S>,
    #[serde(default)]
    pub(super) is_error: bool,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

impl<S> Answer<S> {
    pub(super) fn text(&self) -> String {
        let blocks: Vec<_> = self.content.iter().map(|block| &*block.text).collect();
        blocks.join("\n")
    }
}

impl Companions {
    /// Creates it from the arguments that find a companion, and from a folder of the client.
    pub(super) fn new(find: FindArgs, cwd: PathBuf) -> Result<Self, Box<dyn std::error::Error>> {
        let find = find.or_of_bridge();
        let mapping = find.mapping();
        Ok(Self { finder: Arc::new(find.finder(Parent::Client)?), mapping, cwd })
    }

    /// Fails unless a companion offers the tool.
    pub(super) async fn check(&self, tool: ModelTool) -> Result<(), Failure> {
        end(&self.begin(tool).await?).await;
        Ok(())
    }

    /// Asks the first companion that offers the tool, and waits for the answer until `deadline`.
    pub(super) async fn ask<S: DeserializeOwned>(
        &self,
        tool: ModelTool,
        arguments: impl Serialize,
        deadline: Instant,
    ) -> Result<Answer<S>, Failure> {
        let session = self.begin(tool).await?;
        let call = json!({ "name": tool.companion_tool().name(), "arguments": arguments });
        let answer = timeout_at(deadline, session.ask("tools/call", call)).await;
        end(&session).await;
        answer
            .map_err(|_| Failure::Failed("The user's editor did not answer in time.".to_owned()))?
            .map_err(|error| Failure::Failed(error.explain(&session.endpoint().authority())))
    }

    /// Returns the companion's path of a client's file, without `..`. Like the client, it does not
    /// resolve links.
    pub(super) fn to_companion(&self, path: &str) -> String {
        let path = normalize(&self.cwd.join(path)).to_string_lossy().into_owned();
        self.mapping.to_companion(&path).unwrap_or(path)
    }

    /// Begins a session with the first companion that offers the tool.
    async fn begin(&self, tool: ModelTool) -> Result<Session, Failure> {
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find()).await;
        let endpoints =
            found.map_err(|error| Failure::Absent(error.to_string()))?.map_err(Failure::Absent)?;
        let mut why = Vec::new();
        let mut is_offered = true;
        for hosts in endpoints.chunk_by(|a, b| (a.port, &a.token) == (b.port, &b.token)) {
            // In parallel, because the lookup of an unknown host name takes long.
            let mut begun: JoinSet<_> =
                hosts.iter().map(|host| begin_at(host.clone(), tool)).collect();
            while let Some(begun) = begun.join_next().await {
                match begun {
                    Ok(Ok(Some(session))) => return Ok(session),
                    Ok(Ok(None)) => is_offered = false,
                    Ok(Err(error)) => why.push(error),
                    Err(panic) => why.push(panic.to_string()),
                }
            }
        }
        Err(if is_offered { Failure::Absent(why.join("; ")) } else { Failure::NotOffered })
    }
}

/// Begins a session at `endpoint`; `None` if the companion does not offer the tool.
async fn begin_at(endpoint: Endpoint, tool: ModelTool) -> Result<Option<Session>, String> {
    let deadline = Instant::now() + BEGINNING;
    let authority = endpoint.authority();
    let failed = |error: Error| error.explain(&authority);
    // Only one timeout applies at a time. This one knows the unfinished step.
    let session = connect(&endpoint, BEGINNING).await.map_err(failed)?.session;
    let offered = timeout_at(deadline, session.ask::<Offered>("tools/list", json!({}))).await;
    let offered = offered.map_err(|_| format!("{authority} did not answer in time"))?;
    let name = tool.companion_tool().name();
    if offered.map_err(failed)?.tools.iter().any(|offered| offered.name == name) {
        return Ok(Some(session));
    }
    end(&session).await;
    Ok(None)
}

/// Ends a session. If that fails, the server keeps the session for a while, which does no harm.
async fn end(session: &Session) {
    let _ = timeout(CLOSE_TIMEOUT, session.end()).await;
}
