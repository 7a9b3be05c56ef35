//! Drives the [`Companion`]: hands in events as inputs, and carries out the outputs.
//!
//! One short lock guards the companion. Records, answers and messages for the editor are queued under
//! it, in the order of the inputs. The messages are sent without it, because the editor may answer
//! within the call, and by the server's one thread.

mod outputs;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::{Arc, Weak};

use companion_core::calls::CallOrigin;
use companion_core::companion::{Action, Companion, DiskCheck, Input, Now};
use companion_core::diffs::{Answer, DiffId, Outgoing, Proposed};
use companion_core::record::Left;
use companion_core::text::{HeldBytes, Share, Text};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::sleep_until;
use uuid::Uuid;

use crate::clock::Clock;
use crate::config::Config;
use crate::host::{CallId, EditorHost, Proposal, TakeAnswer};
use crate::journal::{Journal, Saved};
use crate::monitor::Monitors;
use crate::session::{SessionId, Sessions};
use crate::signal::Signal;
pub(crate) use outputs::Reply;
use outputs::ToEditor;

/// The size of a request that waits for the editor, besides its texts; rounded up. In bytes.
const QUEUED: usize = 1 << 10;

pub(crate) struct Driver {
    me: Weak<Self>,
    core: Mutex<Core>,
    clock: Clock,
    /// The texts of this process that clients have not received. The resume file bounds the
    /// others.
    texts: HeldBytes,
    /// Bytes of proposals that the editor has not taken.
    untaken: HeldBytes,
    /// The most of them: two of the largest.
    max_untaken: usize,
    disk_checks: UnboundedSender<DiskCheck>,
    sessions: Arc<Sessions>,
    monitors: Arc<Monitors>,
    host: Arc<dyn EditorHost>,
    pub(crate) saved: Saved,
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
    journal: Journal,
    /// The editor starts the next server, and keeps its proposals for that.
    keeps_proposals: bool,
    /// Dropped once clients have acknowledged everything.
    all_arrived: Option<oneshot::Sender<Infallible>>,
    /// The deadline that the timer waits for.
    timer: Option<u64>,
    /// A message for the editor from another thread, or an earlier deadline.
    woken: Signal,
}

struct Waiter {
    answer: oneshot::Sender<Answered>,
    /// Its share of the memory for unread editor requests, until the editor answers.
    _untaken: Option<Arc<Share>>,
}

/// An answer. It is valid as soon as this number of records is saved.
struct Answered {
    answer: Answer,
    records: u64,
}

