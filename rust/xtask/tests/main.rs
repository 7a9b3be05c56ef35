//! Checks the rules of the house. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod documents;
mod language;
mod numbers;
mod pictures;
mod sentences;
mod tidy;
mod versions;
