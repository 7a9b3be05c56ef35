//! Tests requests that are kept by number, and the threads that answer them.

use std::task::{Context, Waker};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::*;
use crate::tests::{EditorCall, Rig};

fn open(path: &str) -> serde_json::Value {
    json!({ "filePath": path, "newContent": "" })
}

#[tokio::test]
async fn an_editor_that_is_asked_by_messages_answers_each_by_its_number() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let responders = Responders::default();
    let editor = async {
        let EditorCall::Open(first, _) = rig.asked().await else { panic!() };
        let EditorCall::Open(second, _) = rig.asked().await else { panic!() };
        let (first, second) = (responders.add(first), responders.add(second));
        responders.take(second).unwrap().fail("the second");
        responders.take(first).unwrap().fail("the first");
        assert!(responders.take(first).is_none() && responders.take(second).is_none());
    };
    let (a, b) = (open("/a"), open("/b"));
    let call = |arguments| rig.call(&session, "openDiff", arguments);
    let (a, b, ()) = tokio::join!(call(&a), call(&b), editor);
    assert_eq!(a["content"][0]["text"], "the first");
    assert_eq!(b["content"][0]["text"], "the second");
}

#[tokio::test]
async fn a_proposal_has_its_path_in_a_log_and_nothing_of_its_text() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let editor = async {
        let EditorCall::Open(responder, proposal) = rig.asked().await else { panic!() };
        responder.complete(None);
        format!("{proposal:?}")
    };
    let arguments = json!({ "filePath": "/a", "newContent": "a secret" });
    let (_, logged) = tokio::join!(rig.call(&session, "openDiff", &arguments), editor);
    assert_eq!(logged, r#"Proposal { file_path: "/a", .. }"#);
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_gives_up_a_request_fails_the_call_at_once() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let editor = async {
        let EditorCall::Open(responder, _) = rig.asked().await else { panic!() };
        drop(responder);
    };
    let begun = Instant::now();
    let arguments = open("/a");
    let (result, ()) = tokio::join!(rig.call(&session, "openDiff", &arguments), editor);
    assert_eq!(result["isError"], true, "{result}");
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn no_other_thread_than_the_servers_asks_the_editor() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let arguments = open("/a");
    let mut call = std::pin::pin!(rig.call(&session, "openDiff", &arguments));
    let EditorCall::Open(responder, _) = (tokio::select! {
        asked = rig.asked() => asked,
        result = &mut call => panic!("{result}"),
    }) else {
        panic!()
    };
    std::thread::spawn(|| responder.unreadable("no text")).join().unwrap();
    // By now another client's openDiff could be on its way to the editor.
    let asked = std::pin::pin!(rig.asked()).poll(&mut Context::from_waker(Waker::noop()));
    assert!(asked.is_pending());
    assert_eq!(call.await["content"][0]["text"], "no text");
    assert!(matches!(rig.asked().await, EditorCall::Close(..)));
}
