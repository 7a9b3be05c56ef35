//! The value that decides everything about diffs, CLIs and notes.
//!
//! A [`Companion`] takes an [`Input`] with its time, changes its state, and adds the [`Output`]s that
//! the caller carries out. Nothing else changes it, so each order of events can be tried.

mod acceptances;
mod io;
mod limits;
mod notes;
mod opening;
mod resuming;
#[cfg(test)]
mod tests;
mod writes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use companion_protocol::tool::Tool;

use crate::calls::{Attempt, CallId, CallOrigin, Calls, Repeated};
use crate::cli::Clis;
use crate::conversation::Conversation;
use crate::diffs::ledger::{Effect, Ledger};
use crate::diffs::{Answer, Decision, DiffId, EventId, Outgoing};
use crate::notes::{NoteId, Notes};
use crate::record::{Left, Record};
use crate::session::{ClientTraits, SessionId};
use crate::text::{Digest, written_digest};
pub use companion_protocol::editor::Delivery;
pub use io::{Action, DiskCheck, End, Hook, Input, Now, Output, Outputs, ResumedProposal};
pub use limits::Limits;
use limits::{ACKNOWLEDGEMENT_TIMEOUT, ms};
use notes::PendingRejection;
use opening::UnreadProposal;
use resuming::DeferredCall;
pub use writes::{ExpectedText, FoundFile};
use writes::{ExpectedWrites, can_write};

/// Decides how diffs end, which CLI a hook belongs to, and which model gets which note.
///
/// Its caller, the driver, keeps four rules:
///
/// - It carries out the outputs of an input in their order.
/// - It sends an answer or a decision only when all earlier records are saved.
/// - It hands in [`Input::Time`] at [`next_deadline`](Self::next_deadline).
/// - It answers each output that asks: [`Output::Ask`] by [`Input::EditorDid`] or
///   [`Input::EditorFailed`], [`DiskCheck::Original`] by [`Input::Original`], and so on. A late answer
///   does no harm, and one that never comes costs the reason or the comment, not the decision.
///
/// ```
/// # use companion_core::companion::{Companion, Input, Limits, Now};
/// # use companion_core::diffs::{Accepted, DiffId};
/// # use companion_core::record::Left;
/// // The first process: it has no records of an earlier one, and keeps none.
/// let limits = Limits::default();
/// let mut companion = Companion::new(limits, DiffId(1), 1, false, Left::default());
/// let mut out = Vec::new();
/// let accepted = Accepted { content: "text".to_owned().into() };
/// companion.handle(Now::default(), Input::Accepted("/project/a", accepted), &mut out);
/// # use companion_core::companion::{Delivery, Output};
/// assert_eq!(out, [Output::Delivery(Delivery::Unknown)], "no diff of that path is open");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Companion {
    ledger: Ledger,
    calls: Calls,
    clients: BTreeMap<SessionId, ClientTraits>,
    /// The clients of an earlier process that have not opened their streams again.
    returning: BTreeSet<SessionId>,
    conversation: Conversation,
    /// When the editor must have named the views that it still shows.
    resume_deadline: Option<u64>,
    /// The calls that wait for that.
    deferred: BTreeMap<CallId, DeferredCall>,
    /// The proposals whose files are being read.
    unread: BTreeMap<CallId, UnreadProposal>,
    /// The rejections with a reason whose files are being looked at.
    rejections: BTreeMap<DiffId, PendingRejection>,
    /// The edits that users have just accepted, with their times and texts.
    accepted: Vec<(u64, SessionId, Arc<str>, Digest)>,
    /// The ids of delivered comments, with the number of records that must be saved or refused before the
    /// editor removes them.
    delivered: VecDeque<(u64, String)>,
    /// The accepted texts that clients have not been seen to write.
    writes: ExpectedWrites,
    /// When old decisions are pruned next.
    next_prune: u64,
    limits: Limits,
}

impl Companion {
    /// `left` is the state of the last process, if this one resumes it. `first_diff` and
    /// `first_delivery` are random, so that they differ from those of earlier processes. With
    /// `keep_records` the companion records for the next process.
    pub fn new(
        limits: Limits,
        first_diff: DiffId,
        first_delivery: u64,
        keep_records: bool,
        left: Left,
    ) -> Self {
        let mut companion = Self {
            ledger: Ledger::new(first_diff, keep_records),
            calls: Calls::new(limits.kept_bytes),
            clients: BTreeMap::new(),
            returning: BTreeSet::new(),
            conversation: Conversation::new(first_delivery),
            resume_deadline: None,
            deferred: BTreeMap::new(),
            unread: BTreeMap::new(),
            rejections: BTreeMap::new(),
            accepted: Vec::new(),
            delivered: VecDeque::new(),
            writes: ExpectedWrites::default(),
            next_prune: 0,
            limits,
        };
        companion.restore(left, 0);
        companion
    }

