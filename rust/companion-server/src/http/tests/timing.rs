//! Tests timeouts and other delays, mostly in paused time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep, timeout};

use crate::tests::{EditorCall, PORT, Rig, Stream, TOKEN, tool_call};

fn connect(rig: &Rig) -> DuplexStream {
    let (ours, theirs) = duplex(1 << 16);
    tokio::spawn(rig.serve(theirs));
    ours
}

/// Reads until the server closes the connection. Returns the text and the duration.
async fn until_closed(connection: &mut DuplexStream) -> (String, Duration) {
    let begun = Instant::now();
    let mut text = String::new();
    connection.read_to_string(&mut text).await.unwrap();
    (text, begun.elapsed())
}

/// Returns the bytes of a request.
fn post(session: &str, message: &Value) -> String {
    let body = message.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{PORT}\r\nauthorization: Bearer {TOKEN}\r\n\
         mcp-session-id: {session}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Proposes an edit, and accepts it for the user.
async fn propose_and_accept(rig: &Rig, session: &str) {
    rig.open(session, "/a").await;
    rig.accept("/a", "edited");
}

/// As a CLI does that ends.
#[tokio::test(start_paused = true)]
async fn a_request_counts_whose_client_has_left_before_it_was_read() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    let (mut ours, theirs) = duplex(1 << 16);
    let close = tool_call("closeDiff", &json!({ "filePath": "/a" }));
    ours.write_all(post(&session, &close).as_bytes()).await.unwrap();
    drop(ours);
    rig.serve(theirs).await;
    assert_eq!(rig.open_count(), 0);
}

/// As a CLI does that gives up a large edit.
#[tokio::test(start_paused = true)]
async fn an_edit_that_is_closed_while_it_arrives_does_not_stay_open() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let open = tool_call("openDiff", &json!({ "filePath": "/a", "newContent": "new" }));
    let request = post(&session, &open);
    let (begin, rest) = request.split_at(request.len() - 10);
    let mut arriving = connect(&rig);
    arriving.write_all(begin.as_bytes()).await.unwrap();
    sleep(Duration::from_millis(1)).await;

    let arguments = json!({ "filePath": "/a", "suppressNotification": true });
    let closing = rig.call(&session, "closeDiff", &arguments);
    let shown = async {
        sleep(Duration::from_secs(1)).await;
        arriving.write_all(rest.as_bytes()).await.unwrap();
        rig.show().await;
        let EditorCall::Close(responder, _) = rig.asked().await else { panic!("it stays open") };
        responder.complete(Some("new".to_owned()));
    };
    let (closed, ()) = timeout(Duration::from_mins(1), async { tokio::join!(closing, shown) })
        .await
        .expect("the close finds the edit");
    assert_eq!(closed["content"][0]["text"], r#"{"content":"new"}"#);
    assert_eq!(rig.open_count(), 0);
}

/// As a program that sends its whole input and then reads does.
#[tokio::test(start_paused = true)]
async fn a_peer_that_closes_its_side_after_a_request_gets_the_answer() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let open = tool_call("openDiff", &json!({ "filePath": "/a", "newContent": "new" }));
    let mut connection = connect(&rig);
    connection.write_all(post(&session, &open).as_bytes()).await.unwrap();
    connection.shutdown().await.unwrap();
    let EditorCall::Open(responder, _) = rig.asked().await else { panic!("it shows a diff") };
    // Time passes only while no task is busy.
    sleep(Duration::from_secs(1)).await;
    responder.complete(None);
    let (reply, _) = until_closed(&mut connection).await;
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n") && reply.ends_with('}'), "{reply}");
}

