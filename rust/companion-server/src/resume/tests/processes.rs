//! Tests which files of the state directory each process takes over.

use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use companion_core::notes::NoteId;
use companion_core::record::Record;
use companion_protocol::settings::ListenAddress;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ALIVE, DEAD, begin, claim, comment, config, file, files, next, run, take};
use crate::net::listen::Listeners;
use crate::resume::lines;
use crate::runtime::Runtime;
use crate::session::{Client, ClientTraits, SessionId};
use crate::tests::logged;

/// Changes the first line of the file.
fn change(dir: &TempDir, change: impl FnOnce(&mut Value)) {
    let file = file(dir);
    let text = fs::read_to_string(&file).unwrap();
    let (head, records) = text.split_once('\n').unwrap();
    let mut head = serde_json::from_str(head).unwrap();
    change(&mut head);
    fs::write(file, format!("{head}\n{records}")).unwrap();
}

/// Makes the file look as old as `age`.
fn prune_sent(file: &Path, age: Duration) {
    set_time(file, SystemTime::now() - age);
}

fn set_time(file: &Path, time: SystemTime) {
    let file = fs::File::options().write(true).open(file).unwrap();
    file.set_modified(time).unwrap();
}

fn port(listeners: &Listeners) -> u16 {
    listeners.addresses().unwrap()[0].port()
}

fn free_port() -> u16 {
    port(&Listeners::bind(0, &[]).unwrap())
}

