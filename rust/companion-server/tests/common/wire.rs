//! Writes and reads HTTP, MCP and Server-Sent Events by hand.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// The address of a server.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) port: u16,
    pub(crate) token: Arc<str>,
}

impl Target {
    /// Returns the head of a request.
    fn head(&self, request: &str, session: Option<&str>, more: &str) -> String {
        let Self { port, token } = self;
        let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
        format!(
            "{request} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             {session}{more}\r\n"
        )
    }
}

/// The head of a reply.
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    length: usize,
    is_chunked: bool,
}

/// A connection for requests, one after the other.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) async fn open(target: &Target) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", target.port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Makes the connection end by RST instead of FIN.
    pub(crate) fn end_by_rst(&self) {
        SockRef::from(self.0.get_ref()).set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Makes the system buffer as little unread data as possible.
    pub(crate) fn hold_little(&self) {
        SockRef::from(self.0.get_ref()).set_recv_buffer_size(1).unwrap();
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes).await
    }

    /// Reads the next line, without its end.
    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        line.truncate(line.strip_suffix("\r\n").ok_or(io::ErrorKind::UnexpectedEof)?.len());
        Ok(line)
    }

    async fn head(&mut self) -> io::Result<Head> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.expect("HTTP");
        let mut head = Head { status, session: None, length: 0, is_chunked: false };
        loop {
            let line = self.line().await?;
            match line.split_once(": ") {
                None => return Ok(head),
                Some(("content-length", length)) => head.length = length.parse().unwrap(),
                Some(("transfer-encoding", "chunked")) => head.is_chunked = true,
                Some(("mcp-session-id", id)) => head.session = Some(id.to_owned()),
                Some(_) => {}
            }
        }
    }

    /// Reads the JSON-RPC response to a request.
    pub(crate) async fn response(&mut self) -> io::Result<Value> {
        Ok(serde_json::from_slice(&self.reply().await?.1)?)
    }

    /// Sends a request and reads the reply.
    async fn exchange(&mut self, request: &str) -> io::Result<(Head, Vec<u8>)> {
        self.send(request.as_bytes()).await?;
        self.reply().await
    }

    async fn reply(&mut self) -> io::Result<(Head, Vec<u8>)> {
        let head = self.head().await?;
        let mut body = vec![0; head.length];
        self.0.read_exact(&mut body).await?;
        let mut is_over = !head.is_chunked;
        while !is_over {
            let length = usize::from_str_radix(&self.line().await?, 16).expect("a length");
            let begin = body.len();
            body.resize(begin + length, 0);
            self.0.read_exact(&mut body[begin..]).await?;
            self.line().await?;
            is_over = length == 0;
        }
        Ok((head, body))
    }
}

/// A client that has completed the handshake.
pub(crate) struct Session {
    pub(crate) target: Target,
    pub(crate) id: Rc<str>,
    connection: Option<Connection>,
    last_request: u64,
}

impl Session {
    pub(crate) async fn initialize(target: &Target) -> io::Result<Self> {
        let mut connection = Connection::open(target).await?;
        let params = json!({ "protocolVersion": "2025-06-18" });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let (head, _) = connection.exchange(&post(target, None, &body)).await?;
        let id = head.session.unwrap_or_else(|| panic!("initialize: status {}", head.status));
        let connection = Some(connection);
        Ok(Self { target: target.clone(), id: id.into(), connection, last_request: 0 })
    }

    /// Drops the connection. The session reconnects when needed.
    pub(crate) fn hang_up(&mut self) -> Option<Connection> {
        self.connection.take()
    }

    /// Returns the bytes of a tool call.
    pub(crate) fn call_request(&mut self, tool: &str, arguments: &Value) -> String {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        self.last_request += 1;
        let id = self.last_request;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        post(&self.target, Some(&self.id), &body)
    }

    /// Sends a request and returns the result.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        let request = self.request(method, params);
        let (head, body) = self.exchange(&request).await?;
        assert_eq!(head.status, 200, "{method}: {}", String::from_utf8_lossy(&body));
        let mut response: Value = serde_json::from_slice(&body)?;
        assert_eq!(response["id"], self.last_request);
        Ok(response["result"].take())
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: &Value) -> io::Result<Value> {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments })).await
    }

    async fn exchange(&mut self, request: &str) -> io::Result<(Head, Vec<u8>)> {
        if self.connection.is_none() {
            self.connection = Some(Connection::open(&self.target).await?);
        }
        let connection = self.connection.as_mut().expect("just set");
        let reply = connection.exchange(request).await;
        if reply.is_err() {
            self.connection = None;
        }
        reply
    }
}

fn post(target: &Target, session: Option<&str>, body: &Value) -> String {
    let body = body.to_string();
    let length = format!("content-length: {}\r\n", body.len());
    target.head("POST /mcp", session, &length) + &body
}

/// An event of a stream.
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) message: Value,
}

/// The stream of a session's notifications, which ends with its connection.
pub(crate) struct EventStream {
    pub(crate) connection: Connection,
}

impl EventStream {
    /// Opens a stream, or returns the status of the refusal.
    pub(crate) async fn open(
        target: &Target,
        session: &str,
        last_event_id: Option<&str>,
    ) -> io::Result<Result<Self, u16>> {
        let last = last_event_id.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        let mut connection = Connection::open(target).await?;
        let accept = format!("accept: text/event-stream\r\n{last}");
        connection.send(target.head("GET /mcp", Some(session), &accept).as_bytes()).await?;
        let status = connection.head().await?.status;
        Ok(if status == 200 { Ok(Self { connection }) } else { Err(status) })
    }

    /// Reads the next event, and skips comments. Returns `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Event>> {
        let (mut id, mut data) = (None, String::new());
        loop {
            let mut line = String::new();
            if self.connection.0.read_line(&mut line).await? == 0 {
                return Ok(None);
            }
            match line.trim_end_matches('\n').split_once(": ") {
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("data", value)) => value.clone_into(&mut data),
                None if line == "\n" && !data.is_empty() => {
                    return Ok(Some(Event { id, message: serde_json::from_str(&data)? }));
                }
                _ => {}
            }
        }
    }
}
