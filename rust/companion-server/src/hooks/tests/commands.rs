//! Tests what the list of changes says about shell commands, with real files.

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::{Scene, TEXT};

impl Scene {
    /// A shell command begins, or ends. The CLI session is `session`.
    async fn command(&self, session: &str, event: &str, command: &str) {
        let tool = json!({
            "session_id": session, "tool_name": "run_shell_command", "tool_input": command,
        });
        self.hook(event, tool).await;
    }

    /// The prompts that `gemini-companion changes` prints.
    pub(super) async fn printed(&self) -> Vec<Value> {
        let reply = self.rig.send("GET", "/changes", &[], "").await;
        let list = reply.into_body().collect().await.unwrap().to_bytes();
        let mut list: Value = serde_json::from_slice(&list).unwrap();
        serde_json::from_value(list["prompts"].take()).unwrap()
    }
}

#[tokio::test]
async fn the_editor_forgets_a_command_if_the_project_shares_nothing_at_its_end() {
    let scene = Scene::start().await;
    scene.prompt("Run it").await;
    scene.hook("BeforeTool", json!({ "tool_name": "run_shell_command" })).await;
    scene.share(false);
    scene.hook("AfterTool", Scene::tool("run_shell_command")).await;
    assert_eq!(scene.rig.received().notices, ["command begins", "command lost"]);
}

/// A subagent of Qwen Code may go on after the turn, and during the next one.
#[tokio::test]
async fn a_command_of_a_subagent_ends_with_the_subagent() {
    let scene = Scene::start().await;
    scene.rig.parts.context.update(|model| model.opened(&scene.path(), 1));
    let tool = |event: &'static str| {
        let more = json!({ "tool_name": "run_shell_command", "agent_id": "Explore-1" });
        scene.hook(event, more)
    };
    let stop = |status: &str| {
        let task = json!({ "id": "Explore-1", "status": status });
        scene.hook("Stop", json!({ "background_tasks": [task] }))
    };
    let begins = |event: &String| event.starts_with("command");
    let commands = || scene.rig.received().notices.iter().filter(|of| begins(of)).count();
    scene.prompt("Run it").await;
    tool("PreToolUse").await;
    stop("running").await;
    scene.prompt("Go on").await;
    stop("running").await;
    assert_eq!(commands(), 1, "it runs");
    std::fs::write(scene.path(), "new").unwrap();
    tool("PostToolUse").await;
    assert_eq!(scene.changed(|of| of.files.len() == 1).await.files[0].path, scene.path());
    assert_eq!(commands(), 2);
    tool("PreToolUse").await;
    stop("cancelled").await;
    assert_eq!(commands(), 4, "its subagent was stopped");
}

#[tokio::test]
async fn the_editor_forgets_a_command_that_the_user_has_denied() {
    let scene = Scene::start().await;
    let commands = || {
        let mut notices = scene.rig.received().notices.clone();
        notices.retain(|of| of.starts_with("command"));
        notices
    };
    scene.prompt("Run it").await;
    for (event, more) in [
        ("BeforeAgent", json!({ "prompt": "Go on" })),
        ("AfterAgent", json!({})),
        ("SessionEnd", json!({})),
    ] {
        let seen = commands().len();
        scene.hook("BeforeTool", json!({ "tool_name": "run_shell_command" })).await;
        let asks = json!({ "message": "Run ls?", "details": { "type": "exec" } });
        scene.hook("Notification", asks).await;
        scene.hook(event, more).await;
        assert_eq!(commands()[seen..], ["command begins", "command lost"], "{event}");
    }
}

#[tokio::test]
async fn each_of_two_commands_at_the_same_time_begins_and_ends() {
    let scene = Scene::start().await;
    scene.prompt("Run them").await;
    let call = |command: &str| json!({ "tool_name": "run_shell_command", "tool_input": command });
    for command in ["a", "b"] {
        scene.hook("BeforeTool", call(command)).await;
    }
    assert_eq!(scene.rig.received().notices, ["command begins"; 2]);
    for command in ["a", "b"] {
        scene.hook("AfterTool", call(command)).await;
    }
    assert_eq!(scene.rig.received().notices[2..], ["command ends"; 2]);
}

