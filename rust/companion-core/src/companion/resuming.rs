//! Takes up the proposals of the last process that the editor still shows.
//!
//! Until the editor has named them, calls about their paths wait.

use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use super::limits::ACKNOWLEDGEMENT_TIMEOUT;
use super::{Companion, End, Now, Output, Outputs, ResumedProposal};
use crate::calls::CallId;
use crate::diffs::ledger::Effect;
use crate::diffs::{DiffId, Proposed};
use crate::session::SessionId;
use crate::text::Text;

/// A call about a proposal that the editor has not named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DeferredCall {
    pub(super) session: SessionId,
    pub(super) path: Arc<str>,
    pub(super) end: End,
}

impl Companion {
    /// The editor has named the proposals that it shows.
    pub(super) fn shown(&mut self, now: Now, shown: &[(DiffId, Text)], out: &mut Outputs) {
        let named: Vec<_> = shown
            .iter()
            .filter_map(|(diff, new_content)| {
                let client = self.clients.get(&self.ledger.asker(*diff)?)?;
                Some((*diff, Proposed::new(new_content, *client)))
            })
            .collect();
        self.name(now, &named, out);
        let is_open = |(diff, _): &(DiffId, _)| {
            let session = self.ledger.asker(*diff)?;
            let is_known = self.clis().knows(session);
            let reason = if is_known { ReasonArrival::NextPrompt } else { ReasonArrival::Never };
            Some(ResumedProposal { diff: *diff, session, reason })
        };
        let resumed = named.iter().filter_map(is_open).collect();
        out.push(Output::Resumed(resumed));
    }

    /// Takes up these proposals, and rejects all others of the last process.
    pub(super) fn name(&mut self, now: Now, named: &[(DiffId, Proposed)], out: &mut Outputs) {
        self.resume_deadline = None;
        let effects = self.ledger.name(named);
        self.add(now, effects, out);
        self.carry_out_deferred(now, out);
    }

    /// `closeDiff`, `acceptDiff` or `rejectDiff`. It waits until the editor has named its proposals. A
    /// client that closes a diff waits only shortly.
    pub(super) fn end_diff(&mut self, now: Now, call: CallId, ending: DeferredCall) -> Vec<Effect> {
        let asker = self.ledger.asker_of_unnamed(&ending.path);
        match ending.end {
            End::Close { .. } if asker == Some(ending.session) => {
                self.calls.set_deadline(call, now.elapsed + ACKNOWLEDGEMENT_TIMEOUT);
            }
            End::Decide { .. } if asker.is_some() => {}
            End::Close { .. } | End::Decide { .. } => return self.end_named_diff(call, &ending),
        }
        self.deferred.insert(call, ending);
        Vec::new()
    }

    fn end_named_diff(&mut self, call: CallId, ending: &DeferredCall) -> Vec<Effect> {
        let DeferredCall { session, path, end } = ending;
        match *end {
            End::Close { suppress } => self.ledger.close(*session, path, suppress, call),
            End::Decide { accept } => self.ledger.request_decision(path, accept, call),
        }
    }

    /// Carries out the calls that have waited.
    pub(super) fn carry_out_deferred(&mut self, now: Now, out: &mut Outputs) {
        while let Some((&call, _)) = self.deferred.first_key_value() {
            self.carry_out_one(now, call, out);
        }
    }

    /// Carries out a call, if it has waited for the editor.
    pub(super) fn carry_out_one(&mut self, now: Now, call: CallId, out: &mut Outputs) -> bool {
        let Some(ending) = self.deferred.remove(&call) else { return false };
        let effects = self.end_named_diff(call, &ending);
        self.add(now, effects, out);
        true
    }
}
