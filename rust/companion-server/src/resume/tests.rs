//! Processes one after the other and side by side, by what each finds in the state directory.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion_protocol::ide::IdeInfo;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Identity, Resume, Saving};
use crate::config::Config;
use crate::shutdown::shut_down;
use crate::testing::{Asked, Rig, Stream};

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

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("companion-for-gemini-cli/resume")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.to_str().unwrap().ends_with(ending)).collect()
}

fn change(dir: &TempDir, change: impl FnOnce(&mut Value)) {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let mut state = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut state);
    fs::write(file, state.to_string()).unwrap();
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
fn whoever_comes_while_the_last_one_is_ending_waits_for_it() {
    let dir = TempDir::new().unwrap();
    let (token, running) = run(&dir, &config("/a", ALIVE), 4001);
    let config = config("/a", ALIVE);
    std::thread::scope(|scope| {
        let next = scope.spawn(|| next(&dir, &config));
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
    let (token, killed) = run(&dir, &config("/a", ALIVE), 4001);
    drop(killed);
    let mut last = Resume::claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap();
    let mut tried = Vec::new();
    let bound = last.bind(0, |port| {
        tried.push(port);
        if port == 4001 { Err(io::ErrorKind::AddrInUse.into()) } else { Ok(port) }
    });
    assert_eq!((bound.unwrap(), tried), (0, vec![4001, 0]));
    assert_ne!(last.state.secret.token(), token);

    let (token, killed) = {
        drop(last);
        run(&dir, &config("/a", ALIVE), 4001)
    };
    drop(killed);
    let mut last = Resume::claim(Some(dir.path().to_owned()), &config("/a", ALIVE)).unwrap();
    assert_eq!(last.bind(4007, Ok).unwrap(), 4007, "the user's own choice");
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

/// Opens a diff that the editor shows.
async fn open(rig: &Rig, session: &str, path: &str) {
    let answer = async {
        let Asked::Open(request, ..) = rig.asked().await else { panic!() };
        rig.core.diffs.completed(request, None);
    };
    let arguments = json!({ "filePath": path, "newContent": "new" });
    let (result, ()) = tokio::join!(rig.call(session, "openDiff", &arguments), answer);
    assert_eq!(result, json!({ "content": [] }));
}

/// What the file says that clients are to be told, without their ids.
fn answers(dir: &TempDir) -> Value {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let mut state: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    for answer in state["answers"].as_array_mut().unwrap() {
        answer.as_object_mut().unwrap().remove("session");
    }
    state["answers"].take()
}

async fn becomes(dir: &TempDir, wanted: Value) {
    while answers(dir) != wanted {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Ends a process without a word: what it has in its memory is lost.
async fn kill(dir: &TempDir, rig: Rig) {
    let [file] = &*files(dir.path(), ".json") else { panic!() };
    let content = fs::read(file).unwrap();
    // The kernel gives the lock back; here the orderly end does, which also writes.
    let journal = rig.core.journal.clone().unwrap();
    journal.end();
    journal.ended().await;
    fs::write(file, content).unwrap();
}

#[tokio::test]
async fn an_open_diff_is_in_the_file_before_the_client_takes_it_for_open() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    open(&rig, &session, "/a \"é\"").await;
    assert_eq!(answers(&dir), json!([{ "path": "/a \"é\"" }]));
    rig.core.diffs.decided("/a \"é\"", Some("line\n“two”".to_owned()));
    becomes(&dir, json!([{ "path": "/a \"é\"", "content": "line\n“two”" }])).await;

    // Asked again, the earlier decision is none for this question.
    open(&rig, &session, "/a \"é\"").await;
    assert_eq!(answers(&dir), json!([{ "path": "/a \"é\"" }]));
}

#[tokio::test]
async fn the_next_process_tells_what_the_last_one_could_not() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    open(&rig, &session, "/accepted").await;
    rig.core.diffs.decided("/accepted", Some("text".to_owned()));
    becomes(&dir, json!([{ "path": "/accepted", "content": "text" }])).await;
    open(&rig, &session, "/open").await;
    kill(&dir, rig).await;

    for _ in 0..2 {
        let rig = Rig::resume(dir.path());
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        let told = [stream.message().await.unwrap(), stream.message().await.unwrap()];
        assert_eq!(told[0]["method"], "ide/diffAccepted");
        assert_eq!(told[0]["params"], json!({ "filePath": "/accepted", "content": "text" }));
        assert_eq!(told[1]["method"], "ide/diffRejected");
        assert_eq!(told[1]["params"], json!({ "filePath": "/open" }));
        // Nobody knows whether they arrived.
        kill(&dir, rig).await;
    }

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    stream.message().await.unwrap();
    stream.message().await.unwrap();
    // The client comes back and shows that they did.
    let last = stream.last_id.clone();
    drop(rig.stream_after(&session, last.as_deref()).await);
    shut_down(&rig.core, None).await;
    assert_eq!(answers(&dir), json!([]));
}

#[tokio::test]
async fn a_server_that_is_stopped_leaves_what_it_could_not_tell() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let (away, there) = (rig.initialize().await, rig.initialize().await);
    open(&rig, &away, "/a").await;
    open(&rig, &there, "/b").await;
    let mut stream = rig.stream(&there).await;
    shut_down(&rig.core, None).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["filePath"], "/b");
    assert_eq!(stream.message().await, None);

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&away).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"], json!({ "filePath": "/a" }));
}

