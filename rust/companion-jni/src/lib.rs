//! The companion server for a JVM.
//!
//! Glue and nothing else: it converts, and keeps the rules of the boundary. What a server does is
//! `companion-server`'s matter, what an editor does is Kotlin's.
//!
//! - [`natives`]: what Kotlin calls; the only module that sees an `Env` on Kotlin's threads.
//! - [`gate`]: what Kotlin gets instead of a panic or an error.
//! - [`cores`]: servers by number. Kotlin holds numbers, never pointers.
//! - [`callbacks`]: the one thread that calls Kotlin, in order.
//! - [`ide`]: how it attaches itself to the JVM, and what it calls there.
//! - [`diagnosis`]: whether a CLI would connect, and why not.
//! - [`logging`]: log lines on their way to the IDE's log.
//! - [`panics`]: what is told of them.
//! - `test_entry`: what the tests call; not in what is released.
//!
//! No static holds a reference to a Java object, and no class is looked up by name or kept: either
//! would keep the plugin's class loader alive after the plugin was unloaded.

mod callbacks;
mod cores;
mod diagnosis;
mod gate;
mod ide;
mod logging;
mod natives;
mod panics;
#[cfg(feature = "test-entry")]
mod test_entry;
