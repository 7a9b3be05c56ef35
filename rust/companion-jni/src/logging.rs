//! Forwards log lines to the IDE's log, through a thread that calls Kotlin.

use companion_protocol::ide::log_line;
use log::{LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;

use crate::callbacks::{Message, Queue};

/// The queues of the running servers, by their numbers. Lines belong to no server: the first one's
/// object logs them.
static QUEUES: Mutex<Vec<(i64, Queue)>> = Mutex::new(Vec::new());

struct Forward;

/// Starts to forward lines to a server's object.
pub(crate) fn add(core: i64, queue: Queue) {
    QUEUES.lock().push((core, queue));
    // From the second call on, this logger is already installed.
    let _ = log::set_logger(&Forward);
}

/// Ends what [`add`] began.
pub(crate) fn remove(core: i64) {
    QUEUES.lock().retain(|(other, _)| *other != core);
}

/// Sets the least severe level that is forwarded.
pub(crate) fn set_level(level: LevelFilter) {
    log::set_max_level(level);
}

impl Log for Forward {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Other crates may log data from peers.
        metadata.target().starts_with("companion")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata())
            && let Some((_, queue)) = QUEUES.lock().first()
        {
            let text = record.args().to_string();
            // Only this crate logs stack traces of the JVM, which have several lines.
            let is_own = record.target().starts_with("companion_jni");
            let line = if is_own { text } else { log_line(&text) };
            let _ = queue.send(Message::Log(record.level(), line));
        }
    }

    fn flush(&self) {}
}
