//! Tests the output of `gemini-companion env`, and its effect in a shell.

#![cfg(unix)]

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Companion, assert_shows, help, program, text};
use serde_json::Value;

const NAMES: [&str; 4] = [
    "GEMINI_CLI_IDE_AUTH_TOKEN",
    "GEMINI_CLI_IDE_PID",
    "GEMINI_CLI_IDE_SERVER_PORT",
    "GEMINI_CLI_IDE_WORKSPACE_PATH",
];

fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists())
}

#[test]
fn help_warns_of_the_token() {
    let env = help("env");
    assert_shows(&env, "## SSH");
    insta::assert_snapshot!("env_help", env);
    insta::assert_snapshot!("doctor_help", help("doctor"));
    insta::assert_snapshot!("changes_help", help("changes"));
}

#[test]
fn json_is_for_programs() {
    let companion = Companion::start("project");
    let output = companion.run(&["env", "--format", "json"]);
    let mut json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let variables = json.as_object_mut().unwrap();
    // If the companion runs in a container, a client there must stay on 127.0.0.1.
    let stay_local = variables.remove("REMOTE_CONTAINERS");
    assert_eq!(stay_local.is_some(), in_container());
    assert_eq!(companion.ready["env"].get("REMOTE_CONTAINERS"), stay_local.as_ref());
    assert_eq!(variables["SANDBOX_ENV"], "TERMINAL_EMULATOR=JetBrains-JediTerm");
    assert_eq!(variables["SANDBOX_FLAGS"], "--env GEMINI_CLI_IDE_AUTH_TOKEN");
    for name in NAMES {
        assert_eq!(variables[name], companion.ready["env"][name], "{name}");
    }
    assert_eq!(variables.len(), 6);
}

#[test]
fn docker_takes_a_file_of_it() {
    let companion = Companion::start("a 'b' c");
    let lines = |args: &[&str]| {
        let output = companion.run(args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut expected: Vec<_> = NAMES
        .iter()
        .map(|name| format!("{name}={}", companion.ready["env"][*name].as_str().unwrap()))
        .collect();
    expected.push("TERMINAL_EMULATOR=JetBrains-JediTerm".to_owned());
    assert_eq!(lines(&["env", "--format", "docker"]), expected);
    expected.insert(4, "REMOTE_CONTAINERS=1".to_owned());
    assert_eq!(lines(&["env", "--format", "docker", "--host-network"]), expected);

    let broken = Companion::start("a\nb").run(&["env", "--format", "docker"]);
    assert_eq!(broken.status.code(), Some(1));
    let expected = "error: GEMINI_CLI_IDE_WORKSPACE_PATH has a line break";
    assert!(text(&broken.stderr).starts_with(expected), "{}", text(&broken.stderr));
}

#[test]
fn it_is_for_the_companion_of_a_folder() {
    let companion = Companion::start("project");
    let other = companion.root().join("other");
    std::fs::create_dir(&other).unwrap();
    let elsewhere = companion.command(&["env"]).current_dir(&other).output().unwrap();
    assert_eq!(elsewhere.status.code(), Some(1));
    assert!(elsewhere.stdout.is_empty());
    let expected = format!("error: no companion answers for {}", other.display());
    assert!(text(&elsewhere.stderr).starts_with(&expected), "{}", text(&elsewhere.stderr));
    let mut behind_a_bridge = companion.command(&["env"]);
    behind_a_bridge.current_dir(&other).env("GEMINI_CLI_IDE_WORKSPACE_PATH", &other);
    behind_a_bridge.env("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "gemini-companion");
    let error = behind_a_bridge.output().unwrap().stderr;
    let advice = "Here the CLI connects by a program, such as a bridge; run this command";
    assert!(text(&error).contains(advice), "{}", text(&error));
    let there = ["env", "--workspace", companion.project.to_str().unwrap()];
    let output = companion.command(&there).current_dir(&other).output().unwrap();
    assert!(text(&output.stdout).contains(companion.token()));
}

#[test]
fn a_file_that_is_left_over_is_passed_over() {
    let companion = Companion::start("project");
    let file = companion.ready["discoveryFiles"]["gemini"].as_str().unwrap();
    let stale = std::fs::read_to_string(file).unwrap().replace(companion.token(), "stale");
    let pid = std::process::id();
    // A port below those that systems assign, of the terminal's own process.
    let stale = stale.replace(&companion.ready["port"].to_string(), "1");
    let name = format!("gemini-ide-server-{pid}-1.json");
    std::fs::write(Path::new(file).with_file_name(name), stale).unwrap();
    let mut command = companion.command(&["env"]);
    let output = command.env("GEMINI_CLI_IDE_PID", pid.to_string()).output().unwrap();
    assert!(text(&output.stdout).contains(companion.token()), "{}", text(&output.stderr));
}

/// Listens at a port that takes connections and sends nothing, and writes the discovery files of both
/// clients for it.
fn suspended(root: &Path) -> TcpListener {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, pid) = (silent.local_addr().unwrap().port(), std::process::id());
    let content = serde_json::json!({
        "port": port, "workspacePath": root, "authToken": "the-secret", "ppid": pid,
        "ideInfo": { "name": "a", "displayName": "A" },
    });
    let gemini = format!("tmp/gemini/ide/gemini-ide-server-{pid}-{port}.json");
    for file in [gemini, format!(".qwen/ide/{port}.lock")] {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content.to_string()).unwrap();
    }
    silent
}

#[test]
fn companions_that_do_not_answer_are_tried_once_all_at_the_same_time() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let silent: Vec<_> = (0..3).map(|_| suspended(&root)).collect();
    let mut command = program(&root);
    let begun = Instant::now();
    let output = command.arg("env").current_dir(&root).output().unwrap();
    let time = begun.elapsed();
    assert!(time < Duration::from_secs(6), "one is waited for three seconds: {time:?}");
    assert_eq!(output.status.code(), Some(1));
    let named = |one: &&TcpListener| {
        let address = one.local_addr().unwrap();
        let error = format!("error: the companion at {address} does not answer. Its editor may be");
        text(&output.stderr).starts_with(&error)
    };
    assert_eq!(silent.iter().filter(named).count(), 1, "{}", text(&output.stderr));
    for one in &silent {
        one.set_nonblocking(true).unwrap();
        assert_eq!(one.incoming().take_while(Result::is_ok).count(), 1);
    }
}

#[test]
fn an_error_in_the_users_own_list_is_reported() {
    let companion = Companion::start("project");
    let mut command = companion.command(&["env"]);
    let output = command.env("SANDBOX_ENV", "A=1,B").output().unwrap();
    assert!(text(&output.stderr).contains("\"B\", which is not NAME=value"));
    assert!(text(&output.stdout).contains("SANDBOX_ENV='A=1,B,TERMINAL_EMULATOR="));
}