/// Its revision of the protocol has no sessions.
#[tokio::test(start_paused = true)]
async fn a_peer_without_a_session_that_closes_its_side_gets_the_answer() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "filePath": "/a" });
    let params = json!({ "_meta": meta, "name": "rejectDiff", "arguments": arguments });
    let reject = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
                   mcp-name: rejectDiff\r\ncontent-length";
    let request = post(&session, &reject).replace("content-length", headers);
    let mut connection = connect(&rig);
    connection.write_all(request.as_bytes()).await.unwrap();
    connection.shutdown().await.unwrap();
    let EditorCall::Reject(..) = rig.asked().await else { panic!("it rejects the diff") };
    sleep(Duration::from_secs(1)).await;
    rig.reject("/a");
    let (reply, _) = until_closed(&mut connection).await;
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n") && reply.ends_with('}'), "{reply}");
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_peer_leaves_within_it_ends_at_once() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let begun = Instant::now();
    let whole = post(&session, &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    let of_body = &whole[..whole.len() - 9];
    for part in ["POST /mcp HT", of_body, &of_body.replace("/mcp", "/hook")] {
        let mut connection = connect(&rig);
        connection.write_all(part.as_bytes()).await.unwrap();
        connection.shutdown().await.unwrap();
        until_closed(&mut connection).await;
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_gets_a_comment_every_20_s() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let mut comments = Vec::new();
    for _ in 0..3 {
        assert_eq!(stream.block().await.unwrap(), ":");
        comments.push(stream.arrived);
    }
    let gaps: Vec<_> = comments.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
    assert_eq!(gaps, [20, 20], "the client gives up after 300 s without a byte");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watcher_gets_a_comment_every_20_s() {
    let rig = Rig::start();
    let mut watcher = Stream::new(rig.send("GET", "/events", &[], "").await.into_body());
    watcher.any_message().await.unwrap();
    let begun = Instant::now();
    for seconds in [20, 40] {
        assert_eq!(watcher.block().await.unwrap(), ":");
        assert_eq!((watcher.arrived - begun).as_secs(), seconds);
    }
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_does_not_answer_fails_the_call() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let begun = Instant::now();
    let arguments = json!({ "filePath": "/a", "newContent": "" });
    let result = rig.call(&session, "openDiff", &arguments).await;
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
    let text = json!([{ "type": "text", "text": "The editor did not answer in time." }]);
    assert_eq!(result, json!({ "content": text, "isError": true }));
    assert!(matches!(rig.asked().await, EditorCall::Open(..)));
    let closed = rig.asked().await;
    assert!(matches!(closed, EditorCall::Close(_, path) if path == "/a"), "it may still open");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_does_not_stop_the_deadline() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let arguments = json!({ "filePath": "/a", "newContent": "" });
    let call = rig.call(&session, "openDiff", &arguments);
    assert!(timeout(Duration::from_secs(1), call).await.is_err());
    sleep(Duration::from_secs(30)).await;
    assert!(matches!(rig.asked().await, EditorCall::Open(..)));
    assert!(matches!(rig.asked().await, EditorCall::Close(..)));
}

#[tokio::test(start_paused = true)]
async fn a_peer_without_a_request_is_let_go() {
    let rig = Rig::start();
    for sent in ["", "POST /mcp HTTP/1.1\r\nhost: "] {
        let mut connection = connect(&rig);
        connection.write_all(sent.as_bytes()).await.unwrap();
        let (_, after) = until_closed(&mut connection).await;
        assert_eq!(after.as_secs(), 30, "{sent:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_answered_with_408() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut connection = connect(&rig);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{PORT}\r\nauthorization: Bearer {TOKEN}\r\n\
         mcp-session-id: {session}\r\ncontent-length: 100\r\n\r\n{{"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let (reply, after) = until_closed(&mut connection).await;
    assert!(reply.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{reply}");
    assert_eq!(after.as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn stopping_does_not_wait_for_a_client_that_does_not_read() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let (mut ours, theirs) = duplex(64);
    rig.parts.lifecycle.tasks.spawn(rig.serve(theirs));
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:{PORT}\r\nauthorization: Bearer {TOKEN}\r\n\
         mcp-session-id: {session}\r\n\r\n"
    );
    ours.write_all(head.as_bytes()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    rig.shut_down().await;
    assert_eq!(begun.elapsed().as_secs(), 1);
}

/// Runs in real time: a paused clock stands still while any task runs.
#[tokio::test]
async fn a_refused_peer_that_never_stops_sending_is_let_go() {
    let rig = Rig::start();
    // So large that the server never finds the buffer empty.
    let (mut ours, theirs) = duplex(8 << 20);
    let head = "POST /mcp HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    ours.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    let flood = async { while ours.write_all(chunk.as_bytes()).await.is_ok() {} };
    let served = async {
        tokio::join!(tokio::spawn(rig.serve(theirs)), flood).0.unwrap();
    };
    timeout(Duration::from_secs(20), served).await.expect("it has to end");
}

/// The path counts in the editor's queue like the text.
#[tokio::test(start_paused = true)]
async fn proposals_without_text_have_no_place_without_end() {
    let rig = Rig::limits(|limits| limits.body = 10_000);
    let session = rig.initialize().await;
    let mut refused = 0;
    for number in 0..100 {
        let arguments = json!({ "filePath": format!("/{number:01000}"), "newContent": "" });
        let call = rig.call(&session, "openDiff", &arguments);
        let result = timeout(Duration::from_secs(1), call).await;
        refused += usize::from(result.is_ok_and(|result| result["isError"] == true));
    }
    assert!(refused > 80, "{refused}");
}

/// The decision did not arrive, because the stream broke, and the user answers in the terminal.
#[tokio::test(start_paused = true)]
async fn a_server_that_stops_still_gives_the_text_to_whoever_closes_its_diff() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    propose_and_accept(&rig, &session).await;
    stream.message().await.unwrap();
    drop(stream);

    let (mut ours, theirs) = duplex(1 << 16);
    rig.parts.lifecycle.tasks.spawn(rig.serve(theirs));
    let arguments = json!({ "filePath": "/a", "suppressNotification": true });
    let call = tool_call("closeDiff", &arguments);
    ours.write_all(post(&session, &call).as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    rig.shut_down().await;
    let (reply, _) = until_closed(&mut ours).await;
    assert!(reply.contains("edited"), "{reply:?}");
}

/// Stops the server while its editor closes a view for a client. That takes `time`. Returns the
/// client's answer.
async fn text_of_a_view_that_closes_in(time: Duration) -> Value {
    let rig = Rig::start();
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    let arguments = json!({ "filePath": "/a", "suppressNotification": true });
    let closing = rig.call(&session, "closeDiff", &arguments);
    let closed = async {
        let EditorCall::Close(responder, _) = rig.asked().await else { panic!() };
        sleep(time).await;
        responder.complete(Some("edited".to_owned()));
    };
    let stopping = async {
        sleep(Duration::from_millis(1)).await;
        rig.shut_down().await;
    };
    tokio::join!(closing, closed, stopping).0["content"][0]["text"].take()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_waits_a_moment_for_the_text_of_a_view_that_closes() {
    let text = text_of_a_view_that_closes_in(Duration::from_millis(900)).await;
    assert_eq!(text, r#"{"content":"edited"}"#);
    let text = text_of_a_view_that_closes_in(Duration::from_secs(10)).await;
    assert_eq!(text, "The editor is closing.", "the client goes on");
}

/// Runs `test` in paused time, and records the times when its thread was woken.
fn with_wake_ups(test: impl AsyncFnOnce(Arc<Mutex<BTreeSet<Instant>>>)) {
    let wake_ups = Arc::new(Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&wake_ups);
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true);
    let runtime = runtime.on_thread_unpark(move || {
        noted.lock().insert(Instant::now());
    });
    runtime.build().unwrap().block_on(test(wake_ups));
}

#[test]
fn a_server_without_clients_lets_the_processor_sleep() {
    with_wake_ups(async |wake_ups| {
        let rig = Rig::start();
        let session = rig.initialize().await;
        rig.send("DELETE", "/mcp", &[("mcp-session-id", &*session)], "").await;
        // By the next check, no session is left.
        sleep(Duration::from_mins(1)).await;
        wake_ups.lock().clear();
        sleep(Duration::from_mins(10)).await;
        let wake_ups = wake_ups.lock().len();
        assert!(wake_ups < 10, "{wake_ups}: those of this sleep are a few");
    });
}
