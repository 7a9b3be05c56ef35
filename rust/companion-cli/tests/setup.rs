//! Tests the output, questions and exit codes of `gemini-companion setup`. The tests of
//! `companion-setup` check its effects.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{PROGRAM, complaints, first_line, help, isolated, program, text};
use tempfile::TempDir;

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
    fs::create_dir(dir.path().join("empty")).unwrap();
    let run = |args: &[&str]| {
        let mut setup = isolated(&alone, dir.path());
        setup.env("PATH", dir.path().join("empty")).current_dir(&dir).args(args).output().unwrap()
    };
    insta::assert_snapshot!(complaints(
        run,
        &[
            &["setup", "--plugin", "missing.zip"],
            &["setup", "--plugin", "no.zip"],
            &["setup", "--remove", "--plugin", "no.zip"],
            &["setup", "--json"],
            &["setup", "--json", "--remove"],
            &["setup", "-y", "neovmi"],
            &["setup", "-y", "ide", "neovmi"],
            &["setup", "-y", ""],
            &["setup", "-y", "empty"],
            &["setup", "-y", "neovim"],
            &["setup", "-y", "ide", "--plugin", "no.zip", "other.zip"],
            &["setup", "-y", "other.zip"],
            &["setup", "--remove", "-y", "neovmi"],
        ],
    ));
    // A failed IDE does not stop the other steps.
    let output = run(&["setup", "ide", "--dry-run"]);
    assert_eq!(output.status.code(), Some(1));
    let plan = text(&output.stdout);
    let lacks = " FAIL  IDE 2025.1: this program came without the plugin's zip; name the zip: --plugin FILE\n";
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
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3, "nothing was made");
}

