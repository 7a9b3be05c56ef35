//! Generates the fuzzer's bodies: messages that are nearly valid, text that is not quite JSON, and
//! both with some bytes changed afterwards.

use std::collections::BTreeSet;

use companion_protocol::tool::Tool;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

const METHODS: [&str; 6] = [
    "\"ping\"",
    "\"tools/list\"",
    "\"initialize\"",
    "\"logging/setLevel\"",
    "\"notifications/initialized\"",
    "\"nope\"",
];

const PATHS: [&str; 14] = [
    "\"/a\"",
    "\"/b\"",
    "\"/a b/\u{6587}\"",
    "\"/a/../b\"",
    "\"/dev/zero\"",
    "\"//a\"",
    "\"/a\\\\b\"",
    "\"a\"",
    "\"~/a\"",
    "\"C:\\\\a\"",
    "\"\\\\\\\\server\\\\share\"",
    "\"/a\\u0000b\"",
    "\"/\\ud800\"",
    "\"/\\u0061\"",
];

/// JSON of any kind, and text that is not quite JSON.
const ODD: [&str; 31] = [
    "null",
    "true",
    "0",
    "-0",
    "1.5",
    "1e999999",
    "01",
    "+1",
    ".5",
    "NaN",
    "12345678901234567890123",
    "18446744073709551616",
    "{}",
    "[]",
    "[[]]",
    "'a'",
    "tru",
    "",
    "{\"a\":1,\"a\":2}",
    "{a:1}",
    "[1,]",
    "/**/1",
    "\u{feff}1",
    "\"\"",
    "\"\\ud800\"",
    "\"\\ude00\\ud83d\"",
    "\"\\u0000\"",
    "\"\\x\"",
    "\"\u{1}\"",
    "\"a",
    "\"\u{fffd}\u{ffff}\u{10ffff}\"",
];

/// Bytes to insert.
const PIECES: [&[u8]; 12] =
    [b"\0", b" ", b":", b",", b"\"", b"\\", b"{", b"}", b"]", b"\xff", b"\xed\xa0\x80", b"\\ud800"];

pub(super) fn body() -> BoxedStrategy<Vec<u8>> {
    let text = prop_oneof![
        12 => message(),
        3 => prop::collection::vec(prop_oneof![9 => message(), 1 => value()], 0..5)
            .prop_map(|messages| format!("[{}]", messages.join(","))),
        1 => value(),
        1 => (98_usize..103).prop_map(|count| format!("[{}]", vec![PING; count].join(","))),
        1 => any::<String>(),
    ];
    // The position is a fraction of the whole body.
    let change = (any::<u16>(), 0..2_usize, select(&PIECES[..]));
    let changes = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(change, 1..3)];
    (text, changes)
        .prop_map(|(text, changes)| {
            let mut bytes = text.into_bytes();
            for (at, replaced, piece) in changes {
                let at = usize::from(at) * bytes.len() / 0x10000;
                let end = bytes.len().min(at + replaced);
                bytes.splice(at..end, piece.iter().copied());
            }
            bytes
        })
        .boxed()
}

/// Generates a JSON-RPC message with few faults.
fn message() -> BoxedStrategy<String> {
    let tools = Tool::ALL.iter().map(|tool| format!("\"{}\"", tool.name())).collect();
    let arguments = object(arguments());
    let call = object(vec![("name", usually(tools)), ("arguments", or_any(arguments))]);
    let whole = |method: BoxedStrategy<String>, params: BoxedStrategy<String>| {
        object(vec![
            ("jsonrpc", usually(vec!["\"2.0\"".to_owned()])),
            ("id", usually(["1", "\"a\"", "-0"].map(str::to_owned).to_vec())),
            ("method", method),
            ("params", params),
        ])
    };
    let calls = whole(usually(vec!["\"tools/call\"".to_owned()]), or_any(call));
    let others = whole(usually(METHODS.map(str::to_owned).to_vec()), or_any(Just("{}".to_owned())));
    prop_oneof![2 => calls, 1 => others].boxed()
}

/// The arguments of all tools.
fn arguments() -> Vec<(String, BoxedStrategy<String>)> {
    let schemas: Vec<_> = Tool::ALL.iter().map(|tool| tool.definition().input_schema).collect();
    let names: BTreeSet<String> = schemas
        .iter()
        .filter_map(|schema| schema["properties"].as_object())
        .flat_map(|properties| properties.keys().cloned())
        .collect();
    let value = |name: &str| match name {
        Tool::PATH_ARGUMENT => usually(PATHS.map(str::to_owned).to_vec()),
        "newContent" => any::<String>().prop_map(|text| Value::from(text).to_string()).boxed(),
        _ => usually(["true", "\"error\""].map(str::to_owned).to_vec()),
    };
    names.into_iter().map(|name| (name.clone(), value(&name))).collect()
}

/// Generates an object with these members in any order. One may be missing, and one may be there twice or
/// be unknown.
fn object<N: Into<String>>(members: Vec<(N, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let members: Vec<(String, _)> =
        members.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let mut names: Vec<_> = members.iter().map(|(name, _)| name.clone()).collect();
    names.extend(["result", "error", "x", "__proto__"].map(str::to_owned));
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| prop::option::weighted(0.97, (Just(name), value)))
        .collect();
    (members, prop::option::weighted(0.05, (select(names), value())))
        .prop_map(|(mut members, more)| {
            members.push(more);
            members
        })
        .prop_shuffle()
        .prop_map(|members| {
            let members = members.iter().flatten();
            let members: Vec<_> =
                members.map(|(name, value)| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}

fn usually(values: Vec<String>) -> BoxedStrategy<String> {
    or_any(select(values))
}

fn or_any(usual: impl Strategy<Value = String> + 'static) -> BoxedStrategy<String> {
    prop_oneof![15 => usual, 1 => value()].boxed()
}

fn value() -> BoxedStrategy<String> {
    prop_oneof![
        10 => select(&ODD[..]).prop_map(str::to_owned),
        3 => any::<String>().prop_map(|text| Value::from(text).to_string()),
        1 => (1_usize..300).prop_map(|depth| "[".repeat(depth) + &"]".repeat(depth / 2)),
        1 => (32_760_usize..32_775).prop_map(|length| format!("\"/{}\"", "p".repeat(length))),
    ]
    .boxed()
}
