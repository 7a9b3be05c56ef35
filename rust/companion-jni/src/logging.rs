//! Forwards log lines to the IDE's log, through the thread that calls Kotlin.

use companion_protocol::ide::log_line;
use log::{Level, LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;

type Sink = Box<dyn Fn(Level, String) + Send>;

static SINK: Mutex<Option<Sink>> = Mutex::new(None);

struct Forward;

/// Starts to forward lines to `sink`.
pub(crate) fn forward_to(sink: impl Fn(Level, String) + Send + 'static) {
    *SINK.lock() = Some(Box::new(sink));
    // From the second call on, this logger is already installed.
    let _ = log::set_logger(&Forward);
}

/// Starts to drop lines.
pub(crate) fn forward_to_nobody() {
    *SINK.lock() = None;
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
            && let Some(sink) = &*SINK.lock()
        {
            let text = record.args().to_string();
            // Only this crate logs stack traces of the JVM, which have several lines.
            let is_own = record.target().starts_with("companion_jni");
            sink(record.level(), if is_own { text } else { log_line(&text) });
        }
    }

    fn flush(&self) {}
}