#[tokio::test]
async fn a_change_that_one_of_two_commands_undoes_does_not_come_back() {
    let (scene, changed) = Scene::start_changed().await;
    for command in ["git checkout", "npm test"] {
        scene.command("cli", "BeforeTool", command).await;
    }
    std::fs::write(scene.path(), TEXT).unwrap();
    for command in ["git checkout", "npm test"] {
        scene.command("cli", "AfterTool", command).await;
    }
    assert_eq!(scene.printed().await, [Value::Null; 0]);
    scene.write("newer").await;
    let texts = scene.rig.parts.hooks.changed_texts("cli", changed.prompt, &scene.path()).unwrap();
    assert_eq!(texts.before.as_deref(), Some(TEXT));
}

#[tokio::test]
async fn a_change_that_a_command_makes_again_is_listed_again() {
    let scene = Scene::start().await;
    scene.rig.parts.context.update(|model| model.opened(&scene.path(), 1));
    for text in ["new", TEXT, "new"] {
        scene.prompt(text).await;
        scene.command("cli", "BeforeTool", "make").await;
        std::fs::write(scene.path(), text).unwrap();
        scene.command("cli", "AfterTool", "make").await;
    }
    assert_eq!(scene.printed().await.len(), 3);
}

/// The user reverts a file or a hunk during a command, and undoes that after it.
#[tokio::test]
async fn a_revert_during_a_command_is_not_the_commands() {
    for is_whole in [true, false] {
        let (scene, lines, changed) = Scene::start_with_two_hunks().await;
        let after = std::fs::read_to_string(scene.path()).unwrap();
        let hunk = scene.first_hunk(&changed);
        let (reverted, left) = if is_whole {
            (scene.paths(&changed), lines)
        } else {
            (hunk, after.replacen("two\n", "2\n", 1))
        };
        let hooks = &scene.rig.parts.hooks;
        scene.command("cli", "BeforeTool", "make").await;
        std::fs::write(scene.path(), left).unwrap();
        hooks.changes_reverted(&reverted);
        scene.command("cli", "AfterTool", "make").await;
        assert_eq!(scene.printed().await[0]["files"][0]["mixed"], false);
        std::fs::write(scene.path(), &after).unwrap();
        hooks.revert_undone(&reverted);
        let texts = hooks.changed_texts("cli", changed.prompt, &scene.path()).unwrap();
        assert_eq!(texts.after.as_deref(), Some(&*after));
    }
}

#[tokio::test]
async fn a_revert_during_a_command_is_not_the_commands_although_the_user_has_saved_the_file() {
    let (scene, changed) = Scene::start_changed().await;
    std::fs::write(scene.path(), "new, and mine").unwrap();
    scene.command("cli", "BeforeTool", "make").await;
    std::fs::write(scene.path(), TEXT).unwrap();
    scene.rig.parts.hooks.changes_reverted(&scene.paths(&changed));
    scene.command("cli", "AfterTool", "make").await;
    assert_eq!(scene.printed().await[0]["files"][0]["mixed"], false);
}

#[tokio::test]
async fn a_change_during_the_commands_of_two_clis_may_be_of_each() {
    let mut scene = Scene::start().await;
    scene.rig.parts.context.update(|model| model.opened(&scene.path(), 1));
    for cli in ["cli", "other"] {
        scene.process = json!({ "id": cli, "ports": [] });
        scene.hook("BeforeAgent", json!({ "session_id": cli, "prompt": cli })).await;
        scene.command(cli, "BeforeTool", "make").await;
    }
    std::fs::write(scene.path(), "new").unwrap();
    for cli in ["other", "cli"] {
        scene.process = json!({ "id": cli, "ports": [] });
        scene.command(cli, "AfterTool", "make").await;
    }
    assert_eq!(scene.printed().await.len(), 2);
}

#[tokio::test]
async fn the_changes_of_a_cli_are_judged_together_although_it_has_cleared_its_session() {
    for (texts, last, left) in
        [(["one", "two", "three"], TEXT, 0), (["one", "two", "one"], "one", 3)]
    {
        let mut scene = Scene::start().await;
        scene.process = json!({ "id": "4711", "ports": [] });
        scene.rig.parts.context.update(|model| model.opened(&scene.path(), 1));
        for (text, session) in texts.into_iter().zip(["cli", "cli", "next"]) {
            scene.hook("BeforeAgent", json!({ "session_id": session, "prompt": text })).await;
            scene.command(session, "BeforeTool", "make").await;
            std::fs::write(scene.path(), text).unwrap();
            scene.command(session, "AfterTool", "make").await;
        }
        std::fs::write(scene.path(), last).unwrap();
        scene.hook("BeforeAgent", json!({ "session_id": "next", "prompt": "Go on" })).await;
        assert_eq!(scene.printed().await.len(), left, "{texts:?}");
    }
}