    /// Adds the state of a process that has ended.
    fn restore(&mut self, left: Left, now: u64) {
        for (session, client) in left.sessions {
            self.ledger.restore_session(session);
            self.returning.insert(session);
            self.clients.insert(session, client.traits);
        }
        for (diff, left) in left.diffs {
            match left.decision {
                None if !self.limits.resume_timeout.is_zero() => {
                    self.resume_deadline = Some(now + ms(self.limits.resume_timeout));
                    self.ledger.restore_open(diff, left.session, left.path);
                }
                decision => {
                    let decision = decision.unwrap_or(Decision::Rejected);
                    self.ledger.restore_decision(diff, left.session, left.path, decision);
                }
            }
        }
        for (session, cli) in left.clis {
            self.conversation.clis.restore(session, cli);
        }
        let notes = &mut self.conversation.notes;
        for (id, note) in left.notes {
            notes.restore(id, note, now);
        }
        left.delivered.into_iter().for_each(|comment| notes.add_delivered(comment));
        left.confirmed.into_iter().for_each(|number| notes.restore_confirmed(number));
    }

    /// Adds the state of another process to this one, and records it.
    fn adopt(&mut self, now: Now, left: Left, out: &mut Outputs) {
        let mut left = left.with_notes_after(NoteId(self.notes().last_note));
        // An editor that has started a companion again has sent its comments to that, too.
        left.notes.retain(|_, note| !self.notes().has(note));
        self.drop_comments(&left.delivered, out);
        // Another editor has their views.
        left.reject_undecided();
        for record in left.records() {
            self.record(record, out);
        }
        self.restore(left, now.elapsed);
    }

    /// Takes an input, and adds its outputs.
    pub fn handle(&mut self, now: Now, input: Input<'_>, out: &mut Outputs) {
        self.take(now, input, out);
        self.resume_writes(now);
        for (session, cli) in std::mem::take(&mut self.conversation.clis.recognized) {
            self.record(Record::Cli(session, cli), out);
        }
    }

    fn take(&mut self, now: Now, input: Input<'_>, out: &mut Outputs) {
        match &input {
            Input::Call { path, .. } => self.end_reading(now, |_, of| of.path == *path, out),
            Input::Away(session) => self.end_reading(now, |_, of| of.session == *session, out),
            _ => {}
        }
        let effects = match input {
            Input::Connected(session, client) => {
                self.clients.insert(session, client.traits);
                self.ledger.session_begun(session, client)
            }
            Input::Adopted(left) => return self.adopt(now, left, out),
            Input::Away(session) => self.ledger.session_away(session),
            Input::Gone(session) => {
                self.clients.remove(&session);
                self.returning.remove(&session);
                self.accepted.retain(|(_, of, ..)| *of != session);
                self.calls.forget(session);
                self.conversation.clis.gone(session);
                let effects = self.ledger.session_gone(session);
                self.add(now, effects, out);
                return self.end_reading(now, |_, of| of.session == session, out);
            }
            Input::Bridged(session, ancestors) => {
                return self.conversation.clis.bridged(session, ancestors);
            }
            Input::Call { call, from, path, action } => {
                self.call(now, call, from, &path, action, out)
            }
            Input::Original(call, original) => return self.original(now, call, original, out),
            Input::StreamOpened { session, stream, last, is_answer } => {
                if !is_answer {
                    self.returning.remove(&session);
                }
                self.ledger.attach(session, stream, last, is_answer)
            }
            Input::StreamClosed(session, stream) => self.ledger.detach(session, stream),
            Input::Pong(session, diff) => self.ledger.ping_answered(session, diff),
            Input::EditorDid(call, closed) => self.ledger.completed(call, closed),
            Input::EditorFailed(call, message) => self.ledger.failed(call, message),
            Input::EditorUnreadable(call, message) => self.ledger.unreadable(call, message),
            Input::Accepted(path, of) => self.user_decided(path, Decision::Accepted(of), out),
            Input::Rejected(path) => self.user_decided(path, Decision::Rejected, out),
            Input::Withdraw(path) => {
                let (is_withdrawn, effects) = self.ledger.withdraw(path);
                if is_withdrawn {
                    self.writes.forget(path);
                }
                out.push(Output::Withdrawn(is_withdrawn));
                effects
            }
            Input::Found(diff, file) => {
                let outcome = self.writes.found(now.elapsed, diff, file);
                return out.extend(outcome.map(Output::Notification));
            }
            Input::Wrote(path, text) => {
                let written = self.writes.wrote(path, text);
                return out.extend(written.map(Output::Notification));
            }
            Input::Saved(records) => return self.saved(records, out),
            Input::NotSaved(records) => return self.report_delivered(records, out),
            Input::Time => self.time(now, out),
            Input::Shown(shown) => return self.shown(now, shown, out),
            Input::Stop { keeps } => {
                self.carry_out_deferred(now, out);
                let effects = self.ledger.stop(keeps);
                self.add(now, effects, out);
                return self.end_reading(now, |_, _| true, out);
            }
            Input::EndTexts => self.ledger.end_texts(),
            Input::RejectedWithReason(path, reason) => {
                return self.begin_rejection(path, reason, out);
            }
            Input::AccessChecked(diff, why) => return self.access_checked(now, diff, why, out),
            Input::Present(diff, present) => return self.end_rejection(now, diff, present, out),
            Input::Hook(caller, hook) => return self.hook(now, caller, hook, out),
            Input::Deliver(cli, due) => {
                return out.extend(self.conversation.deliver(cli, due).map(Output::Deliver));
            }
            Input::Refuse(note, why) => return self.refuse(note, why, out),
            Input::Confirm(number) => return self.confirm(number, out),
            Input::GiveBack(number) => return self.conversation.notes.give_back(number),
            Input::Comment(comment, why) => return self.comment(comment, why, out),
            Input::NoteChecked(note, path, why) => {
                return self.note_checked(note, path, why, out);
            }
            Input::CommentRemoved(id) => return self.comment_removed(id, out),
            Input::Reverted { cli, paths, is_partial } => {
                let note = self.conversation.reverted(cli, paths, is_partial, now.date);
                return self.record_note(note, out);
            }
            Input::RevertUndone(cli, path) => {
                for note in self.conversation.revert_undone(cli, path) {
                    self.record_note(note, out);
                }
                return;
            }
            Input::ExpireNotes => return self.expire_notes(now, out),
        };
        self.add(now, effects, out);
    }

