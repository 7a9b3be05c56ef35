//! Tests requests that are repeated because their connection broke before the answer arrived.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::tests::{EditorCall, Rig, tool_call};

const PATH: &str = "/a.txt";

fn empty() -> Value {
    json!({ "content": [] })
}

fn closed(text: &str) -> Value {
    let text = json!({ "content": text }).to_string();
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Returns a call about `path`, by the request `id`.
fn request(tool: &str, id: impl Into<Value>, path: &str) -> Value {
    let arguments =
        json!({ "filePath": path, "newContent": "proposed", "suppressNotification": true });
    let mut call = tool_call(tool, &arguments);
    call["id"] = id.into();
    call
}

/// Posts a body, which may be a repetition, and returns the answer.
async fn post(rig: &Rig, session: &str, body: &Value, is_repeated: bool) -> Value {
    let mut headers = vec![("mcp-session-id", session)];
    headers.extend(is_repeated.then_some(("companion-repeated", "true")));
    let reply = rig.send("POST", "/mcp", &headers, body.to_string()).await;
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// Calls a tool about [`PATH`], by the request `id`, and returns the result.
async fn call(
    rig: &Rig,
    session: &str,
    tool: &str,
    id: impl Into<Value>,
    is_repeated: bool,
) -> Value {
    post(rig, session, &request(tool, id, PATH), is_repeated).await["result"].take()
}

/// Makes the editor answer its next request. A closed diff has this text.
async fn answer(rig: &Rig, text: &str) {
    match rig.asked().await {
        EditorCall::Open(responder, _) => responder.complete(None),
        EditorCall::Close(responder, _) => responder.complete(Some(text.to_owned())),
        asked => panic!("{asked:?}"),
    }
}

/// Calls a tool, and makes the editor answer. A closed diff has this text.
async fn answered(rig: &Rig, session: &str, tool: &str, id: impl Into<Value>, text: &str) -> Value {
    tokio::join!(call(rig, session, tool, id, false), answer(rig, text)).0
}

#[tokio::test(start_paused = true)]
async fn what_was_closed_has_its_text_until_that_has_arrived() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for (id, text) in [(1, "first"), (3, "second")] {
        assert_eq!(answered(&rig, &session, "openDiff", id, "").await, empty());
        assert_eq!(answered(&rig, &session, "closeDiff", id + 1, text).await, closed(text));
        assert_eq!(call(&rig, &session, "closeDiff", id + 1, true).await, closed(text));
    }
    let another = rig.initialize_bridge().await;
    assert_ne!(call(&rig, &another, "closeDiff", 4, true).await, closed("second"));
    assert_ne!(call(&rig, &session, "closeDiff", 4, false).await, closed("second"), "a new one");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_waits_for_the_editor_as_the_first_did() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for (tool, result) in [("openDiff", empty()), ("closeDiff", closed("edited"))] {
        let broken = timeout(Duration::ZERO, call(&rig, &session, tool, 7, false)).await;
        assert!(broken.is_err(), "the editor has not answered");
        let again = call(&rig, &session, tool, 7, true);
        assert_eq!(tokio::join!(again, answer(&rig, "edited")).0, result);
    }
    assert!(rig.asked.lock().await.try_recv().is_err(), "it was asked once");
}

#[tokio::test(start_paused = true)]
async fn a_diff_that_is_opened_again_stays_as_the_user_has_it() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    answered(&rig, &session, "openDiff", 1, "").await;
    assert_eq!(call(&rig, &session, "openDiff", 1, true).await, empty());
    rig.accept(PATH, "edited");
    assert_eq!(call(&rig, &session, "openDiff", 1, true).await, empty());
    assert!(rig.asked.lock().await.try_recv().is_err(), "no view was replaced");
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let message = stream.message().await.unwrap();
    assert_eq!(message["params"], json!({ "filePath": PATH, "content": "edited" }));
}

