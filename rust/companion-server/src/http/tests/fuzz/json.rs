//! Generates the fuzzer's bodies: messages that are nearly valid, text that is not quite JSON, and
//! both with some bytes changed afterwards.

use companion_protocol::tool::Tool;
use proptest::prelude::*;
use proptest::sample::select;

/// A change of bytes. Its position is a fraction of the whole body.
#[derive(Clone, Debug)]
enum Change {
    Set(u16, u8),
    Insert(u16, &'static [u8]),
    Cut(u16),
}

fn change(bytes: &mut Vec<u8>, change: &Change) {
    let (Change::Set(at, _) | Change::Insert(at, _) | Change::Cut(at)) = *change;
    let at = usize::from(at) * bytes.len() / 0x10000;
    match *change {
        Change::Set(_, byte) if at < bytes.len() => bytes[at] = byte,
        Change::Set(_, byte) => bytes.push(byte),
        Change::Insert(_, piece) => drop(bytes.splice(at..at, piece.iter().copied())),
        Change::Cut(_) => bytes.truncate(at),
    }
}

fn a_change() -> BoxedStrategy<Change> {
    let pieces: Vec<&'static [u8]> = vec![
        b"\0",
        b" ",
        b":",
        b",",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"1e999999",
        b"null",
    ];
    prop_oneof![
        3 => any::<(u16, u8)>().prop_map(|(at, byte)| Change::Set(at, byte)),
        3 => (any::<u16>(), select(pieces)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        1 => any::<u16>().prop_map(Change::Cut),
    ]
    .boxed()
}

pub(super) fn body() -> BoxedStrategy<Vec<u8>> {
    let text = prop_oneof![
        12 => message(),
        3 => prop::collection::vec(prop_oneof![9 => message(), 1 => value()], 0..5)
            .prop_map(|messages| format!("[{}]", messages.join(","))),
        1 => value(),
        1 => (98_usize..103).prop_map(|count| {
            format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; count].join(","))
        }),
        1 => text(),
    ];
    let changes = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(a_change(), 1..3)];
    (text, changes)
        .prop_map(|(text, changes)| {
            let mut bytes = text.into_bytes();
            for one in &changes {
                change(&mut bytes, one);
            }
            bytes
        })
        .boxed()
}

