//! Ends the diffs of a client that has left, and those of a server that stops.

use std::sync::Arc;

use super::{CloseReason, Diff, EditorCommand, Effect, Ledger, PendingEditorRequest, STOPPING};
use crate::diffs::outbox::Outbox;
use crate::diffs::{Answer, Decision, Outcome};
use crate::record::Record;
use crate::session::SessionId;

impl Ledger {
    /// Closes the views of a session that has had no stream for too long. If its client returns,
    /// it receives rejections.
    pub(crate) fn session_away(&mut self, session: SessionId) -> Vec<Effect> {
        for (path, diff) in self.take_open(|diff| diff.asker == session) {
            self.queue_decision(&diff, Arc::clone(&path), Decision::Rejected);
            self.close_view(path, diff, CloseReason::ClientAway);
        }
        self.take_effects()
    }

    /// Closes the views of a session that has ended. Nobody receives the decisions.
    pub(crate) fn session_gone(&mut self, session: SessionId) -> Vec<Effect> {
        for (path, diff) in self.take_open(|diff| diff.asker == session) {
            self.close_view(path, diff, CloseReason::ClientAway);
        }
        let queued = self.outboxes.get(&session).map(Outbox::diffs).unwrap_or_default();
        for diff in queued {
            self.take(session, diff);
        }
        if self.outboxes.contains_key(&session) {
            self.record_for(session, Record::Gone(session));
            self.outboxes.remove(&session);
        }
        self.take_effects()
    }

    /// Takes these diffs out of the open ones.
    pub(super) fn take_open(&mut self, ends: impl Fn(&Diff) -> bool) -> Vec<(Arc<str>, Diff)> {
        self.open.extract_if(.., |_, diff| ends(diff)).collect()
    }

    /// Ends a diff without a decision of the user, and closes its view.
    pub(super) fn close_view(&mut self, path: Arc<str>, diff: Diff, reason: CloseReason) {
        let is_unnamed = diff.is_unnamed();
        self.end(diff, Outcome::Closed);
        if !is_unnamed {
            self.ask(None, EditorCommand::Close(path, reason));
        }
    }

    /// Rejects every open diff and accepts no further one. Answers every call that waits for
    /// neither a notification nor a text.
    ///
    /// If the editor `keeps` its views for the next process, those that show stay open. The next process
    /// must know them, so they do not if a record is not saved.
    pub(crate) fn stop(&mut self, keeps: bool) -> Vec<Effect> {
        self.stopped = true;
        self.outboxes.values_mut().for_each(Outbox::reject_unsent_texts);
        let keeps = keeps && self.is_saved();
        for (path, mut diff) in std::mem::take(&mut self.open) {
            if keeps && (diff.is_decidable() || diff.is_unnamed()) {
                for (call, _) in std::mem::take(&mut diff.pending_decisions) {
                    self.forget_request(call);
                    self.answer(call, Answer::Failed(STOPPING.to_owned()));
                }
                self.open.insert(path, diff);
                continue;
            }
            self.queue_decision(&diff, path, Decision::Undecided);
            self.end(diff, Outcome::Rejected);
        }
        let others: Vec<_> = self.asked.extract_if(.., |_, asked| !asked.is_for_text()).collect();
        for (call, asked) in others {
            if let PendingEditorRequest::Close { diff, caller, .. } = asked {
                self.closed(call, Some((caller, diff)), None);
            }
        }
        self.take_effects()
    }

    /// Fails the calls that still wait for a text.
    pub(crate) fn end_texts(&mut self) -> Vec<Effect> {
        let texts = self.asked.extract_if(.., |_, asked| asked.is_for_text());
        let failed = || Answer::Failed(STOPPING.to_owned());
        texts.map(|(call, _)| Effect::Answer(call, failed())).collect()
    }
}
