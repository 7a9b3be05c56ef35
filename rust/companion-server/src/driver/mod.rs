//! Drives the [`Companion`]: hands in events as inputs, and carries out the outputs.
//!
//! One short lock guards the companion. Records, answers and messages for the editor are queued under
//! it, in the order of the inputs. The messages are sent without it, because the editor may answer
//! within the call, and by the server's one thread.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use companion_core::calls::CallOrigin;
use companion_core::companion::{Action, Companion, Input, Now, Output, Outputs};
use companion_core::conversation::Due;
use companion_core::diffs::{Answer, Decision, DiffId, EditorCommand, Outgoing, Proposed};
use companion_core::notes::{self, Confirmation, NoteId};
use companion_core::record::Left;
use companion_core::text::{HeldTexts, Text};
use companion_protocol::editor::{CloseDiff, CompanionNotification, DiffPath};
use companion_protocol::ide::events;
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::sleep_until;
use uuid::Uuid;

use crate::clock::Clock;
use crate::config::Limits;
use crate::host::{
    CallId, Delivery, DiffResponder, EditorHost, EditorRequest, Proposal, RequestOwner,
};
use crate::journal::Journal;
use crate::monitor::Monitors;
use crate::net::sse;
use crate::session::{SessionId, Sessions};

/// The size of a request that waits for the editor, besides its texts; rounded up. In bytes.
const QUEUED: usize = 1 << 10;

pub(crate) struct Driver {
    me: Weak<Self>,
    core: Mutex<Core>,
    clock: Clock,
    /// The texts of this process that clients have not received. The resume file bounds the
    /// others.
    texts: HeldTexts,
    /// Bytes of proposals that the editor has not taken.
    untaken: Arc<Semaphore>,
    /// The most of them: two of the largest.
    max_untaken: usize,
    /// Signals a message for the editor from another thread, or an earlier deadline.
    woken: Notify,
    /// Signals a look at the disk.
    looks: Notify,
    /// Signals that a client may have acknowledged a decision.
    arrived: Notify,
    sessions: Arc<Sessions>,
    monitors: Arc<Monitors>,
    host: Arc<dyn EditorHost>,
    /// Set if a next process can resume this server.
    journal: Option<Arc<Journal>>,
}

/// The companion, and what waits for it or by it.
struct Core {
    companion: Companion,
    last_call: u64,
    /// The calls that wait for their answers.
    waiters: HashMap<CallId, Waiter>,
    /// The proposals that were not sent to the editor.
    proposals: HashMap<CallId, Proposal>,
    to_editor: VecDeque<ToEditor>,
    looks: VecDeque<Look>,
    /// The deadline that the timer waits for.
    timer: Option<u64>,
}

struct Waiter {
    answer: oneshot::Sender<Answered>,
    /// Its share of the memory for unread editor requests, until the editor answers.
    _taken: Option<Arc<OwnedSemaphorePermit>>,
}

/// An answer. It is valid as soon as this number of records is saved.
struct Answered {
    answer: Answer,
    records: u64,
}

enum ToEditor {
    Request(EditorRequest, DiffResponder),
    Notification(CompanionNotification),
}

/// A look at the disk, for a proposal or for the rejection of a diff with a reason.
pub(crate) enum Look {
    /// See [`Output::LookAt`].
    At(DiffId, Arc<str>),
    /// See [`Output::Read`]. Whether there is a text to read.
    Read(DiffId, SessionId, Arc<str>, bool),
    /// See [`Output::ReadOriginal`].
    Original(CallId, Arc<str>),
}

/// The answers to the caller of an input, from its outputs.
pub(crate) struct Reply {
    pub(crate) delivery: Delivery,
    pub(crate) is_withdrawn: bool,
    pub(crate) due: Due,
    pub(crate) notes: Option<notes::Delivery>,
    pub(crate) confirmation: Confirmation,
    pub(crate) comment: Option<NoteId>,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            delivery: Delivery::Unknown,
            is_withdrawn: false,
            due: Due::new(),
            notes: None,
            confirmation: Confirmation::Refused,
            comment: None,
        }
    }
}