/// Generates a JSON-RPC message with at most one fault.
fn message() -> BoxedStrategy<String> {
    let version = prop_oneof![
        30 => Just(r#""2.0""#.to_owned()),
        1 => select(vec!["2.0", "\"1.0\"", "\"2\\u002e0\"", "null"]).prop_map(str::to_owned),
    ];
    let known = select(vec!["ping", "tools/list", "initialize", "logging/setLevel", "nope", ""]);
    let method = prop_oneof![
        4 => known.prop_map(|name| format!("\"{name}\"")),
        1 => Just("\"notifications/initialized\"".to_owned()),
        1 => value(),
    ];
    let other = (method, prop::option::of(prop_oneof![3 => object(), 1 => value()]));
    let call = tool_call().prop_map(|params| ("\"tools/call\"".to_owned(), Some(params)));
    let method = prop_oneof![2 => call, 1 => other];
    let members = (version, prop::option::weighted(0.9, id()), method, extra());
    let members = members.prop_map(|(version, id, (method, params), extra)| {
        let mut members = vec![("jsonrpc", version), ("method", method)];
        members.extend(id.map(|id| ("id", id)));
        members.extend(params.map(|params| ("params", params)));
        members.extend(extra);
        members
    });
    let object = members.prop_shuffle().prop_map(|members| join(&members));
    // A reader that relies on the order of members would take this for a message.
    let array = (id(), value()).prop_map(|(id, params)| format!(r#"["2.0",{id},"ping",{params}]"#));
    let error = select(vec![r#"{"code":1,"message":""}"#, r#"[1,"a"]"#, "null", "1"]);
    let error = error.prop_map(|error| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    prop_oneof![30 => object, 1 => array, 1 => error].boxed()
}

fn join(members: &[(&str, String)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// Generates members that are unknown or occur twice.
fn extra() -> BoxedStrategy<Option<(&'static str, String)>> {
    let name =
        select(vec!["jsonrpc", "id", "method", "params", "result", "error", "x", "__proto__"]);
    prop::option::weighted(0.1, (name, value())).boxed()
}

fn id() -> BoxedStrategy<String> {
    prop_oneof![
        6 => any::<u32>().prop_map(|id| id.to_string()),
        2 => string(),
        2 => value(),
    ]
    .boxed()
}

fn tool_call() -> BoxedStrategy<String> {
    let tool = prop_oneof![
        2 => Just(format!("\"{}\"", Tool::OpenDiff.name())),
        7 => select(Tool::ALL).prop_map(|tool| format!("\"{}\"", tool.name())),
        1 => value(),
    ];
    let path = prop_oneof![6 => path(), 1 => value()];
    let content = prop_oneof![6 => string(), 1 => value()];
    let suppress = prop::option::of(prop_oneof![4 => Just("true".to_owned()), 1 => value()]);
    let arguments = (
        prop::option::weighted(0.95, path),
        prop::option::weighted(0.9, content),
        suppress,
        prop::option::weighted(0.05, (select(vec!["filePath", "newContent", "y"]), value())),
    );
    let arguments = arguments.prop_map(|(path, content, suppress, extra)| {
        let mut members = Vec::new();
        members.extend(path.map(|path| ("filePath", path)));
        members.extend(content.map(|content| ("newContent", content)));
        members.extend(suppress.map(|suppress| ("suppressNotification", suppress)));
        members.extend(extra);
        members
    });
    let arguments = arguments.prop_shuffle().prop_map(|members| join(&members));
    let arguments = prop::option::weighted(0.95, prop_oneof![15 => arguments, 1 => value()]);
    (tool, arguments, prop::option::weighted(0.05, value()))
        .prop_map(|(tool, arguments, extra)| {
            let mut members = vec![("name", tool)];
            members.extend(arguments.map(|arguments| ("arguments", arguments)));
            members.extend(extra.map(|extra| ("name", extra)));
            join(&members)
        })
        .boxed()
}

fn path() -> BoxedStrategy<String> {
    let usual = select(vec!["/a", "/b", "/a b/\u{6587}", "/a/../b", "/dev/zero", "//a", "/a\\\\b"]);
    let odd = select(vec![
        "",
        "a",
        "../a",
        "~/a",
        "C:\\\\a",
        "\\\\\\\\server\\\\share",
        "/a\\u0000b",
        "/\\ud800",
        "file:///a",
        "/a\\n",
        "/\\u0061",
    ]);
    prop_oneof![
        8 => usual.prop_map(|path| format!("\"{path}\"")),
        3 => odd.prop_map(|path| format!("\"{path}\"")),
        1 => (32_760_usize..32_775).prop_map(|length| format!("\"/{}\"", "p".repeat(length))),
    ]
    .boxed()
}

/// Generates JSON of any kind, and text that is not quite JSON.
fn value() -> BoxedStrategy<String> {
    let odd = [
        "null",
        "true",
        "0",
        "-0",
        "1.5",
        "1e3",
        "1e999999",
        "-1e-999999",
        "01",
        "+1",
        ".5",
        "NaN",
        "0x10",
        "12345678901234567890123",
        "18446744073709551616",
        "{}",
        "[]",
        "[[]]",
        "'a'",
        "tru",
        "",
        " ",
        "{\"a\":1,\"a\":2}",
        "{a:1}",
        "[1,]",
        "/**/1",
        "\u{feff}1",
    ];
    prop_oneof![
        10 => select(odd.to_vec()).prop_map(str::to_owned),
        3 => string(),
        2 => object(),
        1 => (1_usize..400).prop_map(|digits| "7".repeat(digits)),
        1 => (1_usize..300, any::<bool>()).prop_map(|(depth, closed)| {
            "[".repeat(depth) + &"]".repeat(if closed { depth } else { depth / 2 })
        }),
    ]
    .boxed()
}

fn object() -> BoxedStrategy<String> {
    let name = select(vec!["protocolVersion", "name", "arguments", "level", "cursor"]);
    let value = prop_oneof![string(), Just("1".to_owned()), Just("null".to_owned())];
    prop::collection::vec((name, value), 0..4).prop_map(|members| join(&members)).boxed()
}

fn string() -> BoxedStrategy<String> {
    let odd = [
        "\"\"",
        "\"a\"",
        "\"\\ud800\"",
        "\"\\ude00\\ud83d\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u0000\"",
        "\"\\x\"",
        "\"\u{1}\"",
        "\"a",
        "\"\\",
        "\"2025-06-18\"",
        "\"\u{fffd}\u{ffff}\u{10ffff}\"",
    ];
    prop_oneof![
        3 => text().prop_map(|text| serde_json::Value::from(text).to_string()),
        2 => select(odd.to_vec()).prop_map(str::to_owned),
    ]
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter).boxed()
}
