//! Takes the user's decisions and the editor's answers to requests.

use std::sync::Arc;

use super::opening::View;
use super::{
    CloseReason, Diff, DiffState, EditorCommand, Effect, Ledger, Outcome, PendingEditorRequest,
};
use crate::calls::CallId;
use crate::diffs::outbox::{Closing, DecisionRoute};
use crate::diffs::{Accepted, Answer, Decision, DiffId};
use crate::record::Record;
use crate::session::SessionId;
use crate::text::Text;

const NO_ANSWER: &str = "The editor did not answer in time.";

impl Ledger {
    /// Handles the user's decision.
    pub(crate) fn user_decided(&mut self, path: &str, decision: Decision) -> Vec<Effect> {
        if self.open.get(path).is_some_and(Diff::is_decidable)
            && let Some((path, diff)) = self.open.remove_entry(path)
        {
            return self.decided(path, diff, decision);
        }
        // The user decided while the request to close the view was under way. The caller gets the
        // accepted text. While a view opens, a decision is one about the view that it replaces.
        let is_closing = |asked: &PendingEditorRequest| match asked {
            PendingEditorRequest::Close { path: closing, .. } => **closing == *path,
            PendingEditorRequest::Open(_) | PendingEditorRequest::Decide(_) => false,
        };
        if let Decision::Accepted(accepted) = decision
            && !self.opening.contains_key(path)
            && let Some((&call, _)) = self.asked.iter().find(|(_, asked)| is_closing(asked))
        {
            return self.completed(call, Some(accepted));
        }
        Vec::new()
    }

    fn decided(&mut self, path: Arc<str>, diff: Diff, decision: Decision) -> Vec<Effect> {
        let decision = decision.map_accepted(|accepted| diff.proposed.accept(accepted));
        let outcome = (&decision).into();
        if let Some(accepted) = decision.accepted() {
            let is_users = diff.proposed.is_changed_by(accepted);
            let text = accepted.content.clone();
            let path = Arc::clone(&path);
            self.effects.push(Effect::Expect(diff.id, diff.asker, path, text, is_users));
        }
        self.queue_decision(&diff, path, decision);
        self.end(diff, outcome);
        self.take_effects()
    }

    /// The user rejects the diff that is shown for `path`, with a reason. Until
    /// [`Self::end_rejection`] no other decision of the user counts. Returns the diff and its client.
    pub(crate) fn begin_rejection(&mut self, path: &str) -> Option<(DiffId, SessionId)> {
        let diff = self.open.get_mut(path).filter(|diff| diff.is_decidable())?;
        diff.state = DiffState::Rejecting;
        Some((diff.id, diff.asker))
    }

    /// Rejects a diff after [`Self::begin_rejection`]. Its client receives `present`, the file's text,
    /// as an acceptance. A client without a stream receives a rejection: the file may change until
    /// it returns. So does a client for an empty text, which it would take for an unchanged
    /// proposal.
    pub(crate) fn end_rejection(&mut self, id: DiffId, present: Option<Text>) -> Vec<Effect> {
        let mut open = self.open.extract_if(.., |_, diff| diff.id == id);
        let Some((path, diff)) = open.next() else { return Vec::new() };
        drop(open);
        let may_keep_text = self.has_stream(diff.asker) && !self.stopped;
        let decision = match present {
            Some(text) if may_keep_text && !text.is_empty() => Decision::RejectedWithReason(text),
            _ => Decision::Rejected,
        };
        self.decided(path, diff, decision)
    }

    /// Makes a waiting acceptance a rejection, because the editor writes the accepted text itself
    /// and the client must not repeat the edit. Returns false if the client may have received the
    /// acceptance. If several wait for that path, takes the last one.
    pub(crate) fn withdraw(&mut self, path: &str) -> (bool, Vec<Effect>) {
        let outboxes = self.outboxes.iter_mut();
        let last = outboxes.filter_map(|(session, outbox)| Some((outbox.unsent(path)?, *session)));
        let Some((queued, session)) = last.max_by_key(|(queued, _)| queued.diff) else {
            return (false, Vec::new());
        };
        queued.decision = Decision::Rejected;
        let diff = queued.diff;
        // The first record erases the text.
        self.record_for(session, Record::Settled(diff));
        self.record_for(session, Record::Opened(diff, session, Arc::from(path)));
        self.record_for(session, Record::Rejected(diff));
        (true, self.take_effects())
    }

