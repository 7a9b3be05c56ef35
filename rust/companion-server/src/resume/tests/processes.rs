//! What each process finds in the state directory, and what it takes of it.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use companion_protocol::ide::IdeInfo;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::files;
use crate::config::Config;
use crate::listen::Listeners;
use crate::resume::{Identity, Resume, Saving};

/// A process that runs as long as the tests do, and one that does not run.
const ALIVE: u32 = 1;
const DEAD: u32 = 0x3fff_fffe;

fn config(root: &str, pid: u32) -> Config {
    let ide = IdeInfo { name: "test".to_owned(), display_name: "Test".to_owned() };
    Config::new(vec![PathBuf::from(root)], ide, pid)
}

/// A process that listens on `port`, until the returned value is dropped: then it was killed.
fn run(dir: &TempDir, config: &Config, port: u16) -> (String, Saving) {
    let last = Resume::claim(Some(dir.path().to_owned()), config).unwrap();
    let (identity, _, saving) = last.begin(port);
    (identity.token(), saving)
}

/// The token of the next process, and the port that it tries first.
fn next(dir: &TempDir, config: &Config) -> (String, u16) {
    let last = Resume::claim(Some(dir.path().to_owned()), config).unwrap();
    (last.state.secret.token(), last.state.port)
}

fn change(dir: &TempDir, change: impl FnOnce(&mut Value)) {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let mut state = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut state);
    fs::write(file, state.to_string()).unwrap();
}

fn port(listeners: &Listeners) -> u16 {
    listeners.addresses().unwrap()[0].port()
}

fn free_port() -> u16 {
    port(&Listeners::bind(0, &[]).unwrap())
}

#[test]
fn ids_are_recognised_by_their_secret() {
    let (ours, other) = (Identity::new(), Identity::new());
    let again = Identity::try_from(String::from(ours.clone())).unwrap();
    let id = ours.new_session();
    assert!(ours.knows(id) && again.knows(id) && !other.knows(id));
    assert!(!ours.knows(uuid::Uuid::new_v4()));
    for bit in 0..128 {
        assert!(!ours.knows(uuid::Uuid::from_u128(id.as_u128() ^ (1 << bit))), "bit {bit}");
    }
    assert_ne!(id, ours.new_session());
    assert_eq!(ours.token(), again.token());
    assert_ne!(ours.token(), other.token());
    assert!(!ours.token().contains(&String::from(ours.clone())[..16]));
    for wrong in ["", "00", &"g".repeat(64), &"é".repeat(32), &"+1".repeat(32)] {
        assert!(Identity::try_from(wrong.to_owned()).is_err(), "{wrong}");
    }
}

#[test]
fn the_next_process_of_a_folder_is_the_last_one_again() {
    let dir = TempDir::new().unwrap();
    let (token, killed) = run(&dir, &config("/a", DEAD), 4001);
    drop(killed);
    // The editor was started anew, and has another folder open besides.
    let mut next_config = config("/a", ALIVE);
    next_config.workspace.push("/b".into());
    assert_eq!(next(&dir, &next_config), (token.clone(), 4001));
    assert_ne!(next(&dir, &config("/b", ALIVE)).0, token);
    let mut other_editor = config("/a", ALIVE);
    other_editor.ide.name = "other".to_owned();
    assert_ne!(next(&dir, &other_editor).0, token);
}

#[test]
fn processes_side_by_side_have_nothing_in_common() {
    let dir = TempDir::new().unwrap();
    let (first, killed) = run(&dir, &config("/a", ALIVE), 4001);
    let (second, also_killed) = run(&dir, &config("/a", std::process::id()), 4002);
    assert_ne!(first, second);
    drop((killed, also_killed));
    assert_eq!(next(&dir, &config("/a", std::process::id())), (second, 4002));
    assert_eq!(next(&dir, &config("/a", ALIVE)), (first, 4001));
    let third = next(&dir, &config("/a", DEAD));
    assert_eq!(third.1, 0, "both editors live and may come back");
}

