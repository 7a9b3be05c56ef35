//! Tests that an editor that does not read its messages can't exhaust the server's memory.

#![cfg(target_os = "linux")]

use std::io::{BufReader, Read};
use std::net::TcpStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::common::editor::{Editor, new_dir, next_line};
use serde_json::json;

const MB: usize = 1 << 20;
const PROPOSALS: usize = 40;
/// The number of proposals of 1 MB, with their paths, that fit into twice the largest body of 8 MB.
const FIT: usize = 15;

/// Passes the answer on, once it has come.
fn pass_on(mut reply: BufReader<TcpStream>, answered: &Sender<String>) {
    let answered = answered.clone();
    thread::spawn(move || {
        let mut text = String::new();
        reply.read_to_string(&mut text).unwrap();
        // A test that has failed receives nothing.
        let _ = answered.send(text);
    });
}

/// Opens diffs of 1 MB for the files that `path` names by their numbers. Returns a channel with the
/// answers.
fn propose_all(editor: &Editor, session: &str, path: fn(usize) -> String) -> Receiver<String> {
    let text = "x".repeat(MB);
    let (answered, answers) = mpsc::channel();
    for n in 0..PROPOSALS {
        let arguments = json!({ "filePath": path(n), "newContent": text });
        pass_on(editor.call(session, "openDiff", &arguments), &answered);
    }
    answers
}

#[test]
fn large_proposals_to_an_editor_that_does_not_read_are_refused_and_fill_no_memory() {
    let mut editor = Editor::start_with(new_dir(), &["--body-limit", "8"]);
    let session = editor.connect();
    let answers = propose_all(&editor, &session, |n| format!("/{n}"));
    let mut refused = 0;
    let mut others = 0;
    while refused < PROPOSALS - FIT {
        let answer = answers.recv().unwrap();
        let is_refused = answer.contains("it has not taken the proposals before this one");
        *(if is_refused { &mut refused } else { &mut others }) += 1;
    }
    let memory = editor.peak_memory();
    assert!(memory < 60 * MB, "{} MB", memory / MB);

    // Once the editor reads, all requests are answered, and there is room again.
    for _ in 0..FIT {
        editor.show();
    }
    for _ in others..FIT {
        assert!(!answers.recv().unwrap().contains("has not taken"));
    }
    editor.propose(&session, "/b");
    editor.kill();
}

#[test]
fn of_the_proposals_for_a_file_only_the_newest_waits_for_an_editor_that_does_not_read() {
    let editor = Editor::start_with(new_dir(), &["--body-limit", "8"]);
    let session = editor.connect();
    let answers = propose_all(&editor, &session, |_| "/a".to_owned());
    for _ in 1..PROPOSALS {
        let answer = answers.recv().unwrap();
        assert!(answer.contains(r#""content":[]"#), "{answer}");
    }
    let memory = editor.peak_memory();
    assert!(memory < 60 * MB, "{} MB", memory / MB);
    editor.kill();
}

#[test]
fn decisions_that_an_editor_does_not_read_are_refused_and_fill_no_memory() {
    const DIFFS: usize = 8;
    /// The most calls that may wait for one decision.
    const EACH: usize = 16;
    /// The number of requests of 32 KB that fit into 1 MB and into the pipe.
    const FIT: usize = 40;
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    let paths: Vec<_> = (0..DIFFS).map(|n| format!("/{n}{}", "/long".repeat(6_000))).collect();
    for path in &paths {
        editor.propose(&session, path);
    }
    let (answered, answers) = mpsc::channel();
    for path in paths.iter().flat_map(|path| [path; EACH]) {
        let arguments = json!({ "filePath": path });
        pass_on(editor.call(&session, "rejectDiff", &arguments), &answered);
    }
    for _ in 0..DIFFS * EACH - FIT {
        let answer = answers.recv().unwrap();
        assert!(answer.contains("it has not read earlier requests"), "{answer}");
        assert!(answer.contains("\"isError\":true"), "{answer}");
    }

    // Once the editor reads, it receives requests again.
    editor.propose(&session, "/b");
    let arguments = json!({ "filePath": "/b" });
    pass_on(editor.call(&session, "rejectDiff", &arguments), &answered);
    drop(answered);
    while next_line(&mut editor.stdout)["params"]["filePath"] != "/b" {}
    editor.say(
        &json!({ "jsonrpc": "2.0", "method": "diff/rejected", "params": { "filePath": "/b" } }),
    );
    assert!(answers.iter().any(|answer| answer.contains("The diff was rejected.")));
    editor.kill();
}
