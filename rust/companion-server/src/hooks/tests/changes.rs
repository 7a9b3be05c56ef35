//! Tests the reports to the editor about a CLI's changes, with real files.

use std::time::Duration;

use companion_protocol::editor::{ChangeKind, ChangedPaths, CliChanged, Hunk};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::Scene;

impl Scene {
    pub(super) fn tool(name: &str) -> Value {
        json!({ "tool_name": name, "tool_response": {} })
    }

    /// A CLI writes the file without asking.
    pub(super) async fn write(&self, text: &str) {
        self.hook("BeforeTool", json!({ "tool_name": "write_file" })).await;
        std::fs::write(self.path(), text).unwrap();
        self.hook("AfterTool", Self::tool("write_file")).await;
    }

    pub(super) async fn prompt(&self, text: &str) -> Value {
        self.hook("BeforeAgent", json!({ "prompt": text })).await
    }

    /// Waits until the editor has received changes that `is_it`.
    pub(super) async fn changed(&self, is_it: impl Fn(&CliChanged) -> bool) -> CliChanged {
        loop {
            let found = self.rig.received().changes.last().filter(|of| is_it(of)).cloned();
            match found {
                Some(found) => return found,
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    }

    /// Starts a scene where a prompt has changed the file.
    pub(super) async fn start_changed() -> (Self, CliChanged) {
        let scene = Self::start().await;
        scene.prompt("  Write\nand more").await;
        scene.write("new").await;
        let changed = scene.changed(|of| of.files.len() == 1).await;
        assert_eq!((changed.session.as_str(), changed.title.as_str()), ("cli", "Write"));
        (scene, changed)
    }

    /// Starts a scene where a prompt has changed the second line and the last but one. Returns the lines from
    /// before, too.
    pub(super) async fn start_with_two_hunks() -> (Self, String, CliChanged) {
        let scene = Self::start().await;
        let lines: String = (1..=20).map(|line| line.to_string() + "\n").collect();
        std::fs::write(scene.path(), &lines).unwrap();
        scene.prompt("Write").await;
        scene.write(&lines.replacen("2\n", "two\n", 1).replace("19\n", "nineteen\n")).await;
        let changed = scene.changed(|of| of.files.len() == 1).await;
        (scene, lines, changed)
    }

    /// The first hunk of the changed file.
    pub(super) fn first_hunk(&self, of: &CliChanged) -> ChangedPaths {
        let hunks = self.rig.parts.hooks.changed_hunks("cli", of.prompt, &self.path());
        let hunk = hunks.unwrap().hunks.remove(0).hunk;
        ChangedPaths { hunk: Some(hunk), ..self.paths(of) }
    }

    pub(super) fn paths(&self, of: &CliChanged) -> ChangedPaths {
        let (session, prompt) = (of.session.clone(), of.prompt);
        ChangedPaths { session, prompt, paths: vec![self.path()], hunk: None }
    }
}

#[tokio::test]
async fn a_turn_that_goes_on_with_a_comment_is_no_prompt_of_its_own() {
    let (scene, first) = Scene::start_changed().await;
    scene.comment("1", "rename it").await;
    let end = scene.hook("AfterAgent", json!({ "prompt_response": "Done." })).await;
    scene.prompt(end["reason"].as_str().unwrap()).await;
    scene.write("two\nlines\n").await;
    let next = scene.changed(|of| of.files[0].added == Some(2)).await;
    assert_eq!((next.prompt, next.title.as_str()), (first.prompt, "Write"));
}

#[tokio::test]
async fn an_empty_file_that_the_cli_creates_is_in_the_list() {
    let scene = Scene::start().await;
    std::fs::remove_file(scene.path()).unwrap();
    scene.prompt("Create it").await;
    scene.hook("BeforeTool", json!({ "tool_name": "write_file" })).await;
    std::fs::write(scene.path(), "").unwrap();
    let display = json!({ "originalContent": "", "newContent": "", "isNewFile": true });
    let response = json!({ "returnDisplay": display });
    scene.hook("AfterTool", json!({ "tool_name": "write_file", "tool_response": response })).await;
    let changed = scene.changed(|of| of.files.len() == 1).await;
    assert_eq!(changed.files[0].kind, ChangeKind::Created);
}

#[tokio::test]
async fn all_files_that_somebody_else_has_reverted_leave_the_list_with_one_prompt() {
    let scene = Scene::start().await;
    scene.prompt("Create them").await;
    let files: Vec<_> = (0..65).map(|number| scene.dir.path().join(format!("{number}"))).collect();
    for file in &files {
        let tool = json!({ "tool_name": "write_file", "tool_input": { "file_path": file } });
        scene.hook("BeforeTool", tool.clone()).await;
        std::fs::write(file, "new").unwrap();
        scene.hook("AfterTool", tool).await;
    }
    scene.changed(|of| of.files.len() == files.len()).await;
    for file in &files {
        std::fs::remove_file(file).unwrap();
    }
    scene.prompt("Go on").await;
    let left = scene.changed(|of| of.title == "Create them").await;
    assert_eq!(left.files.len(), 0);
}

#[tokio::test]
async fn qwen_code_goes_on_with_a_prompt_after_a_tool() {
    let scene = Scene::start().await;
    scene.prompt("Write").await;
    scene.write("new").await;
    scene.hook("UserPromptSubmit", json!({ "prompt": "" })).await;
    scene.write("newer").await;
    let changed = scene.changed(|of| of.files.len() == 1).await;
    let texts = scene.rig.parts.hooks.changed_texts("cli", changed.prompt, &scene.path()).unwrap();
    assert_eq!(texts.before.as_deref(), Some(super::TEXT));
}

#[tokio::test]
async fn a_project_that_shares_nothing_has_no_list() {
    let scene = Scene::start().await;
    scene.share(false);
    scene.prompt("Write").await;
    scene.write("new").await;
    assert!(scene.rig.received().changes.is_empty());
}

#[tokio::test]
async fn no_change_is_listed_if_the_user_stops_sharing_after_the_question() {
    for is_shared in [true, false] {
        let (scene, _) = Scene::start_changed().await;
        let reply = scene.rig.send("GET", "/changes", &[], "").await;
        scene.share(is_shared);
        let list = reply.into_body().collect().await.unwrap().to_bytes();
        let list: Value = serde_json::from_slice(&list).unwrap();
        assert_eq!(list["prompts"].as_array().unwrap().len(), usize::from(is_shared));
    }
}

#[tokio::test]
async fn a_text_that_is_being_read_when_the_user_stops_sharing_is_not_kept() {
    for (is_shared_before, is_shared_after) in [(true, true), (false, true), (true, false)] {
        let scene = Scene::start().await;
        let hooks = &scene.rig.parts.hooks;
        let read = async |event, is_shared| {
            let reading = hooks.reading.turn().await;
            let change = async {
                scene.share(is_shared);
                drop(reading);
            };
            tokio::join!(scene.hook(event, Scene::tool("write_file")), change);
        };
        scene.prompt("Write").await;
        read("BeforeTool", is_shared_before).await;
        scene.share(true);
        std::fs::write(scene.path(), "new").unwrap();
        read("AfterTool", is_shared_after).await;
        if !is_shared_after {
            assert!(scene.rig.received().changes.iter().all(|of| of.files.is_empty()));
            continue;
        }
        let changed = scene.changed(|of| of.files.len() == 1).await;
        let texts = hooks.changed_texts("cli", changed.prompt, &scene.path());
        assert_eq!(texts.is_some_and(|texts| texts.before.is_some()), is_shared_before);
    }
}

#[tokio::test]
async fn edits_after_a_prompt_that_was_not_shared_are_not_those_of_the_prompt_before() {
    let (scene, before) = Scene::start_changed().await;
    scene.share(false);
    scene.prompt("A secret").await;
    scene.share(true);
    scene.write("newer").await;
    let changed = scene.changed(|of| of.prompt != before.prompt).await;
    assert_eq!((changed.title.as_str(), changed.files.len()), ("", 1));
}

#[tokio::test(start_paused = true)]
async fn after_a_day_the_texts_are_gone() {
    let (scene, changed) = Scene::start_changed().await;
    tokio::time::sleep(Duration::from_hours(25)).await;
    assert!(scene.changed(|of| of.files.is_empty()).await.prompt == changed.prompt);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_with_files_that_only_the_editor_knows_leaves_the_list_after_a_day_too() {
    let scene = Scene::start().await;
    scene.prompt("Run it").await;
    scene.hook("BeforeTool", json!({ "tool_name": "run_shell_command" })).await;
    scene.hook("AfterTool", Scene::tool("run_shell_command")).await;
    scene.prompt("Go on").await;
    tokio::time::sleep(Duration::from_hours(25)).await;
    let last = scene.changed(|of| of.files.is_empty()).await;
    let gone = &scene.rig.received().changes;
    assert!(gone.iter().any(|of| of.files.is_empty() && of.prompt + 1 == last.prompt));
}

#[tokio::test]
async fn a_revert_reaches_the_model_even_if_that_of_another_prompt_is_undone() {
    let scene = Scene::start().await;
    scene.prompt("First").await;
    scene.write("first").await;
    let first = scene.changed(|of| of.files.len() == 1).await;
    scene.prompt("Second").await;
    scene.write("second").await;
    let second = scene.changed(|of| of.title == "Second" && of.files.len() == 1).await;
    scene.rig.parts.hooks.changes_reverted(&scene.paths(&second));
    scene.rig.parts.hooks.changes_reverted(&scene.paths(&first));
    // The user undoes the revert of the first prompt.
    std::fs::write(scene.path(), "first").unwrap();
    let answer = scene.prompt("Go on").await;
    let name = scene.path().trim_start_matches('/').to_owned();
    let expected = format!("The user reverted your changes to {name}. Read");
    assert!(super::context(&answer).contains(&expected), "{answer}");
}

#[tokio::test]
async fn the_revert_of_a_hunk_stands_if_that_of_its_whole_file_is_undone() {
    let (scene, lines, changed) = Scene::start_with_two_hunks().await;
    let hooks = &scene.rig.parts.hooks;
    let last = lines.replace("19\n", "nineteen\n");
    hooks.changes_reverted(&scene.first_hunk(&changed));
    hooks.changes_reverted(&scene.paths(&changed));
    std::fs::write(scene.path(), &last).unwrap();
    hooks.revert_undone(&scene.paths(&changed));
    let texts = hooks.changed_texts("cli", changed.prompt, &scene.path()).unwrap();
    assert_eq!(texts.after.as_deref(), Some(&*last));
    let answer = scene.prompt("Go on").await;
    assert!(super::context(&answer).contains("reverted some of your changes to"), "{answer}");
}

#[tokio::test]
async fn no_revert_is_sent_of_an_edit_that_the_cli_has_made_again() {
    let (scene, changed) = Scene::start_changed().await;
    std::fs::write(scene.path(), super::TEXT).unwrap();
    scene.rig.parts.hooks.changes_reverted(&scene.paths(&changed));
    scene.write("new").await;
    assert_eq!(scene.prompt("Go on").await, Value::Null);
}

#[tokio::test]
async fn no_revert_is_sent_again_if_it_is_undone_after_the_model_has_forgotten_it() {
    let (scene, changed) = Scene::start_changed().await;
    std::fs::write(scene.path(), super::TEXT).unwrap();
    scene.rig.parts.hooks.changes_reverted(&scene.paths(&changed));
    assert!(!scene.prompt("Go on").await.is_null());
    scene.hook("AfterAgent", json!({ "prompt_response": "[no response text]" })).await;
    std::fs::write(scene.path(), "new").unwrap();
    scene.rig.parts.hooks.revert_undone(&scene.paths(&changed));
    assert_eq!(scene.prompt("Go on").await, Value::Null);
}

#[tokio::test]
async fn no_revert_of_a_hunk_is_sent_that_is_undone_after_another_edit() {
    let (scene, lines, changed) = Scene::start_with_two_hunks().await;
    let hooks = &scene.rig.parts.hooks;
    let reverted = scene.first_hunk(&changed);
    std::fs::write(scene.path(), lines.replace("19\n", "nineteen\n")).unwrap();
    hooks.changes_reverted(&reverted);
    let other = lines.replace("19\n", "nineteen\n").replace("10\n", "ten\n");
    scene.write(&other).await;
    std::fs::write(scene.path(), other.replacen("2\n", "two\n", 1)).unwrap();
    hooks.revert_undone(&reverted);
    assert_eq!(scene.prompt("Go on").await, Value::Null);
}

/// The user reverts one hunk of a file, and keeps the other one or the whole file.
#[tokio::test]
async fn an_undone_revert_is_not_sent_although_the_user_has_kept_the_rest() {
    for (keeps_hunk, is_undone) in [(true, true), (true, false), (false, true), (false, false)] {
        let scene = Scene::start().await;
        let lines: String = (1..=20).map(|line| line.to_string() + "\n").collect();
        std::fs::write(scene.path(), &lines).unwrap();
        scene.prompt("Write").await;
        scene.write(&lines.replacen("2\n", "two\n", 1).replace("19\n", "")).await;
        let is_counted =
            |of: &CliChanged| of.files.first().is_some_and(|file| file.added.is_some());
        let changed = scene.changed(is_counted).await;
        let hooks = &scene.rig.parts.hooks;
        let hunks = hooks.changed_hunks("cli", changed.prompt, &scene.path()).unwrap().hunks;
        let of = |hunk: &Hunk| ChangedPaths { hunk: Some(hunk.clone()), ..scene.paths(&changed) };
        hooks.changes_reverted(&of(&hunks[0].hunk));
        hooks.changes_kept(&if keeps_hunk { of(&hunks[1].hunk) } else { scene.paths(&changed) });
        scene.changed(|of| of.files.is_empty()).await;
        if is_undone {
            hooks.revert_undone(&of(&hunks[0].hunk));
            let left = scene.changed(is_counted).await.files.remove(0);
            assert_eq!((left.added, left.removed), (Some(1), Some(1)));
        } else {
            std::fs::write(scene.path(), lines.replace("19\n", "")).unwrap();
            let answer = scene.prompt("Go on").await;
            assert!(
                super::context(&answer).contains("reverted some of your changes to"),
                "{answer}"
            );
        }
        assert_eq!(scene.prompt("Go on").await, Value::Null);
    }
}

#[tokio::test]
async fn the_text_before_the_revert_of_a_hunk_counts_for_the_memory() {
    let scene = Scene::start().await;
    let same = "x".repeat(225_000) + "\n";
    let text = |of: usize| format!("{of}\n{}{of}\n", same.repeat(18));
    std::fs::write(scene.path(), text(0)).unwrap();
    let mut prompts = Vec::new();
    for prompt in 1..=4 {
        scene.prompt("Write").await;
        scene.write(&text(prompt)).await;
        let is_new = |of: &CliChanged| of.files.len() == 1 && !prompts.contains(&of.prompt);
        prompts.push(scene.changed(is_new).await.prompt);
    }
    let hooks = &scene.rig.parts.hooks;
    let is_kept = |prompt: u64| hooks.changed_texts("cli", prompt, &scene.path()).is_some();
    assert!(is_kept(prompts[0]));
    let hunk = hooks.changed_hunks("cli", prompts[3], &scene.path()).unwrap().hunks.remove(0).hunk;
    let (session, prompt) = ("cli".to_owned(), prompts[3]);
    let paths = vec![scene.path()];
    hooks.changes_reverted(&ChangedPaths { session, prompt, paths, hunk: Some(hunk) });
    assert!(!is_kept(prompts[0]) && is_kept(prompts[1]));
    let is_reported = |of: &CliChanged| of.prompt == prompts[0] && !of.files[0].revertible;
    assert!(scene.rig.received().changes.iter().any(is_reported));
}
