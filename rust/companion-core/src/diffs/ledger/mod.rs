//! Decides how each diff ends.
//!
//! The ledger knows which diffs are open, for which client, and which decisions have not arrived.
//! It resolves all races.
//!
//! It is a state machine without IO, clock or lock. Every step returns its consequences as
//! [`Effect`]s, in order. Each diff ends exactly once, and each call is answered exactly once, in
//! any order of requests, user, editor and leaving clients. `tests/exhaustive` tries all orders of
//! a few steps, over restarts.
//!
//! The key of a diff is its path, byte for byte as the client wrote it, because the client keeps
//! one waiter per path (`ide-client.js`, `diffResponses`). If a client opens a path again, a late
//! decision would answer the wrong question. So an open or a close of a path discards the earlier
//! decision. The effect of a call is recorded for the next process before the call is answered.

mod command;
mod delivery;
mod editor_answers;
mod ending;
mod opening;
mod resuming;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Proposed;
use super::outbox::{Closing, DecisionRoute, Outbox, Queued};
use super::{Answer, Outcome};
use crate::calls::CallId;
use crate::diffs::{Decision, DiffId};
use crate::record::Record;
use crate::session::{Client, SessionId};
use crate::text::Text;
pub use command::{CloseReason, EditorCommand};
use opening::Opening;

/// A consequence of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Effect {
    /// Send the editor a command, for a call if one waits for the result.
    Ask(Option<CallId>, EditorCommand),
    /// Answer a call, once all earlier records are saved.
    Answer(CallId, Answer),
    /// The call waits only for its client, which takes milliseconds or never ends.
    ShortenDeadline(CallId),
    /// Save this for the next process.
    Record(Record),
    /// The diff of that path was decided, with the user's final text. A notification is queued
    /// for its client.
    Decided(SessionId, Arc<str>, Decision),
    /// The client gets this accepted text, and is to write it. The flag says whether the user has changed
    /// the proposal.
    Expect(DiffId, SessionId, Arc<str>, Text, bool),
    /// The diff has ended; no other effect depends on it.
    Ended(DiffId, Outcome),
}

/// The diffs of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    open: BTreeMap<Arc<str>, Diff>,
    /// The requests that the editor has not answered, by call.
    asked: BTreeMap<CallId, PendingEditorRequest>,
    /// The opens that the editor has not answered.
    opening: BTreeMap<Arc<str>, Opening>,
    /// The opens that the editor has not answered in time.
    late: BTreeMap<CallId, Arc<str>>,
    outboxes: BTreeMap<SessionId, Outbox>,
    next_diff: DiffId,
    /// The number of records so far; `None` if no process follows.
    records: Option<u64>,
    /// How many of them are saved.
    pub(crate) saved: u64,
    stopped: bool,
    /// The effects of the present step.
    effects: Vec<Effect>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Diff {
    id: DiffId,
    asker: SessionId,
    proposed: Proposed,
    state: DiffState,
    /// The last process opened it.
    is_left: bool,
    /// The editor may still show a diff that this one has replaced.
    replaces: bool,
    /// The calls of `acceptDiff` and `rejectDiff` that wait for the end.
    pending_decisions: Vec<(CallId, bool)>,
}

/// The state of an open diff, as far as the editor has said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DiffState {
    /// This call waits until the view shows. Until then a decision for the path is about an earlier view
    /// and ends nothing.
    Opening(CallId),
    /// The user sees it and can decide.
    Shown,
    /// The editor could not show it, or did not answer in time. Its call has failed, and it ends at once.
    NotShown,
    /// The last process opened it, and the editor has not named its view, so nobody knows whether it
    /// shows. If its client has repeated `openDiff` meanwhile, this is the proposal of that call.
    Unnamed(Option<Proposed>),
    /// The user has rejected it with a reason, and the server looks at the file.
    Rejecting,
}

impl Diff {
    fn new(id: DiffId, asker: SessionId, proposed: Proposed, state: DiffState) -> Self {
        let is_left = matches!(state, DiffState::Unnamed(_));
        let pending_decisions = Vec::new();
        Self { id, asker, proposed, state, is_left, replaces: false, pending_decisions }
    }

