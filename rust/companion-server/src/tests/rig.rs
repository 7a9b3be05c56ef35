//! Builds a server without sockets, files and threads, and acts as its clients.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use companion_core::companion::{Delivery, Input};
use companion_core::diffs::Accepted;
use companion_protocol::settings::Settings;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::editor::{EditorCall, Received, RecordingEditor};
use super::stream::Stream;
use crate::config::{Config, Limits};
use crate::disk::pool::BlockingPool;
use crate::host::EditorHost;
use crate::http::{ReadEnd, ReplyBody, route, serve};
use crate::parts::Parts;
use crate::resume::{Resume, Resumed, Token};

pub(crate) const PORT: u16 = 41234;
pub(crate) const TOKEN: &str = "the-token";

/// The address of a client on this machine.
pub(crate) const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

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
    pub(crate) parts: Arc<Parts>,
    /// The lock that shows the next process that this one is not ending.
    lock: Mutex<Option<File>>,
    pub(crate) asked: tokio::sync::Mutex<UnboundedReceiver<EditorCall>>,
    received: Arc<Mutex<Received>>,
    pub(crate) host: Arc<dyn EditorHost>,
}

/// Makes the request that calls a tool.
pub(crate) fn tool_call(tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
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
        let received = Arc::default();
        let host: Arc<dyn EditorHost> =
            Arc::new(RecordingEditor { asked: sender, received: Arc::clone(&received) });
        let (parts, checks) = Parts::new(PORT, &token, config, Arc::clone(&host), left, pool, None);
        parts.run(&Handle::current(), saving, checks);
        let lock = Mutex::new(lock);
        let asked = tokio::sync::Mutex::new(asked);
        Self { parts, lock, asked, received, host }
    }

    /// The notifications that the editor has received.
    pub(crate) fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock()
    }

    /// Shows the next process that this one is ending.
    pub(crate) fn release_lock(&self) {
        *self.lock.lock() = None;
    }

    /// Stops the server in order.
    pub(crate) async fn shut_down(&self) {
        self.release_lock();
        self.parts.shut_down(None).await;
    }

    /// The user accepts the diff of this path.
    pub(crate) fn accept(&self, path: &str, content: &str) -> Delivery {
        let accepted = Accepted { content: self.parts.driver.hold(content.to_owned()) };
        self.parts.driver.handle(Input::Accepted(path, accepted)).delivery
    }

    /// The user rejects the diff of this path.
    pub(crate) fn reject(&self, path: &str) -> Delivery {
        self.parts.driver.handle(Input::Rejected(path)).delivery
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
        route(
            Arc::clone(http),
            &http.endpoint,
            request,
            &http.slots.take(),
            &ReadEnd::default(),
            PEER,
        )
        .await
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
        let body = tool_call(tool, arguments).to_string();
        let reply = self.send("POST", "/mcp", &[("mcp-session-id", session)], body).await;
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
