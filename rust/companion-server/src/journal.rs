//! Queues records for the resume file, in order, and reports which are saved.

use std::time::Duration;

use companion_core::notes::NoteId;
use companion_core::record::{Record, TextId};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// How long a call may wait for a disk that is slow.
const SAVE_TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(crate) struct Journal {
    queue: Mutex<Queue>,
    something: Notify,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct Queue {
    records: Vec<Record>,
    /// The server is alive, even if it has nothing to save.
    alive: bool,
    rewrites: bool,
    ending: bool,
}

impl Queue {
    fn next(&mut self) -> Option<Batch> {
        let records = std::mem::take(&mut self.records);
        let (is_alive, rewrites) =
            (std::mem::take(&mut self.alive), std::mem::take(&mut self.rewrites));
        let is_due = self.ending || rewrites || is_alive || !records.is_empty();
        is_due.then_some(Batch { records, rewrites, ends: self.ending })
    }
}

/// The progress of saving.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The number of records that were saved or that cannot be saved.
    records: u64,
    ended: bool,
}

/// The next records to save.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// If empty, the file only shows that the server is alive.
    pub(crate) records: Vec<Record>,
    /// The head of the file has changed.
    pub(crate) rewrites: bool,
    /// No more records follow.
    pub(crate) ends: bool,
}

impl Journal {
    pub(crate) fn append(&self, record: Record) {
        let mut queue = self.queue.lock();
        forget(&mut queue.records, &record);
        queue.records.push(record);
        self.something.notify_one();
    }

    /// Marks the server as alive in the file.
    pub(crate) fn alive(&self) {
        self.queue.lock().alive = true;
        self.something.notify_one();
    }

    /// Requests that the whole file is written again, because its head has changed.
    pub(crate) fn rewrite(&self) {
        self.queue.lock().rewrites = true;
        self.something.notify_one();
    }

    /// Waits until this number of records is saved, or until the timeout.
    pub(crate) async fn saved(&self, records: u64) {
        if self.progress.borrow().records >= records {
            return;
        }
        let mut progress = self.progress.subscribe();
        let saved = progress.wait_for(|progress| progress.records >= records || progress.ended);
        if timeout(SAVE_TIMEOUT, saved).await.is_err() {
            log::debug!("saving resume data timed out");
        }
    }

    /// Waits for the next records to save.
    pub(crate) async fn next(&self) -> Batch {
        loop {
            if let Some(batch) = self.queue.lock().next() {
                return batch;
            }
            self.something.notified().await;
        }
    }

    /// Counts further records that were saved or cannot be saved.
    pub(crate) fn done(&self, records: usize) -> u64 {
        let mut all = 0;
        self.progress.send_modify(|progress| {
            progress.records += records as u64;
            all = progress.records;
        });
        all
    }

    /// Requests that all is saved for the next process and the file is released.
    pub(crate) fn end(&self) {
        self.queue.lock().ending = true;
        self.something.notify_one();
    }

    /// Notes that all is saved, or that the task has ended.
    pub(crate) fn set_ended(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
    }

    /// Waits until all is saved, or the task has ended.
    pub(crate) async fn ended(&self) {
        // The sender belongs to this journal, so the wait cannot fail.
        let _ = self.progress.subscribe().wait_for(|progress| progress.ended).await;
    }
}

/// Removes the diff or the notes that `record` ends from the queue. Placeholders keep the count of
/// records. The queue must not grow while a disk does not answer, which can take hours.
fn forget(queue: &mut [Record], record: &Record) {
    let over = match record {
        Record::Settled(over) => over,
        Record::Note(id, _) | Record::NoteRemoved(id) => return forget_notes(queue, &[*id]),
        Record::Delivered(delivered) => return forget_notes(queue, &delivered.notes),
        _ => return,
    };
    for queued in queue.iter_mut().rev() {
        let is_opened = matches!(queued, Record::Opened(diff, ..) if diff == over);
        if is_opened || queued.text_id() == Some(TextId::Diff(*over)) {
            *queued = Record::Settled(*over);
        }
        if is_opened {
            return;
        }
    }
}

fn forget_notes(queue: &mut [Record], notes: &[NoteId]) {
    for queued in queue {
        if let Record::Note(id, _) = queued
            && notes.contains(id)
        {
            *queued = Record::NoteRemoved(*id);
        }
    }
}
