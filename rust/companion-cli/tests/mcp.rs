//! Tests the MCP server for models: its answers, and how often it searches for an editor.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::editor::{Editor, new_dir};
use crate::common::{Companion, program};

const TOOL: &str = "get_diagnostics";

/// Calls a tool once, and closes the client's end. Returns the answer.
fn call(mut mcp: Command, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut mcp = mcp.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(mcp.stdin.take().unwrap(), "{call}").unwrap();
    serde_json::from_slice(&mcp.wait_with_output().unwrap().stdout).unwrap()
}

/// Does the same where no editor runs.
fn call_alone(tool: &str, arguments: &Value) -> Value {
    let dir = new_dir();
    let mut mcp = program(dir.path());
    mcp.arg("mcp").current_dir(&dir);
    call(mcp, tool, arguments)
}

#[test]
fn the_users_arguments_outweigh_those_of_the_clients_bridge() {
    let companion = Companion::start("project");
    let rule = format!("/work={}", companion.project.display());
    for (args, is_found) in [(vec!["mcp"], false), (vec!["mcp", "--map", &rule], true)] {
        let mut mcp = companion.command(&args);
        mcp.env("GEMINI_CLI_IDE_WORKSPACE_PATH", "/");
        mcp.env("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "gemini-companion");
        mcp.env("GEMINI_CLI_IDE_SERVER_STDIO_ARGS", r#"["bridge", "--workspace", "/"]"#);
        let result = call(mcp, TOOL, &json!({}))["result"].take();
        assert_eq!(result["isError"].is_null(), is_found, "{args:?}: {result}");
    }
}

#[test]
fn a_path_is_relative_to_the_folder_of_the_client() {
    let editor = Editor::start(new_dir());
    let folder = editor.dir.path();
    std::fs::write(folder.join("a"), "").unwrap();
    let mut mcp = program(folder);
    mcp.args(["mcp", "--workspace"]).arg(folder).current_dir("/");
    let result = call(mcp, TOOL, &json!({ "path": "a" }))["result"].take();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "The editor did not answer in time.", "it is asked about this file");
}

#[test]
fn a_call_that_fails_has_the_reason() {
    for (tool, arguments, expected) in [
        ("openDiff", json!({}), "Unknown tool: openDiff"),
        (TOOL, json!({ "path": 1 }), "Invalid arguments: expected a string"),
        (TOOL, json!({}), "No editor is connected. Continue without"),
    ] {
        let result = call_alone(tool, &arguments)["result"].take();
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with(expected), "{result}");
        assert_eq!(result["isError"], true);
    }
}

#[test]
fn arguments_that_are_not_an_object_are_refused() {
    for arguments in [json!(["/etc/passwd"]), json!("/etc/passwd")] {
        let answer = call_alone(TOOL, &arguments);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[test]
fn an_editor_that_reports_no_problems_is_not_asked_all_the_time() {
    let editor = Editor::start_with(new_dir(), &["--no-diagnostics"]);
    let mut mcp = program(editor.dir.path());
    mcp.args(["mcp", "--log-level", "debug"]).current_dir(&editor.dir);
    let mcp = mcp.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut mcp = mcp.spawn().unwrap();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writeln!(mcp.stdin.as_mut().unwrap(), "{ready}").unwrap();
    let log = BufReader::new(mcp.stderr.take().unwrap()).lines().map(Result::unwrap);
    let searches = log.filter(|line| line.contains("does not report problems")).take(10);
    let count = searches.take_while(|line| !line.contains("the next search is in 60s")).count();
    assert!(count < 10, "{count} searches");
    mcp.kill().unwrap();
    mcp.wait().unwrap();
}
