//! Tests the parts of MCP revision 2026-07-28 that need a clock; the others have tests with a real client.

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
async fn a_client_that_wants_progress_learns_that_its_call_goes_on() {
    let rig = Rig::start();
    let mut stream = propose(&rig, json!({ "progressToken": 7 })).await;
    for step in [1, 2] {
        let message = stream.any_message().await.unwrap();
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], 7);
        assert_eq!(message["params"]["progress"], step);
    }
}

#[tokio::test(start_paused = true)]
async fn another_client_gets_comments() {
    let rig = Rig::start();
    let mut stream = propose(&rig, json!({})).await;
    assert_eq!(stream.block().await.unwrap(), ":");
}
