//! Queues records for the resume file, in order, and reports which are saved.

use std::task::{Context, Poll};
use std::time::Duration;

use companion_core::notes::NoteId;
use companion_core::record::Record;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::signal::Signal;

/// How long a call may wait for a disk that is slow.
const SAVE_TIMEOUT: Duration = Duration::from_millis(250);

/// The records that wait for the disk. The driver's lock guards them.
#[derive(Default)]
pub(crate) struct Journal {
    next: Batch,
    /// There is something to save, or the file has to show that the server is alive.
    due: Signal,
}

/// The next records to save.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    /// If empty, the file only shows that the server is alive.
    pub(crate) records: Vec<Record>,
    /// The number of records, with those that are obsolete by now.
    pub(crate) count: usize,
    /// The head of the file has changed.
    pub(crate) rewrites: bool,
    /// No more records follow.
    pub(crate) ends: bool,
}

impl Journal {
    pub(crate) fn append(&mut self, record: Record) {
        forget(&mut self.next.records, &record);
        self.next.records.push(record);
        self.next.count += 1;
        self.alive();
    }

    /// Marks the server as alive in the file.
    pub(crate) fn alive(&mut self) {
        self.due.set();
    }

    /// Requests that the whole file is written again, because its head has changed.
    pub(crate) fn rewrite(&mut self) {
        self.next.rewrites = true;
        self.alive();
    }

    /// Requests that all is saved for the next process and the file is released.
    pub(crate) fn end(&mut self) {
        self.next.ends = true;
        self.alive();
    }

    /// Takes all that is to be saved.
    pub(crate) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Batch> {
        self.due.poll(cx).map(|()| std::mem::take(&mut self.next))
    }
}

/// The progress of saving.
pub(crate) struct Saved(watch::Sender<Progress>);

struct Progress {
    /// The number of records that were saved or that cannot be saved.
    records: u64,
    has_ended: bool,
}

impl Saved {
    /// A server that can't be resumed saves nothing.
    pub(crate) fn new(is_resumable: bool) -> Self {
        Self(watch::Sender::new(Progress { records: 0, has_ended: !is_resumable }))
    }

    /// Waits until this number of records is saved, or until the timeout.
    pub(crate) async fn wait_for(&self, records: u64) {
        if records == 0 || self.0.borrow().records >= records {
            return;
        }
        let mut progress = self.0.subscribe();
        let saved = progress.wait_for(|progress| progress.records >= records || progress.has_ended);
        if timeout(SAVE_TIMEOUT, saved).await.is_err() {
            log::debug!("saving resume data timed out");
        }
    }

    /// Counts further records that were saved or cannot be saved.
    pub(crate) fn add(&self, records: usize) -> u64 {
        self.0.send_modify(|progress| progress.records += records as u64);
        self.0.borrow().records
    }

    /// Notes that all is saved, or that the task has ended.
    pub(crate) fn set_ended(&self) {
        self.0.send_modify(|progress| progress.has_ended = true);
    }

    /// Waits until all is saved, or the task has ended.
    pub(crate) async fn ended(&self) {
        // The sender belongs to this value, so the wait cannot fail.
        let _ = self.0.subscribe().wait_for(|progress| progress.has_ended).await;
    }
}

/// Removes the records that `record` makes obsolete from the queue. The queue must not grow while a disk
/// does not answer, which can take hours.
fn forget(queue: &mut Vec<Record>, record: &Record) {
    match record {
        Record::Settled(over) => queue.retain(|queued| match queued {
            Record::Opened(diff, ..)
            | Record::Accepted(diff, _)
            | Record::Rejected(diff)
            | Record::Settled(diff) => diff != over,
            _ => true,
        }),
        Record::Note(id, _) | Record::NoteRemoved(id) => forget_notes(queue, &[*id]),
        Record::Delivered(delivered) => forget_notes(queue, &delivered.notes),
        _ => {}
    }
}

fn forget_notes(queue: &mut Vec<Record>, notes: &[NoteId]) {
    queue.retain(|queued| !matches!(queued, Record::Note(id, _) if notes.contains(id)));
}