    /// Handles the editor's success. A closed view comes with the proposal's text.
    pub(crate) fn completed(&mut self, call: CallId, closed: Option<Accepted>) -> Vec<Effect> {
        match self.asked.remove(&call) {
            Some(PendingEditorRequest::Open(path)) => {
                if let Some(diff) = self.open.get_mut(&path) {
                    diff.state = DiffState::Shown;
                    self.answer(call, Answer::Opened);
                }
            }
            Some(PendingEditorRequest::Close { path, diff, caller, notifies, proposed }) => {
                let accepted = closed.map(|accepted| proposed.accept(accepted));
                if let Some(accepted) = &accepted
                    && !notifies
                    && proposed.is_changed_by(accepted)
                {
                    let text = accepted.content.clone();
                    self.effects.push(Effect::Expect(diff, caller, path, text, true));
                }
                let sent = accepted.map(|accepted| proposed.to_send(accepted));
                self.closed(call, notifies.then_some((caller, diff)), sent);
            }
            // The decision answers that call. Until the decision arrives, the deadline can do so.
            Some(decide @ PendingEditorRequest::Decide(_)) => {
                self.asked.insert(call, decide);
            }
            None => {}
        }
        self.open_answered(call, View::Shows);
        self.take_effects()
    }

    /// Handles the editor's failure.
    pub(crate) fn failed(&mut self, call: CallId, message: &str) -> Vec<Effect> {
        self.give_up(call, message, Outcome::Failed);
        self.open_answered(call, View::Fails);
        self.take_effects()
    }

    /// Handles an unreadable answer of the editor. Its views may be in any state, as if it had
    /// not answered. Above all the text is unknown, which differs from no text.
    pub(crate) fn unreadable(&mut self, call: CallId, message: &str) -> Vec<Effect> {
        self.give_up(call, message, Outcome::TimedOut);
        self.open_answered(call, View::MayShow);
        self.take_effects()
    }

    /// Handles the deadline of a call.
    pub(crate) fn expired(&mut self, call: CallId) -> Vec<Effect> {
        let mut outboxes = self.outboxes.iter_mut();
        let waiting = outboxes.find_map(|(of, outbox)| Some((*of, outbox.give_up(call)?)));
        if let Some((session, closing)) = waiting {
            let decision = match closing.route {
                DecisionRoute::Answer => self.take(session, closing.diff),
                DecisionRoute::Notification(_) => None,
            };
            self.effects.push(closing.answer(decision));
            return self.take_effects();
        }
        if !self.stop_waiting_to_close(call) {
            self.give_up(call, NO_ANSWER, Outcome::TimedOut);
            self.open_timed_out(call);
        }
        self.take_effects()
    }

    /// Answers `closeDiff`. If the client also receives a notification of the end, that is sent
    /// first. After the answer the client stops listening (`ide-client.js`, `disconnect`) and
    /// would wait for the end of its `openDiff` for ever.
    pub(super) fn closed(
        &mut self,
        call: CallId,
        notify: Option<(SessionId, DiffId)>,
        accepted: Option<Accepted>,
    ) {
        if let Some((session, diff)) = notify
            && let Some(outbox) = self.outboxes.get_mut(&session)
            && outbox.may_notify(diff)
        {
            let route = DecisionRoute::Notification(accepted);
            outbox.close_later(Closing { diff, call, route });
            self.effects.push(Effect::ShortenDeadline(call));
        } else {
            self.answer(call, Answer::Closed(accepted));
        }
    }

    fn give_up(&mut self, call: CallId, message: &str, outcome: Outcome) {
        let failed = || Answer::Failed(message.to_owned());
        match self.forget_request(call) {
            Some(PendingEditorRequest::Open(path)) => {
                let Some(mut diff) = self.open.remove(&path) else { return };
                diff.state = DiffState::NotShown;
                self.settle(diff.asker, diff.id);
                self.answer(call, failed());
                let replaces = diff.replaces;
                self.end(diff, outcome);
                if outcome == Outcome::TimedOut || replaces {
                    // If the view still opens, or if the earlier one stays, nobody waits for a decision.
                    let close = EditorCommand::Close(path, CloseReason::Unclaimed);
                    self.ask(None, close);
                }
            }
            // A caller that is notified of the end does not read the text.
            Some(PendingEditorRequest::Close { diff, caller, notifies, .. })
                if outcome == Outcome::Failed || notifies =>
            {
                self.closed(call, notifies.then_some((caller, diff)), None);
            }
            Some(PendingEditorRequest::Close { .. }) => {
                self.answer(call, failed());
            }
            Some(PendingEditorRequest::Decide(path)) => {
                if let Some(diff) = self.open.get_mut(&path) {
                    diff.pending_decisions
                        .retain(|(pending_decisions, _)| *pending_decisions != call);
                }
                self.answer(call, failed());
            }
            None => {}
        }
    }
}
