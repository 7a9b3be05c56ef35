//! Tests reverts of a file that several prompts have changed: the list of changes, and the notice to the model.

use companion_protocol::editor::ChangedPaths;
use serde_json::{Value, json};

use super::Scene;

impl Scene {
    /// Starts a scene where the file has one letter.
    async fn start_with_letter() -> Self {
        let scene = Self::start().await;
        scene.save("A");
        scene
    }

    fn save(&self, text: &str) {
        std::fs::write(self.path(), text).unwrap();
    }

    /// A prompt of a CLI session changes the file. Returns the change.
    async fn change_by(&self, session: &str, text: &str) -> ChangedPaths {
        self.hook("BeforeAgent", json!({ "session_id": session, "prompt": text })).await;
        let tool = json!({ "session_id": session, "tool_name": "write_file" });
        self.hook("BeforeTool", tool.clone()).await;
        self.save(text);
        self.hook("AfterTool", tool).await;
        let prompt = self.printed().await.pop().unwrap()["prompt"].as_u64().unwrap();
        ChangedPaths { session: session.to_owned(), prompt, paths: vec![self.path()], hunk: None }
    }

    async fn change(&self, text: &str) -> ChangedPaths {
        self.change_by("cli", text).await
    }

    /// The user reverts these changes, so that the file has this text.
    fn revert(&self, changes: &[&ChangedPaths], text: &str) {
        self.save(text);
        for of in changes {
            self.rig.parts.hooks.changes_reverted(of);
        }
    }

    /// The user undoes the revert of these changes, so that the file has this text.
    fn undo(&self, changes: &[&ChangedPaths], text: &str) {
        self.save(text);
        for of in changes {
            self.rig.parts.hooks.revert_undone(of);
        }
    }

    /// The list of changes.
    async fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for prompt in self.printed().await {
            let (session, number) = (prompt["session"].as_str(), prompt["prompt"].as_u64());
            let hooks = &self.rig.parts.hooks;
            let texts =
                hooks.changed_texts(session.unwrap(), number.unwrap(), &self.path()).unwrap();
            let file = &prompt["files"][0];
            let mark =
                |fact: &str| if file[fact] == true { format!(" {fact}") } else { String::new() };
            let (before, after) = (texts.before.unwrap(), texts.after.unwrap());
            rows.push(format!("{before}→{after}{}{}", mark("mixed"), mark("reverted")));
        }
        rows
    }

    /// Sends a prompt of a CLI session. Returns whether its model learns of a revert.
    async fn learns_of_revert(&self, session: &str) -> bool {
        let prompt = json!({ "session_id": session, "prompt": "Go on" });
        let answer = self.hook("BeforeAgent", prompt).await;
        answer != Value::Null
            && super::context(&answer).contains("The user reverted your changes to")
    }
}

#[tokio::test]
async fn an_edit_after_a_revert_is_a_change_of_its_own() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    let second = scene.change("C").await;
    scene.revert(&[&first, &second], "A");
    scene.write("D").await;
    assert_eq!(scene.rows().await, ["A→D"]);
    assert!(scene.learns_of_revert("cli").await);
    assert_eq!(scene.rows().await, ["A→D"]);
}

#[tokio::test]
async fn an_edit_after_a_revert_has_no_lines_of_the_user() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    scene.revert(&[&first], "A");
    scene.save("A, mine");
    scene.write("C, mine").await;
    assert_eq!(scene.rows().await, ["A, mine→C, mine"]);
}

#[tokio::test]
async fn a_change_goes_on_if_its_revert_was_undone_before_the_next_edit() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    scene.revert(&[&first], "A");
    scene.save("B");
    scene.write("C").await;
    assert_eq!(scene.rows().await, ["A→C"]);
}

