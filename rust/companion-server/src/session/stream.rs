//! The body of `GET /mcp`, and of an answer that is a stream: a session's mailbox as Server-Sent
//! Events.
//!
//! No event is ever without data: one empty `data:` line ends the client's connection for good
//! (`streamableHttp.js` parses it as JSON).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};

use super::mailbox::Outgoing;
use super::{Session, Sessions};

/// A comment: bytes that mean nothing.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

pub(crate) struct EventStream {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
    number: u64,
    /// To be sent at the start of the stream.
    first: Option<Bytes>,
    /// Whether the client is to come back after the last of its events. It does so for each
    /// stream that has ids (`streamableHttp.js`), so an answer has none.
    resumable: bool,
    /// The data of the event whose head was just sent. It is shared by all sessions, so it is
    /// not copied to be put behind a head.
    data: Option<Bytes>,
}

impl EventStream {
    pub(super) fn new(
        sessions: Arc<Sessions>,
        session: Arc<Session>,
        number: u64,
        retry: Duration,
    ) -> Self {
        let first = Some(Bytes::from(format!("retry: {}\n\n", retry.as_millis())));
        Self { sessions, session, number, first, resumable: true, data: None }
    }

    /// `response` is data of an event.
    pub(super) fn answering(
        sessions: Arc<Sessions>,
        session: Arc<Session>,
        number: u64,
        response: Bytes,
    ) -> Self {
        Self { sessions, session, number, first: Some(response), resumable: false, data: None }
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = if let Some(first) = self.first.take() {
            first
        } else if let Some(data) = self.data.take() {
            data
        } else {
            match ready!(self.session.mailbox.poll_next(self.number, cx)) {
                None => return Poll::Ready(None),
                Some(Outgoing::KeepAlive) => KEEP_ALIVE,
                Some(Outgoing::Event(_, data)) if !self.resumable => data,
                Some(Outgoing::Event(id, data)) => {
                    self.data = Some(data);
                    Bytes::from(format!("event: message\nid: {id}\n"))
                }
            }
        };
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.sessions.detach(&self.session, self.number);
    }
}
