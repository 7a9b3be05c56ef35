//! Keeps the file up to date with what clients wait for: what is open and not yet decided, and
//! what is decided and not known to have arrived.
//!
//! All of it is written anew when it has changed, at most one write at a time, off the server's
//! thread; changes during a write are in the next one. Nothing happens while nothing changes.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::{Notify, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Answer, Saving};
use crate::context::now_ms;
use crate::core::Core;
use crate::session::SessionId;
use crate::sse;

/// How long a call may wait for a disk that is slow.
const PATIENCE: Duration = Duration::from_millis(250);

/// Tells what has changed to the task that writes it.
pub(crate) struct Journal {
    /// Numbers the changes.
    newest: AtomicU64,
    changed: Notify,
    /// The last change that is in the file.
    saved: watch::Sender<u64>,
    ending: CancellationToken,
    ended: CancellationToken,
}

/// What a client waits for.
pub(crate) struct Waiting {
    pub(crate) session: SessionId,
    pub(crate) path: Arc<str>,
    /// The decision as data of an event; nothing if there is none yet.
    pub(crate) decision: Option<Bytes>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self {
            newest: AtomicU64::new(0),
            changed: Notify::new(),
            saved: watch::Sender::new(0),
            ending: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    /// Something that clients wait for has changed; returns the number of the change.
    pub(crate) fn changed(&self) -> u64 {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        self.changed.notify_one();
        number
    }

    /// Waits until the change of that number is in the file, or until it takes too long.
    pub(crate) async fn saved(&self, number: u64) {
        let mut saved = self.saved.subscribe();
        let saving = saved.wait_for(|saved| *saved >= number);
        if timeout(PATIENCE, saving).await.is_err() {
            log::debug!("the disk is too slow for what a restart needs");
        }
    }

    /// Has what clients still wait for saved for the next process, and the file given up.
    pub(crate) fn end(&self) {
        self.ending.cancel();
    }

    /// Waits until that is done.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// Saves each change, until the end.
pub(crate) async fn keep(core: Arc<Core>, journal: Arc<Journal>, mut saving: Saving) {
    let _ended = journal.ended.clone().drop_guard();
    loop {
        let ending = tokio::select! {
            () = journal.changed.notified() => false,
            () = journal.ending.cancelled() => true,
        };
        let number = journal.newest.load(Ordering::Relaxed);
        let waiting = core.diffs.waiting();
        let written = spawn_blocking(move || {
            saving.state.answers = waiting.iter().map(answer).collect();
            saving.state.stopped = ending.then(now_ms);
            saving.save();
            saving
        });
        match written.await {
            Ok(back) => saving = back,
            Err(error) => return log::error!("what a restart needs can't be saved: {error}"),
        }
        journal.saved.send_replace(if ending { u64::MAX } else { number });
        if ending {
            return;
        }
    }
}

/// What the next process is to tell. The editor's views end with this one, so what has not been
/// decided is rejected.
fn answer(waiting: &Waiting) -> Answer {
    /// A notification that we wrote.
    #[derive(Deserialize)]
    struct Told<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        content: Option<Cow<'a, str>>,
    }
    let told = waiting.decision.as_ref().map(|data| {
        let told: Told<'_> =
            serde_json::from_slice(sse::message(data)).expect("our messages are JSON");
        told.params.content.map(Cow::into_owned)
    });
    Answer {
        session: waiting.session.into(),
        path: waiting.path.as_ref().to_owned(),
        content: told.flatten(),
    }
}
