//! Log lines on their way to the IDE's log, by way of the thread that calls Kotlin.

use log::{LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;

use crate::callbacks::{Message, Queue};

static QUEUE: Mutex<Option<Queue>> = Mutex::new(None);

struct Forward;

/// Forwards lines from now on.
pub(crate) fn forward_to(queue: Queue) {
    *QUEUE.lock() = Some(queue);
    // The second time there is a logger already: this one.
    let _ = log::set_logger(&Forward);
}

/// Drops lines from now on.
pub(crate) fn forward_to_nobody() {
    *QUEUE.lock() = None;
}

/// How much is forwarded.
pub(crate) fn set_level(level: LevelFilter) {
    log::set_max_level(level);
}

impl Log for Forward {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Libraries below may log what peers sent.
        metadata.target().starts_with("companion")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata())
            && let Some(queue) = &*QUEUE.lock()
        {
            let _ = queue.send(Message::Log(record.level(), record.args().to_string()));
        }
    }

    fn flush(&self) {}
}
