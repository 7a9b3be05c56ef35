//! Writes the body of `GET /mcp`, and of an answer that is a stream, as Server-Sent Events.
//!
//! Every event has data: an empty `data:` line ends the client's connection for good
//! (`streamableHttp.js` parses it as JSON).

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use companion_core::diffs::{Accepted, Decision, DiffId, EventId, Outgoing};
use companion_protocol::ide;
use companion_protocol::jsonrpc::{Id, Request};
use companion_protocol::mcp::Empty;

use super::HttpServer;
use crate::net::json::{Depth, Json};
use crate::net::sse;
use crate::session::{Next, Session};

pub(crate) struct EventStream {
    server: Arc<HttpServer>,
    session: Arc<Session>,
    number: u64,
    /// Sent at the start of the stream.
    first: Json,
    /// The stream is the answer to a request. It has no event ids, because the client reconnects
    /// after each stream that has them (`streamableHttp.js`).
    is_answer: bool,
    /// The data of the event whose head was sent. Sessions share a context, so it is not copied
    /// behind a head.
    data: Json,
    /// The event that follows the current one, even if the stream must end.
    ping: Option<Bytes>,
}

impl EventStream {
    /// Opens the stream of a session. Ends the earlier one, and resends the events that the client
    /// missed.
    pub(super) fn open(server: Arc<HttpServer>, session: Arc<Session>, last: &EventId) -> Self {
        session.returned();
        let retry = server.config.limits.retry.as_millis();
        Self::attach(server, session, last, format!("retry: {retry}\n\n").into(), false)
    }

    /// Answers a request by a stream that begins with `response`, for a client that has no other
    /// stream yet. It ends when that one opens.
    pub(super) fn answer(server: Arc<HttpServer>, session: Arc<Session>, response: Json) -> Self {
        Self::attach(server, session, &EventId::default(), response.into_event(), true)
    }

    fn attach(
        server: Arc<HttpServer>,
        session: Arc<Session>,
        last: &EventId,
        first: Json,
        is_answer: bool,
    ) -> Self {
        let context = server.context.message();
        let number = server.clients.attach(&session, context, last, is_answer);
        Self { server, session, number, first, is_answer, data: Json::default(), ping: None }
    }

    /// Starts an event: returns its head now, its data next.
    fn event(&mut self, mut data: Json) -> Bytes {
        let head = if self.is_answer {
            data.next().expect("an event has data")
        } else {
            let id = self.server.driver.ask(|companion| companion.event_id(self.session.id));
            Bytes::from(format!("event: message\nid: {id}\n"))
        };
        self.data = data;
        head
    }
}

fn decision(Outgoing { path, decision, .. }: &Outgoing) -> Json {
    let message = match decision {
        Decision::Accepted(Accepted { content: text }) | Decision::RejectedWithReason(text) => {
            let message = |text: &str| Json::new(&ide::diff_accepted(path, text));
            Json::with_text(text.clone(), Depth::String, message)
        }
        Decision::Rejected | Decision::Undecided => Json::new(&ide::diff_rejected(path)),
    };
    message.into_event()
}

fn ping(diff: DiffId) -> Bytes {
    sse::data(&Request::new(Id::from(diff.to_string().as_str()), "ping", Empty {}))
}

impl EventStream {
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let begun = self.first.next().or_else(|| self.data.next()).or_else(|| self.ping.take());
        if begun.is_some() {
            return Poll::Ready(begun);
        }
        let (session, number) = (self.session.id, self.number);
        let decisions = || self.server.driver.next_event(session, number);
        let next = ready!(self.session.poll_next(number, decisions, cx));
        let bytes = match next {
            None => return Poll::Ready(None),
            Some(Next::KeepAlive) => sse::KEEP_ALIVE,
            Some(Next::Context(context)) => self.event(context.into()),
            Some(Next::Ping(id)) => ping(id),
            Some(Next::Decision(outgoing)) => {
                self.ping = outgoing.ping.then(|| ping(outgoing.diff));
                self.event(decision(&outgoing))
            }
        };
        Poll::Ready(Some(bytes))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.server.clients.detach(&self.session, self.number);
    }
}
