//! Tests the texts of doctor and setup in odd surroundings.

#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::editor::TEST_TIMEOUT;
use crate::common::{Companion, program, text};

/// Runs doctor for Gemini CLI, and returns its text.
fn doctor(mut command: Command) -> String {
    let output = command.args(["doctor", "--client", "gemini"]).output().unwrap();
    text(&output.stdout).to_owned()
}

/// Returns a port without a listener.
fn closed_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

#[test]
fn a_path_with_a_name_that_is_not_unicode_still_has_the_other_folders() {
    let dir = tempfile::tempdir().unwrap();
    let gemini = dir.path().join("gemini");
    fs::write(&gemini, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&gemini, fs::Permissions::from_mode(0o755)).unwrap();
    let path = [b"/\xff:", dir.path().as_os_str().as_bytes()].concat();
    let mut command = program(dir.path());
    command.env("PATH", OsString::from_vec(path)).current_dir(&dir);
    let said = doctor(command);
    assert!(said.contains(&format!("{} starts it", gemini.display())), "{said}");
}

#[test]
fn a_folder_that_a_client_reads_as_two_must_be_renamed() {
    let companion = Companion::start("a:b");
    let folder = companion.project.join("sub");
    fs::create_dir(&folder).unwrap();
    let mut command = companion.command::<&str>(&[]);
    command.current_dir(&folder);
    let said = doctor(command);
    let shown = companion.project.display();
    assert!(said.contains(&format!("Rename {shown}, and open it again")), "{said}");
    let mut hook = companion.command(&["hook", "session-start", "--log-level", "info"]);
    let mut hook = hook.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(b"{}").unwrap();
    let log = hook.wait_with_output().unwrap().stderr;
    let expected = format!("Gemini CLI takes {shown} for several folders; rename it");
    assert!(text(&log).contains(&expected), "{}", text(&log));
}

#[test]
fn no_name_controls_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("a\u{1b}[31m");
    let files = dir.path().join("tmp/gemini/ide");
    fs::create_dir_all(&files).unwrap();
    fs::create_dir(&project).unwrap();
    let file = json!({
        "port": 1, "workspacePath": project, "authToken": "x",
        "ideInfo": { "name": "a", "displayName": "An editor\u{1b}[2J\u{9b}31m" },
    });
    fs::write(files.join("gemini-ide-server-1-1.json"), file.to_string()).unwrap();
    let mut command = program(dir.path());
    command.current_dir(&project);
    let said = doctor(command);
    assert!(said.contains("An editor\\u{1b}[2J"), "{said}");
    assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");

    let product = json!({
        "name": "IDE\u{1b}[2J", "version": "2025.1", "buildNumber": "251.1", "productCode": "IU",
        "dataDirectoryName": "IDE",
    });
    fs::create_dir(dir.path().join("ide")).unwrap();
    fs::write(dir.path().join("ide/product-info.json"), product.to_string()).unwrap();
    let output = program(dir.path()).args(["setup", "--dry-run"]).output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("IDE\\u{1b}[2J 2025.1: "), "{said}");
    assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
}

#[test]
fn a_file_or_a_link_in_the_place_of_the_folder_for_discovery_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other");
    fs::create_dir_all(dir.path().join("tmp")).unwrap();
    fs::create_dir(&other).unwrap();
    let place = dir.path().join("tmp/gemini");
    let make_file = || fs::write(&place, "notes").unwrap();
    let make_link = || symlink(&other, &place).unwrap();
    for make in [&make_file as &dyn Fn(), &make_link] {
        make();
        let mut command = program(dir.path());
        command.current_dir(&dir);
        let said = doctor(command);
        let name = place.display();
        let verdict = format!("{name} is not a folder, so no editor can leave its file there.");
        assert!(said.contains(&verdict), "{said}");
        assert!(said.contains(&format!("1. Move {name} away.")), "{said}");
        fs::remove_file(&place).unwrap();
    }
}

