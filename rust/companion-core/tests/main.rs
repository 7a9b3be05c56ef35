//! Tests conversations from outside. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod adoption;
mod cast;
mod conversation;
mod recognition;
mod rejections;
mod turns;
