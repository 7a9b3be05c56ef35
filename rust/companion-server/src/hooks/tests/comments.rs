//! Tests the user's comments on lines.

use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes::MAX_COMMENTS;
use companion_protocol::editor::CommentOnLines;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Scene, context, leaves_no};
use crate::hooks::rejected_with_reason;
use crate::hooks::upkeep::PRIVATE_CHECK_INTERVAL;

fn comment(scene: &Scene, id: &str, text: &str) -> CommentOnLines {
    let (id, text) = (id.into(), text.into());
    let content = "  let x = 1;".into();
    CommentOnLines { id, path: scene.path().into(), line: 2, end_line: 3, content, text }
}

impl Scene {
    /// The user comments, and the server has found out whether the file may be shared.
    pub(super) async fn comment(&self, id: &str, text: &str) {
        let runtime = tokio::runtime::Handle::current();
        if let Some(checked) = self.rig.parts.hooks.set_comment(&runtime, comment(self, id, text)) {
            checked.await.unwrap();
        }
        // The server's thread sends its messages to the editor.
        tokio::task::yield_now().await;
    }

    fn outcomes(&self) -> Vec<String> {
        std::mem::take(&mut self.rig.received().notices)
    }
}

#[tokio::test]
async fn a_comment_comes_with_the_next_result_of_any_tool_once() {
    let scene = Scene::start().await;
    scene.comment("1", "rename it").await;
    scene.comment("2", "and this").await;
    scene.comment("2", "and that").await;
    scene.comment("3", "forget it").await;
    scene.rig.parts.driver.post(Input::CommentRemoved("3"));
    let answer = scene.hook("AfterTool", json!({ "tool_name": "run_shell_command" })).await;
    let expected = format!(
        "The user commented on these lines:\n- {0}, lines 2-3 (`let x = 1;`): rename it\n\
         - {0}, lines 2-3 (`let x = 1;`): and that",
        &scene.path()[1..]
    );
    assert_eq!(context(&answer), expected);
    assert_eq!(scene.outcomes(), ["delivered 1", "delivered 2"]);
    assert_eq!(scene.before_agent().await, Value::Null);
    scene.comment("1", "rename it").await;
    assert_eq!(scene.outcomes(), ["delivered 1"], "a model has got it");
    assert_eq!(scene.before_agent().await, Value::Null);
}

#[tokio::test]
async fn a_comment_is_reported_as_delivered_although_the_disk_is_full() {
    let state = tempfile::tempdir().unwrap();
    let scene = Scene::of(tempfile::tempdir().unwrap(), Some(state.path())).await;
    let folder = state.path().join("companion-for-gemini-cli/resume");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.extension().is_some_and(|of| of == "jsonl")) {
        // Each rewrite fails.
        std::fs::create_dir(file.with_extension("jsonl.tmp")).unwrap();
    }
    scene.rig.parts.driver.journal().rewrite();
    scene.comment("1", "rename it").await;
    assert!(context(&scene.before_agent().await).ends_with(": rename it"));
    let reported = async {
        while scene.outcomes() != ["delivered 1"] {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(10), reported).await.unwrap();
}

#[tokio::test]
async fn a_comment_at_the_end_of_a_turn_lets_the_turn_go_on_once() {
    let scene = Scene::start().await;
    scene.comment("1", "rename it").await;
    let answer = scene.hook("AfterAgent", json!({})).await;
    assert_eq!(answer["decision"], "block");
    assert!(answer["reason"].as_str().unwrap().ends_with(": rename it"));
    scene.comment("2", "and this").await;
    let answer = scene.hook("AfterAgent", json!({ "stop_hook_active": true })).await;
    assert_eq!(answer, Value::Null, "the turn has gone on already");
    assert!(context(&scene.before_agent().await).ends_with(": and this"));
}

#[tokio::test]
async fn a_comment_outlives_the_moment_in_which_an_ignore_file_is_empty() {
    let scene = Scene::start().await;
    let rules = scene.dir.path().join(".aiexclude");
    std::fs::write(&rules, "secret*").unwrap();
    scene.rig.parts.workspace.change(vec![scene.dir.path().to_owned()]);
    scene.comment("1", "rename it").await;
    // Many programs empty a file before they write it. An empty file of this name hides all.
    std::fs::write(&rules, "").unwrap();
    tokio::join!(scene.comment("2", "and this"), async {
        assert_eq!(scene.before_agent().await, Value::Null);
        std::fs::write(&rules, "secret*").unwrap();
        assert_eq!(scene.before_agent().await, Value::Null, "it may be empty again");
    });
    let mut answer = Value::Null;
    // A late event of the watch prolongs the wait.
    while answer == Value::Null {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(1)).await;
        tokio::time::resume();
        answer = scene.before_agent().await;
    }
    assert!(context(&answer).contains("rename it") && context(&answer).contains("and this"));
    assert_eq!(scene.outcomes(), ["delivered 1", "delivered 2"]);
}

