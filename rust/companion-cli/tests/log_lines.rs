//! Tests the log of `serve`, in a folder with a hostile name.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

mod common;

use std::fs::{create_dir, write};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use common::program;
use serde_json::json;

#[test]
fn the_name_of_a_folder_forges_no_line_and_moves_no_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("a\n[forged]\x1b[2J\u{202e}");
    create_dir(&project).unwrap();
    write(project.join(".geminiignore"), "[z-a[:x:]]").unwrap();
    write(project.join("x"), "").unwrap();
    let mut serve = program(dir.path())
        .args(["serve", "--workspace"])
        .arg(&project)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = serve.stdin.take().unwrap();
    let params = json!({ "path": project.join("x") });
    let focused = json!({ "jsonrpc": "2.0", "method": "editor/focused", "params": params });
    writeln!(stdin, "{focused}").unwrap();
    let mut lines = BufReader::new(serve.stderr.take().unwrap()).lines().map(Result::unwrap);
    let named = lines.find(|line| line.contains("not a valid rule")).unwrap();
    assert!(named.contains(r"a\n[forged]\u{1b}[2J\u{202e}/.geminiignore, line 1"), "{named}");
    drop(stdin);
    assert!(serve.wait().unwrap().success());
}
