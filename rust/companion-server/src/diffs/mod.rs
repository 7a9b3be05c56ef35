//! Carries out the [`ledger`]'s effects: for the editor, the clients and the next process.
//!
//! Records are queued under the ledger's lock, in the order of the steps. Editor requests are
//! sent without the lock, because the editor may answer within the call. All of them come from
//! the server's one thread, so they keep their order.

mod answer;
mod calls;
mod decision;
mod editor_requests;
mod id;
mod journal;
mod ledger;
mod outbox;
mod proposed;
mod records;
mod repeats;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use companion_protocol::ide::events;
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::config::Limits;
use crate::host::{CallId, Delivery, EditorHost, Proposal};
use crate::mcp::monitor::Monitors;
use crate::mcp::session::{ClientTraits, SessionId, Sessions};
use crate::net::sse;
use crate::text::HeldTexts;
pub(crate) use answer::{Answer, ToolResult};
use calls::{Answered, Calls, Waiter};
pub(crate) use decision::Decision;
pub(crate) use id::DiffId;
pub(crate) use journal::{Batch, Journal};
use ledger::{Effect, Ledger};
pub(crate) use outbox::{EventId, Outgoing};
use proposed::Proposed;
pub(crate) use records::{DeliveredNotes, Left, Record, TextId};
use repeats::Repeats;
pub(crate) use repeats::{Attempt, CallOrigin};

/// The maximum wait for a client's acknowledgement of a decision.
const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(1);

/// The time from an acceptance until a CLI makes the edit, and the most acceptances in it.
const ACCEPTED_TIME: Duration = Duration::from_secs(5);
const MAX_ACCEPTED: usize = 32;

/// The size of a request that waits for the editor, besides its texts; rounded up. In bytes.
const QUEUED: usize = 1 << 10;

pub(crate) struct Diffs {
    me: Weak<Self>,
    ledger: Mutex<Ledger>,
    calls: Calls,
    repeats: Repeats,
    /// The texts of this process that clients have not received. The resume file bounds the
    /// others.
    texts: HeldTexts,
    /// Bytes of proposals that the editor has not taken.
    untaken: Arc<Semaphore>,
    /// The edits that users have just accepted.
    accepted: Mutex<VecDeque<(Instant, SessionId, Arc<str>)>>,
    /// Signals that a client may have acknowledged a decision.
    arrived: Notify,
    sessions: Arc<Sessions>,
    monitors: Arc<Monitors>,
    host: Arc<dyn EditorHost>,
    limits: Limits,
    /// Set if a next process can resume this server.
    journal: Option<Arc<Journal>>,
}

