//! Tests that a CLI gets nothing of another project, or of another editor, that its terminal names.

#![cfg(unix)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::editor::{Editor, new_dir, next_line};
use crate::common::{program, text};

/// Variables of a terminal.
type Variables = Vec<(&'static str, String)>;

/// Starts an editor, in which the user has commented on a line.
fn with_comment() -> Editor {
    let dir = new_dir();
    let file = dir.path().join("a.txt");
    std::fs::write(&file, "one\n").unwrap();
    let mut editor = Editor::start(dir);
    let comment = json!({
        "id": "1", "path": file, "line": 1, "endLine": 1, "content": "one", "text": "Why?",
    });
    editor.say(&json!({ "jsonrpc": "2.0", "method": "comment/set", "params": comment }));
    editor.say(&json!({ "jsonrpc": "2.0", "id": "taken", "method": "companion/status" }));
    while next_line(&mut editor.stdout)["id"] != "taken" {}
    editor
}

/// Returns the variables of its terminal: with its address, and with a bridge to it.
fn terminals(editor: &Editor) -> [Variables; 2] {
    let workspace = || ("GEMINI_CLI_IDE_WORKSPACE_PATH", path(editor.dir.path()));
    let port = editor.port.to_string();
    let token = editor.dir.path().join("token");
    std::fs::write(&token, &editor.token).unwrap();
    let args = json!(["bridge", "--port", port, "--token-file", token]).to_string();
    let token = editor.token.clone();
    [
        vec![
            workspace(),
            ("GEMINI_CLI_IDE_SERVER_PORT", port),
            ("GEMINI_CLI_IDE_AUTH_TOKEN", token),
        ],
        vec![
            workspace(),
            ("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "gemini-companion".to_owned()),
            ("GEMINI_CLI_IDE_SERVER_STDIO_ARGS", args),
        ],
    ]
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Returns the program in a terminal, in a folder. It finds no discovery file.
fn in_terminal(args: &[&str], terminal: &Variables, folder: &Path) -> Command {
    let mut command = program(folder);
    command.args(args).current_dir(folder).envs(terminal.iter().cloned());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn answer(mut command: Command, message: &Value) -> String {
    let mut child = command.spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), "{message}").unwrap();
    text(&child.wait_with_output().unwrap().stdout).to_owned()
}

/// Returns the event of a prompt.
fn prompt(folder: &Path) -> Value {
    json!({ "hook_event_name": "BeforeAgent", "session_id": "s", "cwd": folder, "prompt": "go on" })
}

/// Returns what the model gets with a prompt.
fn at_prompt(terminal: &Variables, folder: &Path) -> String {
    answer(in_terminal(&["hook", "before-agent"], terminal, folder), &prompt(folder))
}

#[test]
fn a_comment_is_for_a_cli_in_the_folder_of_its_terminal() {
    for number in 0..2 {
        let editor = with_comment();
        let terminal = &terminals(&editor)[number];
        let other = new_dir();
        assert_eq!(at_prompt(terminal, other.path()), "");
        let within = editor.dir.path().join("tmp");
        let answer = at_prompt(terminal, &within);
        assert!(answer.contains("commented on these lines"), "{terminal:?}: {answer}");
    }
}

#[test]
fn a_model_gets_no_problems_of_another_project() {
    let editor = with_comment();
    let other = new_dir();
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "get_diagnostics" },
    });
    for terminal in &terminals(&editor) {
        let problems = |folder| answer(in_terminal(&["mcp"], terminal, folder), &call);
        let elsewhere = problems(other.path());
        assert!(elsewhere.contains("No editor is connected"), "{elsewhere}");
        let here: Value = serde_json::from_str(&problems(&editor.dir.path().join("tmp"))).unwrap();
        let text = "No file of the workspace is open in the editor.";
        let content = [json!({ "type": "text", "text": text })];
        assert_eq!(here["result"], json!({ "content": content }), "{terminal:?}: no failure");
    }
}

#[test]
fn a_comment_comes_from_the_editor_that_the_cli_prefers_to_a_bridge() {
    for client in ["GEMINI_CLI", "QWEN_CODE"] {
        let editor = with_comment();
        let folder = editor.dir.path();
        let other = Editor::start(new_dir());
        let [_, mut terminal] = terminals(&other);
        terminal[0].1 = path(folder);
        let mut hook = in_terminal(&["hook", "before-agent"], &Vec::new(), folder);
        hook.env("REMOTE_CONTAINERS", "1");
        hook.envs(terminal.iter().map(|(name, value)| (name.replace("GEMINI_CLI", client), value)));
        let answer = answer(hook, &prompt(folder));
        assert!(answer.contains("commented on these lines"), "{client}: {answer}");
    }
}
