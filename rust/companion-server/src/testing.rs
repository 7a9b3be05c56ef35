//! Provides a server without sockets, files and threads to the unit tests.

use std::cell::RefCell;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use companion_core::companion::{Delivery, Input};
use companion_core::diffs::Decision;
use companion_protocol::diagnostics::DiagnosticsRequest;
use companion_protocol::editor::{CliChanged, CompanionNotification};
use companion_protocol::settings::Settings;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response};
use log::{LevelFilter, Metadata, Record};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use crate::config::{Config, Limits};
use crate::disk::pool::BlockingPool;
use crate::host::{
    DiagnosticsResponder, DiffResponder, EditorHost, EditorRequest, Proposal, Responder,
    UnsavedResponder,
};
use crate::http::{ReplyBody, route, serve};
use crate::parts::Parts;
use crate::resume::{Resume, Resumed, Token};

pub(crate) const PORT: u16 = 41234;
pub(crate) const TOKEN: &str = "the-token";

/// The address of a client on this machine.
pub(crate) const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A request to the editor.
#[derive(Debug)]
pub(crate) enum EditorCall {
    Open(DiffResponder, Proposal),
    Close(DiffResponder, String),
    Accept(DiffResponder, String),
    Reject(DiffResponder, String),
    Diagnostics(DiagnosticsResponder, DiagnosticsRequest),
    Unsaved(UnsavedResponder),
}

/// An editor that only records its requests.
struct Notes {
    asked: UnboundedSender<EditorCall>,
    counts: Arc<Mutex<Vec<usize>>>,
    private: Arc<Mutex<Vec<String>>>,
    notices: Arc<Mutex<Vec<String>>>,
    changes: Arc<Mutex<Vec<CliChanged>>>,
}

impl EditorHost for Notes {
    fn request(&self, request: EditorRequest, responder: Responder) {
        let call = match (request, responder) {
            (EditorRequest::OpenDiff(proposal), Responder::Diff(responder)) => {
                EditorCall::Open(responder, proposal)
            }
            (EditorRequest::CloseDiff(close), Responder::Diff(responder)) => {
                EditorCall::Close(responder, close.file_path)
            }
            (EditorRequest::AcceptDiff(path), Responder::Diff(responder)) => {
                EditorCall::Accept(responder, path.file_path)
            }
            (EditorRequest::RejectDiff(path), Responder::Diff(responder)) => {
                EditorCall::Reject(responder, path.file_path)
            }
            (EditorRequest::Diagnostics(request), Responder::Diagnostics(responder)) => {
                EditorCall::Diagnostics(responder, request)
            }
            (EditorRequest::UnsavedFiles, Responder::Unsaved(responder)) => {
                EditorCall::Unsaved(responder)
            }
            (request, responder) => panic!("{request:?} has {responder:?}"),
        };
        let _ = self.asked.send(call);
    }

    fn notify(&self, notification: CompanionNotification) {
        match notification {
            CompanionNotification::Clients(clients) => self.counts.lock().push(clients.count),
            CompanionNotification::PrivateFiles(files) => *self.private.lock() = files.paths,
            CompanionNotification::CliWaiting(of) => self.notices.lock().push(of.message),
            CompanionNotification::CliAnswered(_) => {
                self.notices.lock().push("answered".to_owned());
            }
            CompanionNotification::CliFinished(_) => {
                self.notices.lock().push("finished".to_owned());
            }
            CompanionNotification::Written(of) => {
                self.notices.lock().push(format!("written {}", of.file_path));
            }
            CompanionNotification::Unwritten(of) => {
                self.notices.lock().push(format!("unwritten {}", of.file_path));
            }
            CompanionNotification::ReasonLost(of) => {
                self.notices.lock().push(format!("lost {}: {}", of.reason, of.why));
            }
            CompanionNotification::CliChanged(of) => self.changes.lock().push(of),
            CompanionNotification::CliCommand(of) => {
                let words = if of.running { "command begins" } else { "command ends" };
                self.notices.lock().push(words.to_owned());
            }
            CompanionNotification::CommentsPending(of) => {
                let texts = of.comments.iter().map(|comment| format!("pending {}", comment.text));
                self.notices.lock().extend(texts);
            }
            CompanionNotification::CommentsDelivered(of) => {
                self.notices.lock().extend(of.ids.iter().map(|id| format!("delivered {id}")));
            }
            CompanionNotification::CommentRefused(of) => {
                self.notices.lock().push(format!("refused {}: {}", of.id, of.reason));
            }
        }
    }
}