#[tokio::test]
async fn a_comment_is_refused_once_its_file_is_private_although_nothing_is_watched() {
    let scene = Scene::start().await;
    scene.comment("1", "rename it").await;
    let following = tokio::spawn(Arc::clone(&scene.rig.parts.hooks).follow_private_files());
    std::fs::write(scene.dir.path().join(".aiignore"), "*.txt").unwrap();
    tokio::task::yield_now().await;
    tokio::time::pause();
    tokio::time::advance(PRIVATE_CHECK_INTERVAL).await;
    tokio::time::resume();
    let outcomes = timeout(Duration::from_mins(1), async {
        loop {
            let outcomes = scene.outcomes();
            if !outcomes.is_empty() {
                break outcomes;
            }
            // The server gets its turn while the disk answers.
            let shared =
                scene.rig.parts.workspace.check_shared(&scene.path(), PRIVATE_CHECK_INTERVAL).await;
            shared.unwrap_err();
        }
    });
    let outcomes = outcomes.await.unwrap();
    following.abort();
    assert!(outcomes[0].starts_with("refused 1: "), "{outcomes:?}");
}

/// Gemini CLI takes the result of that tool out of the history with the calls that it describes.
#[tokio::test]
async fn a_tool_that_only_describes_others_is_no_message_to_the_model() {
    let scene = Scene::start().await;
    scene.before_agent().await;
    scene.hook("AfterAgent", json!({ "prompt_response": "Done." })).await;
    scene.comment("1", "rename it").await;
    assert!(!scene.before_agent().await.is_null());
    let narration = json!({ "tool_name": "update_topic", "tool_response": {} });
    assert_eq!(scene.hook("AfterTool", narration).await, Value::Null);
    scene.hook("BeforeTool", json!({})).await;
    assert!(!scene.before_agent().await.is_null(), "the user has rejected the edit");
}

#[tokio::test]
async fn a_comment_beyond_the_limit_is_refused_and_the_others_wait() {
    let scene = Scene::start().await;
    for number in 0..=MAX_COMMENTS {
        scene.comment(&number.to_string(), "rename it").await;
    }
    assert_eq!(scene.outcomes(), [format!("refused {MAX_COMMENTS}: Too many comments wait.")]);
    let answer = scene.before_agent().await;
    assert_eq!(context(&answer).matches(": rename it").count(), MAX_COMMENTS);
}

#[test]
fn a_reason_above_the_limit_is_cut() {
    let reason = "é".repeat(16_385);
    let Input::RejectedWithReason(_, sent) = rejected_with_reason("/a", &reason) else {
        panic!("it is a rejection with a reason");
    };
    assert_eq!(*sent, reason[..2 * 16_384]);
}

#[tokio::test]
async fn a_comment_on_a_file_that_becomes_private_before_the_hook_prints_it_does_not_leave() {
    let scene = Scene::start().await;
    scene.comment("1", "rename it").await;
    let reply = scene.unconfirmed("BeforeAgent", json!({ "prompt": "p" })).await;
    std::fs::write(scene.dir.path().join(".aiexclude"), "a.txt").unwrap();
    while scene.rig.parts.hooks.refuse_private_notes().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let ack = json!({ "ack": reply["ack"] }).to_string();
    assert_eq!(scene.rig.send("POST", "/hook", &[], ack).await.status(), 410);
}

/// Its model has got them, and takes them out of its history with the turn.
#[tokio::test]
async fn a_text_that_a_model_forgets_while_nothing_is_shared_is_not_saved_again() {
    let state = tempfile::tempdir().unwrap();
    let mut scene = Scene::of(tempfile::tempdir().unwrap(), Some(state.path())).await;
    scene.propose().await;
    scene.reject().await;
    scene.comment("1", "rename it").await;
    assert!(context(&scene.before_agent().await).contains("use const"));
    scene.share(false);
    scene.outcomes();
    scene.hook("AfterAgent", json!({ "prompt_response": "[no response text]" })).await;
    scene.rig.parts.driver.wait_until_journaled().await;
    leaves_no(state.path(), "rename it");
    let mut outcomes = scene.outcomes();
    while outcomes.len() < 4 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        outcomes.extend(scene.outcomes());
    }
    outcomes.sort();
    assert!(outcomes[1].starts_with("lost use const: the project shares nothing"), "{outcomes:?}");
    assert!(outcomes[3].starts_with("refused 1: "), "{outcomes:?}");
    scene.rig.parts.driver.wait_until_journaled().await;
    leaves_no(state.path(), "rename it");
    leaves_no(state.path(), "use const");
}