#[tokio::test(start_paused = true)]
async fn what_arrives_after_its_repetition_is_not_done_again() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for (tool, id, result) in [("openDiff", 1, empty()), ("closeDiff", 2, closed("edited"))] {
        let again = call(&rig, &session, tool, id, true);
        assert_eq!(tokio::join!(again, answer(&rig, "edited")).0, result);
        assert_eq!(call(&rig, &session, tool, id, false).await, result);
    }
    answered(&rig, &session, "openDiff", 3, "").await;
    assert_eq!(call(&rig, &session, "closeDiff", 2, false).await, closed("edited"));
    assert!(rig.asked.lock().await.try_recv().is_err(), "the next one still shows");
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_not_the_length_of_an_id() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for (length, is_kept) in [(128, true), (129, false), (1_000_000, false)] {
        // The length includes the quotes.
        let id = "1".repeat(length - 2);
        assert_eq!(answered(&rig, &session, "openDiff", 1, "").await, empty());
        assert_eq!(answered(&rig, &session, "closeDiff", &*id, "text").await, closed("text"));
        let again = call(&rig, &session, "closeDiff", &*id, true).await;
        assert_eq!(again == closed("text"), is_kept);
    }
}

/// Besides its text, a call counts with its path and 256 bytes.
#[tokio::test(start_paused = true)]
async fn two_bodies_are_kept_to_the_last_byte() {
    let fits = 4_000 - 2 * (PATH.len() + 256);
    for (length, is_kept) in [(fits, true), (fits + 1, false)] {
        let rig = Rig::with(|config| config.limits.core.kept_bytes = 4_000);
        let session = rig.initialize_bridge().await;
        answered(&rig, &session, "openDiff", 1, "").await;
        answered(&rig, &session, "closeDiff", 2, &"x".repeat(length)).await;
        let again = timeout(Duration::ZERO, call(&rig, &session, "openDiff", 1, true)).await;
        assert_eq!(again.is_ok(), is_kept, "else the editor is asked");
    }
}

#[tokio::test(start_paused = true)]
async fn no_text_is_kept_for_longer_than_a_client_may_be_away() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    let _stream = rig.stream(&session).await;
    for (minutes, is_kept) in [(4, true), (6, false)] {
        assert_eq!(answered(&rig, &session, "openDiff", 1, "").await, empty());
        assert_eq!(answered(&rig, &session, "closeDiff", minutes, "text").await, closed("text"));
        sleep(Duration::from_mins(minutes)).await;
        let again = call(&rig, &session, "closeDiff", minutes, true).await;
        assert_eq!(again == closed("text"), is_kept, "{minutes} minutes");
    }
}

#[tokio::test(start_paused = true)]
async fn what_others_call_takes_no_answer_from_a_client() {
    let rig = Rig::start();
    let (session, another) = (rig.initialize_bridge().await, rig.initialize_bridge().await);
    answered(&rig, &session, "openDiff", 1, "").await;
    answered(&rig, &session, "closeDiff", 2, "text").await;
    answered(&rig, &another, "openDiff", 1, "").await;
    for id in 2..200 {
        answered(&rig, &another, "closeDiff", id, "another's").await;
        answered(&rig, &another, "openDiff", id, "").await;
    }
    assert_eq!(call(&rig, &session, "closeDiff", 2, true).await, closed("text"));
    assert_eq!(call(&rig, &session, "openDiff", 1, true).await, empty());
    assert!(rig.asked.lock().await.try_recv().is_err(), "no view was replaced");
}

#[tokio::test(start_paused = true)]
async fn calls_about_no_diff_push_out_none_that_was() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    answered(&rig, &session, "openDiff", 1, "").await;
    answered(&rig, &session, "closeDiff", 2, "text").await;
    let calls = (3..103).map(|id| request("rejectDiff", id, "/none"));
    post(&rig, &session, &calls.collect(), false).await;
    for id in 103..203 {
        post(&rig, &session, &request("closeDiff", id, "/none"), false).await;
    }
    assert_eq!(call(&rig, &session, "closeDiff", 2, true).await, closed("text"));
    assert_eq!(call(&rig, &session, "openDiff", 1, true).await, empty());
}