fn config() -> Config {
    Config::new(Settings {
        workspace: vec!["/".into()],
        ide_name: "test".to_owned(),
        ide_pid: 1,
        worktrees: false, // nobody looks for them
        ..Settings::default()
    })
}

/// A server without sockets, and its editor.
pub(crate) struct Rig {
    pub(crate) parts: Parts,
    /// The lock that shows the next process that this one is not ending.
    lock: Mutex<Option<File>>,
    pub(crate) asked: tokio::sync::Mutex<UnboundedReceiver<EditorCall>>,
    /// The numbers of connected clients that the editor received.
    pub(crate) counts: Arc<Mutex<Vec<usize>>>,
    /// The last private files that the editor received.
    pub(crate) private: Arc<Mutex<Vec<String>>>,
    /// What the editor received of CLIs: questions, and "finished".
    pub(crate) notices: Arc<Mutex<Vec<String>>>,
    /// The changes of CLIs that the editor received.
    pub(crate) changes: Arc<Mutex<Vec<CliChanged>>>,
    pub(crate) host: Arc<dyn EditorHost>,
}

impl Rig {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = config();
        change(&mut config);
        Self::launch(config, None)
    }

    /// Creates a server that resumes the one whose state is in `dir`.
    pub(crate) fn resume(dir: &Path) -> Self {
        let last = Resume::try_claim(Some(dir.to_owned()), &config()).unwrap();
        Self::launch(config(), Some(last))
    }

    fn launch(config: Config, last: Option<Resume>) -> Self {
        let pool = Arc::new(BlockingPool::of_test());
        let (left, lock, saving) = match last.map(|last| last.begin(PORT, &pool)) {
            Some(Resumed { left, running, saving, .. }) => {
                (Some(left), Some(running), Some(saving))
            }
            None => (None, None, None),
        };
        let token = Token::for_tests(TOKEN);
        let (sender, asked) = unbounded_channel();
        let (counts, private, notices) = (Arc::default(), Arc::default(), Arc::default());
        let changes = Arc::default();
        let host: Arc<dyn EditorHost> = Arc::new(Notes {
            asked: sender,
            counts: Arc::clone(&counts),
            private: Arc::clone(&private),
            notices: Arc::clone(&notices),
            changes: Arc::clone(&changes),
        });
        let parts = Parts::new(PORT, &token, config, Arc::clone(&host), left, pool, None);
        parts.run(&Handle::current(), saving);
        let lock = Mutex::new(lock);
        let asked = tokio::sync::Mutex::new(asked);
        Self { parts, lock, asked, counts, private, notices, changes, host }
    }

    /// Shows the next process that this one is ending.
    pub(crate) fn release_lock(&self) {
        *self.lock.lock() = None;
    }

    /// Stops the server in order.
    pub(crate) async fn shut_down(&self) {
        self.release_lock();
        self.parts.shutdown().run(None, false).await;
    }

    /// The user decides about the diff of this path.
    pub(crate) fn user_decided(&self, path: &str, decision: Decision) -> Delivery {
        let input = match decision {
            Decision::Accepted(text) => {
                Input::Accepted(path, self.parts.driver.hold(text.to_string()))
            }
            Decision::Rejected | Decision::RejectedWithReason(_) => Input::Rejected(path),
        };
        self.parts.driver.handle(input).delivery
    }

    pub(crate) fn open_count(&self) -> usize {
        self.parts.driver.ask(|companion| companion.diffs().open_count())
    }

    pub(crate) fn limits(change: impl FnOnce(&mut Limits)) -> Self {
        Self::with(|config| change(&mut config.limits))
    }

    /// Sends a request with the usual headers, and with `headers`.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<ReplyBody> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", format!("127.0.0.1:{PORT}"))
            .header("authorization", format!("Bearer {TOKEN}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let http = &self.parts.http;
        route(Arc::clone(http), &http.endpoint, request, &http.slots.take(), PEER).await
    }

    /// Serves a connection.
    pub(crate) fn serve<S>(&self, stream: S) -> impl Future<Output = ()> + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let http = &self.parts.http;
        serve(stream, PEER, Arc::clone(&http.endpoint), Arc::clone(http))
    }

    /// Begins a session and returns its id.
    pub(crate) async fn initialize(&self) -> String {
        self.initialize_with(&[]).await
    }

    /// Does the same for a client that repeats requests.
    pub(crate) async fn initialize_bridge(&self) -> String {
        self.initialize_with(&[("companion-repeated", "false")]).await
    }

    async fn initialize_with(&self, headers: &[(&str, &str)]) -> String {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let reply = self.send("POST", "/mcp", headers, body).await;
        reply.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&self, session: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = [("mcp-session-id", session)];
        let reply = self.send("POST", "/mcp", &headers, body.to_string()).await;
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice::<Value>(&body).unwrap()["result"].take()
    }

    /// Opens the event stream of a session.
    pub(crate) async fn stream(&self, session: &str) -> Stream {
        self.stream_after(session, None).await
    }

    pub(crate) async fn stream_after(&self, session: &str, last: Option<&str>) -> Stream {
        let mut headers = vec![("mcp-session-id", session)];
        headers.extend(last.map(|last| ("last-event-id", last)));
        Stream::new(self.send("GET", "/mcp", &headers, "").await.into_body())
    }

    /// Opens a diff that the editor shows.
    pub(crate) async fn open(&self, session: &str, path: &str) {
        let arguments = json!({ "filePath": path, "newContent": "new" });
        let (result, ()) = tokio::join!(self.call(session, "openDiff", &arguments), self.show());
        assert_eq!(result, json!({ "content": [] }));
    }

    /// Makes the editor show the next proposal.
    pub(crate) async fn show(&self) {
        let EditorCall::Open(responder, _) = self.asked().await else { panic!("no proposal") };
        responder.complete(None);
    }

    /// Returns the next request to the editor.
    pub(crate) async fn asked(&self) -> EditorCall {
        self.asked.lock().await.recv().await.unwrap()
    }
}

