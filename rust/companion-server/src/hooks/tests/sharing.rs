//! Tests that nothing of a project leaves once its user shares nothing.

use companion_core::cli::{Caller, Connected};
use companion_protocol::editor::ReasonArrival::Never;
use serde_json::{Value, json};

use super::Scene;
use crate::tests::EditorCall;

#[tokio::test]
async fn a_project_that_shares_nothing_has_no_reasons() {
    let scene = Scene::start().await;
    scene.share(false);
    assert_eq!(scene.propose().await, Never);
    assert_eq!(scene.before_agent().await, Value::Null);
}

#[tokio::test]
async fn no_unsaved_file_is_named_if_the_user_stops_sharing_while_the_editor_lists_them() {
    for is_shared in [true, false] {
        let scene = Scene::start().await;
        let answer = scene.send("BeforeAgent", json!({ "prompt": "p" })).await;
        let list = async {
            let EditorCall::Unsaved(responder) = scene.rig.asked().await else { panic!() };
            scene.share(is_shared);
            responder.complete_json(&json!({ "paths": [scene.path()] }).to_string());
        };
        let (answer, ()) = tokio::join!(answer, list);
        assert_eq!(!answer.is_null(), is_shared);
    }
}

#[tokio::test]
async fn no_unsaved_file_is_named_if_the_user_stops_sharing_while_notes_are_checked() {
    let mut scene = Scene::start().await;
    scene.comment("1", "rename it").await;
    let open = tempfile::tempdir().unwrap();
    scene.rig.parts.workspace.change(vec![open.path().to_owned()]);
    // The comment is about a file outside by now, and the look at that waits.
    let reading = scene.rig.parts.hooks.reading.turn().await;
    scene.process = json!({ "id": "4711" });
    let answer = scene.send("BeforeAgent", json!({ "prompt": "p" })).await;
    let stop = async {
        let EditorCall::Unsaved(responder) = scene.rig.asked().await else { panic!() };
        let unsaved = open.path().join("unsaved.txt");
        responder.complete_json(&json!({ "paths": [unsaved] }).to_string());
        let (session, process, connected) = ("cli", Some("4711"), Connected::Unknown);
        let caller = Caller { session, process, connected };
        while !scene.rig.parts.driver.ask(|companion| companion.clis().has_process(&caller)) {
            tokio::task::yield_now().await;
        }
        scene.share(false);
        drop(reading);
    };
    assert_eq!(tokio::join!(answer, stop).0, Value::Null);
}