impl Driver {
    /// A server can be resumed if `left` is the state of the last process. Returns the checks of the
    /// disk, too, which somebody must carry out.
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        monitors: Arc<Monitors>,
        host: Arc<dyn EditorHost>,
        config: &Config,
        left: Option<Left>,
    ) -> (Arc<Self>, UnboundedReceiver<DiskCheck>) {
        let max_untaken = config.limits.body.saturating_mul(2);
        let is_resumable = left.is_some();
        let (first_delivery, _) = Uuid::new_v4().as_u64_pair();
        let companion = Companion::new(
            config.limits.core,
            DiffId::random(),
            first_delivery,
            is_resumable,
            left.unwrap_or_default(),
        );
        let core = Mutex::new(Core {
            companion,
            last_call: 0,
            waiters: HashMap::new(),
            proposals: HashMap::new(),
            to_editor: VecDeque::new(),
            journal: Journal::default(),
            keeps_proposals: false,
            all_arrived: None,
            timer: None,
            woken: Signal::default(),
        });
        let (disk_checks, checks) = unbounded_channel();
        let driver = Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            core,
            clock: Clock::new(),
            texts: HeldBytes::default(),
            untaken: HeldBytes::default(),
            max_untaken,
            disk_checks,
            sessions,
            monitors,
            host,
            saved: Saved::new(is_resumable),
        });
        (driver, checks)
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

    /// The records that wait for the disk.
    pub(crate) fn journal(&self) -> MappedMutexGuard<'_, Journal> {
        MutexGuard::map(self.core.lock(), |core| &mut core.journal)
    }

    /// Hands in an input, from the server's thread.
    pub(crate) fn handle(&self, input: Input<'_>) -> Reply {
        let ((), reply) = self.step(|core, now, out| core.companion.handle(now, input, out));
        self.send();
        reply
    }

    /// Hands in an input, from any thread.
    pub(crate) fn post(&self, input: Input<'_>) -> Reply {
        let ((), reply) = self.step(|core, now, out| {
            core.companion.handle(now, input, out);
            core.woken.set();
        });
        reply
    }

    /// Takes the next decision that a stream sends.
    pub(crate) fn next_event(&self, session: SessionId, stream: u64) -> Option<Outgoing> {
        self.step(|core, now, out| core.companion.next_event(now, session, stream, out)).0
    }

    /// `openDiff`. `is_shared`: whether the project shares context.
    pub(crate) async fn open(
        &self,
        from: CallOrigin<'_>,
        mut proposal: Proposal,
        is_shared: bool,
    ) -> Answer {
        let size = proposal.file_path.len() + proposal.new_content.len() + QUEUED;
        let untaken = self.untaken.bytes();
        let action = Action::Open {
            proposed: Proposed::new(&proposal.new_content, proposal.client),
            held: self.texts.bytes(),
            // Do not wait for the editor here: a later `closeDiff` would overtake this call.
            is_editor_busy: untaken > 0 && untaken + size > self.max_untaken,
            is_shared,
        };
        proposal.untaken = Some(Arc::new(self.untaken.add(size)));
        let path = Arc::from(proposal.file_path.as_str());
        self.call(from, path, action, Some(proposal)).await
    }

    /// Calls a tool about a diff, and waits for the answer. The call is carried out even if its
    /// caller does not wait for it. A repeated one gets the answer to the first.
    pub(crate) async fn call(
        &self,
        from: CallOrigin<'_>,
        path: Arc<str>,
        action: Action,
        proposal: Option<Proposal>,
    ) -> Answer {
        let (answered, _) = self.step(|core, now, out| {
            core.last_call += 1;
            let call = CallId(core.last_call);
            let is_repeated = core.companion.repeat(call, from, action.tool(), &path, out);
            // The first call has the proposal.
            let proposal = proposal.filter(|_| !is_repeated);
            let untaken = proposal.as_ref().and_then(|proposal| proposal.untaken.clone());
            let (answer, answered) = oneshot::channel();
            core.waiters.insert(call, Waiter { answer, _untaken: untaken });
            if let Some(proposal) = proposal {
                core.proposals.insert(call, proposal);
            }
            if !is_repeated {
                core.companion.handle(now, Input::Call { call, from, path, action }, out);
            }
            answered
        });
        self.send();
        let Answered { answer, records } = answered.await.expect("each call is answered");
        // If this process ends now, the next one must know this answer.
        self.saved.wait_for(records).await;
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
                () = poll_fn(|cx| self.core.lock().woken.poll(cx)) => self.send(),
            }
        }
    }

    /// The editor starts the next server, and keeps its proposals for that.
    pub(crate) fn keep_proposals(&self) {
        self.core.lock().keeps_proposals = true;
    }

    pub(crate) fn keeps_proposals(&self) -> bool {
        self.core.lock().keeps_proposals
    }

    /// Waits until every connected client has acknowledged its decisions and has received its
    /// answers.
    pub(crate) async fn all_arrived(&self) {
        let (sender, arrived) = oneshot::channel();
        {
            let mut core = self.core.lock();
            if !core.companion.diffs().is_any_on_its_way() {
                return;
            }
            core.all_arrived = Some(sender);
        }
        let _dropped = arrived.await;
    }

    /// Waits until the next process would know the current state, or until the timeout.
    pub(crate) async fn wait_until_journaled(&self) {
        self.saved.wait_for(self.ask(|companion| companion.diffs().records())).await;
    }
}

impl TakeAnswer for Driver {
    fn hold(&self, text: String) -> Text {
        self.texts.hold(text)
    }

    fn take_answer(&self, answer: Input<'_>) {
        self.post(answer);
    }
}