#[test]
fn a_cli_that_starts_in_a_sandbox_needs_the_variables() {
    let companion = Companion::start("project");
    let settings = companion.root().join(".gemini/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    let run = |sandbox: Value, vars: &[(&str, &str)]| {
        let all = json!({ "ide": { "enabled": true }, "tools": { "sandbox": sandbox } });
        fs::write(&settings, all.to_string()).unwrap();
        let mut command = companion.command::<&str>(&[]);
        command.env("REMOTE_CONTAINERS", "1").envs(vars.iter().copied());
        doctor(command)
    };
    let by_file = format!("tools.sandbox in {}", settings.display());
    let of_table = json!({ "enabled": true, "command": "podman" });
    for (sandbox, vars, by) in [
        (json!(true), &[][..], &*by_file),
        (json!("docker"), &[], &by_file),
        (of_table.clone(), &[], &by_file),
        (json!(false), &[("GEMINI_SANDBOX", "Docker ")], "GEMINI_SANDBOX"),
    ] {
        let said = run(sandbox, vars);
        let verdict =
            format!("Gemini CLI starts in a sandbox, by {by}, and finds no companion there.");
        assert!(said.starts_with(&format!("All is ready, but {verdict}\n")), "{said}");
    }
    let env = companion.ready["env"].as_object().unwrap();
    let mut set: Vec<_> =
        env.iter().map(|(name, value)| (&**name, value.as_str().unwrap())).collect();
    set.push(("SANDBOX_FLAGS", "--env GEMINI_CLI_IDE_AUTH_TOKEN"));
    set.push(("TERMINAL_EMULATOR", "JetBrains-JediTerm"));
    for (sandbox, vars) in [
        (json!(null), &[][..]),
        (json!(false), &[]),
        (json!({ "command": "podman" }), &[]),
        (json!(true), &[("GEMINI_SANDBOX", "false")]),
        (json!(true), &[("SANDBOX", "gemini-cli-sandbox")]),
        (of_table, &set),
    ] {
        let said = run(sandbox, vars);
        assert!(said.starts_with("Gemini CLI connects to "), "{vars:?}: {said}");
    }
}

