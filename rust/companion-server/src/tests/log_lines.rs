//! Records the lines that a test logs.

use std::cell::RefCell;

use log::{LevelFilter, Metadata, Record};

thread_local! {
    static LOGGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Returns the lines that this thread has logged since the last call, each with its level. The
/// first call returns nothing.
pub(crate) fn logged() -> Vec<String> {
    // Another test may have set the logger.
    let _ = log::set_logger(&Logger);
    log::set_max_level(LevelFilter::Debug);
    LOGGED.take()
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("companion")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{} {}", record.level(), record.args());
            LOGGED.with_borrow_mut(|lines| lines.push(line));
        }
    }

    fn flush(&self) {}
}
