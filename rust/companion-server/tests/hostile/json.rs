//! Tests JSON that is too deep, too wide or too large, or that parsers read differently.

use crate::assert_status;
use crate::common::{Rig, call, is_long};

/// Posts a body within a session, and returns the reply.
fn post(rig: &Rig, session: &str, body: &[u8]) -> String {
    let length = body.len();
    let headers =
        format!("mcp-session-id: {session}\r\nconnection: close\r\ncontent-length: {length}\r\n");
    rig.exchange([rig.head("POST /mcp", &headers).as_bytes(), body].concat())
}

#[test]
fn what_is_no_json_is_named_and_does_nothing() {
    let rig = Rig::start();
    let session = rig.initialize();
    let open = call("openDiff", r#"{"filePath":"/a","newContent":""}"#);
    let cases: &[(&str, Vec<u8>)] = &[
        ("a BOM", [b"\xef\xbb\xbf", open.as_bytes()].concat()),
        ("UTF-16", open.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("bytes that are no UTF-8", open.replace("/a", "/\u{1}").into_bytes()),
        (
            "a byte that is no UTF-8",
            [&open.as_bytes()[..60], b"\xff", &open.as_bytes()[60..]].concat(),
        ),
        (
            "an encoded surrogate",
            [&open.as_bytes()[..60], b"\xed\xa0\x80", &open.as_bytes()[60..]].concat(),
        ),
        (
            "an overlong slash",
            [&open.as_bytes()[..60], b"\xc0\xaf", &open.as_bytes()[60..]].concat(),
        ),
        ("a NUL before", [b"\0", open.as_bytes()].concat()),
        ("a NUL behind", [open.as_bytes(), b"\0"].concat()),
        ("two messages", [open.as_bytes(), open.as_bytes()].concat()),
        ("a comma at the end", open.replace("\"\"}", "\"\",}").into_bytes()),
        ("a comment", open.replace("\"\"}", "\"\"/**/}").into_bytes()),
        ("single quotes", open.replace('"', "'").into_bytes()),
        ("cut", open.as_bytes()[..open.len() - 1].to_vec()),
    ];
    for (case, body) in cases {
        let reply = post(&rig, &session, body);
        assert_status(&reply, "400", case);
        assert!(reply.contains("\"code\":-32700"), "{case}: {reply}");
        assert_eq!(rig.asked(), [""; 0], "{case}");
    }
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
    for (arguments, named) in [
        (r#"{"filePath":"/a","newContent":"","filePath":"/b"}"#, "filePath is there twice"),
        (r#"{"filePath":"/a","newContent":"","newContent":"x"}"#, "newContent is there twice"),
        (r#"{"filePath":"/a","newContent":"","file\u0050ath":"/b"}"#, "filePath is there twice"),
    ] {
        let reply = post(&rig, &session, call("openDiff", arguments).as_bytes());
        assert!(reply.contains("\"isError\":true") && reply.contains(named), "{reply}");
    }
    assert_eq!(rig.asked(), [""; 0]);
    rig.is_well();
}

#[test]
fn ids_come_back_as_they_were_or_not_at_all() {
    let rig = Rig::start();
    let session = rig.initialize();
    let digits = "7".repeat(400);
    let long = format!("\"{}\"", "x".repeat(100_000));
    let ids = ["1e999999", "-0", "1.0", &digits, r#""\ud800""#, r#""\u0000""#, "\"\"", &long];
    for id in ids {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let reply = post(&rig, &session, body.as_bytes());
        assert!(
            reply.ends_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
            "{reply}"
        );
    }
    for id in ["null", "true", "{}", "[1]", "[]"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_status(&post(&rig, &session, body.as_bytes()), "400", id);
    }
    for id in ["01", "+1", ".5", "1.", "0x10", "NaN", "1e", "--1", "1_000"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let reply = post(&rig, &session, body.as_bytes());
        assert_status(&reply, "400", id);
        assert!(reply.contains("-32700"), "{reply}");
    }
}

#[test]
fn half_a_character_is_no_text() {
    let rig = Rig::start();
    let session = rig.initialize();
    for half in [r"\ud800", r"\udfff", r"\ude00\ud83d", r"\ud83d\n", r"x\ud83d", r"a\ud83dxude00b"]
    {
        for (arguments, named) in [
            (format!(r#"{{"filePath":"/{half}","newContent":""}}"#), "filePath"),
            (format!(r#"{{"filePath":"/a","newContent":"{half}"}}"#), "newContent"),
        ] {
            let reply = post(&rig, &session, call("openDiff", &arguments).as_bytes());
            let named = format!("{named} must be a string of valid Unicode");
            assert!(reply.contains("\"isError\":true") && reply.contains(&named), "{reply}");
        }
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{half}"}}"#);
        assert_status(&post(&rig, &session, body.as_bytes()), "400", half);
    }
    assert_eq!(rig.asked(), [""; 0]);
}

/// Long runs test the default limit of 64 MB, short runs 4 MB.
#[test]
fn bombs_at_the_limit_do_not_go_off() {
    let limit = if is_long() { 64 << 20 } else { 4 << 20 };
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