#[test]
fn nothing_to_take_away_is_fine() {
    let dir = tempfile::tempdir().unwrap();
    let output =
        program(dir.path()).args(["setup", "--remove", "--json", "--yes"]).output().unwrap();
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_str(text(&output.stdout)).unwrap();
    assert_eq!(report, serde_json::json!({ "steps": [] }));
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
fn the_files_of_ended_companions_are_removed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join(".local/state/companion-for-gemini-cli/resume");
    let suspended = state.with_file_name("suspended");
    let shared = dir.path().join("tmp/gemini/ide");
    let qwen = dir.path().join(".qwen/ide");
    fs::create_dir_all(&qwen).unwrap();
    let files = || {
        let dirs = [&state, &shared, &qwen, &suspended];
        let mut all: Vec<_> =
            dirs.iter().flat_map(fs::read_dir).flatten().map(|file| file.unwrap().path()).collect();
        all.sort();
        all
    };
    let mut running = serve(dir.path(), "running");
    let of_running = files();
    let mut quit = serve(dir.path(), "quit");
    drop(quit.stdin.take());
    assert!(quit.wait().unwrap().success());
    let with_quit = files();
    assert!(with_quit.len() > of_running.len());
    // Last, because a start removes such files.
    let mut killed = serve(dir.path(), "killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    fs::create_dir(&suspended).unwrap();
    fs::write(suspended.join("1"), "").unwrap();
    let all = files();
    assert!(all.len() > with_quit.len());
    let remove = |args: &[&str]| {
        let output = program(dir.path()).args(["setup", "--remove"]).args(args).output().unwrap();
        assert!(output.status.success());
        text(&output.stdout).to_owned()
    };
    let plan = remove(&["--dry-run"]);
    for dir in [&state, &shared, &qwen, &suspended] {
        let step =
            "would  Ended companions: remove their files, with any tokens and waiting comments";
        assert!(plan.contains(&format!("{step}\n       {}\n", dir.display())), "{plan}");
    }
    assert_eq!(files(), all, "a plan touches nothing");
    assert!(remove(&["--yes"]).starts_with(" done  Ended companions: "));
    assert_eq!(files(), of_running);
    assert_eq!(remove(&["--yes"]), "Nothing to remove.\n");

    running.kill().unwrap();
    running.wait().unwrap();
    remove(&["--yes"]);
    assert!(files().is_empty());
    assert!(!state.parent().unwrap().exists());
    assert!(!qwen.exists() && qwen.parent().unwrap().is_dir());
}

#[test]
fn a_plugin_that_stays_counts_as_installed() {
    let dir = home();
    let bin = neovim(dir.path());
    let setup = || {
        let mut setup = program(dir.path());
        let output = setup.env("PATH", &bin).args(["setup", "--yes"]).output().unwrap();
        text(&output.stdout).to_owned()
    };
    let said = setup();
    assert!(said.contains(" done  Neovim: ") && said.contains("Next steps"), "{said}");
    let packages = dir.path().join(".local/share/nvim/site/pack/companion/start");
    let file = packages.join("gemini_companion/lua/gemini_companion/init.lua");
    fs::write(file, "-- changed by the user").unwrap();
    let said = setup();
    assert!(said.contains(" skip  Neovim: ") && said.contains("Next steps"), "{said}");
    fs::remove_dir_all(packages.join("gemini_companion")).unwrap();
    let said = setup();
    assert!(said.contains("No editor has the plugin yet."), "{said}");
}

#[test]
fn setup_and_companions_share_one_private_folder() {
    let dir = home();
    let state = dir.path().join(".local/state");
    let ours = state.join("companion-for-gemini-cli");
    let bin = neovim(dir.path());
    let run = |args: &[&str]| {
        let mut setup = program(dir.path());
        let output = setup.env("PATH", &bin).arg("setup").args(args).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    run(&["--yes"]);
    assert_eq!(fs::metadata(&ours).unwrap().permissions().mode() & 0o777, 0o700);
    let mut serve = serve(dir.path(), "project");
    let of_companion = || tree(&ours.join("resume")).into_iter().map(|(path, _)| path);
    let before: Vec<_> = of_companion().collect();
    assert!(!before.is_empty());
    assert!(ours.join("setup.json").exists());
    let dirs: Vec<_> = fs::read_dir(&state).unwrap().map(|dir| dir.unwrap().path()).collect();
    assert_eq!(dirs, [&*ours], "there is one folder");
    run(&["--remove", "--yes"]);
    assert!(of_companion().eq(before), "the running companion keeps its files");
    assert!(!ours.join("setup.json").exists());
    drop(serve.stdin.take());
    assert!(serve.wait().unwrap().success());
    run(&["--remove", "--yes"]);
    assert!(!ours.exists());
}

#[test]
fn all_else_is_removed_although_the_files_of_companions_can_not_be() {
    let dir = home();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::create_dir(elsewhere.path().join("resume")).unwrap();
    fs::create_dir_all(dir.path().join(".local/state")).unwrap();
    let link = dir.path().join(".local/state/companion-for-gemini-cli");
    std::os::unix::fs::symlink(elsewhere.path(), link).unwrap();
    let before = tree(dir.path());
    let run = |args: &[&str]| program(dir.path()).arg("setup").args(args).output().unwrap();
    run(&["--yes"]);
    assert_ne!(tree(dir.path()), before);
    let output = run(&["--remove", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    let failed = " FAIL  Ended companions: their files can't be removed: ";
    assert!(said.contains(failed) && said.contains("is a symbolic link"), "{said}");
    assert!(!said.contains("TMPDIR"), "{said}");
    assert_eq!(tree(dir.path()), before);
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
        for name in
            [".gemini", ".local/state/companion-for-gemini-cli", ".local/bin/gemini-companion"]
        {
            assert!(!home.join(name).exists(), "{args:?}: {name}");
        }
    }
}

/// Returns all files and folders below a folder, with the content of the files.
fn tree(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path.clone());
            }
            found.push((path.clone(), fs::read(path).ok()));
        }
    }
    found.sort();
    found
}

/// Creates a folder for the PATH with a program that stands for Neovim.
fn neovim(home: &Path) -> PathBuf {
    let bin = home.join("path");
    fs::create_dir(&bin).unwrap();
    let nvim = bin.join("nvim");
    fs::write(&nvim, "#!/bin/sh\necho NVIM v0.11.4\n").unwrap();
    fs::set_permissions(&nvim, fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

/// Creates a home folder with settings.
fn home() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".gemini")).unwrap();
    fs::write(dir.path().join(".gemini/settings.json"), "{ \"a\": 1 } // mine\n").unwrap();
    dir
}