#[test]
fn processes_that_start_at_the_same_time_do_not_meet() {
    let dir = TempDir::new().unwrap();
    let claim = |pid| Resume::claim(Some(dir.path().to_owned()), &config("/a", pid)).unwrap();
    let claims = [claim(ALIVE), claim(std::process::id()), claim(DEAD)];
    let tokens = claims.map(|claim| claim.begin(4001).0.token());
    assert!(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
    assert_eq!(files(dir.path(), ".json").len(), 3);
}

#[test]
fn whoever_comes_while_the_last_one_is_ending_waits_for_it() {
    let dir = TempDir::new().unwrap();
    let (token, running) = run(&dir, &config("/a", ALIVE), 4001);
    let config = config("/a", ALIVE);
    std::thread::scope(|scope| {
        let next = scope.spawn(|| next(&dir, &config));
        // Right in any order; so it most likely comes first.
        std::thread::sleep(Duration::from_millis(50));
        drop(running);
        assert_eq!(next.join().unwrap(), (token, 4001));
    });
}

#[test]
fn what_was_left_long_ago_is_not_taken_up() {
    let dir = TempDir::new().unwrap();
    let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
    drop(killed);
    let now = crate::context::now_ms();
    for (stopped, resumed) in [(now, true), (now + 3_600_000, true), (now - 360_000, false)] {
        change(&dir, |state| state["stopped"] = json!(stopped));
        let (next, port) = next(&dir, &config("/a", ALIVE));
        assert_eq!((next == token, port != 0), (resumed, resumed), "{stopped}");
    }
}

#[test]
fn clients_that_have_edits_reviewed_here_lose_a_server_that_does_not() {
    let dir = TempDir::new().unwrap();
    let with_diffs = config("/a", ALIVE);
    let without = Config { diffs: false, ..with_diffs.clone() };
    let (first, killed) = run(&dir, &with_diffs, 4001);
    drop(killed);
    let (second, killed) = run(&dir, &without, 4002);
    drop(killed);
    assert_ne!(first, second);
    assert_eq!(next(&dir, &with_diffs).0, second, "they are only told more");
}

#[test]
fn a_port_that_is_taken_costs_the_secret_too() {
    let dir = TempDir::new().unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let known = other.local_addr().unwrap().port();
    let (token, killed) = run(&dir, &config("/a", ALIVE), known);
    drop(killed);
    let mut last = Resume::claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap();
    assert_ne!(port(&last.bind(0, &[]).unwrap()), known);
    assert_ne!(last.state.secret.token(), token);
}

#[test]
fn the_port_is_the_one_that_clients_know_unless_the_user_gives_one() {
    let dir = TempDir::new().unwrap();
    let [known, own] = [free_port(), free_port()];
    let (token, killed) = run(&dir, &config("/a", ALIVE), known);
    drop(killed);
    let mut last = Resume::claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap();
    assert_eq!(port(&last.bind(0, &[]).unwrap()), known);
    assert_eq!(port(&last.bind(own, &[]).unwrap()), own);
    assert_eq!(last.state.secret.token(), token);
}

#[test]
fn the_file_is_private_and_one_that_is_not_is_not_used() {
    let dir = TempDir::new().unwrap();
    let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
    drop(killed);
    let all = [files(dir.path(), ".json"), files(dir.path(), ".lock")].concat();
    assert_eq!(all.len(), 2);
    for file in &all {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::set_permissions(&all[0], fs::Permissions::from_mode(0o604)).unwrap();
    assert_ne!(next(&dir, &config("/a", ALIVE)).0, token);
}

#[test]
fn a_damaged_file_is_not_used() {
    let dir = TempDir::new().unwrap();
    let damages: [&dyn Fn(&mut Value); 5] = [
        &|state| state["version"] = json!(2),
        &|state| state["secret"] = json!("short"),
        &|state| state["port"] = json!(70_000),
        &|state| state["answers"] = json!([{ "session": "x", "path": "/a" }]),
        &|state| *state = json!([]),
    ];
    for damage in damages {
        let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
        drop(killed);
        change(&dir, damage);
        let (next, port) = next(&dir, &config("/a", ALIVE));
        assert_ne!(next, token);
        assert_eq!(port, 0);
    }
}
