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
        self.close_all(session, |ledger, path, diff, effects| {
            ledger.queue_decision(diff, path, Decision::Rejected, effects);
        })
    }

    /// Closes the views of a session that has ended. Nobody receives the decisions.
    pub(crate) fn session_gone(&mut self, session: SessionId) -> Vec<Effect> {
        let mut effects = self.close_all(session, |_, _, _, _| {});
        let queued = self.outboxes.get(&session).map(Outbox::diffs).unwrap_or_default();
        for diff in queued {
            self.take(session, diff, &mut effects);
        }
        if self.outboxes.remove(&session).is_some() {
            self.record(Record::Gone(session), &mut effects);
        }
        effects
    }

    fn close_all(
        &mut self,
        session: SessionId,
        announce: impl Fn(&mut Self, Arc<str>, &Diff, &mut Vec<Effect>),
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let gone: Vec<_> = self.open.extract_if(.., |_, diff| diff.asker == session).collect();
        for (path, diff) in gone {
            announce(self, Arc::clone(&path), &diff, &mut effects);
            let is_unnamed = diff.is_unnamed();
            self.end(diff, Outcome::Closed, &mut effects);
            if !is_unnamed {
                let close = EditorCommand::Close(path, CloseReason::ClientAway);
                self.ask(None, close, &mut effects);
            }
        }
        effects
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
        let mut effects = Vec::new();
        for (path, mut diff) in std::mem::take(&mut self.open) {
            if keeps && (diff.is_decidable() || diff.is_unnamed()) {
                for (call, _) in std::mem::take(&mut diff.pending_decisions) {
                    self.forget_request(call);
                    let failed = Answer::Failed(STOPPING.to_owned());
                    effects.push(Effect::Answer(call, failed));
                }
                self.open.insert(path, diff);
                continue;
            }
            self.queue_decision(&diff, path, Decision::Rejected, &mut effects);
            self.end(diff, Outcome::Rejected, &mut effects);
        }
        let others: Vec<_> = self.asked.extract_if(.., |_, asked| !asked.is_for_text()).collect();
        for (call, asked) in others {
            if let PendingEditorRequest::Close { diff, caller, .. } = asked {
                effects.push(self.closed(call, Some((caller, diff)), None));
            }
        }
        effects
    }

    /// Fails the calls that still wait for a text.
    pub(crate) fn end_texts(&mut self) -> Vec<Effect> {
        let texts = self.asked.extract_if(.., |_, asked| asked.is_for_text());
        let failed = || Answer::Failed(STOPPING.to_owned());
        texts.map(|(call, _)| Effect::Answer(call, failed())).collect()
    }
}
