//! Reads an event stream as a client does.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::http::ReplyBody;

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
    let mut cx = Context::from_waker(Waker::noop());
    match std::pin::pin!(message).poll(&mut cx) {
        Poll::Ready(message) => Some(message.expect("the stream goes on")),
        Poll::Pending => None,
    }
}
