//! Tests the driver with its clients and its editor.

mod journal;
mod repeats;
