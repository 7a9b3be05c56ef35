//! Tests which questions and ends of CLIs the editor is notified of.

#[cfg(unix)]
use std::process::Command;
use std::time::Duration;

#[cfg(unix)]
use companion_platform::process_identity;
#[cfg(unix)]
use http_body_util::BodyExt;
#[cfg(unix)]
use serde_json::Value;
use serde_json::json;
use tokio::time::sleep;

use super::Scene;
#[tokio::test]
async fn the_editor_is_notified_of_a_question_and_of_the_end() {
    let scene = Scene::start().await;
    scene.before_agent().await;
    for kind in ["idle_prompt", "auth_success"] {
        let message = json!({ "message": "Waits", "notification_type": kind });
        scene.hook("Notification", message).await;
    }
    let question = json!({ "message": "Run ls?", "details": { "type": "exec" } });
    scene.hook("Notification", question).await;
    scene.hook("AfterTool", json!({ "tool_name": "run_shell_command" })).await;
    scene.hook("AfterAgent", json!({})).await;
    scene.hook("AfterAgent", json!({})).await;
    assert_eq!(scene.rig.received().notices, ["Run ls?", "answered", "finished"]);
}

/// The hook of Gemini CLI's question may be faster than its `openDiff`.
#[tokio::test(start_paused = true)]
async fn the_editor_is_notified_of_a_question_about_an_edit_that_it_does_not_show() {
    let mut scene = Scene::start().await;
    let question = json!({ "message": "Edit?", "details": { "type": "edit" } });
    scene.hook("Notification", question.clone()).await;
    scene.propose().await;
    scene.hook("Notification", question.clone()).await;
    sleep(Duration::from_mins(1)).await;
    assert!(scene.rig.received().notices.is_empty(), "the editor shows the edit");
    scene.process = json!({ "id": "other/1", "ports": [] });
    let mut of_another = question;
    of_another["session_id"] = "other".into();
    scene.hook("Notification", of_another.clone()).await;
    scene.hook("AfterTool", json!({ "session_id": "other" })).await;
    sleep(Duration::from_mins(1)).await;
    assert!(scene.rig.received().notices.is_empty(), "the user has answered at once");
    scene.hook("Notification", of_another).await;
    sleep(Duration::from_mins(1)).await;
    assert_eq!(scene.rig.received().notices, ["Edit?"], "the proposal is of another CLI");
}

/// No hook of Gemini CLI says that the first question is answered.
#[tokio::test(start_paused = true)]
async fn a_question_ends_although_the_next_one_is_shown_as_a_proposal() {
    let scene = Scene::start().await;
    scene.before_agent().await;
    let asks = async |kind: &str| {
        let question = json!({ "message": kind, "details": { "type": kind } });
        scene.hook("Notification", question).await;
    };
    asks("mcp").await;
    asks("edit").await;
    scene.propose().await;
    sleep(Duration::from_mins(1)).await;
    scene.hook("AfterTool", json!({})).await;
    assert_eq!(scene.rig.received().notices, ["mcp", "answered"]);
}

/// More than the core keeps.
#[tokio::test]
async fn the_editor_is_notified_of_the_end_of_each_of_many_turns_at_the_same_time() {
    let scene = Scene::start().await;
    for event in ["BeforeAgent", "AfterAgent"] {
        for number in 0..70 {
            let more = json!({ "session_id": format!("session-{number}"), "prompt": "go" });
            scene.hook(event, more).await;
        }
    }
    assert_eq!(scene.rig.received().notices, ["finished"; 70]);
}

/// No hook of a CLI runs that was killed while it waited for its user.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_process_of_its_cli() {
    let scene = Scene::start().await;
    let start = || {
        let process = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = process_identity(process.id()).unwrap();
        (process, identity)
    };
    let hook = async |event: Value, process: &str| {
        let body = json!({ "event": event, "cli": { "id": process, "ports": [] } }).to_string();
        scene.rig.send("POST", "/hook", &[], body).await.into_body().collect().await.unwrap();
    };
    // Each hook of a session names its own process.
    let asks = async |session: &str, processes: [&str; 2]| {
        let begins = json!({
            "session_id": session, "hook_event_name": "SessionStart", "source": "startup",
        });
        hook(begins, processes[0]).await;
        let event = json!({
            "session_id": session, "hook_event_name": "Notification", "message": session,
        });
        hook(event, processes[1]).await;
    };
    let notices = || scene.rig.received().notices.clone();
    let (mut cli, process) = start();
    let (mut wrapper, of_one_hook) = start();
    let elsewhere = format!("9{process}");
    let earlier = format!("{process}0");
    asks("killed", [&process, &process]).await;
    asks("in another container", [&elsewhere, &elsewhere]).await;
    asks("of an earlier process with the same id", [&earlier, &earlier]).await;
    asks("of a hook in a wrapper", ["other/1/1", &of_one_hook]).await;
    sleep(Duration::from_mins(1)).await;
    assert_eq!(notices().len(), 4);
    for process in [&mut cli, &mut wrapper] {
        process.kill().and_then(|()| process.wait()).unwrap();
    }
    sleep(Duration::from_mins(1)).await;
    assert_eq!(notices()[4..], ["answered"], "the other processes may run");
}
