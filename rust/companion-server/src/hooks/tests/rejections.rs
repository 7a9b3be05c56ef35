//! Tests which edit a rejection with a reason denies.

use companion_core::companion::Input;
use companion_core::diffs::Accepted;
use companion_protocol::editor::ReasonArrival::Now;
use serde_json::{Value, json};

use super::{Scene, denied, no_change};

impl Scene {
    /// The user accepts the edit.
    fn accept(&self) {
        let accepted = Accepted { content: "new".to_owned().into() };
        self.rig.parts.driver.handle(Input::Accepted(&self.path(), accepted));
    }
}

/// Each has a queue of tools of its own, and no hook names it.
#[tokio::test]
async fn each_of_two_subagents_that_edit_the_same_file_gets_its_own_reason() {
    for is_first_rejected in [true, false] {
        let mut scene = Scene::start().await;
        scene.propose().await;
        scene.hook("BeforeTool", json!({})).await;
        if is_first_rejected {
            scene.reject().await;
        } else {
            scene.accept();
        }
        assert_eq!(scene.message().await["method"], "ide/diffAccepted");
        assert_eq!(scene.open().await, Now);
        let ended = scene.after_tool(no_change()).await;
        assert_eq!(!ended.is_null() && denied(&ended), is_first_rejected, "{ended}");
        scene.reject().await;
        assert_eq!(scene.message().await["method"], "ide/diffAccepted");
        assert!(denied(&scene.after_tool(no_change()).await));
    }
}

#[tokio::test]
async fn an_edit_that_is_accepted_takes_no_reason_from_a_rejected_one() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    scene.message().await;
    scene.open().await;
    scene.accept();
    scene.message().await;
    assert!(denied(&scene.after_tool(no_change()).await));
}

#[tokio::test]
async fn the_denial_of_an_edit_ends_with_the_next_prompt_although_nothing_is_shared() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    // The user cancels the turn, so no hook follows the edit.
    scene.rig.parts.context.update(|model| model.set_shared(false));
    assert_eq!(scene.before_agent().await, Value::Null);
    assert_eq!(scene.after_tool(no_change()).await, Value::Null);
}
