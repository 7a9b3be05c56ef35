//! Tests the parts of MCP revision 2026-07-28 that need a clock; the others have tests with a real client.

use companion_protocol::status::ConnectedCli;
use serde_json::{Value, json};

use crate::tests::{Rig, Stream};

/// Proposes an edit. `meta` has more members of `_meta`.
async fn propose(rig: &Rig, meta: Value) -> Stream {
    let mut all = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    all.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    let arguments = json!({ "filePath": "/a", "newContent": "new" });
    let params = json!({ "_meta": all, "name": "openDiff", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "openDiff"),
    ];
    let body = body.to_string();
    let (reply, ()) = tokio::join!(rig.send("POST", "/mcp", &headers, body), rig.show());
    let mut stream = Stream::new(reply.into_body());
    assert_eq!(stream.block().await.unwrap(), ":", "the client sees that the call goes on");
    stream
}

#[tokio::test(start_paused = true)]
async fn a_client_learns_by_progress_or_by_comments_that_its_call_goes_on() {
    let rig = Rig::start();
    let mut stream = propose(&rig, json!({})).await;
    assert_eq!(stream.block().await.unwrap(), ":");
    let mut stream = propose(&rig, json!({ "progressToken": 7 })).await;
    for step in [1, 2] {
        let message = stream.any_message().await.unwrap();
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], 7);
        assert_eq!(message["params"]["progress"], step);
    }
}

#[tokio::test]
async fn the_editor_gets_the_name_of_a_client_without_a_session() {
    let rig = Rig::start();
    let client = json!({ "name": "test\n", "version": "1" });
    let meta = json!({ "io.modelcontextprotocol/clientInfo": client });
    let _stream = propose(&rig, meta).await;
    let (name, version) = ("test".to_owned(), "1".to_owned());
    let client = ConnectedCli { name, version, awaits_hook: false };
    assert_eq!(rig.parts.hooks.connected_clis(), [client]);
}

#[tokio::test]
async fn an_end_that_is_no_decision_of_the_user_is_an_error() {
    let rig = Rig::start();
    let mut replaced = propose(&rig, json!({})).await;
    rig.open(&rig.initialize().await, "/a").await;
    let mut rejected = propose(&rig, json!({})).await;
    rig.reject("/a");
    let mut stopped = propose(&rig, json!({})).await;
    rig.shut_down().await;
    let message = async |stream: &mut Stream| stream.any_message().await.unwrap();
    let result = &message(&mut rejected).await["result"];
    assert_eq!(result["structuredContent"]["decision"], "rejected");
    for stream in [&mut replaced, &mut stopped] {
        let error = message(stream).await["error"]["message"].take();
        assert_eq!(error, "The proposal has ended without a decision of the user.");
    }
}