#[tokio::test]
async fn an_event_id_of_the_last_process_says_nothing_to_this_one() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    for _ in 0..2 {
        open(&rig, &session, "/a").await;
        rig.core.diffs.decided("/a", None);
        while stream.message().await.unwrap()["method"] != "ide/diffRejected" {}
    }
    let last = stream.last_id.take().unwrap();
    open(&rig, &session, "/b").await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream_after(&session, Some(&last)).await;
    stream.context().await;
    let mut told = Vec::new();
    while told.last() != Some(&json!("/b")) {
        told.push(stream.message().await.unwrap()["params"]["filePath"].take());
    }
    // By then it has given out an id of the same number.
    drop(rig.stream_after(&session, Some(&last)).await);
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    while stream.message().await.unwrap()["params"]["filePath"] != "/b" {}
}

#[tokio::test]
async fn a_session_comes_back_by_any_request_unless_it_was_ended() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let sessions = [rig.initialize().await, rig.initialize().await, rig.initialize().await];
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status = async |method: &str, session: &str| {
        rig.send(method, "/mcp", &[("mcp-session-id", session)], ping).await.status().as_u16()
    };
    assert_eq!(status("POST", &sessions[0]).await, 200);
    assert_eq!(status("GET", &sessions[1]).await, 200);
    assert_eq!(status("DELETE", &sessions[2]).await, 204);
    assert_eq!(status("DELETE", &sessions[0]).await, 204);
    for session in [&sessions[0], &sessions[2], &uuid::Uuid::new_v4().to_string()] {
        assert_eq!(status("POST", session).await, 404);
        assert_eq!(status("GET", session).await, 404);
    }
    assert_eq!(status("POST", &sessions[1]).await, 200);
}

#[tokio::test]
async fn a_client_that_asks_before_it_listens_again_hears_the_decision_with_the_answer() {
    let dir = TempDir::new().unwrap();
    let rig = Rig::resume(dir.path());
    let session = rig.initialize().await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let params = json!({ "name": "openDiff", "arguments": { "filePath": "/a", "newContent": "" } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let headers = [("mcp-session-id", &*session)];
    let showing = async {
        let Asked::Open(request, ..) = rig.asked().await else { panic!() };
        rig.core.diffs.completed(request, None);
    };
    let (reply, ()) = tokio::join!(rig.send("POST", "/mcp", &headers, call.to_string()), showing);
    assert_eq!(reply.headers()["content-type"], "text/event-stream");
    let mut answer = Stream::new(reply.into_body());
    assert_eq!(answer.message().await.unwrap()["id"], 7);
    answer.context().await;
    rig.core.diffs.decided("/a", Some("edited".to_owned()));
    assert_eq!(answer.message().await.unwrap()["params"]["content"], "edited");
    assert_eq!(answer.last_id, None, "or the client would come back for each answer");
    assert_eq!(*rig.counts.lock(), [1]);

    // Another answer needs no stream, and the client's own takes the place of this one.
    assert!(!rig.call(&session, "closeDiff", &json!({ "filePath": "/x" })).await.is_null());
    let mut stream = rig.stream(&session).await;
    assert_eq!(answer.message().await, None);
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["content"], "edited");
    assert_eq!(*rig.counts.lock(), [1]);
}
