//! Delivers decisions to their clients: knows their streams and acknowledgements.

use super::{DiffState, Effect, Ledger, PendingEditorRequest};
use crate::diffs::outbox::{Closing, DecisionRoute, EventId, Outbox, Outgoing, Queued};
use crate::diffs::{Answer, Decision, DiffId, Proposed};
use crate::session::SessionId;

impl Ledger {
    /// Begins a stream of a session. Resends decisions that did not arrive on the last stream. A
    /// stream that answers a request gives the client no way to acknowledge.
    pub(crate) fn attach(
        &mut self,
        session: SessionId,
        stream: u64,
        last: &EventId,
        is_answer: bool,
    ) -> Vec<Effect> {
        let Some(outbox) = self.outboxes.get_mut(&session) else { return Vec::new() };
        let arrived = outbox.attach(stream, last, is_answer);
        self.arrived(session, arrived);
        self.close_ended(session, last);
        self.take_effects()
    }

    /// Ends a stream of a session. Answers the calls that waited for its notifications.
    pub(crate) fn detach(&mut self, session: SessionId, stream: u64) -> Vec<Effect> {
        let outbox = self.outboxes.get_mut(&session);
        let closing = outbox.map(|outbox| outbox.detach(stream)).unwrap_or_default();
        closing.into_iter().map(|closing| closing.answer(None)).collect()
    }

    /// Returns the next event of a session's stream.
    pub(crate) fn next(
        &mut self,
        session: SessionId,
        stream: u64,
    ) -> (Option<Outgoing>, Vec<Effect>) {
        let Some(outbox) = self.outboxes.get_mut(&session) else { return (None, Vec::new()) };
        let next = outbox.next(stream, self.stopped);
        while let Some(diff) = self.outboxes[&session].excess() {
            self.take(session, diff);
        }
        (next, self.take_effects())
    }

    /// Limits the memory of decisions that clients do not acknowledge for a long time.
    pub(crate) fn prune_sent(&mut self) -> Vec<Effect> {
        let all = self.outboxes.iter_mut();
        let excess: Vec<_> = all.map(|(session, outbox)| (*session, outbox.prune_sent())).collect();
        for (session, diffs) in excess {
            for diff in diffs {
                self.take(session, diff);
            }
        }
        self.take_effects()
    }

    /// Returns the id of the session's next event.
    pub(crate) fn event_id(&self, session: SessionId) -> EventId {
        self.outboxes.get(&session).map(Outbox::event_id).unwrap_or_default()
    }

    /// Handles a client's answer to the ping after a decision.
    pub(crate) fn ping_answered(&mut self, session: SessionId, diff: DiffId) -> Vec<Effect> {
        self.take(session, diff);
        self.take_effects()
    }

    /// Notes that all records up to this number are saved for the next process.
    pub(crate) fn saved(&mut self, record: u64) {
        self.saved = record;
        self.outboxes.values_mut().for_each(|outbox| outbox.saved(record));
    }

    /// The number of decisions that wait for a stream of the session.
    pub(crate) fn unsent(&self, session: SessionId) -> usize {
        self.outboxes.get(&session).map_or(0, Outbox::unsent_count)
    }

    /// Whether the client of a session may wait for a decision that it has not acknowledged.
    pub fn is_awaited_by(&self, session: SessionId) -> bool {
        self.count(session) > 0 || self.outboxes.get(&session).is_some_and(|of| !of.is_empty())
    }

    /// Whether the client of a session waits for a decision of this process.
    pub fn is_anything_due(&self, session: SessionId) -> bool {
        self.count(session) > 0 || self.outboxes.get(&session).is_some_and(Outbox::is_due)
    }

    /// Whether the client still needs the end of its diff of that path in the last process. It repeats the call
    /// that proposed this.
    pub(crate) fn is_left(&mut self, session: SessionId, path: &str, proposed: Proposed) -> bool {
        let open = self.open.get_mut(path).filter(|diff| diff.asker == session);
        let is_open = open.is_some_and(|diff| {
            if diff.is_unnamed() {
                diff.state = DiffState::Unnamed(Some(proposed));
                return true;
            }
            diff.is_left && diff.proposed == proposed
        });
        is_open || self.outboxes.get(&session).is_some_and(|outbox| outbox.is_left(path))
    }

    /// Whether the session has a stream.
    pub fn has_stream(&self, session: SessionId) -> bool {
        self.outboxes.get(&session).is_some_and(Outbox::has_stream)
    }

    /// Whether a client must still acknowledge a decision, even if the server stops, or waits for
    /// a text from the editor.
    pub fn is_any_on_its_way(&self) -> bool {
        self.outboxes.values().any(Outbox::has_any_on_its_way)
            || self.asked.values().any(PendingEditorRequest::is_for_text)
    }

    /// Removes a decision that needs no notification.
    pub(super) fn take(&mut self, session: SessionId, diff: DiffId) -> Option<Decision> {
        let taken = self.outboxes.get_mut(&session)?.take(diff)?;
        let decision = taken.decision.clone();
        self.arrived(session, vec![taken]);
        Some(decision)
    }

    /// Removes decisions that need no notification any more.
    fn arrived(&mut self, session: SessionId, decisions: Vec<Queued>) {
        for Queued { diff, decision, .. } in decisions {
            self.settle(session, diff);
            if let Some(outbox) = self.outboxes.get_mut(&session) {
                let closing = outbox.closing(diff).into_iter();
                self.effects.extend(closing.map(|closing| closing.answer(Some(decision.clone()))));
            }
        }
    }
}

impl Closing {
    /// The answer, if the decision is known.
    pub(super) fn answer(self, decision: Option<Decision>) -> Effect {
        let accepted = match self.route {
            DecisionRoute::Answer => decision.and_then(|of| of.accepted().cloned()),
            DecisionRoute::Notification(accepted) => accepted,
        };
        Effect::Answer(self.call, Answer::Closed(accepted))
    }
}
