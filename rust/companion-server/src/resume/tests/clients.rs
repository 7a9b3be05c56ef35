//! Tests that clients notice nothing of a restart except the delivery of pending decisions.

use std::fs;
use std::time::{Duration, SystemTime};

use companion_protocol::status::ConnectedCli;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{pause, resume, sleep, timeout};

use super::files;
use crate::tests::{Rig, Stream, tool_call};

/// Returns the pending diffs of the file: the path, and the text if it was accepted.
fn left(dir: &TempDir) -> Value {
    let [file] = &*files(dir.path(), ".jsonl") else { panic!() };
    let text = fs::read_to_string(file).unwrap();
    let mut left = Vec::<(Value, Value)>::new();
    for line in text.lines().skip(1).filter(|line| !line.starts_with(' ')) {
        let record: Value = serde_json::from_str(line).unwrap();
        if let Some(opened) = record.get("opened") {
            left.push((opened[0].clone(), json!([opened[2]])));
        } else if let Some(accepted) = record.get("accepted") {
            let (_, diff) = left.iter_mut().find(|(diff, _)| *diff == accepted[0]).unwrap();
            diff.as_array_mut().unwrap().push(accepted[1].clone());
        } else if let Some(settled) = record.get("settled") {
            left.retain(|(diff, _)| diff != settled);
        }
    }
    left.into_iter().map(|(_, diff)| diff).collect()
}

pub(super) async fn becomes(dir: &TempDir, wanted: Value) {
    let saved = async {
        while left(dir) != wanted {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_mins(1), saved).await.expect("it is saved");
}

/// Reads the next message on a stream.
pub(super) async fn next_message(stream: &mut Stream) -> Value {
    let message = timeout(Duration::from_mins(1), stream.message()).await;
    message.expect("a client waits for it").expect("the stream has not ended")
}

/// Simulates a killed process: its memory is lost. `e2e/tests/restart.test.mjs` kills real ones.
pub(super) async fn kill(dir: &TempDir, rig: Rig) {
    let [file] = &*files(dir.path(), ".jsonl") else { panic!() };
    let content = fs::read(file).unwrap();
    // The kernel would release the lock. Here the orderly end does, which also writes.
    rig.release_lock();
    rig.parts.driver.journal().end();
    rig.parts.driver.saved.ended().await;
    fs::write(file, content).unwrap();
}

#[tokio::test]
async fn an_open_diff_is_in_the_file_before_the_client_takes_it_for_open() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    rig.open(&session, "/a \"é\"").await;
    assert_eq!(left(&dir), json!([["/a \"é\""]]));
    rig.accept("/a \"é\"", "line\n“two”");
    becomes(&dir, json!([["/a \"é\"", "line\n“two”"]])).await;

    // The client proposes again. The earlier decision does not answer the new question.
    rig.open(&session, "/a \"é\"").await;
    assert_eq!(left(&dir), json!([["/a \"é\""]]));
}

/// Texts belong to the user, so delivered ones must not stay.
#[tokio::test]
async fn no_text_stays_on_the_disk_that_its_client_has_got() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    rig.open(&session, "/a").await;
    rig.accept("/a", "the user’s text");
    becomes(&dir, json!([["/a", "the user’s text"]])).await;
    while next_message(&mut stream).await["method"] != "ide/diffAccepted" {}
    let ping = stream.any_message().await.unwrap();
    assert_eq!(ping["method"], "ping");
    let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} }).to_string();
    let headers = [("mcp-session-id", &*session)];
    assert_eq!(rig.send("POST", "/mcp", &headers, answer).await.status(), 202);
    becomes(&dir, json!([])).await;
    let content = fs::read_to_string(&files(dir.path(), ".jsonl")[0]).unwrap();
    assert!(!content.contains("text"), "{content}");
    // The ids of events need not name them any more, either.
    let mut last_id = None;
    while last_id.as_deref() != Some("-") {
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        last_id = stream.last_id;
    }
}

#[tokio::test]
async fn no_text_stays_on_the_disk_whose_client_never_comes_back() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    drop(rig.stream(&session).await);
    rig.open(&session, "/a").await;
    rig.accept("/a", "the user’s text");
    becomes(&dir, json!([["/a", "the user’s text"]])).await;
    pause();
    sleep(Duration::from_mins(59)).await;
    assert_eq!(left(&dir), json!([["/a", "the user’s text"]]), "it may come back");
    sleep(Duration::from_mins(2)).await;
    resume();
    becomes(&dir, json!([])).await;
    let content = fs::read_to_string(&files(dir.path(), ".jsonl")[0]).unwrap();
    assert!(!content.contains("text"), "{content}");
}

