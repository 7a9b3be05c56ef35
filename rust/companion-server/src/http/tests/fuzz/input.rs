//! Generates the fuzzer's inputs: requests that are nearly valid, with some bytes changed
//! afterwards.

use proptest::prelude::*;
use proptest::sample::select;

use super::json::{message, text, value};
use crate::testing::{PORT, TOKEN};

/// Stands for the id of the session that the fuzzer uses.
pub(super) const SESSION: &str = "{session}";

/// All bytes of one connection.
#[derive(Clone, Debug)]
pub(super) struct Input {
    requests: Vec<Request>,
    /// Changes of the requests' bytes.
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Request {
    method: String,
    target: String,
    /// Names and values, except those of the framing.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Sends the body in chunks of this size.
    chunks: Option<usize>,
}

/// A change of bytes. Its position is a fraction of the whole input.
#[derive(Clone, Debug)]
struct Change {
    at: u16,
    kind: ChangeKind,
}

#[derive(Clone, Debug)]
enum ChangeKind {
    Set(u8),
    Insert(&'static [u8]),
    Remove(u8),
    Repeat(u8),
    Cut,
}

impl Input {
    /// Returns the most replies that the server sends.
    pub(super) fn replies(&self) -> usize {
        if self.changes.is_empty() { self.requests.len() } else { usize::MAX }
    }

    /// Returns the bytes, with the changes, and with `session` in place of [`SESSION`].
    pub(super) fn bytes(&self, session: &str) -> Vec<u8> {
        let mut bytes = self.requests.iter().flat_map(|request| request.bytes(session)).collect();
        change(&mut bytes, &self.changes);
        bytes
    }
}

impl Request {
    fn bytes(&self, session: &str) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            text.extend([name, ": ", &value.replace(SESSION, session), "\r\n"]);
        }
        let Some(size) = self.chunks else {
            text.extend(["content-length: ", &self.body.len().to_string(), "\r\n\r\n"]);
            return [text.as_bytes(), &self.body].concat();
        };
        text.push_str("transfer-encoding: chunked\r\n\r\n");
        let mut bytes = text.into_bytes();
        for chunk in self.body.chunks(size) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }
}

fn change(bytes: &mut Vec<u8>, changes: &[Change]) {
    for change in changes {
        let at = usize::from(change.at) * bytes.len() / 0x10000;
        let to = |count: u8| (at + usize::from(count)).min(bytes.len());
        match change.kind {
            ChangeKind::Set(byte) if at < bytes.len() => bytes[at] = byte,
            ChangeKind::Set(byte) => bytes.push(byte),
            ChangeKind::Insert(piece) => drop(bytes.splice(at..at, piece.iter().copied())),
            ChangeKind::Remove(count) => drop(bytes.drain(at..to(count))),
            ChangeKind::Repeat(count) => {
                let piece = bytes[at..to(count)].to_vec();
                bytes.splice(at..at, piece);
            }
            ChangeKind::Cut => bytes.truncate(at),
        }
    }
}

pub(super) fn input() -> BoxedStrategy<Input> {
    let changes = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(a_change(), 1..4)];
    let requests = prop::collection::vec(request(), 1..4);
    (requests, changes).prop_map(|(requests, changes)| Input { requests, changes }).boxed()
}

fn a_change() -> BoxedStrategy<Change> {
    let pieces: Vec<&'static [u8]> = vec![
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b" ",
        b"\t",
        b":",
        b",",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"0\r\n\r\n",
        b"1e999999",
        b"content-length: 3\r\n",
        b"transfer-encoding: chunked\r\n",
        b"null",
        b"HTTP/1.1",
        b"POST /mcp HTTP/1.1\r\n",
        b"origin: x\r\n",
        b"\r\n\r\n",
    ];
    let kind = prop_oneof![
        3 => any::<u8>().prop_map(ChangeKind::Set),
        3 => select(pieces).prop_map(ChangeKind::Insert),
        2 => any::<u8>().prop_map(ChangeKind::Remove),
        2 => any::<u8>().prop_map(ChangeKind::Repeat),
        1 => Just(ChangeKind::Cut),
    ];
    (any::<u16>(), kind).prop_map(|(at, kind)| Change { at, kind }).boxed()
}