impl Diffs {
    /// `left` is the state of the last process, if this one resumes it.
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        monitors: Arc<Monitors>,
        host: Arc<dyn EditorHost>,
        limits: Limits,
        journal: Option<Arc<Journal>>,
        left: Left,
    ) -> Arc<Self> {
        let mut ledger = Ledger::new(DiffId::random(), journal.is_some());
        for session in left.sessions.into_keys() {
            ledger.restore_session(session);
        }
        for (diff, left) in left.diffs {
            ledger.restore_decision(diff, left.session, left.path, left.decision);
        }
        Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            ledger: Mutex::new(ledger),
            calls: Calls::default(),
            repeats: Repeats::new(untaken(&limits)),
            texts: HeldTexts::default(),
            untaken: Arc::new(Semaphore::new(untaken(&limits))),
            accepted: Mutex::default(),
            arrived: Notify::new(),
            sessions,
            monitors,
            host,
            limits,
            journal,
        })
    }

    /// Returns the answer to a repeated request, if its call of `tool` about `path` is known.
    pub(crate) fn repeated(
        &self,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &str,
    ) -> Option<impl Future<Output = ToolResult>> {
        self.repeats.find(from, tool, path).map(|waiter| self.answer(waiter))
    }

    /// `openDiff`
    pub(crate) async fn open(&self, from: CallOrigin<'_>, mut proposal: Proposal) -> ToolResult {
        let asker = from.session;
        // The last process received this call, and this one reports the decision.
        if from.sent == Attempt::Again && self.ledger.lock().is_left(asker, &proposal.file_path) {
            return Answer::Opened.into();
        }
        let (waiting, bytes) = self.ledger.lock().backlog(asker);
        let count = waiting + self.ledger.lock().count(asker);
        if count >= self.limits.diffs_per_session || bytes >= self.limits.queued_bytes {
            return ToolResult::error(
                "Too many diffs are open, or decided and not yet read from the event stream.",
            );
        }
        let held = self.texts.bytes() + self.ledger.lock().proposed_bytes();
        if held > 0 && held + proposal.new_content.len() > self.limits.held_bytes {
            return ToolResult::error(
                "Proposals that are open, and decisions that their clients have not read, take too \
                 much memory. Decide or close some, then try again.",
            );
        }
        let size = proposal.file_path.len() + proposal.new_content.len() + QUEUED;
        let size = size.min(untaken(&self.limits));
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        // Do not wait for the turn here: a later `closeDiff` would overtake it.
        let Ok(taking) = Arc::clone(&self.untaken).try_acquire_many_owned(size) else {
            return ToolResult::error(
                "The editor is busy: it has not taken the proposals before this one.",
            );
        };
        proposal.untaken = Some(Arc::new(taking));
        let proposed = Proposed::new(&proposal.new_content, proposal.client);
        let path: Arc<str> = Arc::from(proposal.file_path.as_str());
        let step = |ledger: &mut Ledger, call| ledger.open(asker, &path, proposed, call);
        self.call(from, Tool::OpenDiff, &path, Some(proposal), step).await
    }

    /// `closeDiff`
    pub(crate) async fn close(
        &self,
        from: CallOrigin<'_>,
        path: String,
        suppress: bool,
    ) -> ToolResult {
        let path = Arc::from(path);
        let step = |ledger: &mut Ledger, call| ledger.close(from.session, &path, suppress, call);
        self.call(from, Tool::CloseDiff, &path, None, step).await
    }

    /// `acceptDiff` and `rejectDiff`
    pub(crate) async fn request_decision(
        &self,
        from: CallOrigin<'_>,
        path: String,
        accept: bool,
    ) -> ToolResult {
        let path = Arc::from(path);
        let tool = if accept { Tool::AcceptDiff } else { Tool::RejectDiff };
        let step = |ledger: &mut Ledger, call| ledger.request_decision(&path, accept, call);
        self.call(from, tool, &path, None, step).await
    }

    /// Takes a step for a call of `tool` about `path`, and waits for the answer. A step is
    /// completed even if the caller does not wait for it.
    async fn call(
        &self,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &Arc<str>,
        proposal: Option<Proposal>,
        step: impl FnOnce(&mut Ledger, CallId) -> Vec<Effect>,
    ) -> ToolResult {
        let deadline = Instant::now() + self.limits.host_timeout;
        let taken = proposal.as_ref().and_then(|proposal| proposal.untaken.clone());
        let (call, waiter) = self.calls.begin(from.session, deadline, taken);
        self.repeats.push(from, tool, call, Arc::clone(path), waiter.clone());
        self.step_with(proposal, |ledger| step(ledger, call));
        self.answer(waiter).await
    }

    /// Waits for the answer to a call.
    async fn answer(&self, waiter: Waiter) -> ToolResult {
        let Answered { answer, records } = waiter.wait().await.clone();
        // If this process ends now, the next one must know this answer.
        if let Some(journal) = &self.journal {
            journal.saved(records).await;
        }
        answer.into()
    }

    /// Fails the editor's overdue calls, for as long as the server runs.
    pub(crate) async fn expire_calls(&self) {
        loop {
            match self.calls.overdue().await {
                (call, Some(why)) => self.step(|ledger| ledger.unreadable(call, &why)),
                (call, None) => {
                    log::debug!("call {} was not answered in time", call.0);
                    self.step(|ledger| ledger.expired(call))
                }
            };
        }
    }

    /// Handles the user's decision.
    pub(crate) fn user_decided(&self, path: &str, decision: Decision<String>) -> Delivery {
        let decision = decision.map(|text| self.texts.hold(text));
        self.step(|ledger| ledger.user_decided(path, decision))
    }

    /// The user rejects the diff that is shown for `path`, with a reason. Returns the diff and its
    /// client. [`Self::reject`] or [`Self::decline`] follows.
    pub(crate) fn begin_decline(&self, path: &str) -> Option<(DiffId, SessionId)> {
        self.ledger.lock().begin_decline(path)
    }

    /// The delivery of a decision to this client by now.
    pub(crate) fn delivery_to(&self, session: SessionId) -> Delivery {
        if self.ledger.lock().has_stream(session) { Delivery::Delivered } else { Delivery::Queued }
    }

    /// Notes an acceptance for [`Self::just_accepted`], which the hook of a CLI asks for that runs
    /// the hook after the acceptance. Gemini CLI runs it before it opens the diff.
    fn note_accepted(&self, session: SessionId, path: &Arc<str>) {
        let client = self.sessions.get(session).map(|session| session.client);
        if !client.is_some_and(|of| of.replays_edits && !of.empty_is_unchanged) {
            return;
        }
        let mut accepted = self.accepted.lock();
        accepted.truncate(MAX_ACCEPTED - 1);
        accepted.push_front((Instant::now(), session, Arc::clone(path)));
    }

    /// The client whose edit of `path` was accepted within the last seconds, if it is only one.
    /// Forgets the acceptance.
    pub(crate) fn just_accepted(&self, path: &str) -> Option<SessionId> {
        let mut accepted = self.accepted.lock();
        accepted.retain(|(time, ..)| time.elapsed() < ACCEPTED_TIME);
        let mut of_path = accepted.iter().filter(|(.., of)| &**of == path);
        let session = of_path.next().map(|(_, session, _)| *session);
        let only = session.filter(|session| of_path.all(|(_, of, _)| of == session));
        accepted.retain(|(.., of)| &**of != path);
        only
    }

    /// Rejects a diff, unless it has ended.
    pub(crate) fn reject(&self, diff: DiffId) {
        self.step(|ledger| ledger.reject(diff));
    }

    /// Rejects a diff, unless it has ended, so that the client writes `present`, the file's text.
    pub(crate) fn decline(&self, diff: DiffId, present: String) {
        let present = self.texts.hold(present);
        self.step(|ledger| ledger.decline(diff, present));
    }

    /// Saves a record for the next process.
    pub(crate) fn record(&self, record: Record) {
        self.step(|ledger| ledger.note(record));
    }

    /// Withdraws an acceptance because the editor writes the text itself.
    pub(crate) fn withdraw(&self, path: &str) -> bool {
        let mut is_withdrawn = false;
        self.step(|ledger| {
            let (withdrawn, effects) = ledger.withdraw(path);
            is_withdrawn = withdrawn;
            effects
        });
        is_withdrawn
    }

    pub(crate) fn session_begun(&self, session: SessionId, client: ClientTraits) {
        self.step(|ledger| ledger.session_begun(session, client));
    }

    /// Closes the views of a session that has had no stream for too long.
    pub(crate) fn session_away(&self, session: SessionId) {
        self.step(|ledger| ledger.session_away(session));
    }

    /// Forgets calls that are too old to be repeated.
    pub(crate) fn forget_old_calls(&self) {
        self.repeats.forget_older(self.limits.session_away);
    }

    /// Limits the memory of unacknowledged decisions.
    pub(crate) fn prune_sent(&self) {
        self.step(Ledger::prune_sent);
    }

    /// Ends a session.
    pub(crate) fn session_gone(&self, session: SessionId) {
        self.repeats.forget(session);
        self.step(|ledger| ledger.session_gone(session));
    }

    /// Rejects all open diffs and accepts no further one.
    pub(crate) fn stop(&self) {
        self.step(Ledger::stop);
    }

    /// Fails the calls that still wait for a text from the editor.
    pub(crate) fn end_texts(&self) {
        self.step(Ledger::end_texts);
    }

    /// Begins a stream of a session. `last` says which decisions have arrived.
    pub(crate) fn attach(&self, session: SessionId, stream: u64, last: &EventId, is_answer: bool) {
        self.step(|ledger| ledger.attach(session, stream, last, is_answer));
    }

    /// Ends a stream of a session.
    pub(crate) fn detach(&self, session: SessionId, stream: u64) {
        self.step(|ledger| ledger.detach(session, stream));
    }

    /// Returns the next event of a session's stream.
    pub(crate) fn next(&self, session: SessionId, stream: u64) -> Option<Outgoing> {
        let mut next = None;
        self.step(|ledger| {
            let (outgoing, effects) = ledger.next(session, stream);
            next = outgoing;
            effects
        });
        next
    }

    /// Returns the id of a session's next event.
    pub(crate) fn event_id(&self, session: SessionId) -> EventId {
        self.ledger.lock().event_id(session)
    }

    /// Handles a client's answer to the ping after a decision.
    pub(crate) fn ping_answered(&self, session: SessionId, diff: DiffId) {
        self.step(|ledger| ledger.ping_answered(session, diff));
    }

    /// Notes that the records up to this number are saved for the next process.
    pub(crate) fn saved(&self, records: u64) {
        self.ledger.lock().saved(records);
    }

    /// Waits until every connected client has acknowledged its decisions and has received its
    /// answers.
    pub(crate) async fn all_arrived(&self) {
        loop {
            let arrived = self.arrived.notified();
            if !self.ledger.lock().is_any_on_its_way() {
                return;
            }
            arrived.await;
        }
    }

    /// Waits until the next process would know the current state, or until the timeout.
    pub(crate) async fn wait_until_journaled(&self) {
        if let Some(journal) = &self.journal {
            let records = self.ledger.lock().records();
            journal.saved(records).await;
        }
    }

    /// Whether the client of a session may wait for a decision.
    pub(crate) fn is_awaited_by(&self, session: SessionId) -> bool {
        self.ledger.lock().is_awaited_by(session)
    }

    /// Whether the client of a session waits for a decision of this process.
    pub(crate) fn is_anything_due(&self, session: SessionId) -> bool {
        self.ledger.lock().is_anything_due(session)
    }

    /// Whether a diff of that session is open.
    pub(crate) fn has_open(&self, session: SessionId) -> bool {
        self.ledger.lock().count(session) > 0
    }

    pub(crate) fn open_count(&self) -> usize {
        self.ledger.lock().len()
    }

    fn step(&self, step: impl FnOnce(&mut Ledger) -> Vec<Effect>) -> Delivery {
        self.step_with(None, step)
    }

    /// Takes a step that may ask the editor to open `proposal`, and carries out the effects.
    /// Returns the state of a decision, if the step sent one.
    fn step_with(
        &self,
        mut proposal: Option<Proposal>,
        step: impl FnOnce(&mut Ledger) -> Vec<Effect>,
    ) -> Delivery {
        let mut delivery = Delivery::Unknown;
        let (effects, records) = {
            let mut ledger = self.ledger.lock();
            let mut effects = step(&mut ledger);
            if let Some(journal) = &self.journal {
                let records = effects.extract_if(.., |effect| matches!(effect, Effect::Record(_)));
                journal.append(records.filter_map(|effect| match effect {
                    Effect::Record(record) => Some(record),
                    _ => None,
                }));
            }
            for effect in &effects {
                if let Effect::Decided(session, ..) = effect {
                    let listens = ledger.has_stream(*session);
                    delivery = if listens { Delivery::Delivered } else { Delivery::Queued };
                }
            }
            (effects, ledger.records())
        };
        for effect in effects {
            match effect {
                Effect::Answer(call, answer) => {
                    if let Some(asker) = self.calls.answer(call, Answered { answer, records }) {
                        self.repeats.answered(asker, call);
                    }
                }
                Effect::ShortenDeadline(call) => {
                    self.calls.shorten_deadline(call, Instant::now() + ACKNOWLEDGEMENT_TIMEOUT);
                }
                Effect::Decided(session, path, decision) => {
                    if decision.is_accepted() {
                        self.note_accepted(session, &path);
                    }
                    self.publish(&path, &decision);
                    if let Some(session) = self.sessions.get(session) {
                        session.mailbox.wake();
                    }
                }
                Effect::Ask(call, ask) => self.ask(call, ask, &mut proposal),
                Effect::Ended(diff, outcome) => log::debug!("diff {diff} ended: {outcome:?}"),
                Effect::Record(_) => {}
            }
        }
        self.arrived.notify_waiters();
        delivery
    }

    fn publish(&self, path: &str, decision: &Decision) {
        self.monitors.publish(|| match decision {
            Decision::Accepted(text) => sse::data(&events::diff_accepted(path, text)),
            Decision::Rejected | Decision::Declined(_) => sse::data(&events::diff_rejected(path)),
        });
    }
}

/// The most bytes of proposals that may wait for the editor: two of the largest.
fn untaken(limits: &Limits) -> usize {
    limits.body.saturating_mul(2).min(Semaphore::MAX_PERMITS)
}
