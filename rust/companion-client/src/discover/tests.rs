//! Tests the client's choice for tables of files and environments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod by_port;

use std::fs;
use std::path::Path;

use companion_platform::{ProcessInfo, current_user};
use companion_protocol::profile::{GEMINI, Roots};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// A running process, according to [`is_alive`].
const ALIVE: u32 = 500;
const DEAD: u32 = 901;

fn is_alive(pid: u32) -> bool {
    pid < 900
}

/// The folders `tmp`, `project`, `project/sub` and `other`, and an environment in `project`.
struct Scene {
    root: TempDir,
    environment: Environment,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for dir in ["project/sub", "other", "tmp/gemini/ide"] {
            fs::create_dir_all(at(dir)).unwrap();
        }
        let environment = Environment {
            profile: &GEMINI,
            vars: std::collections::BTreeMap::new(),
            cwd: at("project"),
            temp_dir: at("tmp"),
            uid: current_user(),
            ide_pid: 1,
            is_alive,
            container: None,
        };
        Self { root, environment }
    }

    fn path(&self, name: &str) -> String {
        self.root.path().join(name).to_str().unwrap().to_owned()
    }

    fn var(&mut self, name: &str, value: &str) -> &mut Self {
        self.environment.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.environment.discovery_dir().join(name), content).unwrap();
    }

    /// Writes a file like a companion, for the folder `workspace` of the scene.
    fn file(&self, pid: u32, port: u16, workspace: &str) -> &Self {
        let name = format!("gemini-ide-server-{pid}-{port}.json");
        self.write(&name, &content(port, &self.path(workspace)).to_string());
        self
    }

    fn plan(&self) -> Plan {
        Plan::of(&self.environment)
    }

    /// Returns the ports of the files in the client's order, and the verdict on each.
    fn standings(&self) -> Vec<(String, CandidateStatus)> {
        let candidates = self.plan().search.candidates;
        let port = |one: &Candidate| {
            let name = one.path.file_stem().unwrap().to_str().unwrap().to_owned();
            name.rsplit('-').next().unwrap().to_owned()
        };
        candidates.iter().map(|one| (port(one), one.standing.clone())).collect()
    }
}

/// Returns a companion's discovery file.
fn content(port: u16, workspace_path: &str) -> Value {
    json!({
        "port": port,
        "workspacePath": workspace_path,
        "authToken": format!("token-{port}"),
        "ideInfo": {"name": "editor", "displayName": "Editor"},
    })
}

fn ranked(expected: &[(&str, CandidateStatus)]) -> Vec<(String, CandidateStatus)> {
    expected.iter().map(|(port, standing)| ((*port).to_owned(), standing.clone())).collect()
}

fn http(port: u16, origin: Origin) -> Route {
    Route { target: Target::Http { host: "127.0.0.1", port }, origin, token: None }
}

#[test]
fn files_are_ordered_by_process_life_and_number() {
    use CandidateStatus::{Chosen, Outranked};
    let mut scene = Scene::new();
    scene.environment.ide_pid = 300;
    scene.file(DEAD, 1, "project").file(500, 2, "project").file(300, 3, "project");
    scene.file(600, 4, "project");
    let order =
        [("3", Chosen(Reason::First)), ("4", Outranked), ("2", Outranked), ("1", Outranked)];
    assert_eq!(scene.standings(), ranked(&order));

    scene.var(GEMINI.variables.port, "2");
    let order = [("3", Outranked), ("4", Outranked), ("2", Chosen(Reason::Port)), ("1", Outranked)];
    assert_eq!(scene.standings(), ranked(&order));

    scene.var(GEMINI.variables.port, "99");
    assert_eq!(scene.standings()[0], ("3".to_owned(), Chosen(Reason::First)));

    // The process that the terminal names comes first, even if it has ended.
    scene.environment.ide_pid = DEAD;
    assert_eq!(scene.standings()[0], ("1".to_owned(), Chosen(Reason::First)));
}

#[test]
fn files_of_one_process_are_in_the_order_of_their_names() {
    let scene = Scene::new();
    scene.file(ALIVE, 9, "project").file(ALIVE, 10, "project");
    assert_eq!(scene.standings()[0].0, "10");
}

