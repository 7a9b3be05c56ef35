//! Receives editor events, and sends each client the newest context soon after a burst of them.
//!
//! An event costs its caller one short lock and a look at the clock: no IO, and no allocation for a
//! caret. It never blocks. The server's thread wakes once per burst.

mod disk;
mod model;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use companion_protocol::editor::{CompanionNotification, PrivateFiles};
use companion_protocol::ide::{self, IdeContext, events};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::disk::pool::BlockingPool;
use crate::host::EditorHost;
use crate::monitor::Monitors;
use crate::net::sse;
use crate::session::Sessions;
pub(crate) use disk::FileScan;
pub(crate) use model::ContextModel;

/// The quiet time after the last event of a burst (specification §II).
const QUIET_TIME: Duration = Duration::from_millis(50);
/// The longest time after the first event of a burst.
const MAX_DELAY: Duration = Duration::from_millis(250);

/// Tokio's timers are late by up to this. A sleeping thread is not.
const TIMER_LATENESS: Duration = Duration::from_millis(2);

pub(crate) struct EditorContext {
    /// Notifies when a burst begins.
    state: watch::Sender<ContextState>,
    host: Arc<dyn EditorHost>,
}

struct ContextState {
    model: ContextModel,
    /// The current burst.
    burst: Option<Burst>,
    /// The last context, for clients that connect later. Read it by [`EditorContext::last`].
    sent: SentContext,
    /// The open files that are not shared, among the checked ones.
    private: PrivateFiles,
}

/// The events of a burst.
#[derive(Clone, Copy)]
struct Burst {
    first: Instant,
    last: Instant,
}

impl Burst {
    fn due(self) -> Instant {
        (self.last + QUIET_TIME).min(self.first + MAX_DELAY)
    }
}

impl ContextState {
    /// Adds an event to the burst, or begins one. Returns whether it begins.
    fn note_event(&mut self) -> bool {
        let now = Instant::now();
        let first = self.burst.map_or(now, |burst| burst.first);
        self.burst.replace(Burst { first, last: now }).is_none()
    }
}

struct SentContext {
    context: IdeContext,
    message: Bytes,
}

impl SentContext {
    fn new(context: IdeContext) -> Self {
        Self { message: sse::data(&ide::context_update(&context)), context }
    }
}

impl EditorContext {
    pub(crate) fn new(model: ContextModel, host: Arc<dyn EditorHost>) -> Self {
        let sent = SentContext::new(model.snapshot(|_| true));
        let private = PrivateFiles::default();
        let state = watch::Sender::new(ContextState { model, burst: None, sent, private });
        Self { state, host }
    }

    /// Applies an event to the model.
    pub(crate) fn update(&self, event: impl FnOnce(&mut ContextModel) -> bool) {
        self.state.send_if_modified(|state| event(&mut state.model) && state.note_event());
    }

    /// Changes the state without an event.
    fn change<T>(&self, change: impl FnOnce(&mut ContextState) -> T) -> T {
        let mut changed = None;
        self.state.send_if_modified(|state| {
            changed = Some(change(state));
            false // only the beginning of a burst is waited for
        });
        changed.expect("it has run")
    }

    /// The open private files, among the checked ones. The file with the focus is always checked.
    pub(crate) fn private_files(&self) -> PrivateFiles {
        self.state.borrow().private.clone()
    }

    /// Whether context is shared with clients.
    pub(crate) fn is_shared(&self) -> bool {
        self.state.borrow().model.is_shared()
    }

    /// The reason why no model gets a new text of the user; `None` while context is shared.
    pub(crate) fn why_unshared(&self) -> Option<&'static str> {
        (!self.is_shared()).then_some("the project shares nothing with its CLIs")
    }

    /// The paths of all open files, newest focus first. Clients must not get those that are private or
    /// outside the workspace.
    pub(crate) fn all_open_paths(&self) -> Vec<String> {
        self.state.borrow().model.paths()
    }

    /// `ide/contextUpdate` with the last state.
    pub(crate) fn message(&self) -> Bytes {
        self.last(|sent| sent.message.clone())
    }

    /// The last state, as JSON.
    pub(crate) fn json(&self) -> String {
        self.last(|sent| serde_json::to_string(&sent.context).expect("a context is JSON"))
    }

    /// The same message for `GET /events`.
    pub(crate) fn event(&self) -> Bytes {
        self.last(|sent| sse::data(&events::context_update(&sent.context)))
    }

    /// Reads the last context; one without files if the user has stopped sharing since.
    fn last<T>(&self, read: impl FnOnce(&SentContext) -> T) -> T {
        let state = self.state.borrow();
        if state.model.is_shared() {
            read(&state.sent)
        } else {
            read(&SentContext::new(state.model.snapshot(|_| false)))
        }
    }

    /// Sends contexts while the server runs.
    pub(crate) async fn publish(
        &self,
        mut disk: FileScan,
        pool: &BlockingPool,
        sessions: &Sessions,
        monitors: &Monitors,
    ) {
        let mut state = self.state.subscribe();
        loop {
            tokio::select! {
                _ = state.wait_for(|state| state.burst.is_some()) => {}
                () = disk.has_news() => drop(self.change(ContextState::note_event)),
            }
            let due = self.burst_over().await;
            let context = self.snapshot(due, &mut disk, pool).await;
            if context == self.state.borrow().sent.context {
                continue;
            }
            let sent = SentContext::new(context);
            let sleepers = sessions.broadcast_context(&sent.message);
            self.change(|state| state.sent = sent);
            monitors.publish(|| self.event());
            sleepers.wake().await;
        }
    }

    /// Waits until the burst has been quiet or has lasted long enough, less [`TIMER_LATENESS`], and
    /// ends it. Returns the time when the context is due.
    async fn burst_over(&self) -> Instant {
        loop {
            let due = self.state.borrow().burst.map_or_else(Instant::now, Burst::due);
            sleep_until(due - TIMER_LATENESS).await;
            let is_over = self.change(|state| {
                state.burst.take_if(|burst| burst.due() <= due);
                state.burst.is_none()
            });
            if is_over {
                return due;
            }
        }
    }

    /// The state at `due`, with the files that exist and are not private.
    async fn snapshot(&self, due: Instant, disk: &mut FileScan, pool: &BlockingPool) -> IdeContext {
        let paths = self.all_open_paths();
        let seen = disk.check(pool, paths, due).await;
        self.note_private(&seen.private);
        // Files that were opened in the meantime follow with the next burst.
        let is_shared = |path: &str| seen.shared.iter().any(|shared| shared == path);
        self.state.borrow().model.snapshot(is_shared)
    }

    /// Sends the editor the list of its private files, if it has changed.
    fn note_private(&self, private: &PrivateFiles) {
        let before = self.change(|state| std::mem::replace(&mut state.private, private.clone()));
        if before != *private {
            self.host.notify(CompanionNotification::PrivateFiles(private.clone()));
        }
    }
}
