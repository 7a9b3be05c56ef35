//! Panics: where one happened is told. Its message is not, since it may have a piece of a text in it.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::thread;

thread_local! {
    /// Where the last one of this thread happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sees to it that they are told, from now on.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| panic::set_hook(Box::new(tell)));
}

/// What is told of the last one of this thread.
pub(crate) fn last() -> String {
    format!("panic in the companion at {}", PLACE.take())
}

fn tell(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
    PLACE.set(place.unwrap_or_default());
    // A thread of the JVM's has no name here. There the gate tells Kotlin.
    if thread::current().name().is_some() {
        log::error!("{}", last());
    }
}
