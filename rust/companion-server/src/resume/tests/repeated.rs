//! Tests requests that a bridge repeats because the first process was killed. The decision and the
//! answer arrive on separate connections, in any order.

use serde_json::json;
use tempfile::TempDir;

use super::clients::{becomes, kill, next_message};
use crate::tests::{Rig, tool_call};

const PATH: &str = "/a";

/// Repeats the request for [`PATH`]. The server must not ask the editor.
async fn ask_again(rig: &Rig, session: &str) {
    let body = tool_call("openDiff", &json!({ "filePath": PATH, "newContent": "new" }));
    let headers = [("mcp-session-id", session), ("companion-repeated", "true")];
    let answer = rig.send("POST", "/mcp", &headers, body.to_string());
    tokio::select! {
        answer = answer => assert_eq!(answer.status(), 200),
        asked = rig.asked() => panic!("it shows for nobody: {asked:?}"),
    }
}

/// Starts a process with an open diff for [`PATH`]. Returns it with the session of its client.
async fn open(dir: &TempDir) -> (Rig, String) {
    let rig = Rig::resume(dir.path());
    let session = rig.initialize_bridge().await;
    rig.open(&session, PATH).await;
    (rig, session)
}

#[tokio::test]
async fn what_the_next_process_rejects_does_not_show_for_nobody() {
    let dir = TempDir::new().unwrap();
    let (rig, session) = open(&dir).await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&session).await;
    stream.context().await;
    assert_eq!(next_message(&mut stream).await["method"], "ide/diffRejected");
    ask_again(&rig, &session).await;
}

#[tokio::test]
async fn what_the_user_had_accepted_is_not_forgotten_for_it() {
    let dir = TempDir::new().unwrap();
    let (rig, session) = open(&dir).await;
    rig.accept(PATH, "text");
    becomes(&dir, json!([[PATH, "text"]])).await;
    kill(&dir, rig).await;

    let rig = Rig::resume(dir.path());
    let mut stream = rig.stream(&session).await;
    ask_again(&rig, &session).await;
    stream.context().await;
    assert_eq!(next_message(&mut stream).await["params"]["content"], "text");
}
