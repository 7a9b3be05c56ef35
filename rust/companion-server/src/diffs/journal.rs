//! Queues records for the resume file, in order, and reports which are saved.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::records::Record;

/// How long a call may wait for a disk that is slow.
const SAVE_TIMEOUT: Duration = Duration::from_millis(250);

pub(crate) struct Journal {
    queue: Mutex<Vec<Record>>,
    something: Notify,
    /// The server lives, though there is nothing to save.
    alive: AtomicBool,
    ending: AtomicBool,
    progress: watch::Sender<Progress>,
}

/// How far saving has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// How many records were saved, or can't be.
    records: u64,
    ended: bool,
}

/// What is to be saved next.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// May be empty: then it is to be seen that the server lives.
    pub(crate) records: Vec<Record>,
    /// There will be no more.
    pub(crate) ends: bool,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self {
            queue: Mutex::default(),
            something: Notify::new(),
            alive: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            progress: watch::Sender::new(Progress::default()),
        }
    }

    pub(crate) fn append(&self, records: impl Iterator<Item = Record>) {
        let mut queue = self.queue.lock();
        for record in records {
            forget(&mut queue, &record);
            queue.push(record);
            self.something.notify_one();
        }
    }

    /// Has it seen that the server lives.
    pub(crate) fn alive(&self) {
        self.alive.store(true, Ordering::Relaxed);
        self.something.notify_one();
    }

    /// Waits until so many records were saved, or it takes too long.
    pub(crate) async fn saved(&self, records: u64) {
        if self.progress.borrow().records >= records {
            return;
        }
        let mut progress = self.progress.subscribe();
        let saved = progress.wait_for(|progress| progress.records >= records || progress.ended);
        if timeout(SAVE_TIMEOUT, saved).await.is_err() {
            log::debug!("the disk is too slow for what a restart needs");
        }
    }

    /// What is to be saved next, as soon as there is something.
    pub(crate) async fn next(&self) -> Batch {
        loop {
            let ends = self.ending.load(Ordering::Relaxed);
            let records = std::mem::take(&mut *self.queue.lock());
            if ends || !records.is_empty() || self.alive.swap(false, Ordering::Relaxed) {
                return Batch { records, ends };
            }
            self.something.notified().await;
        }
    }

    /// So many further records were saved, or can't be.
    pub(crate) fn done(&self, records: usize) -> u64 {
        let mut all = 0;
        self.progress.send_modify(|progress| {
            progress.records += records as u64;
            all = progress.records;
        });
        all
    }

    /// Has everything saved for the next process, and the file given up.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
        self.something.notify_one();
    }

    /// That is done, or whoever does it has ended.
    pub(crate) fn has_ended(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
    }

    /// Waits until that is done.
    pub(crate) async fn ended(&self) {
        // The sender is ours, so this ends only well.
        let _ = self.progress.subscribe().wait_for(|progress| progress.ended).await;
    }
}

/// Takes out of the queue what a diff has there whose end `record` tells, but for that something stands
/// in the place of each, because records are counted: a disk may not answer for hours.
fn forget(queue: &mut [Record], record: &Record) {
    let Record::Settled(over) = record else { return };
    for queued in queue.iter_mut().rev() {
        match queued {
            Record::Accepted(diff, _) if diff == over => *queued = Record::Settled(*over),
            Record::Opened(diff, ..) if diff == over => {
                *queued = Record::Settled(*over);
                return;
            }
            _ => {}
        }
    }
}
