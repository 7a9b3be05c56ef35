//! Tests `gemini-companion container`, with a docker that records its call.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Companion, help, text};

/// A script that writes its arguments and its environment, each ended by a NUL, and exits with 7.
const DOCKER: &str = "#!/bin/sh
printf '%s\\0' \"$@\" > \"$HOME/args\"
env -0 > \"$HOME/env\"
exit 7
";

fn install(companion: &Companion, names: &[&str]) {
    for name in names {
        let file = companion.root().join("bin").join(name);
        std::fs::write(&file, DOCKER).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Starts a companion for a project with this name, with docker and podman in its PATH.
fn scene(project: &str) -> Companion {
    let companion = Companion::start(project);
    install(&companion, &["docker", "podman", "nerdctl"]);
    companion
}

fn command(companion: &Companion, args: &[&str]) -> Command {
    let args: Vec<_> = [&["container"], args].concat();
    let mut command = companion.command(&args);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", companion.root().join("bin").display()));
    command
}

/// Returns the program's output, with the values that differ between runs replaced.
fn steady(companion: &Companion, text: &str) -> String {
    let name = |name: &str| companion.ready["env"][name].as_str().unwrap().to_owned();
    let file = companion.ready["discoveryFiles"]["gemini"].as_str().unwrap();
    let file = Path::new(file).file_name().unwrap().to_str().unwrap().to_owned();
    text.replace(companion.token(), "SECRET")
        .replace(&file, "FILE")
        .replace(companion.root().to_str().unwrap(), "")
        .replace(env!("CARGO_BIN_EXE_gemini-companion"), "PROGRAM")
        .replace(&name("GEMINI_CLI_IDE_SERVER_PORT"), "PORT")
        .replace(&format!("_PID={}", name("GEMINI_CLI_IDE_PID")), "_PID=PID")
}

/// Returns docker's arguments and the variables that it received from us.
fn called(companion: &Companion) -> (String, Vec<String>) {
    let read = |name: &str| {
        let text = std::fs::read_to_string(companion.root().join(name)).unwrap();
        std::fs::remove_file(companion.root().join(name)).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let ours = ["GEMINI_CLI_IDE_", "TERMINAL_EMULATOR=", "REMOTE_CONTAINERS="];
    let mut env = read("env");
    env.retain(|one| ours.iter().any(|ours| one.starts_with(ours)));
    env.sort();
    (read("args").join("\n"), env)
}

fn check_exit(output: &Output) {
    assert_eq!(output.status.code(), Some(7), "the command's own: {}", text(&output.stderr));
}

/// Runs the program in a folder. Returns the call of docker and the notes, below a title.
fn call(companion: &Companion, title: &str, folder: &Path, args: &[&str]) -> String {
    let output = command(companion, args).current_dir(folder).output().unwrap();
    check_exit(&output);
    let (args, env) = called(companion);
    assert!(!args.contains(companion.token()), "a command line can be read by everybody");
    let (env, notes) = (env.join("\n"), text(&output.stderr));
    steady(companion, &format!("[{title}]\n{args}\n--\n{env}\n--\n{notes}\n"))
}

#[test]
fn help_shows_what_to_type() {
    insta::assert_snapshot!("container_help", help("container"));
}

#[test]
fn what_is_missing_is_added_and_what_is_said_stays() {
    let companion = scene("project");
    std::fs::create_dir(companion.project.join("sub")).unwrap();
    let project = companion.project.to_str().unwrap();
    let own = format!("{project}:{project}");
    let parent = format!("{0}:{0}:ro", companion.root().display());
    let elsewhere = format!("{project}:/work");
    let mut all = String::new();
    for (title, args) in [
        ("docker", &["docker", "run", "--rm", "-it", "image", "gemini", "-v", "/x:/y"][..]),
        ("podman", &["podman", "--log-level", "info", "create", "image"]),
        ("nerdctl", &["nerdctl", "run", "image"]),
        ("network of the host", &["docker", "run", "--network=host", "image"]),
        ("no network", &["docker", "run", "--net", "none", "image"]),
        ("network of another", &["docker", "run", "--network", "container:x", "image"]),
        ("host is known", &["docker", "run", "--add-host=host.docker.internal:10.0.0.1", "image"]),
        ("mounted", &["docker", "run", "-v", &own, "-w", "/", "image"]),
        ("parent mounted", &["docker", "run", "-v", &parent, "image"]),
        ("mounted elsewhere", &["docker", "run", "-v", &elsewhere, "-w", "/work", "image"]),
        ("another volume", &["docker", "run", "-v", "project:/data", "image"]),
        ("exec", &["docker", "exec", "-it", "name", "gemini"]),
        ("compose", &["docker", "compose", "-f", "x.yml", "run", "app"]),
    ] {
        all += &call(&companion, title, &companion.project, &[&["--"], args].concat());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_bridge_finds_the_companion_and_translates() {
    let companion = scene("project");
    let project = companion.project.to_str().unwrap();
    let elsewhere = format!("{project}:/work");
    let mut all = String::new();
    for (title, args) in [
        ("not mounted", &["docker", "run", "image"][..]),
        ("network of the host", &["docker", "run", "--network", "host", "-v", &elsewhere, "image"]),
    ] {
        all += &call(&companion, title, &companion.project, &[&["--bridge", "--"], args].concat());
    }
    insta::assert_snapshot!(all);
}

#[test]
fn of_a_project_only_the_mounted_part_is_in_the_container() {
    let companion = scene("project");
    let sub = companion.project.join("sub");
    std::fs::create_dir(&sub).unwrap();
    let part = format!("{}:/w", sub.display());
    let same = format!("{0}:{0}", sub.display());
    let cache = format!("{}:/root/.cache", sub.display());
    let store = companion.project.join(".npm");
    std::fs::create_dir(&store).unwrap();
    let store = format!("{}:/root/.npm", store.display());
    let both = ["docker", "run", "-v", &part, "-v", &store, "-w", "/w", "image"];
    let both = [&["--"], &both[..]].concat();
    let both_by_bridge = [&["--bridge"], &both[..]].concat();
    let mut all = String::new();
    for (title, folder, args) in [
        ("without a bridge", &sub, &["--", "docker", "run", "-v", &part, "-w", "/w", "image"][..]),
        ("bridge", &sub, &["--bridge", "--", "docker", "run", "-v", &part, "-w", "/w", "image"]),
        ("no working folder", &sub, &["--bridge", "--", "docker", "run", "-v", &part, "image"]),
        ("at its own path", &sub, &["--", "docker", "run", "-v", &same, "image"]),
        ("another purpose", &companion.project, &["--", "docker", "run", "-v", &cache, "image"]),
        ("a part and another purpose", &sub, &both),
        ("the same by a bridge", &sub, &both_by_bridge),
    ] {
        all += &call(&companion, title, folder, args);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_linked_worktree_has_the_git_folder_that_it_shares_at_its_own_path() {
    let companion = scene("project");
    let git = link_worktree(&companion);
    let called_with = |mounts: &[String]| {
        let volumes = mounts.iter().map(|mount| format!("-v={mount}"));
        let args = ["--", "docker", "run"].map(str::to_owned).into_iter().chain(volumes);
        let args: Vec<_> = args.chain(["image".to_owned()]).collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        check_exit(&command(&companion, &args).output().unwrap());
        called(&companion).0
    };
    let (volume, read_only) =
        (format!("--volume={0}:{0}", git.display()), format!("--volume={0}:{0}:ro", git.display()));
    let project = companion.project.to_str().unwrap();
    let (root, main) = (companion.root(), git.parent().unwrap());
    for (mounts, expected) in [
        (vec![], Some(&volume)),
        (vec![format!("{0}:{0}:ro", git.display())], None),
        (vec![format!("{project}:{project}")], Some(&volume)),
        (vec![format!("{project}:{project}:ro")], Some(&read_only)),
        (vec![format!("{project}:/work")], None),
        (vec![format!("{}:/src", main.display())], Some(&volume)),
        (vec![format!("{0}:{0}", main.display())], None),
        (vec![format!("{0}:{0}", root.display())], None),
        (vec![format!("{project}:{project}"), format!("{0}:{0}", main.display())], None),
    ] {
        let args = called_with(&mounts);
        let added = args.lines().find(|arg| arg.starts_with(&volume));
        assert_eq!(added, expected.map(String::as_str), "{mounts:?}: {args}");
    }
    assert!(!called_with(&[]).contains(&format!("{}:", main.display())), "not the main checkout");
    std::fs::write(git.join("worktrees/project/gitdir"), "/elsewhere/.git\n").unwrap();
    assert!(!called_with(&[]).contains(&volume), "the repository must name the worktree");
}

/// Makes the companion's project a linked worktree. Returns the `.git` folder of the main one.
fn link_worktree(companion: &Companion) -> PathBuf {
    let git = companion.root().join("main/.git");
    let entry = git.join("worktrees/project");
    std::fs::create_dir_all(&entry).unwrap();
    let dot_git = companion.project.join(".git");
    std::fs::write(entry.join("gitdir"), format!("{}\n", dot_git.display())).unwrap();
    std::fs::write(entry.join("commondir"), "../..\n").unwrap();
    std::fs::write(&dot_git, format!("gitdir: {}\n", entry.display())).unwrap();
    git
}

#[test]
fn a_folder_below_a_root_that_is_a_link_is_where_the_root_is_mounted() {
    let companion = Companion::start_by("project", "link");
    install(&companion, &["docker"]);
    let sub = companion.root().join("project/sub");
    std::fs::create_dir(&sub).unwrap();
    let mut docker = command(&companion, &["--", "docker", "run", "image"]);
    check_exit(&docker.current_dir(sub).output().unwrap());
    let (args, _) = called(&companion);
    let link = companion.project.to_str().unwrap();
    assert!(args.contains(&format!("--volume={link}:{link}\n--workdir={link}/sub\n")), "{args}");
}

#[test]
fn print_shows_the_command_and_starts_nothing() {
    let companion = scene("a project");
    let output = command(&companion, &["--print", "--", "docker", "run", "image", "a b"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!companion.root().join("args").exists());
    let shown = text(&output.stdout);
    assert!(!shown.contains(companion.token()));
    insta::assert_snapshot!(steady(&companion, shown));
}

#[test]
fn no_ide_passes_nothing_at_all() {
    let companion = scene("project");
    let args = ["--no-ide", "--", "docker", "run", "-e", "GEMINI_CLI_IDE_AUTH_TOKEN", "image"];
    let mut command = command(&companion, &args);
    for (name, value) in companion.ready["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    check_exit(&command.output().unwrap());
    let (args, env) = called(&companion);
    assert_eq!(args, "run\n-e\nGEMINI_CLI_IDE_AUTH_TOKEN\nimage");
    assert_eq!(env, Vec::<String>::new());
}

#[test]
fn in_a_terminal_of_the_editor_it_is_the_same() {
    let companion = scene("project");
    let args = ["--", "docker", "run", "image"];
    check_exit(&command(&companion, &args).output().unwrap());
    let outside = called(&companion);
    let mut inside = command(&companion, &args);
    for (name, value) in companion.ready["env"].as_object().unwrap() {
        inside.env(name, value.as_str().unwrap());
    }
    check_exit(&inside.output().unwrap());
    assert_eq!(called(&companion), outside);
}

#[test]
fn what_does_not_work_is_reported_and_nothing_is_started() {
    let companion = scene("project");
    let mut all = String::new();
    for args in [
        &["--", "docker", "build", "."][..],
        &["--", "sudo", "docker", "run", "image"],
        &["--", "kubectl", "run", "x"],
        &["--bridge", "--", "docker", "exec", "name", "sh"],
        &["--bridge=/no/such/program", "--", "docker", "run", "image"],
        &["--workspace", "/", "--", "docker", "run", "image"],
        &["--no-ide", "--", "/no/such/docker", "run", "image"],
    ] {
        let output = command(&companion, args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(!companion.root().join("args").exists(), "{args:?}");
        writeln!(all, "{args:?}\n{}", steady(&companion, text(&output.stderr))).unwrap();
    }
    insta::assert_snapshot!(all);
}
