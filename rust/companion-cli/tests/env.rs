//! Tests the output of `gemini-companion env`, and its effect in a shell.

#![cfg(unix)]

use std::process::Command;

use crate::common::{Companion, assert_shows, help, program, text};
use serde_json::Value;

const NAMES: [&str; 4] = [
    "GEMINI_CLI_IDE_AUTH_TOKEN",
    "GEMINI_CLI_IDE_PID",
    "GEMINI_CLI_IDE_SERVER_PORT",
    "GEMINI_CLI_IDE_WORKSPACE_PATH",
];

fn in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| std::path::Path::new(mark).exists())
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
fn a_shell_that_evaluates_it_has_what_the_editor_said() {
    let companion = Companion::start("a 'b' \"c\" $HOME `id` \\ é\n文");
    let output = companion.run(&["env"]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&companion.run(&["env", "--format", "sh"]).stdout), text(&output.stdout));
    for name in NAMES {
        let script = format!("{}\nprintf %s \"${name}\"", text(&output.stdout));
        let shell = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(text(&shell.stdout), companion.ready["env"][name].as_str().unwrap(), "{name}");
    }
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
    std::fs::write(std::path::Path::new(file).with_file_name(name), stale).unwrap();
    let mut command = companion.command(&["env"]);
    let output = command.env("GEMINI_CLI_IDE_PID", pid.to_string()).output().unwrap();
    assert!(text(&output.stdout).contains(companion.token()), "{}", text(&output.stderr));
}

#[test]
fn a_companion_that_does_not_answer_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    // It takes connections and sends nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let port = address.port();
    let file =
        root.join(format!("tmp/gemini/ide/gemini-ide-server-{}-{port}.json", std::process::id()));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let content = serde_json::json!({
        "port": port, "workspacePath": root, "authToken": "the-secret",
        "ideInfo": { "name": "a", "displayName": "A" },
    });
    std::fs::write(file, content.to_string()).unwrap();
    let mut command = program(&root);
    let output = command.arg("env").current_dir(&root).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected =
        format!("error: the companion at {address} does not answer. Its editor may be suspended\n");
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn an_error_in_the_users_own_list_is_reported() {
    let companion = Companion::start("project");
    let mut command = companion.command(&["env"]);
    let output = command.env("SANDBOX_ENV", "A=1,B").output().unwrap();
    assert!(text(&output.stderr).contains("\"B\", which is not NAME=value"));
    assert!(text(&output.stdout).contains("SANDBOX_ENV='A=1,B,TERMINAL_EMULATOR="));
}