thread_local! {
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Returns the lines that this thread has logged since the last call, each with its level. The
/// first call returns nothing.
pub(crate) fn logged() -> Vec<String> {
    // Another test may have set the logger.
    let _ = log::set_logger(&Logger);
    log::set_max_level(LevelFilter::Debug);
    LOGGED.take()
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("companion")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{} {}", record.level(), record.args());
            LOGGED.with_borrow_mut(|lines| lines.push(line));
        }
    }

    fn flush(&self) {}
}

/// The client's end of an event stream.
pub(crate) struct Stream {
    body: ReplyBody,
    text: String,
    /// The time when the newest bytes arrived.
    pub(crate) arrived: Instant,
    /// The id of the newest event that has one.
    pub(crate) last_id: Option<String>,
}

impl Stream {
    pub(crate) fn new(body: ReplyBody) -> Self {
        Self { body, text: String::new(), arrived: Instant::now(), last_id: None }
    }

    /// Reads the next event or comment as text, without the empty line after it. Returns `None` at
    /// the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let frame = self.body.frame().await?.unwrap().into_data().unwrap();
            self.arrived = Instant::now();
            self.text.push_str(std::str::from_utf8(&frame).unwrap());
        }
    }

    /// Reads the next notification. Skips comments, `retry` and pings.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let message = self.any_message().await?;
            if message["method"] != "ping" {
                return Some(message);
            }
        }
    }

    /// Reads the next message. Skips comments and `retry`.
    pub(crate) async fn any_message(&mut self) -> Option<Value> {
        loop {
            let block = self.block().await?;
            let field = |name| block.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                if let Some(id) = field("id: ") {
                    self.last_id = Some(id.to_owned());
                }
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// Reads the next message, which must be a context, and returns its parameters.
    pub(crate) async fn context(&mut self) -> Value {
        let mut message = self.message().await.unwrap();
        assert_eq!(message["method"], "ide/contextUpdate");
        message["params"].take()
    }

    /// Does the same, if the message has arrived.
    pub(crate) fn context_now(&mut self) -> Option<Value> {
        let mut message = self.message_now()?;
        assert_eq!(message["method"], "ide/contextUpdate");
        Some(message["params"].take())
    }

    /// Reads the next notification, if it has arrived.
    pub(crate) fn message_now(&mut self) -> Option<Value> {
        now(self.message())
    }

    /// Reads the next message, if it has arrived.
    pub(crate) fn any_message_now(&mut self) -> Option<Value> {
        now(self.any_message())
    }

    /// Asserts that no message arrives during this time.
    pub(crate) async fn nothing_for(&mut self, time: Duration) {
        let message = timeout(time, self.message()).await;
        assert!(message.is_err(), "{message:?}");
    }
}

fn now(message: impl Future<Output = Option<Value>>) -> Option<Value> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(message).poll(&mut cx) {
        Poll::Ready(message) => Some(message.expect("the stream goes on")),
        Poll::Pending => None,
    }
}
