//! Tests the context: its content, limits and times.

use std::path::Path;
use std::time::Duration;

use companion_protocol::ide::{MAX_OPEN_FILES, MAX_SELECTED_TEXT, OpenFile, Position};
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::disk::paths::SharedFolders;
use crate::privacy::Privacy;
use crate::tests::{Rig, Stream};

fn cursor(line: u32, character: u32) -> Position {
    Position::new(line, character).unwrap()
}

fn files(model: &ContextModel) -> Vec<OpenFile> {
    model.snapshot(|_| true).workspace_state.open_files
}

fn paths(model: &ContextModel) -> Vec<String> {
    files(model).into_iter().map(|file| file.path).collect()
}

#[test]
fn files_come_in_the_order_of_their_last_focus() {
    let mut model = ContextModel::new(None, true);
    for (path, now) in [("/a", 10), ("/b", 20), ("/c", 30), ("/a", 40)] {
        assert!(model.focused(path, now));
    }
    assert_eq!(paths(&model), ["/a", "/c", "/b"]);
    let times: Vec<_> = files(&model).iter().map(|file| file.timestamp).collect();
    assert_eq!(times, [40, 30, 20]);
    assert!(!model.focused("/a", 50), "it has the focus already");
}

#[test]
fn the_active_file_is_the_newest_even_if_the_clock_goes_back() {
    let mut model = ContextModel::new(None, true);
    model.focused("/a", 1000);
    model.focused("/b", 500);
    model.opened("/c", 2000);
    let files = files(&model);
    assert_eq!(files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["/b", "/a", "/c"]);
    assert!(files[0].is_active && files[0].timestamp > files[1].timestamp);
    assert!(files[2].timestamp <= files[1].timestamp, "never focused, so not newer");
}

#[test]
fn only_the_active_file_has_a_caret_and_a_selection() {
    let mut model = ContextModel::new(None, true);
    model.focused("/a", 1);
    model.cursor("/a", cursor(3, 4));
    model.selection("/a", "text");
    model.focused("/b", 2);
    assert_eq!((files(&model)[1].cursor, &files(&model)[1].selected_text), (None, &None));
    assert!(!model.cursor("/a", cursor(5, 1)), "nothing to send");
    model.focused("/a", 3);
    assert_eq!(files(&model)[0].cursor, Some(cursor(5, 1)));
    assert_eq!(files(&model)[0].selected_text.as_deref(), Some("text"));
    model.selection("/a", "");
    assert_eq!(files(&model)[0].selected_text, None);
}

#[test]
fn closing_the_active_file_leaves_none_active() {
    let mut model = ContextModel::new(None, true);
    model.focused("/a", 1);
    model.focused("/b", 2);
    assert!(model.closed("/b"));
    assert!(!model.closed("/b"));
    assert_eq!(paths(&model), ["/a"]);
    assert!(!files(&model)[0].is_active);
    assert!(model.focused("/a", 3));
}

#[test]
fn events_for_files_that_are_not_open_change_nothing() {
    let mut model = ContextModel::new(None, true);
    assert!(!model.cursor("/a", cursor(1, 1)));
    assert!(!model.selection("/a", "x"));
    assert!(!model.renamed("/a", "/b"));
    assert!(!model.deleted("/a"));
    assert!(paths(&model).is_empty());
}

#[test]
fn renaming_and_deleting_a_directory_takes_its_files_along() {
    let mut model = ContextModel::new(None, true);
    for path in ["/p/src/a", "/p/src/sub/b", "/p/src2/c", "/p/d"] {
        model.focused(path, 1);
    }
    assert!(model.renamed("/p/src", "/p/lib"));
    assert_eq!(paths(&model), ["/p/d", "/p/src2/c", "/p/lib/sub/b", "/p/lib/a"]);
    assert!(model.deleted("/p/lib"));
    assert_eq!(paths(&model), ["/p/d", "/p/src2/c"]);
}

#[test]
fn a_file_renamed_over_another_takes_its_place() {
    let mut model = ContextModel::new(None, true);
    model.focused("/b", 1);
    model.focused("/a", 2);
    assert!(model.renamed("/a", "/b"));
    assert_eq!(paths(&model), ["/b"]);
    assert!(files(&model)[0].is_active);
}

