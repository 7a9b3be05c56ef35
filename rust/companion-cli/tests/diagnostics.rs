//! Tests the command lines of `gemini-companion mcp` and `hook`; `e2e` tests their function.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::Path;

use common::{complaints, help, program};

#[test]
fn help_says_who_starts_them() {
    insta::assert_snapshot!("mcp_help", help("mcp"));
    insta::assert_snapshot!("hook_help", help("hook"));
}

#[test]
fn wrong_arguments_are_named() {
    let run = |args: &[&str]| program(Path::new("/")).args(args).output().unwrap();
    let cases: [&[&str]; 4] = [
        &["hook"],
        &["hook", "after-lunch"],
        &["mcp", "--workspace", "/no/such/folder"],
        &["mcp", "--wait", "1"],
    ];
    insta::assert_snapshot!("diagnostics_arguments", complaints(run, &cases));
}