#[test]
fn a_file_whose_workspace_fits_wins_over_a_better_process() {
    let mut scene = Scene::new();
    scene.environment.ide_pid = ALIVE;
    scene.file(ALIVE, 1, "other").file(DEAD, 2, "project");
    let other = WorkspaceError::Elsewhere(vec![fs::canonicalize(scene.path("other")).unwrap()]);
    let expected =
        [("1", CandidateStatus::Workspace(other)), ("2", CandidateStatus::Chosen(Reason::OnlyOne))];
    assert_eq!(scene.standings(), ranked(&expected));
    assert_eq!(scene.plan().workspace, Ok(()));
}

#[test]
fn if_no_workspace_fits_the_best_file_says_which_folders_are_open() {
    let mut scene = Scene::new();
    scene.file(ALIVE, 1, "other").file(400, 2, "project/sub");
    assert_eq!(scene.standings()[0].1, CandidateStatus::Chosen(Reason::NoneFits));
    let other = vec![fs::canonicalize(scene.path("other")).unwrap()];
    assert_eq!(scene.plan().workspace, Err(WorkspaceError::Elsewhere(other)));
    scene.var(GEMINI.variables.port, "2");
    assert_eq!(scene.standings()[1].1, CandidateStatus::Chosen(Reason::NoneFits));
}

#[test]
fn only_running_editors_have_folders_open() {
    let scene = Scene::new();
    scene.file(DEAD, 1, "other");
    let other = vec![fs::canonicalize(scene.path("other")).unwrap()];
    let plan = scene.plan();
    assert_eq!(plan.workspace, Err(WorkspaceError::Elsewhere(other)), "the CLI's own message");
    assert!(plan.is_left_over());
    assert_eq!(plan.open_folders(), Vec::<PathBuf>::new());
    scene.file(ALIVE, 2, "project/sub");
    let plan = scene.plan();
    assert_eq!(plan.open_folders(), [fs::canonicalize(scene.path("project/sub")).unwrap()]);
}

#[test]
fn what_is_no_discovery_file_of_ours_is_passed_over() {
    let mut scene = Scene::new();
    for name in ["gemini-ide-server-1-x.json", "gemini-ide-server--1.json", "a.json", "x.json.tmp"]
    {
        scene.write(name, "{}");
    }
    assert!(scene.standings().is_empty());
    scene.write("gemini-ide-server-9-1.json", "no json");
    scene.write("gemini-ide-server-8-2.json", "[]");
    fs::create_dir(scene.environment.discovery_dir().join("gemini-ide-server-7-3.json")).unwrap();
    let expected = [
        ("1", CandidateStatus::Malformed),
        ("2", CandidateStatus::Malformed),
        ("3", CandidateStatus::Unreadable("it is not a file".to_owned())),
    ];
    assert_eq!(scene.standings(), ranked(&expected));
    assert!(scene.plan().search.chosen().is_none());

    if let Some(uid) = current_user() {
        scene.file(ALIVE, 4, "project");
        scene.environment.uid = Some(uid + 1);
        assert!(scene.standings().contains(&("4".to_owned(), CandidateStatus::NotOurs(uid))));
        assert!(scene.plan().search.chosen().is_none());
    }
}

#[test]
fn a_file_of_the_old_name_is_taken_as_it_is() {
    let mut scene = Scene::new();
    scene.environment.ide_pid = ALIVE;
    scene.file(ALIVE, 1, "project");
    let old = content(2, &scene.path("other"));
    scene.write(&format!("gemini-ide-server-{ALIVE}.json"), &old.to_string());
    assert_eq!(scene.standings()[0].1, CandidateStatus::Chosen(Reason::OldName));
    assert!(matches!(scene.plan().workspace, Err(WorkspaceError::Elsewhere(_))));
}

