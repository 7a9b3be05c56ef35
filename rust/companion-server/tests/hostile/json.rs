//! Tests JSON that is too deep, too wide or too large, or has a member twice.

use companion_server::Limits;

use super::assert_status;
use crate::common::{Rig, call, is_long};

/// Posts a body within a session, and returns the reply.
fn post(rig: &Rig, session: &str, body: &[u8]) -> String {
    let length = body.len();
    let headers =
        format!("mcp-session-id: {session}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    rig.exchange([rig.head("POST /mcp", &headers).as_bytes(), body].concat())
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    let rig = Rig::start();
    let session = rig.initialize();
    let open = call("openDiff", r#"{"filePath":"/a","newContent":""}"#);
    for extra in [r#""id":2"#, r#""method":"ping""#, r#""params":{}"#, r#""jsonrpc":"2.0""#] {
        let twice = open.replacen('{', &format!("{{{extra},"), 1);
        assert_status(&post(&rig, &session, twice.as_bytes()), "400", extra);
    }
    assert_eq!(rig.asked(), [""; 0]);
    rig.is_well();
}

/// Long runs test the default limit, short runs 4 MB.
#[test]
fn bombs_at_the_limit_do_not_go_off() {
    let limit = if is_long() { Limits::default().body } else { 4 << 20 };
    let rig = Rig::with(|config| {
        config.limits.body = limit;
        config.limits.body_timeout = std::time::Duration::from_secs(30);
    });
    let session = rig.initialize();
    let fill = |before: &str, piece: &str, after: &str| {
        let count = (limit - before.len() - after.len()) / piece.len();
        format!("{before}{}{after}", piece.repeat(count))
    };
    let arguments = |of: &str| {
        call("nope", of).split_once(of).map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap()
    };
    let (before, after) = arguments("{}");
    let wide = fill(&format!("{before}{{\"a\":0"), ",\"a\":0", &format!("}}{after}"));
    assert!(post(&rig, &session, wide.as_bytes()).contains("Unknown tool: nope"));
    for deep in ["[", "{\"a\":"] {
        assert_status(&post(&rig, &session, fill("", deep, "").as_bytes()), "400", deep);
    }
    let batch = fill("[1", ",1", "]");
    let reply = post(&rig, &session, batch.as_bytes());
    assert!(reply.contains("a batch holds at most 100 messages"), "{reply}");
    let long = fill(r#"{"jsonrpc":"2.0","id":1,"method":""#, "x", r#""}"#);
    assert!(post(&rig, &session, long.as_bytes()).contains("Method not found: xxx"));
    let (before, after) = ("{\"filePath\":\"/a\",\"newContent\":\"", "\"}");
    let (before, after) = (call("openDiff", &format!("{before}{after}")), after);
    let (head, tail) = before.split_once(after).unwrap();
    let proposal = fill(head, "\\u0041", &format!("{after}{tail}"));
    let reply = post(&rig, &session, proposal.as_bytes());
    assert!(reply.ends_with(r#""result":{"content":[]}}"#), "{reply}");
    assert_eq!(rig.asked(), ["open /a"], "and a proposal of that size is fine");
    rig.is_well();
}
