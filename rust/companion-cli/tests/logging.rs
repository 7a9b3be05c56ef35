//! Tests the log of `serve` on stderr, as an editor receives it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::common::editor::TEST_TIMEOUT;
use crate::common::{first_line, program};

#[test]
fn a_log_that_nobody_reads_holds_up_nobody_and_counts_what_it_drops() {
    let dir = tempfile::tempdir().unwrap();
    let mut serve = program(dir.path())
        .args(["--log-level", "debug", "serve", "--workspace"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = first_line(&mut serve);
    let port = u16::try_from(ready["params"]["port"].as_u64().unwrap()).unwrap();
    // Each of these writes one log line. A pipe holds a few hundred lines.
    for _ in 0..4000 {
        let mut peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
        peer.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        peer.write_all(b"no request\r\n\r\n").unwrap();
        peer.read_to_end(&mut Vec::new()).expect("the server answers");
    }
    let log = BufReader::new(serve.stderr.take().unwrap()).lines().map(Result::unwrap);
    let dropped = log.into_iter().find(|line| line.contains("lines of the log were dropped"));
    assert!(dropped.is_some());
    drop(serve.stdin.take());
    serve.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn the_name_of_a_folder_forges_no_line_and_moves_no_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("a\n[forged]\x1b[2J\u{202e}");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join(".geminiignore"), "![z-a[:x:]]").unwrap();
    std::fs::write(project.join("x"), "").unwrap();
    let mut serve = program(dir.path())
        .args(["serve", "--workspace"])
        .arg(&project)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = serve.stdin.take().unwrap();
    let params = serde_json::json!({ "path": project.join("x") });
    let focused =
        serde_json::json!({ "jsonrpc": "2.0", "method": "editor/focused", "params": params });
    writeln!(stdin, "{focused}").unwrap();
    let mut lines = BufReader::new(serve.stderr.take().unwrap()).lines().map(Result::unwrap);
    let named = lines.find(|line| line.contains("not a valid rule")).unwrap();
    assert!(named.contains(r"a\n[forged]\u{1b}[2J\u{202e}/.geminiignore, line 1"), "{named}");
    drop(stdin);
    assert!(serve.wait().unwrap().success());
}
