//! Tests an editor whose texts are not Unicode: its client must not take them for other texts.

use std::io::{Read, Write};

use crate::common::editor::{Editor, new_dir, next_line};
use serde_json::{Value, json};

const WHY: &str = "content must be a string of valid Unicode";

/// Returns the companion's next message that meets the condition.
fn next_message(editor: &mut Editor, is_meant: impl Fn(&Value) -> bool) -> Value {
    loop {
        let message = next_line(&mut editor.stdout);
        if is_meant(&message) {
            return message;
        }
    }
}

fn say(editor: &mut Editor, line: &str) {
    editor.stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
}

#[test]
fn a_text_that_is_none_is_an_error_for_who_asked_and_for_who_sent_it() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    editor.propose(&session, "/a");
    say(
        &mut editor,
        r#"{"jsonrpc":"2.0","method":"diff/accepted","params":{"filePath":"/a","content":"\ud800"}}"#,
    );
    let error = next_message(&mut editor, |message| message["error"].is_object());
    assert_eq!((&error["id"], &error["error"]["code"]), (&Value::Null, &json!(-32602)));
    assert!(error["error"]["message"].as_str().unwrap().contains(WHY), "{error}");

    let arguments = json!({ "filePath": "/a", "suppressNotification": true });
    let mut reply = editor.call(&session, "closeDiff", &arguments);
    let close = next_message(&mut editor, |message| message["method"] == "diff/close");
    let id = &close["id"];
    say(&mut editor, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"\ud800"}}}}"#));
    let mut answer = String::new();
    reply.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#""isError":true"#) && answer.contains(WHY), "{answer}");
    editor.kill();
}
