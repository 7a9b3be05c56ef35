//! Tests which edit a rejection with a reason denies.

use companion_core::companion::Input;
use companion_core::diffs::Accepted;
use companion_protocol::editor::ReasonArrival::Now;
use serde_json::{Value, json};

use super::{Scene, TEXT, denied, no_change};
use crate::tests::{EditorCall, Rig, unsupported};

impl Scene {
    /// The user rejects the edit with a reason, or accepts it. Its client gets an acceptance.
    async fn decide(&mut self, is_rejected: bool) {
        if is_rejected {
            self.reject().await;
        } else {
            let accepted = Accepted { content: "new".to_owned().into() };
            self.rig.parts.driver.handle(Input::Accepted(&self.path(), accepted));
        }
        assert_eq!(self.message().await["method"], "ide/diffAccepted");
    }
}

/// Each has a queue of tools of its own, and no hook names it.
#[tokio::test]
async fn each_of_two_subagents_that_edit_the_same_file_gets_its_own_reason() {
    for [first, second] in [[true, true], [true, false], [false, true]] {
        let mut scene = Scene::start().await;
        scene.propose().await;
        scene.hook("BeforeTool", json!({})).await;
        scene.decide(first).await;
        assert_eq!(scene.open().await, Now);
        let of_first = scene.after_tool(no_change()).await;
        scene.decide(second).await;
        let of_second = scene.after_tool(no_change()).await;
        for (is_rejected, answer) in [(first, of_first), (second, of_second)] {
            assert!(if is_rejected { denied(&answer) } else { answer.is_null() }, "{answer}");
        }
    }
}

#[tokio::test]
async fn a_rejection_while_another_edit_of_the_file_waits_for_its_problems_is_not_for_that() {
    let mut scene = Scene::with(Rig::start(), tempfile::tempdir().unwrap()).await;
    scene.propose().await;
    scene.hook("BeforeTool", json!({})).await;
    scene.decide(false).await;
    let display = json!({ "originalContent": "one", "newContent": TEXT });
    let made = json!({ "tool_response": { "returnDisplay": display } });
    let of_first = scene.send("AfterTool", made).await;
    let reject_second = async {
        let EditorCall::Diagnostics(responder, _) = scene.rig.asked().await else { panic!() };
        scene.open().await;
        scene.decide(true).await;
        unsupported(responder);
    };
    let (of_first, ()) = tokio::join!(of_first, reject_second);
    assert_eq!(of_first, Value::Null);
    assert!(denied(&scene.after_tool(no_change()).await));
}

#[tokio::test]
async fn an_edit_that_is_accepted_takes_no_reason_from_a_rejected_one() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.decide(true).await;
    scene.open().await;
    scene.decide(false).await;
    assert!(denied(&scene.after_tool(no_change()).await));
}

#[tokio::test]
async fn the_denial_of_an_edit_ends_with_the_next_prompt_although_nothing_is_shared() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    // The user cancels the turn, so no hook follows the edit.
    scene.share(false);
    assert_eq!(scene.before_agent().await, Value::Null);
    assert_eq!(scene.after_tool(no_change()).await, Value::Null);
}