#[tokio::test]
async fn a_revert_takes_the_later_changes_of_the_file_with_it() {
    for later in ["cli", "other"] {
        let scene = Scene::start_with_letter().await;
        let first = scene.change("B").await;
        scene.change_by(later, "C").await;
        scene.revert(&[&first], "A");
        assert_eq!(scene.rows().await, ["A→B reverted", "B→C reverted"]);
        scene.undo(&[&first], "C");
        assert_eq!(scene.rows().await, ["A→B", "B→C"]);
        for session in ["cli", later] {
            assert!(!scene.learns_of_revert(session).await, "the user has undone it");
        }
        scene.revert(&[&first], "A");
        assert!(scene.learns_of_revert(later).await);
        assert_eq!(scene.learns_of_revert("cli").await, later == "other");
        assert_eq!(scene.rows().await, [""; 0]);
    }
}

#[tokio::test]
async fn the_undo_of_a_revert_leaves_an_earlier_one_of_a_later_change() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    let second = scene.change("C").await;
    scene.revert(&[&second], "B");
    scene.revert(&[&first], "A");
    scene.undo(&[&first], "B");
    assert_eq!(scene.rows().await, ["A→B", "B→C reverted"]);
    assert!(scene.learns_of_revert("cli").await);
    assert_eq!(scene.rows().await, ["A→B"]);
}

#[tokio::test]
async fn reverts_of_two_prompts_are_undone_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let scene = Scene::start_with_letter().await;
        let changes = [scene.change("B").await, scene.change("C").await];
        let changes = order.map(|index| &changes[index]);
        scene.revert(&changes, "A");
        scene.undo(&changes, "C");
        assert_eq!(scene.rows().await, ["A→B", "B→C"]);
        assert!(!scene.learns_of_revert("cli").await);
    }
}

#[tokio::test]
async fn all_reverts_of_a_file_are_undone_if_it_has_its_last_text() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    let second = scene.change("C").await;
    scene.revert(&[&first, &second], "A");
    scene.save("C");
    assert!(!scene.learns_of_revert("cli").await);
    assert_eq!(scene.rows().await, ["A→B", "B→C"]);
}

#[tokio::test]
async fn a_revert_to_a_text_that_the_cli_has_left_stands() {
    let scene = Scene::start_with_letter().await;
    scene.change("B").await;
    let second = scene.change("C").await;
    let third = scene.change("B").await;
    scene.revert(&[&second, &third], "B");
    let command = json!({ "tool_name": "run_shell_command", "tool_input": "ls" });
    scene.hook("BeforeTool", command.clone()).await;
    scene.hook("AfterTool", command).await;
    assert_eq!(scene.rows().await, ["A→B", "B→C reverted", "C→B reverted"]);
    assert!(scene.learns_of_revert("cli").await);
    assert_eq!(scene.rows().await, ["A→B"]);
}

#[tokio::test]
async fn a_revert_to_the_first_text_stands_although_the_cli_had_written_that_too() {
    for later in ["cli", "next"] {
        let mut scene = Scene::start_with_letter().await;
        scene.process = json!({ "id": "4711", "ports": [] });
        let first = scene.change("B").await;
        let second = scene.change_by(later, "A").await;
        scene.revert(&[&second], "B");
        scene.revert(&[&first], "A");
        assert!(scene.learns_of_revert(later).await);
        assert_eq!(scene.rows().await, [""; 0]);
    }
}

#[tokio::test]
async fn the_model_does_not_learn_of_a_revert_that_ends_with_an_edit_of_the_reverted_text() {
    let scene = Scene::start_with_letter().await;
    let first = scene.change("B").await;
    scene.hook("BeforeAgent", json!({ "session_id": "cli", "prompt": "Go on" })).await;
    let tool = json!({ "session_id": "cli", "tool_name": "write_file" });
    scene.hook("BeforeTool", tool.clone()).await;
    scene.revert(&[&first], "A");
    scene.save("C");
    scene.hook("AfterTool", tool).await;
    assert_eq!(scene.rows().await, ["A→B", "B→C"]);
    assert!(!scene.learns_of_revert("cli").await);
}
