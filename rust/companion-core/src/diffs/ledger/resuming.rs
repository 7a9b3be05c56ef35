//! Takes up the open diffs of the last process, whose views the editor still shows.
//!
//! A diff of the last process that was not decided is *unnamed*, until the editor has named the views
//! that it shows or the time for that is over. The user can't decide about it until then.

use std::sync::Arc;

use super::{CloseReason, Diff, DiffState, EditorCommand, Effect, Ledger, Outcome};
use crate::diffs::{Decision, DiffId, EventId, Proposed};
use crate::record::Record;
use crate::session::{ClientTraits, SessionId};

impl Ledger {
    /// Adds a diff of the last process that was not decided.
    pub(crate) fn restore_open(&mut self, id: DiffId, session: SessionId, path: Arc<str>) {
        let diff = Diff {
            id,
            asker: session,
            proposed: Proposed::new("", ClientTraits::default()), // the editor names it
            state: DiffState::Unnamed(None),
            is_left: true,
            replaces: false,
            pending_decisions: Vec::new(),
        };
        if let Some(earlier) = self.open.insert(Arc::clone(&path), diff) {
            self.restore_decision(earlier.id, earlier.asker, path, Decision::Rejected);
        }
    }

    /// The client whose diff of that path is unnamed.
    pub(crate) fn asker_of_unnamed(&self, path: &str) -> Option<SessionId> {
        self.open.get(path).filter(|diff| diff.is_unnamed()).map(|diff| diff.asker)
    }

    /// The client of an open diff.
    pub(crate) fn asker(&self, id: DiffId) -> Option<SessionId> {
        self.open.values().find(|diff| diff.id == id).map(|diff| diff.asker)
    }

    /// The editor shows these proposals, and no other one of the last process. The others are rejected.
    pub(crate) fn name(&mut self, shown: &[(DiffId, Proposed)]) -> Vec<Effect> {
        let mut effects = Vec::new();
        for diff in self.open.values_mut() {
            let DiffState::Unnamed(repeated) = diff.state else { continue };
            if let Some((_, proposed)) = shown.iter().find(|(id, _)| *id == diff.id)
                && repeated.is_none_or(|repeated| repeated == *proposed)
            {
                diff.state = DiffState::Shown;
                diff.proposed = *proposed;
            }
        }
        let unseen: Vec<_> = self.open.extract_if(.., |_, diff| diff.is_unnamed()).collect();
        for (path, diff) in unseen {
            // The last process may have sent that.
            self.restore_decision(diff.id, diff.asker, Arc::clone(&path), Decision::Rejected);
            self.record(Record::Rejected(diff.id), &mut effects);
            effects.push(Effect::Decided(diff.asker, path, Decision::Rejected));
            self.end(diff, Outcome::Rejected, &mut effects);
        }
        effects
    }

    /// Closes the diffs whose end the client has received from the last process. That process was
    /// killed before it saved the end.
    pub(super) fn close_ended(
        &mut self,
        session: SessionId,
        last: &EventId,
        effects: &mut Vec<Effect>,
    ) {
        let has_ended = |diff: &Diff| diff.asker == session && last.names(diff.id);
        let ended: Vec<_> = self.open.extract_if(.., |_, diff| has_ended(diff)).collect();
        for (path, diff) in ended {
            let is_unnamed = diff.is_unnamed();
            self.settle(session, diff.id, effects);
            self.end(diff, Outcome::Closed, effects);
            if !is_unnamed {
                let close = EditorCommand::Close(path, CloseReason::EndedBefore);
                self.ask(None, close, effects);
            }
        }
    }
}