#[test]
fn routes_are_tried_in_the_clients_order_all_with_the_files_token() {
    let mut scene = Scene::new();
    scene.var(GEMINI.variables.port, "8").var(GEMINI.variables.auth_token.unwrap(), "variable");
    scene
        .var(GEMINI.variables.stdio_command, "bridge")
        .var(GEMINI.variables.stdio_args, r#"["a b","c"]"#);
    scene.var(GEMINI.variables.workspace_path, "/nowhere").var("TERM_PROGRAM", "vscode");
    let variable_stdio = Route {
        target: Target::Stdio(Stdio {
            command: "bridge".to_owned(),
            args: vec!["a b".to_owned(), "c".to_owned()],
        }),
        origin: Origin::Variable,
        token: None,
    };

    let plan = scene.plan();
    assert_eq!(plan.routes, [http(8, Origin::Variable), variable_stdio.clone()]);
    assert_eq!(plan.token.unwrap().expose(), "variable");
    assert_eq!(plan.token_origin, Origin::Variable);
    assert!(matches!(plan.workspace, Err(WorkspaceError::Elsewhere(_))));

    let mut content = content(7, &scene.path("project"));
    content["stdio"] = json!({"command": "own", "args": []});
    scene.write("gemini-ide-server-5-7.json", &content.to_string());
    let file_stdio = Route {
        target: Target::Stdio(Stdio { command: "own".to_owned(), args: Vec::new() }),
        origin: Origin::File,
        token: None,
    };
    let plan = scene.plan();
    let expected = [http(7, Origin::File), file_stdio, http(8, Origin::Variable), variable_stdio];
    assert_eq!(plan.routes, expected);
    assert_eq!(plan.token.as_ref().unwrap().expose(), "token-7");
    assert_eq!(plan.token_origin, Origin::File);
    assert_eq!(plan.workspace, Ok(()));
    assert_eq!(plan.ide.as_deref(), Some("Editor"));
    assert!(!format!("{plan:?}").contains("token-7"), "a token is not shown");
}

#[test]
fn ports_are_read_as_javascript_does() {
    let bad = |text: &str| Target::BadPort(text.to_owned());
    let good = |port| Target::Http { host: "127.0.0.1", port };
    for (text, expected) in [
        ("80", good(80)),
        (" 80x", good(80)),
        ("0", bad("0")),
        ("-1", bad("-1")),
        ("65536", bad("65536")),
        ("port", bad("port")),
    ] {
        let mut scene = Scene::new();
        scene.var(GEMINI.variables.port, text);
        assert_eq!(scene.plan().routes[0].target, expected, "{text:?}");
    }
    let mut scene = Scene::new();
    assert!(scene.var(GEMINI.variables.port, "").plan().routes.is_empty());
    for (port, expected) in [(json!("80"), Some(good(80))), (json!(0), None), (json!(null), None)] {
        let mut content = content(1, &scene.path("project"));
        content["port"] = port;
        scene.write("gemini-ide-server-5-7.json", &content.to_string());
        assert_eq!(scene.plan().routes.first().map(|route| route.target.clone()), expected);
    }
}

#[test]
fn in_a_container_the_companion_is_on_the_host() {
    let host = |vars: &[&str], container| {
        let mut scene = Scene::new();
        scene.environment.container = container;
        for name in vars {
            scene.var(name, "1");
        }
        scene.environment.hosts()[0]
    };
    let mark = Some("/.dockerenv");
    assert_eq!(host(&[], None), "127.0.0.1");
    assert_eq!(host(&[], mark), "host.docker.internal");
    assert_eq!(host(&["SSH_CONNECTION"], mark), "127.0.0.1");
    assert_eq!(host(&["REMOTE_CONTAINERS"], mark), "127.0.0.1");
    assert_eq!(host(&["VSCODE_REMOTE_CONTAINERS_SESSION"], mark), "127.0.0.1");
}

#[test]
fn a_workspace_has_what_is_below_it() {
    let scene = Scene::new();
    let (project, other) = (scene.path("project"), scene.path("other"));
    let sub = scene.path("project/sub");
    let gone = scene.path("gone");
    let escaped = scene.path("my%20project");
    fs::create_dir(&escaped).unwrap();
    let real = |path: &str| fs::canonicalize(path).unwrap();
    for (list, cwd, inside) in [
        (project.clone(), &project, true),
        (project.clone(), &sub, true),
        (sub.clone(), &project, false),
        (format!("{other}:{project}"), &sub, true),
        (format!("file://{project}"), &sub, true),
        (project.replace("project", "%70roject"), &project, true),
        (project.replace("project", "%7project"), &project, false),
        (format!("{gone}/../project"), &project, true),
        (other.clone(), &project, false),
        (format!("{other}:"), &project, true),
        (gone.clone(), &gone, true),
        (format!("{project}-2"), &project, false),
        (escaped.clone(), &escaped, true),
    ] {
        assert_eq!(
            validate(Roots::Uris, Some(&list), Path::new(cwd)).is_ok(),
            inside,
            "{list} {cwd}"
        );
    }
    let cwd = Path::new(&project);
    assert_eq!(validate(Roots::Uris, None, cwd), Err(WorkspaceError::Unknown));
    assert_eq!(validate(Roots::Uris, Some(""), cwd), Err(WorkspaceError::Empty));
    let elsewhere = vec![real(&other), real(&scene.path(".")).join("gone")];
    let list = format!("{other}:{gone}");
    assert_eq!(validate(Roots::Uris, Some(&list), cwd), Err(WorkspaceError::Elsewhere(elsewhere)));
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    use std::os::unix::fs::symlink;
    let scene = Scene::new();
    symlink(scene.path("project"), scene.path("link")).unwrap();
    symlink("missing", scene.path("dangling")).unwrap();
    symlink("circle", scene.path("circle")).unwrap();
    let cwd = scene.environment.cwd.clone();
    assert_eq!(validate(Roots::Uris, Some(&scene.path("link")), &cwd.join("sub")), Ok(()));
    assert_eq!(
        validate(Roots::Uris, Some(&scene.path("project")), Path::new(&scene.path("link/sub"))),
        Ok(())
    );
    let missing = resolve_to_real_path(&scene.path("dangling/x"), &cwd);
    assert!(missing.ends_with("missing/x"), "{}", missing.display());
    assert!(validate(Roots::Uris, Some(&scene.path("circle")), &cwd).is_err());
}

#[test]
fn without_a_file_the_terminal_has_to_look_like_an_editors() {
    for (vars, expected) in [
        (&[][..], None),
        (&[("TERM_PROGRAM", "xterm")], None),
        (&[("TERM_PROGRAM", "vscode")], Some("VS Code")),
        (&[("TERM_PROGRAM", "Zed")], Some("Zed")),
        (&[("TERM_PROGRAM", "vscode"), ("CURSOR_TRACE_ID", "1")], Some("Cursor")),
        (&[("CURSOR_TRACE_ID", "1")], None),
        (&[("TERMINAL_EMULATOR", "JetBrains-JediTerm")], Some("JetBrains IDE")),
    ] {
        let mut scene = Scene::new();
        scene.environment.ide_pid = 0;
        for (name, value) in vars {
            scene.var(name, value);
        }
        assert_eq!(scene.plan().ide.as_deref(), expected, "{vars:?}");
    }
}

#[test]
fn the_editors_process_is_two_above_the_shell() {
    let tree = |processes: &'static [(u32, u32, &'static str)]| {
        move |pid| {
            let (_, parent, command) = processes.iter().find(|(known, ..)| *known == pid)?;
            Some(ProcessInfo { parent: *parent, command: (*command).to_owned() })
        }
    };
    let usual = tree(&[(9, 8, "node x"), (8, 7, "/bin/bash -l"), (7, 6, "pty"), (6, 1, "idea")]);
    assert_eq!(ide_process_from(9, false, usual), 6);
    let direct = tree(&[(9, 8, "node x"), (8, 7, "zsh"), (7, 1, "idea")]);
    assert_eq!(ide_process_from(9, false, direct), 7, "a grandparent that is init is none");
    let none = tree(&[(9, 8, "node x"), (8, 1, "idea")]);
    assert_eq!(ide_process_from(9, false, none), 8);
    assert_eq!(ide_process_from(9, false, tree(&[])), 9, "without ps it is the client itself");
    let windows = tree(&[(9, 8, ""), (8, 7, ""), (7, 6, ""), (6, 5, "")]);
    assert_eq!(ide_process_from(9, true, windows), 8);
}
