//! Tests the command line of `gemini-companion bridge`; `e2e` tests its function.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::process::{Command, Output, Stdio};

use common::{assert_shows, complaints, text};

fn run(args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gemini-companion"));
    program.env_remove("GEMINI_CLI_IDE_AUTH_TOKEN").arg("bridge").args(args);
    program.stdin(Stdio::null()).output().unwrap()
}

#[test]
fn help_says_how_the_cli_starts_it() {
    let help = text(&run(&["--help"]).stdout).to_owned();
    assert_shows(&help, "## WSL");
    insta::assert_snapshot!("bridge_help", help);
}

#[test]
fn wrong_arguments_are_named() {
    let cases: [&[&str]; 6] = [
        &["--map", "/work"],
        &["--map", "/work=relative"],
        &["--map", "/a=/b=/c"],
        &["--workspace", "/no/such/folder"],
        &["--port", "80"],
        &["--token-file", "token"],
    ];
    insta::assert_snapshot!("bridge_arguments", complaints(run, &cases));
}
