//! Tests the messages from outside. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod editor_page;
mod http_page;
mod reading;
mod report;
mod settings;
mod wire;
