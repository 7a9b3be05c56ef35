//! Generates valid and invalid lines of an editor.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Stands for a folder that contains files.
pub(super) const FOLDER: &str = "{folder}";

/// A line, and whether it is valid, if that is known.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    pub(super) valid: Option<bool>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1000} ({:?})", self.text.escape_ascii().to_string(), self.valid)
    }
}

pub(super) fn line() -> BoxedStrategy<Line> {
    let changed = (valid(), prop::collection::vec((any::<u16>(), a_change()), 1..4)).prop_map(
        |(mut text, changes)| {
            for (at, (remove, piece)) in changes {
                let at = usize::from(at) * text.len() / 0x10000;
                let to = (at + remove).min(text.len());
                text.splice(at..to, piece);
            }
            text.retain(|byte| *byte != b'\n');
            Line { text, valid: None }
        },
    );
    prop_oneof![
        4 => valid().prop_map(|text| Line { text, valid: Some(true) }),
        2 => invalid().prop_map(|text| Line { text: text.into_bytes(), valid: Some(false) }),
        4 => changed,
    ]
    .boxed()
}

fn a_change() -> BoxedStrategy<(usize, Vec<u8>)> {
    let pieces = [
        "",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "1e999999",
        "-1",
        "0",
        "\u{0}",
        "\\u0000",
        "\\ud800",
        "\u{feff}",
        "\r",
        "\"path\":1",
        "\"id\":7,",
        "\"method\":\"x\",",
        "/../",
        " ",
    ];
    let bytes = prop::collection::vec(any::<u8>(), 0..3);
    let piece = prop_oneof![select(pieces.to_vec()).prop_map(Into::into), bytes];
    (0_usize..12, piece).boxed()
}

fn path() -> BoxedStrategy<String> {
    let inside =
        select(vec!["a", "b", "c", "d/e", "d/f", "d", "d/../a", "missing", "\u{6587}", "fifo"]);
    prop_oneof![
        8 => inside.prop_map(|name| format!("{FOLDER}/{name}")),
        1 => select(vec!["/", "/dev/zero", "/proc/self/mem", "//a", "/a\nb"]).prop_map(str::to_owned),
        1 => (200_usize..5000).prop_map(|length| format!("/{}", "p".repeat(length))),
    ]
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter).boxed()
}

/// Generates a valid notification or answer of an editor.
fn valid() -> BoxedStrategy<Vec<u8>> {
    let note = |method: &'static str, params: Value| {
        json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string().into_bytes()
    };
    let one = select(vec!["editor/opened", "editor/closed", "editor/focused", "editor/deleted"]);
    let place = (path(), 1_u32.., 1_u32..);
    let decided = (select(vec!["/diff", "/diff", "/other"]), text(), any::<bool>());
    prop_oneof![
        8 => (one, path()).prop_map(move |(method, path)| note(method, json!({ "path": path }))),
        4 => place.prop_map(move |(path, line, character)| {
            note("editor/cursor", json!({ "path": path, "line": line, "character": character }))
        }),
        4 => (path(), text()).prop_map(move |(path, text)| {
            note("editor/selection", json!({ "path": path, "text": text }))
        }),
        2 => (path(), path()).prop_map(move |(from, to)| {
            note("editor/renamed", json!({ "from": from, "to": to }))
        }),
        1 => any::<bool>().prop_map(move |trusted| {
            note("workspace/trust", json!({ "trusted": trusted }))
        }),
        1 => prop::collection::vec(path(), 0..3).prop_map(move |paths| {
            note("workspace/folders", json!({ "paths": paths }))
        }),
        1 => decided.prop_map(move |(path, content, accepted)| if accepted {
            note("diff/accepted", json!({ "filePath": path, "content": content }))
        } else {
            note("diff/rejected", json!({ "filePath": path }))
        }),
        1 => (0_u64..5, any::<bool>()).prop_map(|(id, failed)| {
            let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "no" } });
            let result = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            if failed { error } else { result }.to_string().into_bytes()
        }),
    ]
    .boxed()
}

