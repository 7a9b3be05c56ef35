//! Tests the output, questions and exit codes of `gemini-companion setup`. The tests of
//! `companion-setup` check its effects.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use common::{PROGRAM, complaints, first_line, help, isolated, program, text};

#[test]
fn help_says_what_is_touched() {
    insta::assert_snapshot!("setup_help", help("setup"));
}

#[test]
fn wrong_files_and_arguments_are_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("no.zip"), "no zip").unwrap();
    let product = r#"{"name": "IDE", "version": "2025.1", "buildNumber": "251.1", "productCode": "IU",
        "dataDirectoryName": "IDE"}"#;
    fs::create_dir(dir.path().join("ide")).unwrap();
    fs::write(dir.path().join("ide/product-info.json"), product).unwrap();
    // The built program may have the plugin next to it.
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = elsewhere.path().join("bin/gemini-companion");
    fs::create_dir(elsewhere.path().join("bin")).unwrap();
    fs::hard_link(PROGRAM, &alone).unwrap();
    let run =
        |args: &[&str]| isolated(&alone, dir.path()).current_dir(&dir).args(args).output().unwrap();
    insta::assert_snapshot!(complaints(
        run,
        &[
            &["setup", "--plugin", "missing.zip"],
            &["setup", "--plugin", "no.zip"],
            &["setup", "--remove", "--plugin", "no.zip"],
        ],
    ));
    // A failed IDE does not stop the other steps.
    let output = run(&["setup", "ide", "--dry-run"]);
    assert_eq!(output.status.code(), Some(1));
    let plan = text(&output.stdout);
    let lacks = " FAIL  IDE 2025.1: the plugin's zip did not come with this program; name it: --plugin FILE\n";
    assert!(plan.starts_with(lacks) && plan.contains("would  gemini-companion: "), "{plan}");
    // A damaged zip does not stop them, either.
    let package = elsewhere.path().join("package");
    fs::create_dir(&package).unwrap();
    fs::write(package.join("companion-for-gemini-cli-1.zip"), "no zip").unwrap();
    let mut setup = isolated(&alone, dir.path());
    setup.current_dir(&dir).env("GEMINI_COMPANION_PACKAGE", package);
    let output = setup.args(["setup", "ide", "--dry-run"]).output().unwrap();
    let plan = text(&output.stdout);
    assert!(
        plan.contains("1.zip: invalid") && plan.contains("would  gemini-companion: "),
        "{plan}"
    );
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2, "nothing was made");
}

#[test]
fn nothing_to_take_away_is_fine() {
    let dir = tempfile::tempdir().unwrap();
    let output = program(dir.path()).args(["setup", "--remove", "--json"]).output().unwrap();
    assert!(output.status.success());
    let told: serde_json::Value = serde_json::from_str(text(&output.stdout)).unwrap();
    assert_eq!(told, serde_json::json!({ "steps": [] }));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}

/// Starts a `serve --resume` for a separate folder, and waits until it is ready.
fn serve(home: &Path, name: &str) -> Child {
    let workspace = home.join(name);
    fs::create_dir(&workspace).unwrap();
    let mut command = program(home);
    command.args(["serve", "--resume", "--workspace"]).arg(workspace);
    let mut serve = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    first_line(&mut serve);
    serve
}

#[test]
fn the_files_of_a_killed_companion_are_removed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join(".local/state/companion-for-gemini-cli/resume");
    let files = || {
        let files = fs::read_dir(&state).into_iter().flatten();
        let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let mut running = serve(dir.path(), "running");
    let of_running = files();
    let mut killed = serve(dir.path(), "killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let all = files();
    assert!(all.len() > of_running.len());
    let remove = |args: &[&str]| {
        let output = program(dir.path()).args(["setup", "--remove"]).args(args).output().unwrap();
        assert!(output.status.success());
        text(&output.stdout).to_owned()
    };
    let plan = remove(&["--dry-run"]);
    assert!(plan.starts_with("would  Killed companions: remove their files"), "{plan}");
    assert_eq!(files(), all, "a plan touches nothing");
    assert!(remove(&["--yes"]).starts_with(" done  Killed companions: "));
    assert_eq!(files(), of_running);
    assert_eq!(remove(&["--yes"]), "");

    running.kill().unwrap();
    running.wait().unwrap();
    remove(&["--yes"]);
    assert!(!state.parent().unwrap().exists());
}

#[test]
fn the_home_folder_of_another_user_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut home = dir.path().join("home");
    fs::create_dir(&home).unwrap();
    // Only root may change an owner. For other users, the root folder belongs to another user.
    if std::os::unix::fs::chown(&home, Some(4321), None).is_err() {
        home = "/".into();
    }
    for args in [["setup", "--yes"], ["setup", "--dry-run"], ["setup", "--remove"]] {
        let output = program(&home).args(args).output().unwrap();
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {complaint}");
        assert!(complaint.contains("belongs to another user"), "{args:?}: {complaint}");
        assert!(complaint.contains("without sudo"), "{args:?}: {complaint}");
        for name in [".gemini", ".local/state/gemini-companion", ".local/bin/gemini-companion"] {
            assert!(!home.join(name).exists(), "{args:?}: {name}");
        }
    }
}
