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
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::disk::pool::BlockingPool;
use crate::host::EditorHost;
use crate::monitor::Monitors;
use crate::net::sse;
use crate::privacy::Privacy;
use crate::session::Sessions;
use disk::FileScan;
pub(crate) use model::ContextModel;

/// The quiet time after the last event of a burst (specification §II).
const QUIET_TIME: Duration = Duration::from_millis(50);
/// The longest time after the first event of a burst.
const MAX_DELAY: Duration = Duration::from_millis(250);

/// Tokio's timers are late by up to this. A sleeping thread is not.
const TIMER_LATENESS: Duration = Duration::from_millis(2);

pub(crate) struct EditorContext {
    state: Mutex<ContextState>,
    /// The current burst. Notifies when it begins.
    burst: watch::Sender<Option<Burst>>,
    host: Arc<dyn EditorHost>,
}

struct ContextState {
    model: ContextModel,
    /// The last context, for clients that connect later.
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

struct SentContext {
    context: IdeContext,
    message: Bytes,
}

impl EditorContext {
    pub(crate) fn new(model: ContextModel, host: Arc<dyn EditorHost>) -> Self {
        let context = model.snapshot(|_| true);
        let message = sse::data(&ide::context_update(&context));
        let sent = SentContext { context, message };
        let private = PrivateFiles::default();
        let state = Mutex::new(ContextState { model, sent, private });
        Self { state, burst: watch::Sender::default(), host }
    }

    /// Applies an event to the model.
    pub(crate) fn update(&self, event: impl FnOnce(&mut ContextModel) -> bool) {
        let has_changed = event(&mut self.state.lock().model);
        if has_changed {
            self.note_event();
        }
    }

    /// Adds an event to the burst, or begins one.
    fn note_event(&self) {
        let now = Instant::now();
        self.burst.send_if_modified(|burst| {
            let first = burst.map_or(now, |burst| burst.first);
            burst.replace(Burst { first, last: now }).is_none()
        });
    }

    /// The open private files, among the checked ones. The file with the focus is always checked.
    pub(crate) fn private_files(&self) -> PrivateFiles {
        self.state.lock().private.clone()
    }

    /// Whether context is shared with clients.
    pub(crate) fn is_shared(&self) -> bool {
        self.state.lock().model.is_shared()
    }

    /// The reason why no model gets a new text of the user; `None` while context is shared.
    pub(crate) fn why_unshared(&self) -> Option<&'static str> {
        (!self.is_shared()).then_some("the project shares nothing with its CLIs")
    }

    /// The paths of all open files, newest focus first. Clients must not get those that are private or
    /// outside the workspace.
    pub(crate) fn all_open_paths(&self) -> Vec<String> {
        self.state.lock().model.paths()
    }

    /// `ide/contextUpdate` with the last state.
    pub(crate) fn message(&self) -> Bytes {
        self.state.lock().sent.message.clone()
    }

    /// The last state, as JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(&self.state.lock().sent.context).expect("a context is JSON")
    }

    /// The same message for `GET /events`.
    pub(crate) fn event(&self) -> Bytes {
        let context = self.state.lock().sent.context.clone();
        sse::data(&events::context_update(&context))
    }

    /// Sends contexts while the server runs.
    pub(crate) async fn publish(
        &self,
        privacy: &Arc<Privacy>,
        pool: &BlockingPool,
        sessions: &Sessions,
        monitors: &Monitors,
    ) {
        self.publish_from(FileScan::new(Arc::clone(privacy)), pool, sessions, monitors).await;
    }

    async fn publish_from(
        &self,
        mut disk: FileScan,
        pool: &BlockingPool,
        sessions: &Sessions,
        monitors: &Monitors,
    ) {
        let mut burst = self.burst.subscribe();
        loop {
            tokio::select! {
                _ = burst.wait_for(Option::is_some) => {}
                () = disk.has_news() => self.note_event(),
            }
            let due = self.burst_over().await;
            let context = self.snapshot(due, &mut disk, pool).await;
            if context == self.state.lock().sent.context {
                continue;
            }
            let message = sse::data(&ide::context_update(&context));
            let sleepers = sessions.broadcast_context(&message);
            self.state.lock().sent = SentContext { context, message };
            monitors.publish(|| self.event());
            sleepers.wake().await;
        }
    }

    /// Waits until the burst has been quiet or has lasted long enough, less [`TIMER_LATENESS`], and
    /// ends it. Returns the time when the context is due.
    async fn burst_over(&self) -> Instant {
        loop {
            let due = self.burst.borrow().map_or_else(Instant::now, Burst::due);
            sleep_until(due - TIMER_LATENESS).await;
            let mut is_over = false;
            self.burst.send_if_modified(|burst| {
                is_over = burst.is_none_or(|burst| burst.due() <= due);
                if is_over {
                    *burst = None;
                }
                false // only a beginning is waited for
            });
            if is_over {
                return due;
            }
        }
    }

    /// The state at `due`, with the files that exist and are not private.
    async fn snapshot(&self, due: Instant, disk: &mut FileScan, pool: &BlockingPool) -> IdeContext {
        let paths = self.state.lock().model.paths();
        let seen = disk.check(pool, paths, due).await;
        self.note_private(&seen.private);
        // Files that were opened in the meantime follow with the next burst.
        self.state.lock().model.snapshot(|path| seen.shared.iter().any(|shared| shared == path))
    }

    /// Sends the editor the list of its private files, if it has changed.
    fn note_private(&self, private: &PrivateFiles) {
        let before = std::mem::replace(&mut self.state.lock().private, private.clone());
        if before != *private {
            self.host.notify(CompanionNotification::PrivateFiles(private.clone()));
        }
    }
}
