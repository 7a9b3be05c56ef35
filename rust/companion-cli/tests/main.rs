//! Tests the program from outside. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod command_line;
mod common;
mod container;
mod doctor;
mod env;
mod logging;
mod mcp;
mod other_project;
mod setup;
mod unreadable;
mod untaken;
