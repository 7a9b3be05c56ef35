//! Tests hostile peers, one scenario each: their attempts gain nothing.

mod heads;
mod hosts;
mod json;
#[cfg(unix)]
mod paths;
mod slow;

/// Checks the status line and the body of each reply.
fn assert_status(reply: &str, status: &str, case: &str) {
    assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{case}: {reply}");
    assert_eq!(reply.matches("HTTP/1.").count(), 1, "{case}: {reply}");
}
