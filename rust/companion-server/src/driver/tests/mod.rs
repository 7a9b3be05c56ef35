//! Tests the driver with its clients and its editor.

mod interleavings;
mod journal;
mod repeats;
