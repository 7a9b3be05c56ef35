//! What clients notice of it: nothing, but for what they wait for.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::files;
use crate::shutdown::shut_down;
use crate::testing::{Asked, Rig, Stream};

/// Opens a diff that the editor shows.
async fn open(rig: &Rig, session: &str, path: &str) {
    let answer = async {
        let Asked::Open(request, ..) = rig.asked().await else { panic!() };
        rig.core.diffs.completed(request, None);
    };
    let arguments = json!({ "filePath": path, "newContent": "new" });
    let (result, ()) = tokio::join!(rig.call(session, "openDiff", &arguments), answer);
    assert_eq!(result, json!({ "content": [] }));
}

/// What the file says that clients are to be told, without their ids.
fn answers(dir: &TempDir) -> Value {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let mut state: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    for answer in state["answers"].as_array_mut().unwrap() {
        answer.as_object_mut().unwrap().remove("session");
    }
    state["answers"].take()
}

async fn becomes(dir: &TempDir, wanted: Value) {
    let saved = async {
        while answers(dir) != wanted {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_mins(1), saved).await.expect("it is saved");
}

/// The next message on a stream.
async fn told(stream: &mut Stream) -> Value {
    let message = timeout(Duration::from_mins(1), stream.message()).await;
    message.expect("a client waits for it").expect("the stream has not ended")
}

/// Ends a process without a word: what it has in its memory is lost.
async fn kill(dir: &TempDir, rig: Rig) {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let content = fs::read(file).unwrap();
    // The kernel gives the lock back; here the orderly end does, which also writes.
    let journal = rig.core.journal.clone().unwrap();
    journal.end();
    journal.ended().await;
    fs::write(file, content).unwrap();
}

#[tokio::test]
async fn an_open_diff_is_in_the_file_before_the_client_takes_it_for_open() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    open(&rig, &session, "/a \"é\"").await;
    assert_eq!(answers(&dir), json!([{ "path": "/a \"é\"" }]));
    rig.core.diffs.decided("/a \"é\"", Some("line\n“two”".to_owned()));
    becomes(&dir, json!([{ "path": "/a \"é\"", "content": "line\n“two”" }])).await;

    // Asked again, the earlier decision is none for this question.
    open(&rig, &session, "/a \"é\"").await;
    assert_eq!(answers(&dir), json!([{ "path": "/a \"é\"" }]));
}

#[tokio::test]
async fn the_next_process_tells_what_the_last_one_could_not() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    open(&rig, &session, "/accepted").await;
    rig.core.diffs.decided("/accepted", Some("text".to_owned()));
    becomes(&dir, json!([{ "path": "/accepted", "content": "text" }])).await;
    open(&rig, &session, "/open").await;
    kill(&dir, rig).await;

    for _ in 0..2 {
        let rig = Rig::resume(dir.path());
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        let told = [told(&mut stream).await, told(&mut stream).await];
        assert_eq!(told[0]["method"], "ide/diffAccepted");
        assert_eq!(told[0]["params"], json!({ "filePath": "/accepted", "content": "text" }));
        assert_eq!(told[1]["method"], "ide/diffRejected");
        assert_eq!(told[1]["params"], json!({ "filePath": "/open" }));
        // Nobody knows whether they arrived.
        kill(&dir, rig).await;
    }

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    told(&mut stream).await;
    told(&mut stream).await;
    // The client comes back and shows that they did.
    let last = stream.last_id.clone();
    drop(rig.stream_after(&session, last.as_deref()).await);
    shut_down(&rig.core, None).await;
    assert_eq!(answers(&dir), json!([]));
}

#[tokio::test]
async fn a_server_that_is_stopped_leaves_what_it_could_not_tell() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let (away, there) = (rig.initialize().await, rig.initialize().await);
    open(&rig, &away, "/a").await;
    open(&rig, &there, "/b").await;
    let mut stream = rig.stream(&there).await;
    shut_down(&rig.core, None).await;
    stream.context().await;
    assert_eq!(told(&mut stream).await["params"]["filePath"], "/b");
    assert_eq!(stream.message().await, None);

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&away).await;
    stream.context().await;
    assert_eq!(told(&mut stream).await["params"], json!({ "filePath": "/a" }));
}

#[tokio::test]
async fn an_event_id_of_the_last_process_says_nothing_to_this_one() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    for _ in 0..2 {
        open(&rig, &session, "/a").await;
        rig.core.diffs.decided("/a", None);
        while told(&mut stream).await["method"] != "ide/diffRejected" {}
    }
    let last = stream.last_id.take().unwrap();
    open(&rig, &session, "/b").await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream_after(&session, Some(&last)).await;
    stream.context().await;
    while told(&mut stream).await["params"]["filePath"] != "/b" {}
    // By then it has given out an id of the same number.
    let mut stream = rig.stream_after(&session, Some(&last)).await;
    stream.context().await;
    while told(&mut stream).await["params"]["filePath"] != "/b" {}
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
async fn a_client_that_asks_before_it_listens_again_hears_the_decision_with_the_answer() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let params = json!({ "name": "openDiff", "arguments": { "filePath": "/a", "newContent": "" } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let headers = [("mcp-session-id", &*session)];
    let showing = async {
        let Asked::Open(request, ..) = rig.asked().await else { panic!() };
        rig.core.diffs.completed(request, None);
    };
    let (reply, ()) = tokio::join!(rig.send("POST", "/mcp", &headers, call.to_string()), showing);
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    let mut answer = Stream::new(reply.into_body());
    assert_eq!(told(&mut answer).await["id"], 7);
    answer.context().await;
    rig.core.diffs.decided("/a", Some("edited".to_owned()));
    assert_eq!(told(&mut answer).await["params"]["content"], "edited");
    assert_eq!(answer.last_id, None, "or the client would come back for each answer");
    assert_eq!(*rig.counts.lock(), [1]);

    // Another answer needs no stream, and the client's own takes the place of this one.
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let mut stream = rig.stream(&session).await;
    assert_eq!(answer.message().await, None);
    stream.context().await;
    assert_eq!(told(&mut stream).await["params"]["content"], "edited");
    assert_eq!(*rig.counts.lock(), [1]);
}

#[tokio::test]
async fn of_many_clients_that_wait_each_is_told() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let mut clients = Vec::new();
    for number in 0..100 {
        let session = rig.initialize().await;
        clients.push((session.clone(), rig.stream(&session).await));
        open(&rig, &session, &format!("/{number}")).await;
    }
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    rig.initialize().await;
    for (number, (session, _)) in clients.iter().enumerate() {
        let mut stream = rig.stream(session).await;
        stream.context().await;
        let told = told(&mut stream).await;
        assert_eq!(told["params"], json!({ "filePath": format!("/{number}") }));
    }
}
