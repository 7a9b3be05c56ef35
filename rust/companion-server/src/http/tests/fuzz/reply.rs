//! Parses replies as a client does, and checks their form.

use std::fmt;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

/// All statuses that these inputs can get.
const STATUSES: [u16; 15] =
    [200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 413, 414, 415, 431, 501];

/// Statuses without a body. The HTTP library sends some of them itself.
const BARE: [u16; 5] = [202, 204, 400, 414, 431];

/// One reply.
pub(super) struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.head, self.body.escape_ascii())
    }
}

/// Reads until the connection ends, an event stream begins, or `enough` replies have arrived.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin), enough: usize) -> Vec<Reply> {
    let mut replies = Vec::new();
    let mut bytes = Vec::new();
    while replies.len() < enough {
        if let Some((reply, length)) = parse(&bytes) {
            bytes.drain(..length);
            let is_last = reply.is_stream();
            if reply.status != 100 {
                replies.push(reply);
            }
            if is_last {
                break;
            }
        } else if !matches!(from.read_buf(&mut bytes).await, Ok(1..)) {
            assert!(bytes.is_empty(), "half a reply: {:?}", String::from_utf8_lossy(&bytes));
            break;
        }
    }
    replies
}

/// Parses a reply, and returns its length too. Returns `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Option<(Reply, usize)> {
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..end]).expect("a head is ASCII").to_owned();
    let status = head.strip_prefix("HTTP/1.").expect("a reply begins with its version");
    let status = status[2..5].parse().expect("a status is a number");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().expect("a length is a number"));
    let body = bytes.get(end..end + length)?.to_vec();
    Some((Reply { status, head, body }, end + length))
}

/// The answer to one request.
#[derive(serde::Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Response<'_> {
    fn is_error(&self) -> bool {
        match (self.result, self.error) {
            (Some(result), None) => result.get().ends_with(r#""isError":true}"#),
            (None, Some(_)) => true,
            _ => panic!("neither a result nor an error"),
        }
    }
}

impl Reply {
    fn is_stream(&self) -> bool {
        self.head.contains("\r\ncontent-type: text/event-stream\r\n")
    }

    /// Asserts that the server uses this status, and that a body is JSON.
    pub(super) fn has_good_form(&self) {
        assert!(STATUSES.contains(&self.status), "{self:?}");
        if self.is_stream() {
            assert_eq!(self.status, 200, "{self:?}");
        } else if self.body.is_empty() {
            assert!(BARE.contains(&self.status), "{self:?}");
        } else {
            assert!(self.head.contains("\r\ncontent-type: application/json\r\n"), "{self:?}");
            serde_json::from_slice::<&RawValue>(&self.body).expect("a body is JSON");
            assert!(!self.responses().is_empty(), "an empty batch");
        }
    }

    fn responses(&self) -> Vec<Response<'_>> {
        if self.body.is_empty() {
            Vec::new()
        } else if self.body[0] == b'[' {
            serde_json::from_slice(&self.body).expect("a body is JSON-RPC")
        } else {
            vec![serde_json::from_slice(&self.body).expect("a body is JSON-RPC")]
        }
    }

    /// Returns whether the request was refused and changed nothing.
    pub(super) fn is_error(&self) -> bool {
        self.status >= 400
            || (!self.body.is_empty() && self.responses().iter().all(Response::is_error))
    }
}
