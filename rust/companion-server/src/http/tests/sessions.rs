//! Tests the limits of sessions and of the data that waits for them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, advance, sleep};

use crate::config::Limits;
use crate::session::{Client, SessionId, Sessions};
use crate::tests::{EditorCall, Rig};

async fn status(rig: &Rig, session: &str) -> u16 {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    rig.send("POST", "/mcp", &[("mcp-session-id", session)], body).await.status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn the_oldest_idle_session_goes_first() {
    let rig = Rig::limits(|limits| limits.idle_sessions = 3);
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(rig.initialize().await);
        advance(Duration::from_millis(1)).await;
    }
    let _stream = rig.stream(&sessions[0]).await;
    assert_eq!(status(&rig, &sessions[1]).await, 200, "used again, so no longer the oldest");
    advance(Duration::from_millis(1)).await;
    for _ in 0..2 {
        sessions.push(rig.initialize().await);
        advance(Duration::from_millis(1)).await;
    }
    let mut alive = Vec::new();
    for session in &sessions {
        alive.push(status(&rig, session).await == 200);
    }
    assert_eq!(alive, [true, true, false, true, true], "the first has a stream");
}

/// The stream broke before the decision arrived.
#[tokio::test(start_paused = true)]
async fn a_session_goes_last_whose_client_may_not_have_got_a_decision() {
    let rig = Rig::limits(|limits| limits.idle_sessions = 2);
    let waiting = rig.initialize().await;
    let mut stream = rig.stream(&waiting).await;
    open(&rig, &waiting).await;
    rig.accept("/a", "text");
    stream.context().await;
    stream.message().await.unwrap();
    drop(stream);
    for _ in 0..3 {
        advance(Duration::from_millis(1)).await;
        rig.initialize().await;
    }
    let mut stream = rig.stream(&waiting).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["content"], "text");
}

#[tokio::test(start_paused = true)]
async fn the_view_of_a_client_that_stays_away_closes_and_it_gets_the_rejection_later() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    open(&rig, &session).await;
    drop(rig.stream(&session).await);
    let begun = Instant::now();
    let EditorCall::Close(..) = rig.asked().await else { panic!("the view stays open") };
    assert!(begun.elapsed() >= Duration::from_mins(5), "{:?}", begun.elapsed());
    sleep(Duration::from_mins(25)).await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    let message = stream.message().await.unwrap();
    assert_eq!(message["method"], "ide/diffRejected");
    assert_eq!(message["params"], json!({ "filePath": "/a" }));
}

#[tokio::test(start_paused = true)]
async fn a_decision_waits_nearly_an_hour_for_its_client() {
    let rig = Rig::start();
    let session = rig.initialize().await;
    open(&rig, &session).await;
    rig.accept("/a", "text");
    sleep(Duration::from_mins(59)).await;
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["content"], "text");
}

/// The client proposes, and has no stream for a moment.
#[tokio::test(start_paused = true)]
async fn a_newcomer_is_refused_before_a_client_that_waits_for_a_decision_loses_it() {
    let rig = Rig::limits(|limits| limits.sessions = 2);
    let waiting = rig.initialize().await;
    open(&rig, &waiting).await;
    let other = rig.initialize().await;
    open_at(&rig, &other, "/b").await;
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    assert_eq!(rig.send("POST", "/mcp", &[], body).await.status(), 503);
    rig.accept("/a", "text");
    let mut stream = rig.stream(&waiting).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["content"], "text");
}

