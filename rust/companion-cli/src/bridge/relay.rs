//! Relays messages: maps their paths, answers each request, and remembers diffs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use companion_client::http::Session;
use companion_protocol::jsonrpc::{ErrorObject, ErrorResponse, Id, Response, code};
use companion_protocol::mcp::CallToolResult;
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::diffs::{CallEnd, DiffStep, RelayedDiffs};
use super::link::Link;
use super::message::{
    FromClient, FromCompanion, PathField, RequestKind, from_client, from_companion, replace,
    to_json, to_line,
};
use crate::find::Mapping;
use crate::stdio::Output;

/// The most bytes of the client's messages in flight. Above this the bridge reads no more.
const MAX_IN_FLIGHT: usize = 256 << 20;

/// The state that all parts of a bridge share.
#[derive(Debug)]
pub(super) struct Bridge {
    pub(super) mapping: Mapping,
    pub(super) diffs: Mutex<RelayedDiffs>,
    pub(super) link: Link,
    pub(super) output: Output,
    /// The newest session, to end it when the client leaves.
    pub(super) session: Mutex<Option<Session>>,
    /// How long a known companion may be away before requests fail.
    pub(super) reconnect_wait: Duration,
}

/// The client's messages that begin a connection.
#[derive(Debug)]
pub(super) enum Begin {
    /// The request `initialize`.
    Initialize(Id, Vec<u8>),
    /// The notification `notifications/initialized`.
    Ready(Vec<u8>),
}

/// The client's messages, in order.
#[derive(Debug)]
pub(super) struct Requests {
    bridge: Arc<Bridge>,
    begin: mpsc::Sender<Begin>,
    budget: Arc<Semaphore>,
    /// The last call for each path. The next call for the path waits for its end.
    calls: HashMap<String, Call>,
}

/// A pending call about a path.
#[derive(Debug)]
struct Call {
    end: oneshot::Receiver<CallEnd>,
    /// Signals that the next call has arrived and closes the diff.
    withdrawn: Arc<Notify>,
}

impl Requests {
    pub(super) fn new(bridge: Arc<Bridge>, begin: mpsc::Sender<Begin>) -> Self {
        let budget = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
        Self { bridge, begin, budget, calls: HashMap::new() }
    }

    /// Handles a line. Waits while too many bytes are in flight.
    pub(super) async fn take(&mut self, line: Vec<u8>) {
        let Ok(text) = String::from_utf8(line) else {
            log::warn!("the client sent a line that is not UTF-8; it is skipped");
            return;
        };
        let text = text.trim_ascii();
        match from_client(text) {
            // An answer would need the id `null`, which ends the client's connection for good.
            Err(error) => log::warn!("the client sent an invalid line, which is skipped: {error}"),
            Ok(FromClient::Ready) => {
                let _ = self.begin.send(Begin::Ready(text.into())).await;
            }
            Ok(FromClient::Request(id, RequestKind::Initialize)) => {
                let _ = self.begin.send(Begin::Initialize(id, text.into())).await;
            }
            Ok(FromClient::Request(id, asked)) => self.request(id, asked, text).await,
            Ok(FromClient::Other) => {
                let permit = self.permit(text).await;
                let (bridge, message) = (Arc::clone(&self.bridge), text.to_owned().into());
                tokio::spawn(async move {
                    let _permit = permit;
                    bridge.notify(message).await;
                });
            }
        }
    }

    async fn request(&mut self, id: Id, asked: RequestKind, text: &str) {
        let permit = self.permit(text).await;
        let bridge = Arc::clone(&self.bridge);
        let (tool, field) = match asked {
            RequestKind::Tool(tool, field) => (tool, field),
            RequestKind::OtherTool | RequestKind::Initialize | RequestKind::Other => {
                let once = asked == RequestKind::OtherTool;
                let step = if once { DiffStep::Unrepeatable } else { DiffStep::None };
                return bridge.begin(permit, id, text.to_owned(), step);
            }
        };
        let client = text[field.at.clone()].to_owned();
        let (message, path) = match bridge.mapping.to_companion(&field.path) {
            Some(path) => (replace(text, &[(field.at, to_json(&path))]), path),
            None => (text.to_owned(), field.path),
        };
        let withdrawn: Arc<Notify> = Arc::default();
        let step = match tool {
            Tool::OpenDiff => DiffStep::Open {
                client,
                companion: path.clone(),
                withdrawn: Arc::clone(&withdrawn),
            },
            Tool::CloseDiff => DiffStep::Close { companion: path.clone() },
            Tool::AcceptDiff | Tool::RejectDiff => DiffStep::Unrepeatable,
            Tool::GetDiagnostics => return bridge.begin(permit, id, message, DiffStep::None),
        };
        let (done, end) = oneshot::channel();
        self.calls.retain(|_, call| call.end.is_empty() && !call.end.is_terminated());
        let previous = self.calls.insert(path, Call { end, withdrawn });
        if let (Some(previous), Tool::CloseDiff) = (&previous, tool) {
            previous.withdrawn.notify_one();
        }
        tokio::spawn(async move {
            let _permit = permit;
            let before = match previous {
                Some(previous) => previous.end.await.ok(),
                None => None,
            };
            let is_nothing_open = before == Some(CallEnd::NeverOpened);
            let end = if is_nothing_open && matches!(step, DiffStep::Close { .. }) {
                bridge.succeed(&id, &CallToolResult::text("{}")).await;
                CallEnd::Answered
            } else {
                bridge.ask(&id, message.into(), &step).await
            };
            let _ = done.send(end);
        });
    }

