//! Writes an answer that is a stream: notifications about a request, and its result at the end.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use companion_core::diffs::{Accepted, Decision, EventId, Outgoing};
use companion_protocol::jsonrpc::{ErrorObject, ErrorResponse, Id, Response, code};
use companion_protocol::stateless::{
    Complete, DecidedResult, DiffDecision, context_updated, progress,
};

use super::RequestSession;
use crate::http::HttpServer;
use crate::mcp::dispatch::SERVER;
use crate::net::json::{Depth, Json};
use crate::net::sse;
use crate::session::Next;

/// What a stream waits for.
pub(super) enum Awaited {
    /// The user's decision. `steps` counts the notifications that it has not come yet.
    Decision { progress_token: Option<Id>, steps: u64 },
    /// The end of a subscription, perhaps to changes of the context.
    Subscription { has_context: bool },
}

pub(crate) struct StatelessStream {
    server: Arc<HttpServer>,
    request: RequestSession,
    number: u64,
    id: Id,
    /// `None` after the result.
    awaited: Option<Awaited>,
    /// The rest of the current event.
    data: Json,
}

impl StatelessStream {
    /// Opens the stream of a request. It begins with `first`.
    pub(super) fn open(
        server: Arc<HttpServer>,
        request: RequestSession,
        id: Id,
        awaited: Awaited,
        first: Json,
    ) -> Self {
        let session = &request.session;
        let last = EventId::default();
        let number = server.clients.attach(session, server.context.message(), &last, true);
        Self { server, request, number, id, awaited: Some(awaited), data: first }
    }

    /// The event that follows; empty if there is none. Ends the stream with the result.
    fn event(&mut self, next: Option<Next<Outgoing>>) -> Json {
        match (next, &mut self.awaited) {
            (Some(Next::Decision(outgoing)), _) => {
                self.awaited = None;
                self.decision(outgoing.decision)
            }
            (Some(Next::Context(_)), Some(Awaited::Subscription { has_context: true })) => {
                sse::data(&context_updated(&self.id)).into()
            }
            (
                Some(Next::KeepAlive),
                Some(Awaited::Decision { progress_token: Some(token), steps }),
            ) => {
                *steps += 1;
                sse::data(&progress(token, *steps)).into()
            }
            (Some(Next::KeepAlive), _) => sse::KEEP_ALIVE.into(),
            (Some(Next::Context(_) | Next::Ping(_)), _) => Json::default(),
            (None, awaited) => match awaited.take() {
                Some(Awaited::Subscription { .. }) => {
                    let end = Complete::of_subscription(self.id.clone(), SERVER);
                    sse::data(&Response::new(&self.id, end)).into()
                }
                Some(Awaited::Decision { .. }) => self.undecided(),
                None => Json::default(),
            },
        }
    }

    /// The event with the result.
    fn decision(&self, decision: Decision) -> Json {
        let response = match decision {
            Decision::Accepted(Accepted { content: text }) | Decision::RejectedWithReason(text) => {
                let response = |content: &str| self.response(DiffDecision::Accepted { content });
                Json::with_text(text, Depth::String, response)
            }
            Decision::Rejected => self.response(DiffDecision::Rejected),
            Decision::Undecided => return self.undecided(),
        };
        response.into_event()
    }

    /// The event of a proposal that has ended without a decision.
    fn undecided(&self) -> Json {
        let message = "The proposal has ended without a decision of the user.";
        let error = ErrorObject::new(code::SERVER_ERROR, message);
        sse::data(&ErrorResponse::new(Some(&self.id), error)).into()
    }

    fn response(&self, decision: DiffDecision<'_>) -> Json {
        let result = Complete::new(DecidedResult::new(decision), SERVER);
        Json::new(&Response::new(&self.id, result))
    }
}

impl StatelessStream {
    pub(in crate::http) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(bytes) = self.data.next() {
                return Poll::Ready(Some(bytes));
            }
            if self.awaited.is_none() {
                return Poll::Ready(None);
            }
            let (session, number) = (&self.request.session, self.number);
            let decisions = || self.server.driver.next_event(session.id, number);
            let next = ready!(session.poll_next(number, decisions, cx));
            self.data = self.event(next);
        }
    }
}

impl Drop for StatelessStream {
    fn drop(&mut self) {
        self.server.clients.detach(&self.request.session, self.number);
    }
}