#[test]
fn files_that_do_not_exist_make_room_for_others() {
    let mut model = ContextModel::new(None, true);
    for n in 0..15 {
        model.focused(&format!("/{n}"), n);
    }
    let exists = |path: &str| !path.ends_with('4');
    let files = model.snapshot(exists).workspace_state.open_files;
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["/13", "/12", "/11", "/10", "/9", "/8", "/7", "/6", "/5", "/3"]);
    assert!(!model.snapshot(exists).workspace_state.open_files[0].is_active);
}

#[derive(Clone, Debug)]
enum Event {
    Opened(u8),
    Focused(u8, u64),
    Closed(u8),
    Cursor(u8, u32),
    Selection(u8, String),
    Renamed(u8, u8),
    Deleted(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let file = 0..20_u8;
    prop_oneof![
        file.clone().prop_map(Event::Opened),
        (file.clone(), any::<u32>()).prop_map(|(f, now)| Event::Focused(f, now.into())),
        file.clone().prop_map(Event::Closed),
        (file.clone(), 1..9_u32).prop_map(|(f, line)| Event::Cursor(f, line)),
        (file.clone(), "[a😀文]{0,3}", 0..9_000_usize)
            .prop_map(|(f, text, times)| Event::Selection(f, text.repeat(times))),
        (file.clone(), file.clone()).prop_map(|(from, to)| Event::Renamed(from, to)),
        file.prop_map(Event::Deleted),
    ]
}

proptest! {
    #[test]
    fn a_context_keeps_its_limits(events in prop::collection::vec(event(), 0..60)) {
        let name = |file: u8| format!("/{file}");
        let mut model = ContextModel::new(None, true);
        for event in events {
            let before = model.snapshot(|_| true);
            let changed = match &event {
                Event::Opened(file) => model.opened(&name(*file), 7),
                Event::Focused(file, now) => model.focused(&name(*file), *now),
                Event::Closed(file) => model.closed(&name(*file)),
                Event::Cursor(file, line) => model.cursor(&name(*file), cursor(*line, 1)),
                Event::Selection(file, text) => model.selection(&name(*file), text),
                Event::Renamed(from, to) => model.renamed(&name(*from), &name(*to)),
                Event::Deleted(file) => model.deleted(&name(*file)),
            };
            let context = model.snapshot(|_| true);
            prop_assert!(changed || context == before, "a change without a notification");

            let files = context.workspace_state.open_files;
            prop_assert!(files.len() <= MAX_OPEN_FILES);
            prop_assert!(files.is_sorted_by(|a, b| a.timestamp >= b.timestamp));
            for (position, file) in files.iter().enumerate() {
                prop_assert!(!file.is_active || position == 0);
                prop_assert!(file.is_active || file.cursor.is_none());
                prop_assert!(file.is_active || file.selected_text.is_none());
                // The client counts UTF-16 code units. A Rust string can't contain half of a
                // surrogate pair.
                if let Some(text) = &file.selected_text {
                    prop_assert!(!text.is_empty());
                    prop_assert!(text.encode_utf16().count() <= MAX_SELECTED_TEXT);
                }
            }
        }
    }
}

/// Starts a server in paused time, with one connected client and an open file that exists.
async fn connected() -> (Rig, Stream, String, tempfile::NamedTempFile) {
    let rig = Rig::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    assert_eq!(stream.context().await["workspaceState"]["openFiles"], serde_json::json!([]));
    rig.parts.context.update(|model| model.focused(&path, 1));
    assert_eq!(stream.context().await["workspaceState"]["openFiles"][0]["path"], path);
    (rig, stream, path, file)
}

fn line(context: &serde_json::Value) -> u64 {
    context["workspaceState"]["openFiles"][0]["cursor"]["line"].as_u64().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_sent_once_and_50_ms_after_its_last_event() {
    let (rig, mut stream, path, _file) = connected().await;
    let mut last = Instant::now();
    for n in 1..=4 {
        sleep(Duration::from_millis(40)).await;
        last = Instant::now();
        rig.parts.context.update(|model| model.cursor(&path, cursor(n, 1)));
    }
    assert_eq!(line(&stream.context().await), 4);
    let since_last = stream.arrived - last;
    // The last milliseconds pass on a thread that does not use the paused clock.
    assert!(
        since_last <= QUIET_TIME && QUIET_TIME <= since_last + TIMER_LATENESS,
        "{since_last:?}"
    );
    stream.nothing_for(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_burst_without_end_is_sent_every_250_ms() {
    let (rig, mut stream, path, _file) = connected().await;
    let begun = Instant::now();
    let mut contexts = Vec::new();
    for n in 1..=200 {
        rig.parts.context.update(|model| model.cursor(&path, cursor(n, 1)));
        sleep(Duration::from_millis(10)).await;
        while let Some(context) = stream.context_now() {
            contexts.push((stream.arrived - begun, line(&context)));
        }
    }
    assert!(contexts.len() >= 7, "2 s of events, {} contexts", contexts.len());
    let tolerance = Duration::from_millis(20); // events come every 10 ms
    assert!(
        contexts.windows(2).all(|pair| pair[1].0 <= pair[0].0 + MAX_DELAY + tolerance),
        "{contexts:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_identical_context_is_not_sent_twice() {
    let (rig, mut stream, path, _file) = connected().await;
    rig.parts.context.update(|model| model.cursor(&path, cursor(9, 9)));
    stream.context().await;
    rig.parts.context.update(|model| model.cursor(&path, cursor(1, 1)));
    rig.parts.context.update(|model| model.cursor(&path, cursor(9, 9)));
    stream.nothing_for(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_file_is_sent_only_while_it_exists() {
    let (rig, mut stream, path, file) = connected().await;
    file.close().unwrap();
    rig.parts.context.update(|model| model.cursor(&path, cursor(2, 2)));
    let message = stream.context().await;
    assert_eq!(message["workspaceState"]["openFiles"], serde_json::json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_later_gets_the_context_first() {
    let (rig, _stream, path, _file) = connected().await;
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    let message = timeout(Duration::from_millis(1), stream.context()).await.expect("at once");
    assert_eq!(message["workspaceState"]["openFiles"][0]["path"], path);
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_skips_what_is_stale() {
    let (rig, mut stream, path, _file) = connected().await;
    for n in 1..=50 {
        rig.parts.context.update(|model| model.cursor(&path, cursor(n, 1)));
        sleep(Duration::from_millis(300)).await;
    }
    assert_eq!(line(&stream.context().await), 50, "one context waits, the newest");
    stream.nothing_for(Duration::from_secs(1)).await;
}

/// Runs in real time: a paused clock stands still while a thread is busy.
#[tokio::test]
async fn a_disk_that_does_not_answer_holds_up_nothing_but_new_files() {
    static DEAD: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let dead = DEAD.lock();
    let is_file =
        |path: &str| path != "/dead" || DEAD.try_lock_for(Duration::from_mins(1)).is_some();
    let disk = FileScan::with(is_file, Arc::clone(rig.parts.workspace.privacy()));
    let context = EditorContext::new(ContextModel::new(None, true), Arc::clone(&rig.host));
    let publishing =
        context.publish(disk, &rig.parts.pool, &rig.parts.sessions, &rig.parts.monitors);
    let watching = async {
        context.update(|model| model.focused("/a", 1));
        assert_eq!(stream.context().await["workspaceState"]["openFiles"][0]["path"], "/a");
        context.update(|model| model.opened("/dead", 2));
        // A caret keeps moving, and its last position is sent.
        for line in 1..=3 {
            context.update(|model| model.cursor("/a", Position::new(line, 1).unwrap()));
            let message = stream.context().await;
            let files = &message["workspaceState"]["openFiles"];
            assert_eq!((&files[0]["cursor"]["line"], &files[1]), (&json!(line), &json!(null)));
        }
        drop(dead);
        let message = stream.context().await;
        assert_eq!(message["workspaceState"]["openFiles"][1]["path"], "/dead", "without an event");
    };
    let watching = tokio::time::timeout(Duration::from_secs(30), watching);
    tokio::select! {
        () = publishing => {}
        watched = watching => watched.expect("contexts come"),
    }
}

/// Runs in real time, too.
#[tokio::test]
async fn on_a_dead_disk_other_rules_take_back_everything() {
    static DEAD: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let dead = DEAD.lock();
    let is_file =
        |path: &str| path != "/dead" || DEAD.try_lock_for(Duration::from_mins(1)).is_some();
    let privacy = Arc::new(Privacy::new(SharedFolders::default(), false));
    let disk = FileScan::with(is_file, Arc::clone(&privacy));
    let context = EditorContext::new(ContextModel::new(None, true), Arc::clone(&rig.host));
    let publishing =
        context.publish(disk, &rig.parts.pool, &rig.parts.sessions, &rig.parts.monitors);
    let watching = async {
        context.update(|model| model.focused("/a", 1));
        assert_eq!(stream.context().await["workspaceState"]["openFiles"][0]["path"], "/a");
        context.update(|model| model.opened("/dead", 2));
        privacy.note_change();
        assert_eq!(stream.context().await["workspaceState"]["openFiles"], json!([]));
        drop(dead);
        let message = stream.context().await;
        assert_eq!(message["workspaceState"]["openFiles"][1]["path"], "/dead");
    };
    let watching = tokio::time::timeout(Duration::from_secs(30), watching);
    tokio::select! {
        () = publishing => {}
        watched = watching => watched.expect("contexts come"),
    }
}

fn privacy_of(folder: &Path) -> Arc<Privacy> {
    let folders = SharedFolders::default();
    folders.lock().open.push(folder.to_owned());
    Arc::new(Privacy::new(folders, false))
}

#[tokio::test]
async fn a_rule_that_comes_just_before_its_folder_is_watched_counts() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name| dir.path().join(name).to_str().unwrap().to_owned();
    let (key, last) = (at("x.hid"), at("last"));
    let privacy = privacy_of(dir.path());
    // The scan has already read the folder's rules when it checks the last file.
    let is_file = |path: &str| {
        if let Some(dir) = path.strip_suffix("last") {
            std::fs::write(format!("{dir}.geminiignore"), "*.hid").unwrap();
        }
        true
    };
    let mut disk = FileScan::with(is_file, privacy);
    let files = vec![key.clone(), last.clone()];
    let seen = disk.check(&BlockingPool::of_test(), files, Instant::now()).await;
    assert_eq!((&seen.shared, &seen.private.paths), (&vec![last], &vec![key]));
}

/// Windows watches whole roots, so this does not apply there.
#[cfg(not(windows))]
#[tokio::test(start_paused = true)]
async fn what_the_system_does_not_watch_is_looked_at_by_the_clock() {
    for (folder, is_watched) in [("", true), ("that/is/not/there", false)] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(folder).join("a").to_str().unwrap().to_owned();
        let privacy = privacy_of(dir.path());
        let mut disk = FileScan::with(|_| true, privacy);
        disk.check(&BlockingPool::of_test(), vec![file], Instant::now()).await;
        let news = timeout(Duration::from_mins(1), disk.has_news()).await;
        assert_eq!(news.is_err(), is_watched, "{folder}");
    }
}

#[tokio::test]
async fn from_the_moment_when_nothing_is_shared_no_client_gets_the_last_context() {
    let rig = Rig::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let (session, context) = (rig.initialize().await, &rig.parts.context);
    let mut stream = rig.stream(&session).await;
    context.update(|model| model.focused(path, 1));
    context.update(|model| model.selection(path, "a secret"));
    while !stream.context().await.to_string().contains("a secret") {}
    context.update(|model| model.set_shared(false));
    let of_session = rig.stream(&session).await.context().await;
    let events = rig.send("GET", "/events", &[], "").await;
    let of_watcher = Stream::new(events.into_body()).message().await.unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let uri = "companion://context";
    let params = json!({ "_meta": meta, "uri": uri });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/read"),
        ("mcp-name", uri),
    ];
    let resource = rig.send("POST", "/mcp", &headers, body.to_string()).await.into_body();
    let resource = String::from_utf8(resource.collect().await.unwrap().to_bytes().into()).unwrap();
    for answer in [of_session.to_string(), of_watcher.to_string(), resource] {
        assert!(answer.contains("openFiles") && !answer.contains("secret"), "{answer}");
    }
}