#[test]
fn the_next_process_of_a_folder_is_the_last_one_again() {
    let dir = TempDir::new().unwrap();
    let (token, killed) = run(&dir, &config("/a", DEAD), 4001);
    drop(killed);
    // The editor was restarted with another folder.
    let mut next_config = config("/a", ALIVE);
    next_config.settings.workspace.push("/b".into());
    assert_eq!(next(&dir, &next_config), (token.clone(), 4001));
    assert_ne!(next(&dir, &config("/b", ALIVE)).0, token);
    let mut other_editor = config("/a", ALIVE);
    other_editor.settings.ide_name = "other".to_owned();
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
    let claim = |pid| claim(&dir, &config("/a", pid));
    let claims = [claim(ALIVE), claim(std::process::id()), claim(DEAD)];
    let tokens = claims.map(|claim| begin(claim, 4001).0);
    assert!(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
    assert_eq!(files(dir.path(), ".jsonl").len(), 3);
}

#[test]
fn whoever_comes_while_the_last_one_is_ending_waits_for_it() {
    let dir = TempDir::new().unwrap();
    let (token, running) = run(&dir, &config("/a", ALIVE), 4001);
    let config = config("/a", ALIVE);
    std::thread::scope(|scope| {
        let next = scope.spawn(|| next(&dir, &config));
        // The result is right in any order. The pause makes it likely that the claim starts first.
        std::thread::sleep(Duration::from_millis(50));
        drop(running);
        assert_eq!(next.join().unwrap(), (token, 4001));
    });
}

#[test]
fn what_was_left_long_ago_is_not_taken_up() {
    let (now, minute) = (SystemTime::now(), Duration::from_mins(1));
    // Two clocks may differ a little. A time far in the future would stay young for ever.
    let times = [
        (now, true),
        (now - minute / 2, true),
        (now - minute, false),
        (now + minute / 2, true),
        (now + 2 * minute, false),
    ];
    for (time, resumed) in times {
        let dir = TempDir::new().unwrap();
        let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
        drop(killed);
        set_time(&file(&dir), time);
        for _ in 0..2 {
            let (next, port) = next(&dir, &config("/a", ALIVE));
            assert_eq!((next == token, port != 0), (resumed, resumed), "{time:?}");
        }
    }
}

#[test]
fn files_that_no_server_will_resume_are_removed() {
    let dir = TempDir::new().unwrap();
    let (_, running) = run(&dir, &config("/running", ALIVE), 4001);
    let (_, young) = run(&dir, &config("/young", ALIVE), 4002);
    let (_, old) = run(&dir, &config("/old", ALIVE), 4003);
    drop((young, old));
    let by_port = |port: u16| {
        let all = files(dir.path(), ".jsonl");
        let has = |file: &PathBuf| fs::read_to_string(file).unwrap().contains(&port.to_string());
        all.into_iter().find(has)
    };
    let left = by_port(4003).unwrap();
    // An unfinished file of a killed process, and the file of an earlier version.
    let stem = left.with_extension("");
    let others = [stem.with_extension("jsonl.tmp"), stem.with_extension("json")];
    for file in &others {
        fs::write(file, "text").unwrap();
    }
    let locks = ["lock", "running"].map(|extension| stem.with_extension(extension));
    let group = [left.clone()].into_iter().chain(locks).chain(others);
    for file in group.chain(by_port(4001)) {
        prune_sent(&file, Duration::from_mins(1));
    }
    // The clock has been set back since then.
    set_time(&left, SystemTime::now() + Duration::from_hours(1));
    let (_, _next) = run(&dir, &config("/next", ALIVE), 4004);
    assert!(by_port(4001).is_some(), "its process lives");
    assert!(by_port(4002).is_some(), "it may come back");
    let folder = fs::read_dir(left.parent().unwrap()).unwrap();
    let names: Vec<_> = folder.map(|file| file.unwrap().path().with_extension("")).collect();
    assert!(!names.contains(&stem), "{names:?}");
    drop(running);
}

/// A process may be killed while it writes.
#[test]
fn a_line_that_was_not_finished_counts_for_nothing() {
    let dir = TempDir::new().unwrap();
    let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    let records = vec![
        Record::Session(SessionId::new(), Client::default()),
        Record::Session(SessionId::new(), Client::default()),
    ];
    assert!(take(&mut saving, records));
    drop(saving);
    let whole = fs::read(file(&dir)).unwrap();
    for missing in [1, 2, 20] {
        fs::write(file(&dir), &whole[..whole.len() - missing]).unwrap();
        let last = claim(&dir, &config("/a", ALIVE));
        assert_eq!((last.head.token.expose(), last.left.sessions.len()), (token.as_str(), 1));
    }
}

/// A full disk may take half of a line.
#[test]
fn after_an_append_that_failed_the_file_is_written_again_as_a_whole() {
    let dir = TempDir::new().unwrap();
    let (_, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
    fs::File::options().append(true).open(file(&dir)).unwrap().write_all(b"{\"sess").unwrap();
    // The file takes no further data.
    saving.file.open = Some(fs::File::open(file(&dir)).unwrap());
    let sessions = [true, false].map(|of| {
        let traits = ClientTraits { replays_edits: of, ..ClientTraits::default() };
        (SessionId::new(), Client { traits, name: "a".into(), version: "1".into() })
    });
    for (session, client) in sessions.clone() {
        let records = vec![Record::Session(session, client)];
        assert!(take(&mut saving, records));
    }
    drop(saving);
    let last = claim(&dir, &config("/a", ALIVE));
    assert_eq!(last.left.sessions, sessions.into());
}

/// A start that does not resume may fail, for example for lack of a port. A later start must not use the
/// state, either.
#[test]
fn clients_that_have_edits_reviewed_here_lose_a_server_that_does_not() {
    let dir = TempDir::new().unwrap();
    let with_review = config("/a", ALIVE);
    let mut without = with_review.clone();
    without.settings.review = false;
    let (first, killed) = run(&dir, &with_review, 4001);
    drop(killed);
    assert_ne!(next(&dir, &without).0, first);
    assert_ne!(next(&dir, &with_review).0, first);
    let (second, killed) = run(&dir, &without, 4002);
    drop(killed);
    assert_eq!(next(&dir, &with_review).0, second, "they only get more");
}

/// Starts the next process, which listens at `wanted` or at the known port. Returns its port and
/// its token.
fn bind(dir: &TempDir, wanted: u16) -> (io::Result<u16>, String) {
    bind_with(dir, wanted, &[])
}

/// Listens on `more` addresses, too.
fn bind_with(dir: &TempDir, wanted: u16, more: &[ListenAddress]) -> (io::Result<u16>, String) {
    let last = claim(dir, &config("/a", ALIVE));
    let (listeners, last) = last.bind(&Runtime::start().unwrap(), wanted, more);
    (listeners.map(|listeners| port(&listeners)), last.unwrap().head.token.expose().to_owned())
}

#[test]
fn a_port_that_is_taken_costs_the_secret_too() {
    // Other systems may have only one loopback address.
    let others = if cfg!(target_os = "linux") { &["127.0.0.2"][..] } else { &[] };
    for address in ["127.0.0.1"].iter().chain(others) {
        let dir = TempDir::new().unwrap();
        let other = TcpListener::bind((*address, 0)).unwrap();
        let known = other.local_addr().unwrap().port();
        let (token, killed) = run(&dir, &config("/a", ALIVE), known);
        drop(killed);
        logged();
        let more: Vec<_> = others.iter().map(|address| address.parse().unwrap()).collect();
        let (port, next) = bind_with(&dir, 0, &more);
        assert_ne!(port.unwrap(), known);
        assert_ne!(next, token);
        let log = logged().join("\n");
        assert!(log.contains(&format!("not listening on port {known} again: ")), "{log}");
        let named = format!("it is taken on {address}. CLIs that");
        assert!(*address == "127.0.0.1" || log.contains(&named), "{log}");
    }
}

/// Another process that had the port may know the token.
#[test]
fn a_start_that_finds_the_port_taken_and_fails_costs_the_secret_too() {
    let dir = TempDir::new().unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let known = other.local_addr().unwrap().port();
    let (token, killed) = run(&dir, &config("/a", ALIVE), known);
    drop(killed);
    bind(&dir, known).0.unwrap_err();
    drop(other);
    assert_ne!(next(&dir, &config("/a", ALIVE)).0, token);
}

#[test]
fn the_port_is_the_one_that_clients_know_unless_the_user_gives_one() {
    let dir = TempDir::new().unwrap();
    let [known, own] = [free_port(), free_port()];
    let (token, killed) = run(&dir, &config("/a", ALIVE), known);
    drop(killed);
    for wanted in [0, known] {
        let (port, next) = bind(&dir, wanted);
        assert_eq!((port.unwrap(), &next), (known, &token));
    }
    // The clients will show that token to the process that has their port now.
    let (port, next) = bind(&dir, own);
    assert_eq!(port.unwrap(), own);
    assert_ne!(next, token);
}

#[test]
fn the_file_is_private_and_one_that_is_not_is_not_used() {
    let dir = TempDir::new().unwrap();
    let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
    drop(killed);
    let all = [files(dir.path(), ".jsonl"), files(dir.path(), ".lock")].concat();
    assert_eq!(all.len(), 3);
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
        &|head| head["version"] = json!(1),
        &|head| head["token"] = json!("abc"),
        &|head| head["token"] = json!("x".repeat(64)),
        &|head| head["port"] = json!(70_000),
        &|head| *head = json!([]),
    ];
    for damage in damages {
        let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
        drop(killed);
        change(&dir, damage);
        logged();
        let (next, port) = next(&dir, &config("/a", ALIVE));
        assert_ne!(next, token);
        assert_eq!(port, 0);
        let log = logged().join("\n");
        assert!(log.contains("WARN ignoring resume data: "), "{log}");
    }
}

#[test]
fn a_file_without_names_of_clients_is_read() {
    let content = r#"{"version":8,"token":"TOKEN","port":4001,"idePid":1,"review":true,"workspace":[],"adopted":[]}
{"session":["67e55044-10b1-426f-9247-bb680e5fe0c8",{"replaysEdits":true,"emptyIsUnchanged":false,"repeatsRequests":true}]}
{"note":[3,{"revert":{"cli":"c0ffee","paths":["/a/b"],"since":1000}}]}
"#;
    let content = content.replace("TOKEN", &"0".repeat(64));
    let (head, left) = lines::read(content.as_bytes()).unwrap();
    assert_eq!(head.port, 4001);
    let traits =
        ClientTraits { replays_edits: true, repeats_requests: true, ..ClientTraits::default() };
    let session = SessionId::parse("67e55044-10b1-426f-9247-bb680e5fe0c8").unwrap();
    assert_eq!(left.sessions[&session], traits.into());
    assert_eq!(left.notes[&NoteId(3)].since(), Some(1000));
}

#[test]
fn the_notes_of_a_damaged_file_or_another_version_are_kept() {
    let damages: [&dyn Fn(&str) -> String; 3] = [
        &|text| text.replacen("\"version\":8", "\"version\":9", 1),
        &|text| format!("{text}{{\"opened\":[1]}}\n"),
        &|text| text.replacen(r#"{"version""#, "{version", 1),
    ];
    for damage in damages {
        let dir = TempDir::new().unwrap();
        let (token, mut saving) = run(&dir, &config("/a", ALIVE), 4001);
        let records = vec![Record::Note(NoteId(3), comment("1", "why?"))];
        assert!(take(&mut saving, records));
        drop(saving);
        let text = fs::read_to_string(file(&dir)).unwrap();
        assert_ne!(damage(&text), text);
        fs::write(file(&dir), damage(&text)).unwrap();
        // The first start may fail after it has taken the file.
        for _ in 0..2 {
            let last = claim(&dir, &config("/a", ALIVE));
            assert_ne!(last.head.token.expose(), token);
            assert_eq!(last.left.notes.values().collect::<Vec<_>>(), [&comment("1", "why?")]);
        }
    }
}