#[tokio::test(start_paused = true)]
async fn clients_that_wait_for_a_decision_keep_no_newcomer_out() {
    let rig = Rig::limits(|limits| limits.idle_sessions = 1);
    let waiting = rig.initialize().await;
    open(&rig, &waiting).await;
    let newcomer = rig.initialize().await;
    for session in [&waiting, &newcomer] {
        assert_eq!(status(&rig, session).await, 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stays_away_makes_room_though_its_diff_was_open() {
    let rig = Rig::limits(|limits| limits.idle_sessions = 1);
    let away = rig.initialize().await;
    open(&rig, &away).await;
    sleep(Limits::default().core.session_away).await;
    rig.initialize().await;
    assert_eq!(status(&rig, &away).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_stays_whose_request_is_being_answered() {
    let rig = Rig::limits(|limits| limits.idle_sessions = 1);
    let asking = rig.initialize().await;
    let arguments = json!({ "filePath": "/a", "newContent": "" });
    let others = async {
        let EditorCall::Open(responder, _) = rig.asked().await else { panic!() };
        let mut others = Vec::new();
        for _ in 0..2 {
            advance(Duration::from_millis(1)).await;
            others.push(rig.initialize().await);
        }
        responder.complete(None);
        others
    };
    let (answer, others) = tokio::join!(rig.call(&asking, "openDiff", &arguments), others);
    assert_eq!(answer, json!({ "content": [] }));
    assert_eq!(status(&rig, &asking).await, 200);
    assert_eq!(status(&rig, &others[0]).await, 404);
}

/// Opens a diff for `/a`. Returns the number of the CLI that the editor receives.
async fn open(rig: &Rig, session: &str) -> u32 {
    open_at(rig, session, "/a").await
}

async fn open_at(rig: &Rig, session: &str, path: &str) -> u32 {
    let answer = async {
        let EditorCall::Open(responder, proposal) = rig.asked().await else { panic!() };
        responder.complete(None);
        proposal.to_show().cli
    };
    let arguments = json!({ "filePath": path, "newContent": "" });
    tokio::join!(rig.call(session, "openDiff", &arguments), answer).1
}

#[tokio::test]
async fn proposals_carry_the_lowest_number_that_no_other_client_has() {
    let rig = Rig::start();
    // This client has a session, but never proposes.
    rig.initialize().await;
    let (one, two, three) =
        (rig.initialize().await, rig.initialize().await, rig.initialize().await);
    let stream = rig.stream(&one).await;
    let _stream = rig.stream(&two).await;
    assert_eq!(open_at(&rig, &one, "/one").await, 1);
    assert_eq!(open_at(&rig, &two, "/two").await, 2);
    assert_eq!(open_at(&rig, &one, "/one/more").await, 1);

    // The first client has left, but its proposal is still shown.
    drop(stream);
    assert_eq!(open_at(&rig, &three, "/three").await, 3);
    let _stream = rig.stream(&three).await;
    assert_eq!(open_at(&rig, &two, "/two/more").await, 2);
    for path in ["/one", "/one/more"] {
        rig.reject(path);
    }
    let four = rig.initialize().await;
    assert_eq!(open_at(&rig, &four, "/four").await, 1);
    // If the first client returns, it gets another number.
    assert_eq!(open_at(&rig, &one, "/one").await, 4);
    assert_eq!(open_at(&rig, &four, "/four").await, 1);
    assert_eq!(open_at(&rig, &three, "/three").await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_session_without_a_stream_ends_after_an_hour() {
    for keep_alive in [1, 20, 150] {
        let rig = Rig::limits(|limits| limits.keep_alive = Duration::from_secs(keep_alive));
        let (idle, connected) = (rig.initialize().await, rig.initialize().await);
        let _stream = rig.stream(&connected).await;
        sleep(Duration::from_mins(59)).await;
        assert!(rig.parts.sessions.get(parse(&idle)).is_some());
        sleep(Duration::from_mins(1) + Duration::from_millis(1)).await;
        assert_eq!(status(&rig, &idle).await, 404);
        sleep(Duration::from_hours(2)).await;
        assert_eq!(status(&rig, &connected).await, 200);
    }
}

#[tokio::test]
async fn when_all_places_are_taken_a_new_client_is_refused() {
    let rig = Rig::limits(|limits| limits.sessions = 2);
    let (a, b) = (rig.initialize().await, rig.initialize().await);
    let (stream, _other) = (rig.stream(&a).await, rig.stream(&b).await);
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    assert_eq!(rig.send("POST", "/mcp", &[], body).await.status(), 503);
    drop(stream);
    assert_eq!(rig.send("POST", "/mcp", &[], body).await.status(), 200);
    assert_eq!(status(&rig, &a).await, 404);
}

#[tokio::test]
async fn a_client_that_does_not_read_its_decisions_may_not_open_more() {
    let rig = Rig::limits(|limits| limits.core.diffs_per_session = 2);
    let session = rig.initialize().await;
    let open = async |path: &str| {
        let answer = rig.show();
        let arguments = json!({ "filePath": path, "newContent": "" });
        tokio::join!(rig.call(&session, "openDiff", &arguments), answer).0
    };
    open("/a").await;
    open("/b").await;
    rig.accept("/a", "kept");
    let arguments = json!({ "filePath": "/c", "newContent": "" });
    assert_eq!(rig.call(&session, "openDiff", &arguments).await["isError"], true);

    let mut stream = rig.stream(&session).await;
    stream.context().await;
    assert_eq!(stream.message().await.unwrap()["params"]["content"], "kept");
    assert_eq!(open("/c").await, json!({ "content": [] }));
}

/// A client with the token can create any number of sessions.
#[tokio::test]
async fn texts_of_all_sessions_are_bounded_in_bytes() {
    let rig = Rig::limits(|limits| limits.core.held_bytes = 1000);
    let sessions = [rig.initialize().await, rig.initialize().await, rig.initialize().await];
    let arguments =
        |path: &str, length| json!({ "filePath": path, "newContent": "x".repeat(length) });
    let refused = async |session: &str, path: &str, length| {
        let result = rig.call(session, "openDiff", &arguments(path, length)).await;
        assert_eq!(result["isError"], true, "{result}");
    };
    let open = async |session: &str, path: &str, length| {
        let arguments = arguments(path, length);
        let (result, ()) = tokio::join!(rig.call(session, "openDiff", &arguments), rig.show());
        assert_eq!(result, json!({ "content": [] }));
    };
    // A proposal above the limit opens if it is the only one.
    open(&sessions[0], "/a", 2000).await;
    refused(&sessions[1], "/b", 1).await;
    // The user has decided, and the client has not read the decision.
    rig.accept("/a", &"y".repeat(600));
    refused(&sessions[1], "/b", 500).await;
    open(&sessions[1], "/b", 400).await;
    refused(&sessions[2], "/c", 1).await;
    // Texts that were read or rejected are no longer held.
    let mut stream = rig.stream(&sessions[0]).await;
    stream.context().await;
    stream.message().await.unwrap();
    rig.stream_after(&sessions[0], stream.last_id.as_deref()).await;
    drop(stream);
    open(&sessions[2], "/c", 500).await;
    refused(&sessions[2], "/d", 101).await;
    rig.reject("/b");
    open(&sessions[2], "/d", 101).await;
}

fn parse(id: &str) -> crate::session::SessionId {
    crate::session::SessionId::parse(id).unwrap()
}

#[tokio::test(start_paused = true)]
async fn who_has_not_come_back_after_a_restart_is_idle_like_any_other() {
    let rig = Rig::start();
    let left = (0..70).map(|_| (SessionId::new(), Client::default()));
    let sessions = Sessions::new(Limits::default(), Arc::clone(&rig.host), left);
    let gone = || sessions.create(Client::default(), |_| false).unwrap().1.len();
    assert_eq!(gone(), 0, "they may yet come");
    sleep(Duration::from_mins(1)).await;
    assert_eq!(gone(), 72 - 64);
}
