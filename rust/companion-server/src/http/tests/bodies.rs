//! Tests large bodies while the editor does not answer.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::tests::{EditorCall, Rig, tool_call};

const LIMIT: usize = 1 << 20;

fn call(tool: &str, path: &str, text: &str) -> Value {
    tool_call(tool, &json!({ "filePath": path, "newContent": text }))
}

/// Sends a body, padded with spaces to this length. Returns status and text.
async fn send(rig: &Rig, session: &str, body: &Value, length: usize) -> (u16, String) {
    let mut body = body.to_string().into_bytes();
    body.resize(length.max(body.len()), b' ');
    let reply = rig.send("POST", "/mcp", &[("mcp-session-id", session)], body).await;
    let status = reply.status().as_u16();
    let text = reply.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(text.into()).unwrap())
}

/// Starts a server whose editor shows `/a`. Returns it with the session that proposed `/a`.
async fn showing() -> (Rig, String) {
    let rig = Rig::limits(|limits| {
        limits.body = LIMIT;
        limits.core.host_timeout = Duration::from_mins(10);
    });
    let session = rig.initialize().await;
    let open = call("openDiff", "/a", "");
    tokio::join!(send(&rig, &session, &open, 0), rig.show());
    (rig, session)
}

/// Returns the request to reject, which the editor leaves unanswered.
async fn leave(rig: &Rig) -> EditorCall {
    let asked = rig.asked().await;
    assert!(matches!(asked, EditorCall::Reject(..)));
    asked
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_silent_editor_holds_up_no_large_proposal() {
    let reject = call("rejectDiff", "/a", "");
    for waiting in
        [json!([reject, reject]), reject, call("rejectDiff", "/a", &"x".repeat(LIMIT / 2))]
    {
        let (rig, session) = showing().await;
        let waits = || send(&rig, &session, &waiting, LIMIT);
        let proposal = call("openDiff", "/b", &"x".repeat(100_000));
        let begun = Instant::now();
        let others = async {
            let _asked = (leave(&rig).await, leave(&rig).await);
            tokio::join!(send(&rig, &session, &proposal, 0), rig.show()).0
        };
        let (status, text) = tokio::select! {
            answer = others => answer,
            answer = async { tokio::join!(waits(), waits()).0 } => answer,
        };
        assert!(status == 200 && text.contains(r#""content":[]"#), "{status} {text}");
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_for_a_large_body_is_refused_in_time() {
    let (rig, session) = showing().await;
    let reject = call("rejectDiff", "/a", "");
    let large = call("openDiff", "/b", &"x".repeat(LIMIT - 1_000));
    let batch = json!([reject, large]);
    let waits = || send(&rig, &session, &batch, 0);
    let begun = Instant::now();
    let others = async {
        let _asked = (leave(&rig).await, leave(&rig).await);
        send(&rig, &session, &large, 0).await
    };
    let (status, text) = tokio::select! {
        answer = others => answer,
        answer = async { tokio::join!(waits(), waits()).0 } => answer,
    };
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("other large requests are under way"), "{text}");
    assert_eq!(begun.elapsed(), rig.parts.config.limits.body_timeout);
}
