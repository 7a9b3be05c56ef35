//! Tests files with the port in their names.

use std::time::{Duration, SystemTime};

use companion_protocol::profile::QWEN;

use super::*;

/// Creates a client whose home folder contains `.qwen/ide`.
fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.environment.profile = &QWEN;
    let home = scene.path("home");
    scene.var("HOME", &home).var("USERPROFILE", &home);
    fs::create_dir_all(scene.environment.discovery_dir()).unwrap();
    scene
}

/// Writes a file for the folder `workspace` of the scene. A file with a larger port is newer.
fn lock(scene: &Scene, port: u16, workspace: &str, ppid: Option<u32>) {
    let mut content = content(port, &scene.path(workspace));
    content["ppid"] = json!(ppid);
    let name = QWEN.naming.file_name(0, port);
    scene.write(&name, &content.to_string());
    let path = scene.environment.discovery_dir().join(name);
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(port));
    fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

fn token(route: &Route) -> Option<&str> {
    route.token.as_ref().map(Token::expose)
}

#[test]
fn the_newest_is_taken_and_the_others_are_tried_after_it() {
    let scene = scene();
    for (port, workspace, ppid) in
        [(1, "project", Some(ALIVE)), (2, "project", None), (3, "other", Some(ALIVE))]
    {
        lock(&scene, port, workspace, ppid);
    }
    let plan = scene.plan();
    let other = WorkspaceError::Elsewhere(vec![fs::canonicalize(scene.path("other")).unwrap()]);
    let expected = [
        ("3", CandidateStatus::Workspace(other)),
        ("2", CandidateStatus::Chosen(Reason::First)),
        ("1", CandidateStatus::Outranked),
    ];
    assert_eq!(scene.standings(), ranked(&expected));
    let tokens: Vec<_> = plan.routes.iter().map(token).collect();
    assert_eq!(tokens, [None, Some("token-1")], "each with the token of its own file");
    assert_eq!(plan.token.unwrap().expose(), "token-2");
    assert!(plan.rejected);
}

#[test]
fn the_port_of_the_terminal_goes_first_even_if_its_process_is_not_seen() {
    let mut scene = scene();
    lock(&scene, 1, "project", Some(DEAD));
    lock(&scene, 2, "project", Some(ALIVE));
    let stale = [("2", CandidateStatus::Chosen(Reason::OnlyOne)), ("1", CandidateStatus::Stale)];
    assert_eq!(scene.standings(), ranked(&stale));
    scene.var(QWEN.variables.port, "1");
    let by_port = [("1", CandidateStatus::Chosen(Reason::Port)), ("2", CandidateStatus::Outranked)];
    assert_eq!(scene.standings(), ranked(&by_port));
    for no_port in ["01x", "0", "70000", "-1", " 1"] {
        scene.var(QWEN.variables.port, no_port);
        assert_eq!(scene.standings(), ranked(&stale), "{no_port:?}");
    }
}

#[test]
fn files_of_the_old_form_go_before_all_but_the_terminals() {
    let mut scene = scene();
    lock(&scene, 2, "project", Some(ALIVE));
    scene.environment.ide_pid = ALIVE;
    let old = content(9, &scene.path("project")).to_string();
    let old_file = scene.environment.temp_dir.join(format!("qwen-code-ide-server-{ALIVE}.json"));
    fs::write(&old_file, &old).unwrap();
    let chosen = |scene: &Scene| scene.plan().search.chosen().unwrap().path.clone();
    assert_eq!(chosen(&scene), old_file);
    scene.var(QWEN.variables.port, "2");
    assert_eq!(chosen(&scene), scene.environment.discovery_dir().join("2.lock"));
    fs::write(&old_file, content(9, &scene.path("other")).to_string()).unwrap();
    scene.var(QWEN.variables.port, "");
    assert_eq!(chosen(&scene), scene.environment.discovery_dir().join("2.lock"));
}

#[test]
fn without_a_process_a_file_is_stale_once_its_folder_is_gone() {
    let scene = scene();
    lock(&scene, 1, "gone", None);
    lock(&scene, 2, "gone", Some(ALIVE));
    let standings = scene.standings();
    assert_eq!(standings[1].1, CandidateStatus::Stale);
    assert!(matches!(standings[0].1, CandidateStatus::Workspace(WorkspaceError::Elsewhere(_))));
}

#[test]
fn roots_are_paths_or_a_json_array_of_them() {
    let root = tempfile::tempdir().unwrap();
    let with = |name: &str| {
        let path = root.path().join(name);
        fs::create_dir(&path).unwrap();
        path.canonicalize().unwrap()
    };
    let (plain, odd) = (with("a b é"), with("100%41:x"));
    let inside = |list: &str, cwd: &Path| validate(Roots::Paths, Some(list), cwd).is_ok();
    assert!(inside(plain.to_str().unwrap(), &plain));
    let array = json!([odd, plain, "relative"]).to_string();
    assert!(inside(&array, &odd) && inside(&array, &plain));
    assert!(!inside(odd.to_str().unwrap(), &odd), "a list would end at the colon");
    assert!(!inside("", &plain) && !inside("[]", &plain) && !inside(".", &plain));
}

#[test]
fn in_a_container_it_looks_here_first_and_then_on_the_host() {
    let mut scene = scene();
    scene.environment.container = Some("/.dockerenv");
    lock(&scene, 1, "project", Some(ALIVE));
    let routes = scene.plan().routes.into_iter().map(|route| match route.target {
        Target::Http { host, port } => (host, port),
        other => panic!("{other:?}"),
    });
    assert_eq!(routes.collect::<Vec<_>>(), [("127.0.0.1", 1), ("host.docker.internal", 1)]);
}
