//! Tests requests that are kept by number, and the threads that answer them.

use std::task::{Context, Waker};
use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use super::*;
use crate::testing::{self, Rig};

fn open(path: &str) -> serde_json::Value {
    json!({ "filePath": path, "newContent": "" })
}

#[tokio::test]
async fn an_editor_that_is_asked_by_messages_answers_each_by_its_number() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let responders = Responders::default();
    let editor = async {
        let testing::EditorCall::Open(first, _) = rig.asked().await else { panic!() };
        let testing::EditorCall::Open(second, _) = rig.asked().await else { panic!() };
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
        let testing::EditorCall::Open(responder, proposal) = rig.asked().await else { panic!() };
        responder.complete(None);
        format!("{proposal:?}")
    };
    let arguments = json!({ "filePath": "/a", "newContent": "a secret" });
    let (_, logged) = tokio::join!(rig.call(&session, "openDiff", &arguments), editor);
    assert_eq!(logged, r#"Proposal { file_path: "/a", .. }"#);
}

#[tokio::test(start_paused = true)]
async fn only_requests_that_somebody_waits_for_are_kept() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let responders = Responders::default();
    let add = async || match rig.asked().await {
        testing::EditorCall::Open(responder, _) | testing::EditorCall::Accept(responder, _) => {
            responders.add(responder)
        }
        asked => panic!("{asked:?}"),
    };
    rig.open(&session, "/a").await;
    let (a, b, c) = (json!({ "filePath": "/a" }), open("/b"), open("/c"));
    let (result, late) = tokio::join!(rig.call(&session, "acceptDiff", &a), add());
    assert_eq!(result["isError"], true, "the editor did not answer in time");
    let mut calls = std::pin::pin!(async {
        tokio::join!(rig.call(&session, "openDiff", &b), rig.call(&session, "openDiff", &c))
    });
    assert!(timeout(Duration::from_secs(1), &mut calls).await.is_err());
    let (second, third) = (add().await, add().await);
    assert!(responders.take(late).is_none());
    for number in [second, third] {
        responders.take(number).unwrap().fail("no");
    }

    // A client that asks for diagnostics may leave.
    let (gone, waits) = (oneshot::channel(), oneshot::channel());
    let number = responders.add(DiagnosticsResponder::new(gone.0));
    drop(gone.1);
    let waiting = responders.add(DiagnosticsResponder::new(waits.0));
    responders.add(DiagnosticsResponder::new(oneshot::channel().0));
    assert!(responders.take(number).is_none());
    assert!(responders.take(waiting).is_some());
    drop(waits.1);
}

#[tokio::test]
async fn no_other_thread_than_the_servers_asks_the_editor() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let arguments = open("/a");
    let mut call = std::pin::pin!(rig.call(&session, "openDiff", &arguments));
    let testing::EditorCall::Open(responder, _) = (tokio::select! {
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
    assert!(matches!(rig.asked().await, testing::EditorCall::Close(..)));
}

/// An owner that could ask the editor again as soon as a request has failed.
#[derive(Default)]
struct AsksAgain {
    responders: Responders,
    /// For each failure, whether the lock was free, so that the editor could be asked.
    could_ask: Mutex<Vec<bool>>,
}

impl RequestOwner for AsksAgain {
    fn completed(&self, _: CallId, _: Option<String>) {}

    fn failed(&self, _: CallId, _: &str) {
        self.could_ask.lock().push(self.responders.0.try_lock().is_some());
    }

    fn unreadable(&self, _: CallId, _: &str) {}

    fn is_awaited(&self, _: CallId) -> bool {
        false
    }
}

#[test]
fn a_request_that_is_given_up_may_lead_to_another() {
    let asker = Arc::new(AsksAgain::default());
    let weak: Weak<dyn RequestOwner> = Arc::<AsksAgain>::downgrade(&asker);
    for call in 0..2 {
        asker.responders.add(DiffResponder::new(weak.clone(), Some(CallId(call))));
    }
    assert_eq!(*asker.could_ask.lock(), [true]);
}
