//! Records and logs where a panic happened. Omits its message, which may contain a file's text.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::thread;

thread_local! {
    /// The position of this thread's last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Installs the panic hook.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| panic::set_hook(Box::new(record)));
}

/// Describes this thread's last panic, without its message.
pub(crate) fn last() -> String {
    format!("panic in the companion at {}", PLACE.take())
}

fn record(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
    PLACE.set(place.unwrap_or_default());
    // A thread of the JVM has no name here. On such a thread, the gate throws to Kotlin.
    if thread::current().name().is_some() {
        log::error!("{}", last());
    }
}