#[test]
fn however_often_setup_is_killed_a_removal_leaves_nothing() {
    let dir = home();
    let before = tree(dir.path());
    for delay in 0..12 {
        let mut setup = program(dir.path());
        setup.args(["setup", "--yes"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut setup = setup.spawn().unwrap();
        // Any moment will do.
        std::thread::sleep(Duration::from_millis(delay * 7));
        setup.kill().unwrap();
        setup.wait().unwrap();
        if delay % 3 == 0 {
            let output = program(dir.path()).args(["setup", "--remove", "-y"]).output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert_eq!(tree(dir.path()), before, "after {delay}");
        }
    }
    program(dir.path()).args(["setup", "--remove", "-y"]).output().unwrap();
    assert_eq!(tree(dir.path()), before);
}

/// The first byte that this run writes kills it.
#[test]
fn folders_that_a_killed_run_was_creating_are_removed() {
    let dir = home();
    let before = tree(dir.path());
    let mut setup = isolated(Path::new("/bin/sh"), dir.path());
    setup.args(["-c", "ulimit -f 0; exec \"$0\" setup --yes", PROGRAM]);
    assert_eq!(setup.output().unwrap().status.code(), None);
    let remove = ["setup", "--remove", "-y"];
    assert!(program(dir.path()).args(remove).output().unwrap().status.success());
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn a_refused_or_dry_run_changes_nothing_and_announces_nothing() {
    let dir = home();
    let before = tree(dir.path());
    let run = |args: &[&str]| program(dir.path()).arg("setup").args(args).output().unwrap();
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("Nothing was changed"), "{}", text(&refused.stderr));
    for output in [refused, run(&["--dry-run"]), run(&["--dry-run", "--json"])] {
        let said = text(&output.stdout);
        assert!(said.contains("gemini-companion"), "{said}");
        for announced in ["Next steps", "setup.json"] {
            assert!(!said.contains(announced), "{said}");
        }
    }
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn a_run_with_a_failure_ends_with_that() {
    let dir = home();
    fs::create_dir(dir.path().join(".local")).unwrap();
    fs::write(dir.path().join(".local/bin"), "a file in place of the folder").unwrap();
    let output = program(dir.path()).args(["setup", "-y"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(
        said.ends_with("Some steps failed. Correct the causes, and run this again.\n"),
        "{said}"
    );
    assert!(!said.contains("Next steps"), "{said}");
}

#[test]
fn a_folder_that_can_not_be_used_is_named() {
    let run = |home: &Path, current: &Path, args: &[&str]| {
        let output = program(home).current_dir(current).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr).to_owned()
    };
    let said = run(Path::new("/dev/null"), Path::new("/"), &["setup", "--dry-run"]);
    assert_eq!(said, "error: the home folder /dev/null is not a folder; set HOME\n");
    let dir = home();
    fs::create_dir_all(dir.path().join(".local/state")).unwrap();
    fs::write(dir.path().join(".local/state/companion-for-gemini-cli"), "no folder").unwrap();
    for args in [["setup", "--dry-run"], ["setup", "--yes"]] {
        let said = run(dir.path(), dir.path(), &args);
        assert!(said.contains(".local/state/companion-for-gemini-cli"), "{said}");
    }
    let dir = home();
    fs::create_dir(dir.path().join(".local")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join(".local/state")).unwrap();
    let said = run(dir.path(), dir.path(), &["setup", "--yes"]);
    assert!(said.contains(".local/state is a link to nowhere, which does not exist"), "{said}");
}

#[test]
fn a_current_folder_that_is_gone_is_named() {
    let dir = home();
    for args in ["setup --dry-run", "doctor", "env", "mcp", "bridge", "serve --workspace ."] {
        let script = format!("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" {args}");
        let mut shell = isolated(Path::new("/bin/sh"), dir.path());
        shell.current_dir(&dir).args(["-c", &script]).arg(PROGRAM).stdin(Stdio::null());
        let output = shell.output().unwrap();
        let said = text(&output.stderr);
        let fix = "change to another folder";
        assert!(said.contains("the current folder") && said.contains(fix), "{args}: {said}");
    }
}