/// Generates invalid lines of an editor.
fn invalid() -> BoxedStrategy<String> {
    let wrong = [
        ("editor/opened", "{}"),
        ("editor/opened", r#"{"path":""}"#),
        ("editor/opened", r#"{"path":"relative"}"#),
        ("editor/opened", r#"{"path":"/nul\u0000"}"#),
        ("editor/opened", r#"{"path":"/a","path":"/b"}"#),
        ("editor/opened", r#"["/a"]"#),
        ("editor/focused", r#"{"path":null}"#),
        ("editor/focused", r#"{"path":"/\ud800"}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":0,"character":1}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":1,"character":-1}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":1,"character":1.5}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":4294967296,"character":1}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":1e999999,"character":1}"#),
        ("editor/cursor", r#"{"path":"{folder}/a","line":1}"#),
        ("editor/selection", r#"{"path":"{folder}/a","text":7}"#),
        ("editor/selection", r#"{"path":"{folder}/a","text":"\udc00"}"#),
        ("editor/renamed", r#"{"from":"{folder}/a"}"#),
        ("editor/renamed", r#"{"from":"{folder}/a","to":"b"}"#),
        ("editor/renamed", r#"{"from":"{folder}/a","to":"/nul\u0000"}"#),
        ("workspace/trust", r#"{"trusted":"yes"}"#),
        ("workspace/trust", "{}"),
        ("workspace/shareContext", r#"{"share":1}"#),
        ("workspace/folders", r#"{"paths":["{folder}","relative"]}"#),
        ("workspace/folders", r#"{"paths":"{folder}"}"#),
        ("diff/accepted", r#"{"filePath":"/diff"}"#),
        ("diff/accepted", r#"{"filePath":"/diff","content":null}"#),
        ("diff/rejected", r#"{"path":"/diff"}"#),
        ("diff/rejected", r#"{"filePath":["/diff"]}"#),
        ("diff/rejected", r#"{"filePath":"/diff","reason":7}"#),
        ("workspace/review", r#"{"all":null}"#),
        ("comment/set", r#"{"id":"1","path":"a","line":1,"endLine":1,"content":"","text":"x"}"#),
        ("comment/set", r#"{"id":"1","path":"{folder}/a","line":1,"content":"","text":"x"}"#),
        ("comment/removed", r#"{"id":7}"#),
        ("agent/kept", r#"{"session":"s","prompt":-1,"paths":[]}"#),
        ("agent/reverted", r#"{"session":"s","prompt":1,"paths":"/a"}"#),
        ("agent/revertUndone", r#"{"session":"s","prompt":1}"#),
        ("editor/unknown", "{}"),
        ("", "{}"),
    ];
    let wrong = select(wrong.to_vec()).prop_map(|(method, params)| {
        format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
    });
    let other = [
        "{",
        "nonsense",
        "null",
        "7",
        "\"text\"",
        "[]",
        "{}",
        "\u{feff}{}",
        "\0",
        "[[[[[[[[",
        r#"{"jsonrpc":"1.0","method":"editor/opened","params":{"path":"/a"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"editor/opened","params":{"path":"{folder}/a"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"editor/opened","params":{"path":"{folder}/a"}}"#,
        r#"[{"jsonrpc":"2.0","method":"editor/focused","params":{"path":"{folder}/a"}}]"#,
        r#"["2.0",1,"editor/focused",{"path":"{folder}/a"}]"#,
        r#"{"jsonrpc":"2.0","method":"editor/focused","params":{"path":"{folder}/a"}} x"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"agent/texts","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"agent/revertPlan","params":{"files":[{}]}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
    ];
    let deep = (1_usize..2000).prop_map(|depth| "[".repeat(depth) + &"]".repeat(depth));
    let deep = deep.prop_map(|deep| {
        format!(r#"{{"jsonrpc":"2.0","method":"editor/opened","params":{{"path":{deep}}}}}"#)
    });
    prop_oneof![6 => wrong, 3 => select(other.to_vec()).prop_map(str::to_owned), 1 => deep].boxed()
}
