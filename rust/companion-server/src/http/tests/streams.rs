//! Tests event streams: their first events, their resent events and their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::host::Delivery;
use crate::tests::{Rig, Stream};

fn accept(rig: &Rig, content: &str) -> Delivery {
    rig.accept("/a", content)
}

/// Reads the next decision, as `method content`.
async fn decision(stream: &mut Stream) -> String {
    let message = stream.message().await.unwrap();
    let content = message["params"]["content"].as_str().unwrap_or_default();
    format!("{} {content}", message["method"].as_str().unwrap())
}

#[tokio::test]
async fn a_stream_begins_with_retry_and_the_context() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    assert_eq!(stream.block().await.unwrap(), "retry: 20000");
    let event = stream.block().await.unwrap();
    let lines: Vec<_> = event.lines().collect();
    let [kind, id, data] = lines[..] else { panic!("{event}") };
    assert_eq!(kind, "event: message");
    assert_eq!(id, "id: -", "nothing was sent");
    let context = r#"{"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[]}}}"#;
    assert_eq!(data, format!("data: {context}"));
}

#[tokio::test]
async fn an_event_id_of_another_server_says_nothing() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    accept(&rig, "edited");
    drop(rig.stream(&session).await);
    for id in ["deadbeef-99", "99", "x", "", "-"] {
        let mut stream = rig.stream_after(&session, Some(id)).await;
        stream.context().await;
        assert_eq!(decision(&mut stream).await, "ide/diffAccepted edited", "{id:?}");
    }
}

#[tokio::test]
async fn a_second_stream_replaces_the_first() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    let mut first = rig.stream(&session).await;
    first.context().await;
    let mut second = rig.stream(&session).await;
    assert_eq!(first.message().await, None, "it has ended");
    second.context().await;
    drop(first);
    rig.open(&session, "/a").await;
    accept(&rig, "x");
    assert_eq!(decision(&mut second).await, "ide/diffAccepted x");
    assert_eq!(rig.received().counts, [1], "one client, all the time");
    drop(second);
    assert_eq!(rig.received().counts, [1, 0]);
}

#[tokio::test]
async fn events_shows_everything_under_the_names_of_the_neovim_server() {
    let rig = Rig::start();
    let files = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
    let (path, other) = (files.0.path().to_str().unwrap(), files.1.path().to_str().unwrap());
    let mut events = Stream::new(rig.send("GET", "/events", &[], "").await.into_body());
    let mut seen = vec![events.block().await.unwrap()];
    rig.parts.context.update(|model| {
        model.opened(other, 6);
        model.focused(path, 7);
        let cursor = companion_protocol::ide::Position::new(2, 3).unwrap();
        model.cursor(path, cursor);
        model.selection(path, "a\nb")
    });
    seen.push(events.block().await.unwrap());
    let session = rig.initialize().await;
    rig.open(&session, "/a").await;
    accept(&rig, "new");
    seen.push(events.block().await.unwrap());
    rig.open(&session, "/a").await;
    rig.reject("/a");
    seen.push(events.block().await.unwrap());
    insta::assert_snapshot!(
        seen.join("\n\n").replace(path, "/path/to/file").replace(other, "/other")
    );
}

#[tokio::test]
async fn a_watcher_that_does_not_read_holds_up_nobody() {
    let rig = Rig::limits(|limits| limits.monitors = 1);
    let idle = rig.send("GET", "/events", &[], "").await;
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    for n in 0..200 {
        rig.open(&session, "/a").await;
        accept(&rig, &n.to_string());
        assert_eq!(decision(&mut stream).await, format!("ide/diffAccepted {n}"));
    }
    let refused = rig.send("GET", "/events", &[], "").await;
    assert_eq!(refused.status(), 503, "one at a time, by this limit");
    drop(idle);
    assert_eq!(rig.send("GET", "/events", &[], "").await.status(), 200);
}

#[tokio::test]
async fn a_watcher_that_does_not_read_costs_little_memory() {
    let rig = Rig::start();
    let events = rig.send("GET", "/events", &[], "").await;
    let session = rig.initialize().await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let text = "x".repeat(1 << 20);
    for _ in 0..8 {
        rig.open(&session, "/a").await;
        accept(&rig, &text);
        decision(&mut stream).await;
    }
    rig.parts.monitors.end();
    let waiting = events.into_body().collect().await.unwrap().to_bytes().len();
    assert!((3 << 20..=4 << 20).contains(&waiting), "{waiting} bytes");
}

#[tokio::test]
async fn a_watcher_that_is_sent_a_long_text_misses_what_would_pile_up_behind_it() {
    let rig = Rig::start();
    let mut watcher = rig.send("GET", "/events", &[], "").await.into_body();
    watcher.frame().await.unwrap().unwrap();
    let session = rig.initialize().await;
    for text in ["x", "y"] {
        rig.open(&session, "/a").await;
        accept(&rig, &text.repeat(3 << 20));
    }
    let sent = watcher.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(sent.ends_with(b"xx\"}}\n\n"));
    rig.open(&session, "/a").await;
    accept(&rig, &"z".repeat(3 << 20));
    rig.parts.monitors.end();
    assert!(watcher.frame().await.is_none(), "of the first one it has not asked for the rest");
}

#[tokio::test]
async fn a_request_does_not_wait_until_every_client_has_the_context() {
    let rig = Arc::new(Rig::start());
    let count = Arc::new(AtomicUsize::new(0));
    let first = Arc::new(Notify::new());
    for _ in 0..500 {
        let session = rig.initialize().await;
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        let (count, first) = (Arc::clone(&count), Arc::clone(&first));
        tokio::spawn(async move {
            stream.context().await;
            count.fetch_add(1, Ordering::Relaxed);
            first.notify_one();
        });
    }
    rig.parts.context.update(|model| model.trusted(Some(false)));
    first.notified().await;
    let session = rig.initialize().await;
    rig.call(&session, "closeDiff", &json!({ "filePath": "/a" })).await;
    let count = count.load(Ordering::Relaxed);
    assert!(count < 250, "it waited for {count} of 500");
}

/// The client listens, and never acknowledges.
#[tokio::test(start_paused = true)]
async fn a_long_text_that_was_sent_is_kept_for_minutes_but_not_for_ever() {
    let long = "x".repeat(2 << 20);
    for (minutes, is_kept) in [(4, true), (11, false)] {
        let rig = Rig::start();
        let session = rig.initialize().await;
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        sleep(Duration::from_mins(1)).await;
        for (path, text) in [("/long", &*long), ("/newest", "newest")] {
            rig.open(&session, path).await;
            rig.accept(path, text);
            assert_eq!(stream.message().await.unwrap()["params"]["filePath"], path);
        }
        sleep(Duration::from_mins(minutes)).await;
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        let first = if is_kept { "/long" } else { "/newest" };
        assert_eq!(stream.message().await.unwrap()["params"]["filePath"], first, "{minutes}");
    }
}