    /// The next time at which [`Input::Time`] does something, in milliseconds since the companion
    /// began.
    pub fn next_deadline(&self) -> Option<u64> {
        let deadlines =
            [self.calls.next_deadline(), self.writes.next_deadline(), self.resume_deadline];
        deadlines.into_iter().flatten().min()
    }

    /// Answers a repeated call, now or when the first one is answered. Returns false if the first one
    /// is not known.
    pub fn repeat(
        &mut self,
        call: CallId,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &str,
        out: &mut Outputs,
    ) -> bool {
        match self.calls.repeat(call, from, tool, path) {
            Some(Repeated::Answered(answer)) => out.push(Output::Answer(call, answer)),
            Some(Repeated::Waits) => {}
            None => return false,
        }
        true
    }

    /// Takes the next decision that a stream sends.
    pub fn next_event(
        &mut self,
        now: Now,
        session: SessionId,
        stream: u64,
        out: &mut Outputs,
    ) -> Option<Outgoing> {
        let (next, effects) = self.ledger.next(session, stream);
        if let Some(Outgoing { diff, path, decision, .. }) = &next {
            let present = match decision {
                Decision::RejectedWithReason(present) => Some(Digest::of(present)),
                Decision::Accepted(_) | Decision::Rejected | Decision::Undecided => None,
            };
            let clis = &mut self.conversation.clis;
            clis.decision_sent(session, path, *diff, present);
            let client = self.clients.get(&session).copied().unwrap_or_default();
            // No hook of this edit follows, but one of another edit of the file may.
            let got_rejection = matches!(decision, Decision::Rejected | Decision::Undecided);
            if got_rejection && !client.confirms_after_hook {
                clis.end_opened(session, path);
            }
        }
        self.add(now, effects, out);
        self.resume_writes(now);
        next
    }

    /// The id of the next event of a session.
    pub fn event_id(&self, session: SessionId) -> EventId {
        self.ledger.event_id(session)
    }

    /// The diffs, to ask about them.
    pub fn diffs(&self) -> &Ledger {
        &self.ledger
    }

    /// The notes, to ask about them.
    pub fn notes(&self) -> &Notes {
        &self.conversation.notes
    }

    /// The CLIs, to ask about them.
    pub fn clis(&self) -> &Clis {
        &self.conversation.clis
    }

