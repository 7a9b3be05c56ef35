//! Log lines on their way to the IDE's log, by way of the thread that calls Kotlin.

use companion_protocol::ide::log_line;
use log::{Level, LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;

type Sink = Box<dyn Fn(Level, String) + Send>;

static SINK: Mutex<Option<Sink>> = Mutex::new(None);

struct Forward;

/// Forwards lines from now on.
pub(crate) fn forward_to(sink: impl Fn(Level, String) + Send + 'static) {
    *SINK.lock() = Some(Box::new(sink));
    // The second time there is a logger already: this one.
    let _ = log::set_logger(&Forward);
}

/// Drops lines from now on.
pub(crate) fn forward_to_nobody() {
    *SINK.lock() = None;
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
            && let Some(sink) = &*SINK.lock()
        {
            let text = record.args().to_string();
            // A stack trace of the JVM, which only this crate logs, has lines.
            let is_own = record.target().starts_with("companion_jni");
            sink(record.level(), if is_own { text } else { log_line(&text) });
        }
    }

    fn flush(&self) {}
}