impl Driver {
    /// `left` is the state of the last process, if this one resumes it.
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        monitors: Arc<Monitors>,
        host: Arc<dyn EditorHost>,
        limits: &Limits,
        journal: Option<Arc<Journal>>,
        left: Left,
    ) -> Arc<Self> {
        let max_untaken = limits.body.saturating_mul(2).min(Semaphore::MAX_PERMITS);
        let (first_delivery, _) = Uuid::new_v4().as_u64_pair();
        let companion = Companion::new(
            limits.of_core(),
            DiffId::random(),
            first_delivery,
            journal.is_some(),
            left,
        );
        let core = Core {
            companion,
            last_call: 0,
            waiters: HashMap::new(),
            proposals: HashMap::new(),
            to_editor: VecDeque::new(),
            looks: VecDeque::new(),
            timer: None,
        };
        Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            core: Mutex::new(core),
            clock: Clock::new(),
            texts: HeldTexts::default(),
            untaken: Arc::new(Semaphore::new(max_untaken)),
            max_untaken,
            woken: Notify::new(),
            looks: Notify::new(),
            arrived: Notify::new(),
            sessions,
            monitors,
            host,
            journal,
        })
    }

    pub(crate) fn now(&self) -> Now {
        self.clock.now()
    }

    /// Counts the bytes of a text until its clients have got it.
    pub(crate) fn hold(&self, text: String) -> Text {
        self.texts.hold(text)
    }

    /// Asks the companion something.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&Companion) -> T) -> T {
        question(&self.core.lock().companion)
    }

    /// Hands in an input, from the server's thread.
    pub(crate) fn handle(&self, input: Input<'_>) -> Reply {
        let ((), reply) = self.step(|core, now, out| core.companion.handle(now, input, out));
        self.send();
        reply
    }

    /// Hands in an input, from any thread.
    pub(crate) fn post(&self, input: Input<'_>) -> Reply {
        let ((), reply) = self.step(|core, now, out| core.companion.handle(now, input, out));
        self.woken.notify_one();
        reply
    }

    /// Takes the next decision that a stream sends.
    pub(crate) fn next_event(&self, session: SessionId, stream: u64) -> Option<Outgoing> {
        self.step(|core, now, out| core.companion.next_event(now, session, stream, out)).0
    }

    /// `openDiff`. `is_silent`: the project shares nothing.
    pub(crate) async fn open(
        &self,
        from: CallOrigin<'_>,
        mut proposal: Proposal,
        is_silent: bool,
    ) -> Answer {
        let size = proposal.file_path.len() + proposal.new_content.len() + QUEUED;
        let size = u32::try_from(size.min(self.max_untaken)).unwrap_or(u32::MAX);
        // Do not wait for the turn here: a later `closeDiff` would overtake it.
        let taken = Arc::clone(&self.untaken).try_acquire_many_owned(size).ok().map(Arc::new);
        let action = Action::Open {
            proposed: Proposed::new(&proposal.new_content, proposal.client),
            held: self.texts.bytes(),
            is_editor_busy: taken.is_none(),
            is_silent,
        };
        proposal.untaken = taken;
        let path = Arc::from(proposal.file_path.as_str());
        self.call(from, path, action, Some(proposal)).await
    }

    /// Calls a tool about a diff, and waits for the answer. The call is carried out even if its
    /// caller does not wait for it.
    pub(crate) async fn call(
        &self,
        from: CallOrigin<'_>,
        path: Arc<str>,
        action: Action,
        proposal: Option<Proposal>,
    ) -> Answer {
        let taken = proposal.as_ref().and_then(|proposal| proposal.untaken.clone());
        let (answered, _) = self.step(|core, now, out| {
            let (call, answered) = core.begin(taken);
            if let Some(proposal) = proposal {
                core.proposals.insert(call, proposal);
            }
            core.companion.handle(now, Input::Call { call, from, path, action }, out);
            answered
        });
        self.send();
        self.answer(answered).await
    }

    /// Returns the answer to a repeated request, if its call of `tool` about `path` is known.
    pub(crate) fn repeated(
        &self,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &str,
    ) -> Option<impl Future<Output = Answer>> {
        let (answered, _) = self.step(|core, _, out| {
            let (call, answered) = core.begin(None);
            if core.companion.repeat(call, from, tool, path, out) {
                return Some(answered);
            }
            core.waiters.remove(&call);
            None
        });
        Some(self.answer(answered?))
    }

    /// Waits for the answer to a call.
    async fn answer(&self, answered: oneshot::Receiver<Answered>) -> Answer {
        let Answered { answer, records } = answered.await.expect("each call is answered");
        // If this process ends now, the next one must know this answer.
        if let Some(journal) = &self.journal {
            journal.saved(records).await;
        }
        answer
    }

    /// Sends the messages of other threads, and hands in the time at each deadline.
    pub(crate) async fn run(&self) {
        loop {
            let deadline = {
                let mut core = self.core.lock();
                core.timer = core.companion.next_deadline();
                core.timer
            };
            let due = async {
                match deadline {
                    Some(deadline) => sleep_until(self.clock.at(deadline)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => drop(self.handle(Input::Time)),
                () = self.woken.notified() => self.send(),
            }
        }
    }

    /// Waits for the next look at the disk.
    pub(crate) async fn next_look(&self) -> Look {
        loop {
            if let Some(look) = self.core.lock().looks.pop_front() {
                return look;
            }
            self.looks.notified().await;
        }
    }

    /// Waits until every connected client has acknowledged its decisions and has received its
    /// answers.
    pub(crate) async fn all_arrived(&self) {
        loop {
            let arrived = self.arrived.notified();
            if !self.ask(|companion| companion.diffs().is_any_on_its_way()) {
                return;
            }
            arrived.await;
        }
    }

    /// Waits until the next process would know the current state, or until the timeout.
    pub(crate) async fn wait_until_journaled(&self) {
        if let Some(journal) = &self.journal {
            journal.saved(self.ask(|companion| companion.diffs().records())).await;
        }
    }

    /// Takes a step under the lock, and queues its outputs.
    fn step<T>(&self, step: impl FnOnce(&mut Core, Now, &mut Outputs) -> T) -> (T, Reply) {
        let mut out = Outputs::new();
        let mut reply = Reply::default();
        let mut decided = Vec::new();
        let value = {
            let core = &mut *self.core.lock();
            let value = step(core, self.now(), &mut out);
            let records = core.companion.diffs().records();
            for output in out {
                match output {
                    Output::Ask(call, command) => self.request(core, call, command),
                    Output::Tell(of) => core.to_editor.push_back(ToEditor::Notification(of)),
                    Output::Answer(call, answer) => {
                        core.proposals.remove(&call);
                        if let Some(waiter) = core.waiters.remove(&call) {
                            // A caller that has left needs no answer.
                            let _ = waiter.answer.send(Answered { answer, records });
                        }
                    }
                    Output::Record(record) => {
                        if let Some(journal) = &self.journal {
                            journal.append(record);
                        }
                    }
                    Output::Decided(session, path, decision) => {
                        decided.push((session, path, decision));
                    }
                    Output::Ended(diff, outcome) => log::debug!("diff {diff} ended: {outcome:?}"),
                    Output::ReadOriginal(call, path) => {
                        self.look(core, Look::Original(call, path));
                    }
                    Output::Arrival(call, arrival) => {
                        if let Some(proposal) = core.proposals.get_mut(&call) {
                            proposal.reason = arrival;
                        }
                    }
                    Output::LookAt(diff, path) => self.look(core, Look::At(diff, path)),
                    Output::Read(diff, session, path, original) => {
                        self.look(core, Look::Read(diff, session, path, original.is_some()));
                    }
                    Output::Delivery(delivery) => reply.delivery = delivery,
                    Output::Withdrawn(is_withdrawn) => reply.is_withdrawn = is_withdrawn,
                    Output::Due(due) => reply.due = due,
                    Output::Deliver(notes) => reply.notes = Some(notes),
                    Output::Confirmed(confirmation) => reply.confirmation = confirmation,
                    Output::CheckComment(note) => reply.comment = Some(note),
                }
            }
            let next = core.companion.next_deadline();
            if next.is_some_and(|next| core.timer.is_none_or(|timer| next < timer)) {
                self.woken.notify_one();
            }
            value
        };
        for (session, path, decision) in decided {
            self.publish(&path, &decision);
            if let Some(session) = self.sessions.get(session) {
                session.mailbox.wake();
            }
        }
        self.arrived.notify_waiters();
        (value, reply)
    }

    /// Queues a request to the editor.
    fn request(&self, core: &mut Core, call: Option<CallId>, command: EditorCommand) {
        let file_path = |path: Arc<str>| path.to_string();
        let request = match command {
            EditorCommand::Open(_) => {
                let proposal = call.and_then(|call| core.proposals.remove(&call));
                EditorRequest::OpenDiff(proposal.expect("only openDiff opens"))
            }
            EditorCommand::Close(path) => {
                EditorRequest::CloseDiff(CloseDiff { file_path: file_path(path), abandoned: false })
            }
            EditorCommand::Abandon(path) => {
                EditorRequest::CloseDiff(CloseDiff { file_path: file_path(path), abandoned: true })
            }
            EditorCommand::Accept(path) => {
                EditorRequest::AcceptDiff(DiffPath { file_path: file_path(path) })
            }
            EditorCommand::Reject(path) => {
                EditorRequest::RejectDiff(DiffPath { file_path: file_path(path) })
            }
        };
        let responder = DiffResponder::new(self.me.clone(), call);
        core.to_editor.push_back(ToEditor::Request(request, responder));
    }

    fn look(&self, core: &mut Core, look: Look) {
        core.looks.push_back(look);
        self.looks.notify_one();
    }

    /// Sends the queued messages to the editor.
    fn send(&self) {
        loop {
            let Some(message) = self.core.lock().to_editor.pop_front() else { return };
            match message {
                ToEditor::Request(request, responder) => {
                    self.host.request(request, responder.into());
                }
                ToEditor::Notification(notification) => self.host.notify(notification),
            }
        }
    }

    fn publish(&self, path: &str, decision: &Decision) {
        self.monitors.publish(|| match decision {
            Decision::Accepted(text) => sse::data(&events::diff_accepted(path, text)),
            Decision::Rejected | Decision::Declined(_) => sse::data(&events::diff_rejected(path)),
        });
    }
}

impl Core {
    /// Begins a call, which holds `taken` until it is answered.
    fn begin(
        &mut self,
        taken: Option<Arc<OwnedSemaphorePermit>>,
    ) -> (CallId, oneshot::Receiver<Answered>) {
        self.last_call += 1;
        let call = CallId(self.last_call);
        let (answer, answered) = oneshot::channel();
        self.waiters.insert(call, Waiter { answer, _taken: taken });
        (call, answered)
    }
}

impl RequestOwner for Driver {
    fn completed(&self, call: CallId, content: Option<String>) {
        let content = content.map(|text| self.hold(text));
        self.post(Input::EditorDid(call, content));
    }

    fn failed(&self, call: CallId, message: &str) {
        self.post(Input::EditorFailed(call, message));
    }

    fn unreadable(&self, call: CallId, message: &str) {
        self.post(Input::EditorUnreadable(call, message));
    }

    fn is_awaited(&self, call: CallId) -> bool {
        self.ask(|companion| companion.awaits_editor(call))
    }
}