    fn call(
        &mut self,
        now: Now,
        call: CallId,
        from: CallOrigin<'_>,
        path: &Arc<str>,
        action: Action,
        out: &mut Outputs,
    ) -> Vec<Effect> {
        let session = from.session;
        if let Action::Open { proposed, held, is_editor_busy, .. } = action {
            // The last process received this call, and this one reports the decision.
            if from.sent == Attempt::Again && self.ledger.is_left(session, path, proposed) {
                return vec![Effect::Answer(call, Answer::Opened)];
            }
            if let Some(why) = self.refusal(session, proposed, held, is_editor_busy) {
                return vec![Effect::Answer(call, Answer::Failed(why.to_owned()))];
            }
        }
        let deadline = self.limits.answer_deadline(now);
        self.calls.begin(call, from, action.tool(), path, now.elapsed, deadline);
        match action {
            Action::Open { proposed, is_shared, .. } => {
                let is_sent = |of: &ExpectedText| !self.ledger.is_unsent(session, of.diff);
                let texts = self.writes.before_proposal(session, is_sent);
                out.extend(texts.map(DiskCheck::ForText).map(Output::CheckDisk));
                let opening = UnreadProposal { session, path: Arc::clone(path), proposed };
                self.open(now, call, opening, is_shared, out)
            }
            Action::End(end) => {
                self.end_diff(now, call, DeferredCall { session, path: Arc::clone(path), end })
            }
        }
    }

    fn user_decided(&mut self, path: &str, decision: Decision, out: &mut Outputs) -> Vec<Effect> {
        let effects = self.ledger.user_decided(path, decision);
        let decided = effects.iter().find_map(|effect| match effect {
            Effect::Decided(session, ..) => Some(self.delivery_to(*session)),
            _ => None,
        });
        out.push(Output::Delivery(decided.unwrap_or(Delivery::Unknown)));
        effects
    }

    /// The delivery of a decision to this client by now.
    fn delivery_to(&self, session: SessionId) -> Delivery {
        if self.ledger.has_stream(session) { Delivery::Delivered } else { Delivery::Queued }
    }

    fn time(&mut self, now: Now, out: &mut Outputs) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.resume_deadline.is_some_and(|deadline| deadline <= now.elapsed) {
            self.name(now, &[], out);
        }
        while let Some(call) = self.calls.overdue(now.elapsed) {
            if self.carry_out_one(now, call, out) {
                continue;
            }
            self.end_reading(now, |of, _| of == call, out);
            effects.extend(self.ledger.expired(call));
        }
        let due = self.writes.due(now.elapsed, |of| can_write(&self.ledger, of));
        out.extend(due.into_iter().map(DiskCheck::ForText).map(Output::CheckDisk));
        if let Some(time) = now.elapsed.checked_sub(ms(self.limits.session_away)) {
            self.calls.forget_older(time);
        }
        if self.next_prune <= now.elapsed {
            self.next_prune = now.elapsed + ms(self.limits.session_away);
            effects.extend(self.ledger.prune_sent());
        }
        effects
    }

    fn resume_writes(&mut self, now: Now) {
        self.writes.resume(now.elapsed, |of| can_write(&self.ledger, of));
    }

    fn record(&mut self, record: Record, out: &mut Outputs) {
        if self.ledger.count_record() {
            out.push(Output::Record(record));
        }
    }

    /// Adds the outputs of these effects.
    fn add(&mut self, now: Now, effects: Vec<Effect>, out: &mut Outputs) {
        for effect in effects {
            let output = match effect {
                Effect::Ask(call, command) => {
                    if let Some(call) = call {
                        let deadline = self.limits.answer_deadline(now);
                        self.calls.set_deadline(call, deadline);
                    }
                    Output::Ask(call, command)
                }
                Effect::Answer(call, answer) => {
                    let is_opening = self.ledger.is_opening(call);
                    for repetition in self.calls.answered(call, &answer, is_opening) {
                        out.push(Output::Answer(repetition, answer.clone()));
                    }
                    Output::Answer(call, answer)
                }
                Effect::ShortenDeadline(call) => {
                    self.calls.set_deadline(call, now.elapsed + ACKNOWLEDGEMENT_TIMEOUT);
                    continue;
                }
                Effect::Record(record) => Output::Record(record),
                Effect::Decided(session, path, decision) => {
                    if let Some(accepted) = decision.accepted() {
                        self.conversation.clis.diff_accepted(session, &path, now.elapsed);
                        self.remember_acceptance(now, session, &path, &accepted.content);
                    }
                    Output::Decided(session, path, decision)
                }
                Effect::Expect(diff, session, path, text, is_users) => {
                    // Of a text that is not the user's, the client itself says that it could not write it.
                    if is_users || self.delivery_to(session) == Delivery::Queued {
                        let text = written_digest(&text);
                        let text = ExpectedText { diff, session, path, text, is_users };
                        let earlier = self.writes.expect(now.elapsed, now.date, text);
                        out.extend(earlier.map(Output::Notification));
                    }
                    continue;
                }
                Effect::Ended(diff, outcome) => Output::Ended(diff, outcome),
            };
            out.push(output);
        }
    }
}
