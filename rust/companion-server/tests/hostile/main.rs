//! Tests hostile peers, one scenario each: their attempts gain nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/mod.rs"]
mod common;

mod heads;
mod hosts;
mod json;
mod paths;
mod slow;

/// Checks the status line and the body of each reply.
fn assert_status(reply: &str, status: &str, case: &str) {
    assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{case}: {reply}");
    assert_eq!(reply.matches("HTTP/1.").count(), 1, "{case}: {reply}");
}
