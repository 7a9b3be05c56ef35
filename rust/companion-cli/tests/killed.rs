//! Tests the user's decisions after a killed `serve --resume`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::File;
use std::io::{BufRead, Read};
use std::time::{Duration, SystemTime};

use common::editor::{Editor, new_dir, of};
use serde_json::{Value, json};

/// Checks that the client's first decision is a rejection of `path`, so no other was reported.
fn assert_next_is_rejected(editor: &Editor, session: &str, last: Option<&str>, path: &str) {
    let told = editor.listen(session, last).decision();
    assert_eq!(told, ("ide/diffRejected".to_owned(), json!({ "filePath": path })));
}

fn accepted(content: &str) -> (String, Value) {
    ("ide/diffAccepted".to_owned(), json!({ "filePath": "/a", "content": content }))
}

#[test]
fn a_text_that_the_client_could_not_be_told_is_told_until_it_has_arrived_and_then_no_more() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    editor.propose(&session, "/a");
    editor.accept("/a", "the user’s text");
    editor.until_state("it is saved", |state| state.contains("the user’s text"));

    // Once without an answer to the ping that follows the decision, and once with it.
    let mut editor = editor.restart();
    assert_eq!(editor.listen(&session, None).decision(), accepted("the user’s text"));
    editor = editor.restart();
    let mut stream = editor.listen(&session, None);
    assert_eq!(stream.decision(), accepted("the user’s text"));
    let ping = stream.next();
    assert_eq!(ping["method"], "ping");
    let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} });
    editor.send("POST", &of(&session), &answer.to_string()).read_to_end(&mut Vec::new()).unwrap();
    editor.until_state("it is gone", |state| !state.contains("the user’s text"));

    editor.propose(&session, "/open");
    editor = editor.restart();
    assert_next_is_rejected(&editor, &session, None, "/open");
    editor.kill();
}

#[test]
fn what_a_client_says_to_have_got_from_the_killed_one_is_not_told_again() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    let mut stream = editor.listen(&session, None);
    editor.propose(&session, "/a");
    editor.accept("/a", "the user’s text");
    assert_eq!(stream.decision(), accepted("the user’s text"));
    // The client proposes for the same file again, where an old decision could be taken for the new
    // one.
    editor.propose(&session, "/a");
    let editor = editor.restart();
    assert_next_is_rejected(&editor, &session, Some(&stream.last), "/a");
    editor.kill();
}

#[test]
fn one_that_was_killed_long_ago_is_another_one() {
    let editor = Editor::start(new_dir());
    let session = editor.connect();
    let (token, state) = (editor.token.clone(), editor.state());
    let dir = editor.kill();
    let file = File::options().append(true).open(state).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(41)).unwrap();
    let editor = Editor::start(dir);
    assert_ne!(editor.token, token);
    let mut reply = String::new();
    editor.send("GET", &of(&session), "").read_line(&mut reply).unwrap();
    assert!(reply.contains("404"), "{reply}");
    editor.kill();
}