/// Chooses one of `usual` in nine of ten cases, otherwise one of `others`. The empty text means no
/// header.
fn header(
    name: &'static str,
    usual: &[String],
    others: &[&str],
) -> impl Strategy<Value = Option<(&'static str, String)>> + use<> {
    let usual: Vec<_> = usual.to_vec();
    let others: Vec<_> = others.iter().map(|other| (*other).to_owned()).collect();
    prop_oneof![19 => select(usual), 1 => select(others)]
        .prop_map(move |value| (!value.is_empty()).then_some((name, value)))
}

fn request() -> BoxedStrategy<Request> {
    let none = || vec![String::new()];
    let host = [format!("127.0.0.1:{PORT}"), format!("LOCALHOST:{PORT}"), format!("[::1]:{PORT}")];
    let hosts = ["", "evil.example", "127.0.0.1", "127.0.0.1:0", "127.0.0.1.:41234", "a@localhost"];
    let bearer = format!("Bearer {TOKEN}");
    let tokens = ["", "Bearer", "Bearer the-tokem", "Bearer the-token ", "Basic dTpw", "bearer x"];
    let accept = ["", "*/*", "application/json, text/event-stream"].map(str::to_owned).to_vec();
    let sessions = ["", "00000000-0000-4000-8000-000000000000", "x", "{session}0", "\u{e9}"];
    let versions = vec![String::new(), "2025-06-18".to_owned()];
    let headers = (
        header("host", &host, &hosts),
        header("authorization", &[bearer], &tokens),
        header("accept", &accept, &["text/html", "application/json", "/", "*"]),
        header("mcp-session-id", &[SESSION.to_owned()], &sessions),
        header("mcp-protocol-version", &versions, &["2026-07-28", "1.0", "x"]),
        header("content-encoding", &none(), &["gzip", "identity", "deflate, gzip", "IDENTITY"]),
        header("origin", &none(), &["null", "http://127.0.0.1:41234", "http://evil.example"]),
        header("last-event-id", &none(), &["1-1", "ffffffff-18446744073709551615", "x"]),
    );
    let headers = headers.prop_map(|(a, b, c, d, e, f, g, h)| {
        let headers = [a, b, c, d, e, f, g, h].into_iter().flatten();
        headers.map(|(name, value)| (name.to_owned(), value)).collect()
    });
    let method = prop_oneof![
        30 => Just("POST"),
        1 => select(vec!["GET", "DELETE", "PUT", "OPTIONS", "post", "PATCH"]),
    ];
    let target = prop_oneof![
        30 => Just("/mcp"),
        1 => select(vec!["/", "/mcp/", "//mcp", "/events", "/mcp?x=1", "/%6dcp", "*"]),
    ];
    let chunks = prop_oneof![3 => Just(None), 1 => (1_usize..300).prop_map(Some)];
    (method, target, headers, body(), chunks)
        .prop_map(|(method, target, headers, body, chunks)| Request {
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            body,
            chunks,
        })
        .boxed()
}

fn body() -> BoxedStrategy<Vec<u8>> {
    let text = prop_oneof![
        12 => message(),
        3 => prop::collection::vec(prop_oneof![9 => message(), 1 => value()], 0..5)
            .prop_map(|messages| format!("[{}]", messages.join(","))),
        1 => value(),
        1 => (98_usize..103).prop_map(|count| {
            format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; count].join(","))
        }),
        1 => text(),
    ];
    let changes = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(a_change(), 1..3)];
    (text, changes)
        .prop_map(|(text, changes)| {
            let mut bytes = text.into_bytes();
            change(&mut bytes, &changes);
            bytes
        })
        .boxed()
}