    fn is_unnamed(&self) -> bool {
        matches!(self.state, DiffState::Unnamed(_))
    }

    fn is_decidable(&self) -> bool {
        self.state == DiffState::Shown
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PendingEditorRequest {
    Open(Arc<str>),
    Close {
        /// The user's decision about this path may be under way.
        path: Arc<str>,
        diff: DiffId,
        caller: SessionId,
        /// A notification reports the end, so the caller does not read the text.
        notifies: bool,
        proposed: Proposed,
    },
    Decide(Arc<str>),
}

impl PendingEditorRequest {
    /// Whether the caller waits for the user's text.
    fn is_for_text(&self) -> bool {
        matches!(self, Self::Close { notifies: false, .. })
    }
}

/// The most calls that may wait for one decision. Each asks the editor, which may not read.
const MAX_PENDING_DECISIONS: usize = 16;

const STOPPING: &str = "The editor is closing.";
const NO_SESSION: &str = "The session has ended.";

impl Ledger {
    /// `first_diff` is the id of the first diff. Choose it at random, so that ids differ from
    /// those of earlier processes. With `keep_records` it records for the next process.
    pub(crate) fn new(first_diff: DiffId, keep_records: bool) -> Self {
        let records = keep_records.then_some(0);
        Self { next_diff: first_diff, records, ..Self::default() }
    }

    /// Ends a step, and returns its effects.
    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Fails a call without further effects.
    fn refuse(&mut self, call: CallId, why: &str) -> Vec<Effect> {
        self.answer(call, Answer::Failed(why.to_owned()));
        self.take_effects()
    }

    fn answer(&mut self, call: CallId, answer: Answer) {
        self.effects.push(Effect::Answer(call, answer));
    }

    /// Adds a client.
    pub(crate) fn session_begun(&mut self, session: SessionId, client: Client) -> Vec<Effect> {
        let outbox = self.outboxes.entry(session).or_default();
        outbox.ends_with_process = client.traits.is_one_request;
        self.record_for(session, Record::Session(session, client));
        self.take_effects()
    }

    /// Adds a client of the last process. [`Ledger::restore_decision`] adds the decisions that it
    /// waits for.
    pub(crate) fn restore_session(&mut self, session: SessionId) {
        self.outboxes.insert(session, Outbox::default());
    }

    /// Queues the decision about a diff of the last process.
    pub(crate) fn restore_decision(
        &mut self,
        diff: DiffId,
        session: SessionId,
        path: Arc<str>,
        decision: Decision,
    ) {
        self.outboxes.entry(session).or_default().push(diff, path, decision, true);
    }

    /// `openDiff`. The call is answered when the editor has opened the view.
    pub(crate) fn open(
        &mut self,
        asker: SessionId,
        path: &Arc<str>,
        proposed: Proposed,
        call: CallId,
    ) -> Vec<Effect> {
        let Some(outbox) = self.outboxes.get_mut(&asker).filter(|_| !self.stopped) else {
            let why = if self.stopped { STOPPING } else { NO_SESSION };
            return self.refuse(call, why);
        };
        if let Some(diff) = outbox.find(path).map(|queued| queued.diff) {
            self.take(asker, diff);
        }
        let earlier = self.open.remove(path);
        let replaces = earlier.is_some();
        if let Some(earlier) = earlier {
            // The same client has already replaced its waiter. A notification about the earlier
            // diff would end the new one.
            if earlier.asker == asker {
                self.settle(asker, earlier.id);
            } else {
                self.queue_decision(&earlier, Arc::clone(path), Decision::Undecided);
            }
            self.end(earlier, Outcome::Replaced);
        }
        let id = self.next_diff;
        self.next_diff = id.next();
        let diff = Diff::new(id, asker, proposed, DiffState::Opening(call));
        let diff = Diff { replaces, ..diff };
        self.open.insert(Arc::clone(path), diff);
        self.asked.insert(call, PendingEditorRequest::Open(Arc::clone(path)));
        self.record_for(asker, Record::Opened(id, asker, Arc::clone(path)));
        self.ask(Some(call), EditorCommand::Open(Arc::clone(path), id));
        self.take_effects()
    }

    /// `closeDiff`. The call is answered when the editor has closed the view. If the view still opens, it
    /// waits for that only shortly, because the user has hardly edited the proposal.
    ///
    /// A client closes only its own diff. With `suppress` it receives no notification of the end.
    /// Otherwise it receives a rejection before the answer, because to close without accepting is
    /// to reject. If the user has decided and the client may not know, the answer has the text.
    pub(crate) fn close(
        &mut self,
        caller: SessionId,
        path: &Arc<str>,
        suppress: bool,
        call: CallId,
    ) -> Vec<Effect> {
        let is_callers = self.has_open(caller, path);
        let Some(diff) = is_callers.then(|| self.open.remove(path)).flatten() else {
            return self.close_decided(caller, path, suppress, call);
        };
        if suppress {
            self.settle(caller, diff.id);
        } else {
            self.queue_decision(&diff, Arc::clone(path), Decision::Rejected);
        }
        let notify = (!suppress).then_some((caller, diff.id));
        let (id, proposed, state) = (diff.id, diff.proposed, diff.state);
        let is_out_of_reach = diff.is_unnamed() || self.stopped;
        self.end(diff, Outcome::Closed);
        if is_out_of_reach {
            // The editor learns of its end when it names the view.
            self.closed(call, notify, None);
            return self.take_effects();
        }
        if matches!(state, DiffState::Opening(open) if !self.is_opening(open)) {
            // The editor has not received this diff, but may show one that this has replaced.
            let close = EditorCommand::Close(Arc::clone(path), CloseReason::Unclaimed);
            self.ask(None, close);
            self.closed(call, notify, None);
            return self.take_effects();
        }
        let pending = PendingEditorRequest::Close {
            path: Arc::clone(path),
            diff: id,
            caller,
            notifies: !suppress,
            proposed,
        };
        self.asked.insert(call, pending);
        // A client that is being disabled or ends does not suppress the notification
        // (`ide-client.js`, `disconnect`).
        let reason =
            if suppress { CloseReason::ClientTakesText } else { CloseReason::ClientDisconnects };
        self.ask(Some(call), EditorCommand::Close(Arc::clone(path), reason));
        if matches!(state, DiffState::Opening(_)) {
            self.effects.push(Effect::ShortenDeadline(call));
        }
        self.take_effects()
    }

    /// `closeDiff` for a diff that the user may have decided.
    fn close_decided(
        &mut self,
        caller: SessionId,
        path: &str,
        suppress: bool,
        call: CallId,
    ) -> Vec<Effect> {
        let outbox = self.outboxes.get_mut(&caller);
        let decided = outbox.and_then(|outbox| Some((outbox.find(path).cloned()?, outbox)));
        let Some((Queued { diff, decision, .. }, outbox)) = decided else {
            self.answer(call, Answer::Closed(None));
            return self.take_effects();
        };
        if !suppress {
            self.closed(call, Some((caller, diff)), decision.accepted().cloned());
        } else if outbox.is_on_its_way(diff) {
            // If the answer arrived first, the decision would answer the client's next question.
            outbox.close_later(Closing { diff, call, route: DecisionRoute::Answer });
            self.effects.push(Effect::ShortenDeadline(call));
        } else {
            let accepted = self.take(caller, diff).and_then(|of| of.accepted().cloned());
            self.answer(call, Answer::Closed(accepted));
        }
        self.take_effects()
    }

    /// `acceptDiff` and `rejectDiff`. The call is answered when the diff has ended.
    pub(crate) fn request_decision(
        &mut self,
        path: &Arc<str>,
        accept: bool,
        call: CallId,
    ) -> Vec<Effect> {
        if self.stopped {
            return self.refuse(call, STOPPING);
        }
        if let Some(diff) = self.open.get_mut(path) {
            if diff.pending_decisions.len() == MAX_PENDING_DECISIONS {
                return self
                    .refuse(call, "Too many calls wait for the decision about this filePath.");
            }
            diff.pending_decisions.push((call, accept));
            self.asked.insert(call, PendingEditorRequest::Decide(Arc::clone(path)));
            let ask = if accept { EditorCommand::Accept } else { EditorCommand::Reject };
            self.ask(Some(call), ask(Arc::clone(path)));
            return self.take_effects();
        }
        // Already decided; the client has not received the decision.
        let decided = self.outboxes.values().find_map(|outbox| outbox.find(path));
        let Some(decided) = decided else {
            return self.refuse(call, "No diff is open for this filePath.");
        };
        let outcome = (&decided.decision).into();
        self.answer(call, Answer::Outcome { accept, outcome });
        self.take_effects()
    }

    /// Whether a client has not been sent the decision about this diff.
    pub(crate) fn is_unsent(&self, session: SessionId, diff: DiffId) -> bool {
        self.outboxes.get(&session).is_some_and(|outbox| outbox.is_unsent(diff))
    }

    /// Whether all records so far are saved.
    pub fn is_saved(&self) -> bool {
        self.records == Some(self.saved)
    }

    /// The number of records so far.
    pub fn records(&self) -> u64 {
        self.records.unwrap_or_default()
    }

    /// The number of open diffs.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// The bytes of all proposals that are open.
    pub(crate) fn proposed_bytes(&self) -> usize {
        self.open.values().map(|diff| diff.proposed.len()).sum()
    }

    /// Whether the session has an open diff of this path.
    pub(crate) fn has_open(&self, session: SessionId, path: &str) -> bool {
        self.open.get(path).is_some_and(|diff| diff.asker == session)
    }

    /// The number of the session's open diffs.
    pub fn count(&self, session: SessionId) -> usize {
        self.open.values().filter(|diff| diff.asker == session).count()
    }

    /// Queues the decision about `diff` for its client.
    fn queue_decision(&mut self, diff: &Diff, path: Arc<str>, decision: Decision) {
        let Some(outbox) = self.outboxes.get_mut(&diff.asker) else { return };
        let sent = decision.clone().map_accepted(|accepted| diff.proposed.to_send(accepted));
        outbox.push(diff.id, Arc::clone(&path), sent.clone(), false);
        let record = match sent {
            Decision::Accepted(accepted) => Record::Accepted(diff.id, accepted),
            // The next process has no text that stands for a rejection.
            Decision::Rejected | Decision::Undecided | Decision::RejectedWithReason(_) => {
                Record::Rejected(diff.id)
            }
        };
        self.record_for(diff.asker, record);
        self.effects.push(Effect::Decided(diff.asker, path, decision));
    }

    /// Notes that the next process has nothing to send about a diff.
    fn settle(&mut self, session: SessionId, diff: DiffId) {
        self.record_for(session, Record::Settled(diff));
        if let (Some(record), Some(outbox)) = (self.records, self.outboxes.get_mut(&session)) {
            outbox.settle(diff, record);
        }
    }

    /// Counts a record that is about no diff. Returns false if no process follows.
    pub(crate) fn count_record(&mut self) -> bool {
        self.records.as_mut().is_some_and(|records| {
            *records += 1;
            true
        })
    }

    /// Records something about a client, if the next process may know it.
    fn record_for(&mut self, client: SessionId, record: Record) {
        let ends_with_process =
            self.outboxes.get(&client).is_some_and(|outbox| outbox.ends_with_process);
        if !ends_with_process && self.count_record() {
            self.effects.push(Effect::Record(record));
        }
    }

    /// Answers the calls that waited for `diff`, which has ended.
    fn end(&mut self, diff: Diff, outcome: Outcome) {
        if let DiffState::Opening(call) = diff.state {
            self.forget_request(call);
            self.answer(call, Answer::Opened);
        }
        for (call, accept) in diff.pending_decisions {
            self.forget_request(call);
            self.answer(call, Answer::Outcome { accept, outcome });
        }
        self.effects.push(Effect::Ended(diff.id, outcome));
    }
}