/// Runs doctor with a Neovim that is a script of this one command.
fn doctor_with_neovim(script: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let nvim = dir.path().join("nvim");
    fs::write(&nvim, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&nvim, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = program(dir.path());
    command.env("PATH", dir.path()).current_dir(&dir);
    doctor(command)
}

#[test]
fn a_neovim_that_is_too_old_is_named() {
    let said = doctor_with_neovim("echo NVIM v0.9.5");
    assert!(said.contains("Neovim: version 0.9.5 of /"), "{said}");
    assert!(said.contains("/nvim is too old; the plugin needs 0.10 or newer"), "{said}");
}

#[test]
fn a_neovim_that_hangs_is_not_waited_for() {
    let begun = Instant::now();
    let said = doctor_with_neovim("exec /bin/sleep 60");
    assert!(said.contains("Neovim: "), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

/// Writes the user's settings of a client, with its IDE mode on.
fn write_settings(companion: &Companion, folder: &str, more: &Value) {
    let folder = companion.root().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let mut all = json!({ "ide": { "enabled": true } });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    fs::write(folder.join("settings.json"), all.to_string()).unwrap();
}

/// A container of the client has an address of its own, and looks for the companion on the host.
#[cfg(target_os = "linux")]
#[test]
fn a_container_with_the_variables_may_not_reach_the_companion() {
    let companion = Companion::start("project");
    write_settings(&companion, ".gemini", &json!({ "tools": { "sandbox": "docker" } }));
    let run = |args: &[&str], flags: &str| {
        let mut env = companion.command(&["env", "--format", "json"]);
        let env = env.args(args).env("SANDBOX_FLAGS", flags).output().unwrap().stdout;
        let env: std::collections::BTreeMap<String, String> = serde_json::from_slice(&env).unwrap();
        let mut command = companion.command::<&str>(&[]);
        command.env("REMOTE_CONTAINERS", "1").envs(env);
        doctor(command)
    };
    let may = |said: &str| said.contains(", if its sandbox reaches this machine.\n");
    let said = run(&[], "");
    assert!(may(&said) && said.contains("serve --listen 172.17.0.1"), "{said}");
    assert!(said.contains("gemini-companion env --host-network"), "{said}");
    assert!(may(&run(&["--host-network"], "")));
    assert!(may(&run(&[], "--network host")));
    for flags in ["--network host", "--network=host"] {
        let said = run(&["--host-network"], flags);
        assert!(said.starts_with("Gemini CLI connects to ") && !may(&said), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_sandbox_of_qwen_code_sees_no_process_of_the_host() {
    let companion = Companion::start("project");
    fs::create_dir_all(companion.root().join(".qwen/ide")).unwrap();
    write_settings(&companion, ".qwen", &json!({ "tools": { "sandbox": "docker" } }));
    let run = |vars: &[(&str, &str)]| {
        let mut command = companion.command(&["doctor", "--client", "qwen"]);
        let output = command.env("TMPDIR", companion.root().join("tmp")).envs(vars.iter().copied());
        text(&output.output().unwrap().stdout).to_owned()
    };
    let port = companion.ready["port"].to_string();
    // The companion notices the client's new folder.
    let file = companion.root().join(".qwen/ide").join(format!("{port}.lock"));
    let end = Instant::now() + TEST_TIMEOUT;
    while !file.exists() {
        assert!(Instant::now() < end, "{} is not there", file.display());
        thread::sleep(Duration::from_millis(10));
    }
    let said = run(&[]);
    assert!(said.starts_with("All is ready, but Qwen Code starts in a sandbox, by "), "{said}");
    let project = companion.project.to_str().unwrap();
    let variables =
        [("QWEN_CODE_IDE_SERVER_PORT", &*port), ("QWEN_CODE_IDE_WORKSPACE_PATH", project)];
    let said = run(&variables);
    assert!(said.starts_with("Qwen Code connects to "), "{said}");
    assert!(said.contains(", if its sandbox reaches this machine.\n"), "{said}");
}

/// The variables stay in a shell, such as one of tmux in Neovim's terminal.
#[test]
fn variables_of_a_closed_editor_are_not_the_terminals_fault() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = program(dir.path());
    command.env("REMOTE_CONTAINERS", "1").env("GEMINI_CLI_IDE_SERVER_PORT", closed_port());
    command.env("GEMINI_CLI_IDE_WORKSPACE_PATH", dir.path()).env("GEMINI_CLI_IDE_AUTH_TOKEN", "x");
    command.current_dir(&dir);
    let said = doctor(command);
    assert!(said.starts_with("Gemini CLI does not connect: it finds no companion.\n"), "{said}");
    assert!(
        said.contains("1. Open the project in an editor with the companion's plugin"),
        "{said}"
    );
}

#[test]
fn a_token_that_is_missing_is_named() {
    let companion = Companion::start("project");
    let mut command = companion.command::<&str>(&[]);
    command.env("TMPDIR", companion.root()).env("REMOTE_CONTAINERS", "1");
    command.env("GEMINI_CLI_IDE_SERVER_PORT", companion.ready["port"].to_string());
    command.env("GEMINI_CLI_IDE_WORKSPACE_PATH", &companion.project);
    command.env("TERMINAL_EMULATOR", "JetBrains-JediTerm");
    let said = doctor(command);
    let expected = "wants a token (401), and GEMINI_CLI_IDE_AUTH_TOKEN is not set.\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_editor_whose_file_is_not_found_may_have_another_folder_for_temporary_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = program(dir.path());
    command.env("REMOTE_CONTAINERS", "1").current_dir(&dir);
    let said = doctor(command);
    let folder = dir.path().join("tmp");
    let compare = format!("Compare TMPDIR in the editor with {}.", folder.display());
    assert!(said.contains(&compare), "{said}");
}

#[test]
fn variables_of_a_proxy_and_of_a_sandbox_in_a_file_are_named() {
    let companion = Companion::start("project");
    let trust = json!({ "security": { "folderTrust": { "enabled": false } } });
    write_settings(&companion, ".gemini", &trust);
    let file = companion.root().join(".gemini/.env");
    for name in ["GEMINI_SANDBOX", "HTTPS_PROXY", "http_proxy"] {
        fs::write(&file, format!("{name}=docker\n")).unwrap();
        let said = doctor(companion.command::<&str>(&[]));
        let expected = format!("the CLI also reads {name} from {}", file.display());
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn a_sandbox_is_on_by_the_settings_of_several_files() {
    let companion = Companion::start("project");
    write_settings(
        &companion,
        ".gemini",
        &json!({
            "security": { "folderTrust": { "enabled": false } },
            "tools": { "sandbox": { "enabled": true, "command": "docker" } },
        }),
    );
    let of_project = companion.project.join(".gemini");
    fs::create_dir(&of_project).unwrap();
    let sandbox = json!({ "tools": { "sandbox": { "allowedPaths": ["/opt"] } } });
    fs::write(of_project.join("settings.json"), sandbox.to_string()).unwrap();
    let mut command = companion.command::<&str>(&[]);
    command.env("REMOTE_CONTAINERS", "1");
    let said = doctor(command);
    assert!(said.starts_with("All is ready, but Gemini CLI starts in a sandbox, by "), "{said}");
}

#[test]
fn each_variable_of_a_proxy_must_be_valid() {
    let companion = Companion::start("project");
    for [good, wrong] in [["https_proxy", "HTTPS_PROXY"], ["HTTP_PROXY", "http_proxy"]] {
        for value in ["", "http://127.0.0.1:9"] {
            let mut command = companion.command::<&str>(&[]);
            command.env("REMOTE_CONTAINERS", "1").env(good, value).env(wrong, "proxy:3128");
            let said = doctor(command);
            let verdict = format!("does not connect: {wrong} is not a valid URL.\n");
            assert!(said.contains(&verdict), "{said}");
        }
    }
}