/// The name is the client's text, so the editor gets it on one line and with a limit.
#[tokio::test]
async fn an_editor_gets_the_names_of_clients_after_a_restart_too() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let name = format!("a\n\u{1b}[31m\u{202e}{}", "x".repeat(1000));
    let params = json!({ "clientInfo": { "name": name, "version": "0.61.0" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let reply = rig.send("POST", "/mcp", &[], body.to_string()).await;
    let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let shown = format!("a [31m\\u{{202e}}{}…", "x".repeat(92));
    let cli = ConnectedCli { name: shown, version: "0.61.0".to_owned(), awaits_hook: false };
    assert_eq!(rig.parts.hooks.connected_clis(), [], "it has no stream");
    let stream = rig.stream(&session).await;
    assert_eq!(rig.parts.hooks.connected_clis(), std::slice::from_ref(&cli));
    drop(stream);
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let _stream = rig.stream(&session).await;
    assert_eq!(rig.parts.hooks.connected_clis(), [cli]);
}

#[tokio::test]
async fn a_session_comes_back_by_any_request_unless_it_was_ended() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let sessions = [rig.initialize().await, rig.initialize().await, rig.initialize().await];
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status = async |method: &str, session: &str| {
        rig.send(method, "/mcp", &[("mcp-session-id", session)], ping).await.status().as_u16()
    };
    assert_eq!(status("POST", &sessions[0]).await, 200);
    assert_eq!(status("GET", &sessions[1]).await, 200);
    assert_eq!(status("DELETE", &sessions[2]).await, 204);
    assert_eq!(status("DELETE", &sessions[0]).await, 204);
    for session in [&sessions[0], &sessions[2], &uuid::Uuid::new_v4().to_string()] {
        assert_eq!(status("POST", session).await, 404);
        assert_eq!(status("GET", session).await, 404);
    }
    assert_eq!(status("POST", &sessions[1]).await, 200);
}

#[tokio::test]
async fn a_client_that_asks_before_it_listens_again_gets_the_decision_with_the_answer() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let call = tool_call("openDiff", &json!({ "filePath": "/a", "newContent": "" }));
    let headers = [("mcp-session-id", &*session)];
    let showing = rig.show();
    let (reply, ()) = tokio::join!(rig.send("POST", "/mcp", &headers, call.to_string()), showing);
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    let mut answer = Stream::new(reply.into_body());
    assert_eq!(next_message(&mut answer).await["id"], 1);
    answer.context().await;
    rig.accept("/a", "edited");
    assert_eq!(next_message(&mut answer).await["params"]["content"], "edited");
    assert_eq!(answer.last_id, None, "or the client would come back for each answer");
    assert_eq!(rig.received().counts, [1]);

    // Further answers need no stream. The client's own stream replaces this one.
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let mut stream = rig.stream(&session).await;
    assert_eq!(answer.message().await, None);
    stream.context().await;
    assert_eq!(stream.message_now(), None, "it has arrived");
    assert_eq!(rig.received().counts, [1]);
}

#[tokio::test]
async fn only_what_this_process_has_to_send_comes_with_an_answer() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    rig.open(&session, "/old").await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let headers = [("mcp-session-id", &*session)];
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let ask = async || rig.send("POST", "/mcp", &headers, ping).await;
    assert_eq!(ask().await.headers()["content-type"], "application/json");
    let call = tool_call("openDiff", &json!({ "filePath": "/a", "newContent": "" }));
    let showing = rig.show();
    let (reply, ()) = tokio::join!(rig.send("POST", "/mcp", &headers, call.to_string()), showing);
    drop(reply);
    rig.accept("/a", "edited");
    let mut answer = Stream::new(ask().await.into_body());
    assert_eq!(next_message(&mut answer).await["id"], 1);
    answer.context().await;
    assert_eq!(next_message(&mut answer).await["params"]["content"], "edited");

    // Once the client has its own stream, only that stream has decisions.
    drop((answer, rig.stream(&session).await));
    rig.open(&session, "/b").await;
    rig.reject("/b");
    assert_eq!(ask().await.headers()["content-type"], "application/json");
}

/// The file's time shows it to the next process.
#[tokio::test]
async fn a_server_that_has_clients_gives_a_sign_of_life_as_often_as_they_come_back() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    let [path] = &*files(dir.path(), ".jsonl") else { panic!() };
    let old = SystemTime::now() - Duration::from_mins(6);
    let file = fs::File::options().append(true).open(path).unwrap();
    // Keep-alives are sent every 20.48 s; the clock stands still while the disk is busy.
    pause();
    for _ in 0..3 {
        file.set_modified(old).unwrap();
        sleep(Duration::from_secs(21)).await;
        assert!(file.metadata().unwrap().modified().unwrap() > old + Duration::from_mins(1));
    }
}
