//! Runs companion servers in a JVM.
//!
//! This crate only converts values and enforces the rules of the boundary. `companion-server`
//! implements the server, and Kotlin implements the editor.
//!
//! - [`natives`]: the functions that Kotlin calls; the only module with an `Env` of Kotlin's
//!   threads.
//! - [`gate`]: converts panics and errors to Java exceptions.
//! - [`cores`]: the servers by number. Kotlin holds numbers, never pointers.
//! - [`callbacks`]: the one thread that calls Kotlin, in order.
//! - [`jvm`]: attaches that thread to the JVM, and calls Kotlin's objects.
//! - [`logging`]: forwards log lines to the IDE's log.
//! - [`panics`]: records where a panic happened.
//! - `test_entry`: functions for tests; not in a release.
//!
//! *Invariant:* no static holds a reference to a Java object, and no code looks up or stores a
//! class by name. Either would keep a closed project or the plugin's class loader alive.

mod callbacks;
mod cores;
mod gate;
mod jvm;
mod logging;
mod natives;
mod panics;
#[cfg(feature = "test-entry")]
mod test_entry;
