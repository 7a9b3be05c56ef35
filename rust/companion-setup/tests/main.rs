//! Tests setup on made-up machines. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod extension;
mod finding;
mod installing;
mod leftovers;
mod neovim;
mod program;
mod settings;