#[tokio::test(start_paused = true)]
async fn the_client_with_the_longest_texts_loses_one_first() {
    let rig = Rig::with(|config| config.limits.core.kept_bytes = 20_000);
    let (session, another) = (rig.initialize_bridge().await, rig.initialize_bridge().await);
    let text = "x".repeat(7_000);
    answered(&rig, &session, "openDiff", 1, "").await;
    answered(&rig, &session, "closeDiff", 2, &text).await;
    for id in [1, 3, 5] {
        answered(&rig, &another, "openDiff", id, "").await;
        answered(&rig, &another, "closeDiff", id + 1, &text).await;
    }
    assert_eq!(call(&rig, &session, "closeDiff", 2, true).await, closed(&text));
    for (id, is_kept) in [(2, false), (4, false), (6, true)] {
        let again = call(&rig, &another, "closeDiff", id, true).await;
        assert_eq!(again == closed(&text), is_kept, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_newest_text_is_kept_however_long_it_is() {
    let rig = Rig::with(|config| config.limits.core.kept_bytes = 4_000);
    let (session, another) = (rig.initialize_bridge().await, rig.initialize_bridge().await);
    let text = "x".repeat(5_000);
    post(&rig, &another, &request("closeDiff", 1, "/none"), false).await;
    answered(&rig, &session, "openDiff", 1, "").await;
    answered(&rig, &session, "closeDiff", 2, &text).await;
    assert_eq!(call(&rig, &session, "closeDiff", 2, true).await, closed(&text));
}

#[tokio::test(start_paused = true)]
async fn the_newest_64_calls_are_kept() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for id in (1..=65).step_by(2) {
        answered(&rig, &session, "openDiff", id, "").await;
        answered(&rig, &session, "closeDiff", id + 1, "text").await;
    }
    for (id, is_kept) in [(2, false), (4, true), (66, true)] {
        let again = call(&rig, &session, "closeDiff", id, true).await;
        assert_eq!(again == closed("text"), is_kept, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_message_by_itself_is_one_that_is_sent_again() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    for (id, is_repeated) in [(2, false), (3, true)] {
        answered(&rig, &session, "openDiff", 1, "").await;
        let closing = call(&rig, &session, "closeDiff", id, is_repeated);
        assert_eq!(tokio::join!(closing, answer(&rig, "text")).0, closed("text"));
        let batch: Value = std::iter::repeat_n(request("closeDiff", id, PATH), 100).collect();
        let answers = post(&rig, &session, &batch, !is_repeated).await.to_string();
        assert!(!answers.contains("content\\"), "a text is there once");
        assert_eq!(call(&rig, &session, "closeDiff", id, true).await, closed("text"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_of_another_tool_is_no_repetition() {
    let rig = Rig::start();
    let session = rig.initialize_bridge().await;
    answered(&rig, &session, "openDiff", 1, "").await;
    let again = call(&rig, &session, "closeDiff", 1, true);
    assert_eq!(tokio::join!(again, answer(&rig, "text")).0, closed("text"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_ends_takes_no_text_from_another() {
    let rig = Rig::with(|config| config.limits.core.kept_bytes = 20_000);
    let (ends, stays) = (rig.initialize_bridge().await, rig.initialize_bridge().await);
    let text = "x".repeat(7_000);
    for session in [&ends, &stays] {
        answered(&rig, session, "openDiff", 1, "").await;
        answered(&rig, session, "closeDiff", 2, &text).await;
    }
    rig.send("DELETE", "/mcp", &[("mcp-session-id", &*ends)], "").await;
    assert_eq!(call(&rig, &stays, "closeDiff", 2, true).await, closed(&text));
    // The text of the other client would leave no room for this one.
    answered(&rig, &stays, "openDiff", 3, "").await;
    answered(&rig, &stays, "closeDiff", 4, &text).await;
    assert_eq!(call(&rig, &stays, "closeDiff", 2, true).await, closed(&text));
}

/// No client would need the texts of these proposals and answers.
#[tokio::test(start_paused = true)]
async fn for_a_client_that_repeats_nothing_no_answer_is_kept() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    answered(&rig, &session, "openDiff", 1, "").await;
    assert_eq!(answered(&rig, &session, "closeDiff", 2, "edited").await, closed("edited"));
    assert_ne!(call(&rig, &session, "closeDiff", 2, true).await, closed("edited"));
}