    async fn permit(&self, text: &str) -> OwnedSemaphorePermit {
        let cost = u32::try_from(text.len().clamp(1, MAX_IN_FLIGHT)).expect("the limit is less");
        let permit = Arc::clone(&self.budget).acquire_many_owned(cost).await;
        permit.expect("it is never closed")
    }
}

impl Bridge {
    /// Sends a notification or an answer, if there is a companion.
    async fn notify(&self, message: bytes::Bytes) {
        let Some(up) = self.link.now() else {
            log::debug!("a notification of the client went nowhere");
            return;
        };
        tokio::select! {
            sent = up.session.post(message) => if let Err(error) = sent {
                log::debug!("a notification of the client was not taken: {error}");
            },
            () = self.too_late(&up) => {}
        }
    }

    /// Passes a message of the companion to the client. For an answer, returns whether it is a
    /// success.
    pub(super) async fn deliver(&self, data: &[u8]) -> Option<bool> {
        let text = std::str::from_utf8(data).map_err(|error| error.to_string());
        let read = text.and_then(|text| Ok((text, from_companion(text)?)));
        let (text, message) = match read {
            Ok(read) => read,
            Err(error) => {
                // It would end the client's connection for good.
                log::warn!("the companion sent an invalid message, which is dropped: {error}");
                return None;
            }
        };
        let mut answer = None;
        let changes = match message {
            FromCompanion::Context(files) => {
                let map = |file: PathField| {
                    Some((file.at, to_json(&self.mapping.to_client(&file.path)?)))
                };
                files.into_iter().filter_map(map).collect()
            }
            FromCompanion::DiffEnded(PathField { at, path }) => {
                let mut diffs = self.diffs.lock();
                if !diffs.decided(&path) {
                    return None;
                }
                let mapped = || self.mapping.to_client(&path).map(|path| to_json(&path));
                let path = diffs.spelling(&path).or_else(mapped);
                path.map(|path| (at, path)).into_iter().collect()
            }
            FromCompanion::Answer(went_well) => {
                answer = Some(went_well);
                Vec::new()
            }
            FromCompanion::Problems(field) => {
                answer = Some(true);
                field.changed(|report| self.mapping.report_to_client(report))
            }
            FromCompanion::Other => Vec::new(),
        };
        let line = to_line(text);
        let line = if changes.is_empty() { line.into_owned() } else { replace(&line, &changes) };
        self.output.send(line.into_bytes()).await;
        answer
    }

    /// Answers a call.
    pub(super) async fn succeed(&self, id: &Id, result: &CallToolResult) {
        let response = serde_json::to_vec(&Response::new(id, result));
        self.output.send(response.expect("our messages are JSON")).await;
    }

    /// Answers a request with an error.
    pub(super) async fn fail(&self, id: &Id, reason: &str) {
        let error = ErrorObject::new(code::SERVER_ERROR, reason);
        let error = ErrorResponse::new(Some(id), error);
        self.output.send(serde_json::to_vec(&error).expect("errors are JSON")).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// Creates a bridge without a companion, and the client's end of it.
    fn bridge(mapping: Mapping) -> (Bridge, tokio::sync::mpsc::Receiver<Vec<u8>>) {
        let (output, lines) = Output::new();
        let bridge = Bridge {
            mapping,
            diffs: Mutex::new(RelayedDiffs::default()),
            link: Link::new(),
            output,
            session: Mutex::default(),
            reconnect_wait: Duration::ZERO,
        };
        (bridge, lines)
    }

    #[tokio::test]
    async fn problems_have_the_clients_paths() {
        let (bridge, mut lines) = bridge(Mapping(vec!["/work=/home/me".parse().unwrap()]));
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"No problems in /home/me/a."}],"structuredContent":{"files":[{"path":"/home/me/a","diagnostics":[]}]}}}"#;
        assert_eq!(bridge.deliver(answer.as_bytes()).await, Some(true));
        let mapped = answer.replace("/home/me", "/work");
        assert_eq!(lines.recv().await.unwrap(), mapped.into_bytes());
    }

    #[tokio::test]
    async fn what_the_client_does_not_read_holds_the_companion_back() {
        let (bridge, mut lines) = bridge(Mapping::default());
        let message = br#"{"jsonrpc":"2.0","method":"m"}"#;
        let mut sent = 0;
        // A timeout of zero still tries once.
        while timeout(Duration::ZERO, bridge.deliver(message)).await.is_ok() {
            sent += 1;
            assert!(sent < 100, "messages pile up");
        }
        lines.recv().await.unwrap();
        bridge.deliver(message).await;
    }
}
