//! Takes up the open diffs of the last process, whose views the editor still shows.
//!
//! A diff of the last process that was not decided is *unnamed*, until the editor has named the views
//! that it shows or the time for that is over. The user can't decide about it until then.

use std::sync::Arc;

use super::{CloseReason, Diff, DiffState, Effect, Ledger, Outcome};
use crate::diffs::{Decision, DiffId, EventId, Proposed};
use crate::record::Record;
use crate::session::{ClientTraits, SessionId};

impl Ledger {
    /// Adds a diff of the last process that was not decided.
    pub(crate) fn restore_open(&mut self, id: DiffId, session: SessionId, path: Arc<str>) {
        let unknown = Proposed::new("", ClientTraits::default());
        let diff = Diff::new(id, session, unknown, DiffState::Unnamed(None));
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
        for diff in self.open.values_mut() {
            let DiffState::Unnamed(repeated) = diff.state else { continue };
            if let Some((_, proposed)) = shown.iter().find(|(id, _)| *id == diff.id)
                && repeated.is_none_or(|repeated| repeated == *proposed)
            {
                diff.state = DiffState::Shown;
                diff.proposed = *proposed;
            }
        }
        for (path, diff) in self.take_open(Diff::is_unnamed) {
            // The last process may have sent that.
            self.restore_decision(diff.id, diff.asker, Arc::clone(&path), Decision::Rejected);
            self.record_for(diff.asker, Record::Rejected(diff.id));
            self.effects.push(Effect::Decided(diff.asker, path, Decision::Rejected));
            self.end(diff, Outcome::Rejected);
        }
        self.take_effects()
    }

    /// Closes the diffs whose end the client has received from the last process. That process was
    /// killed before it saved the end.
    pub(super) fn close_ended(&mut self, session: SessionId, last: &EventId) {
        for (path, diff) in self.take_open(|diff| diff.asker == session && last.names(diff.id)) {
            self.settle(session, diff.id);
            self.close_view(path, diff, CloseReason::EndedBefore);
        }
    }
}
