//! Tests edge cases of messages from peers.

use companion_protocol::changes::{ChangeList, VERSION};
use companion_protocol::diagnostics::Severity;
use companion_protocol::ide::{log_line, truncate_utf16};
use companion_protocol::jsonrpc::{
    Id, MAX_BATCH, Message, ParseError, Payload, Response, describe, parse, parse_request,
};
use companion_protocol::mcp::CallToolParams;
use companion_protocol::tool::{RawArguments, ToolArguments};
use serde_json::value::RawValue;

fn one(text: &str) -> Result<Message<'_>, ParseError> {
    match parse(text.as_bytes())? {
        Payload::Single(message) => Ok(message),
        Payload::Batch(_) => panic!("{text} is no batch"),
    }
}

fn id(text: &str) -> Id {
    Id::new(&RawValue::from_string(text.to_owned()).unwrap()).unwrap()
}

#[test]
fn a_log_line_escapes_control_and_direction_characters() {
    let hostile = "a\r\n\t\u{1b}\u{85}\u{200e}\u{200f}\u{2028}\u{202e}\u{2066}\u{2069}";
    let shown = r"a\r\n\t\u{1b}\u{85}\u{200e}\u{200f}\u{2028}\u{202e}\u{2066}\u{2069}";
    assert_eq!(log_line(hostile), shown);
    let invisible = "\u{ad}\u{61c}\u{180e}\u{200b}\u{2060}\u{206f}\u{feff}\u{e0041}";
    let escaped = r"\u{ad}\u{61c}\u{180e}\u{200b}\u{2060}\u{206f}\u{feff}\u{e0041}";
    assert_eq!(log_line(invisible), escaped);
    for readable in ["می\u{200c}خواهم", "👩\u{200d}💻"] {
        assert_eq!(log_line(readable), readable);
    }
    let plain = r#"C:\é "文" 😀 'x'"#;
    assert_eq!(log_line(plain), plain);
}

#[test]
fn a_text_is_cut_between_utf_16_pairs() {
    for (text, limit, cut) in [
        ("", 0, ""),
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("ééé", 3, "ééé"),
        ("ééé", 2, "éé"),
        ("a😀b", 4, "a😀b"),
        ("a😀b", 3, "a😀"),
        ("a😀b", 2, "a"),
        ("😀", 1, ""),
    ] {
        assert_eq!(truncate_utf16(text, limit), cut, "{limit} of {text}");
    }
}

/// Decodes the text of a proposal, too.
fn decoded(RawArguments { others, new_content }: RawArguments<'_>) -> ToolArguments {
    let new_content = new_content.map(|content| content.decode().unwrap());
    ToolArguments { new_content, ..others }
}

#[test]
fn arguments_are_read_by_their_names() {
    let arguments = |json| serde_json::from_str(json).map(decoded);
    let all = r#"{"newContent":"n","other":[1],"filePath":"/f","suppressNotification":true}"#;
    let all = arguments(all).unwrap();
    assert_eq!(all.file_path.as_deref(), Some("/f"));
    assert_eq!(all.new_content.as_deref(), Some("n"));
    assert_eq!(all.suppress_notification, Some(true));
    let some = arguments(r#"{"severity":"hint","onlyNew":true}"#).unwrap();
    assert_eq!((some.severity, some.only_new), (Some(Severity::Hint), Some(true)));
    assert_eq!(arguments("{}").unwrap(), ToolArguments::default());
    for (wrong, why) in [
        ("7", "an object"),
        (r#"{"filePath":1}"#, "filePath must be a string"),
        (r#"{"filePath":"/\ud800"}"#, "filePath must be a string of valid Unicode"),
        (r#"{"filePath":"/a","filePath":"/b"}"#, "filePath is there twice"),
        (r#"{"filePath":"/a","file\u0050ath":"/b"}"#, "filePath is there twice"),
        (r#"{"newContent":"a","newContent":"b"}"#, "newContent is there twice"),
        (r#"{"suppressNotification":"yes"}"#, "suppressNotification must be a boolean"),
        (r#"{"onlyNew":1}"#, "onlyNew must be a boolean"),
        (r#"{"severity":"bad"}"#, "severity must be one of error, warning"),
    ] {
        let error = arguments(wrong).unwrap_err().to_string();
        assert!(error.contains(why), "{wrong}: {error}");
    }
}

#[test]
fn an_id_is_a_text_or_a_number() {
    assert_eq!(id("\"2a\"").as_str(), Some("2a"));
    assert_eq!(id("\"2\\n\"").as_str(), None, "it has an escape");
    assert_eq!(id("12").as_str(), None);
    assert_eq!(id("12").as_u64(), Some(12));
    assert_eq!(id("\"12\"").as_u64(), None);
    assert_eq!(id("-1").as_u64(), None);
}

#[test]
fn an_id_is_echoed_as_it_was() {
    for text in ["1e999", "-0", "1.50", "123456789012345678901234567890", r#""\ud83d\ude00""#] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"ping"}}"#);
        let Ok(Message::Request { id, .. }) = one(&request) else { panic!("{request}") };
        let answer = serde_json::to_string(&Response::new(&id, 1)).unwrap();
        assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{text},"result":1}}"#));
    }
}

#[test]
fn only_a_request_is_answered() {
    let request = one(r#"{"jsonrpc":"2.0","id":5,"method":"m"}"#).unwrap();
    assert!(matches!(request, Message::Request { id, .. } if id.as_u64() == Some(5)));
    let notification = one(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
    assert!(matches!(notification, Message::Notification { .. }));
    let response = one(r#"{"jsonrpc":"2.0","id":6,"result":{"a":1}}"#).unwrap();
    let Message::Response { id: Some(id), result: Ok(result) } = response else { panic!() };
    assert_eq!((id.as_u64(), result.get()), (Some(6), r#"{"a":1}"#));
    let failed = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"why"}}"#;
    let Message::Response { result: Err(error), .. } = one(failed).unwrap() else { panic!() };
    assert_eq!((error.code, &*error.message), (-1, "why"));
}

#[test]
fn a_request_reads_the_same_in_one_pass_and_in_two() {
    type Params<'a> = CallToolParams<'a, RawArguments<'a>>;
    let arguments = r#"{"filePath":"/f","newContent":"n"}"#;
    let params = format!(r#"{{"name":"t","arguments":{arguments},"_meta":{{}}}}"#);
    let head = r#""jsonrpc":"2.0","id":1,"method":"m""#;
    for (text, in_one_pass) in [
        (format!(r#"{{{head},"params":{params}}}"#), true),
        (format!(r#" {{"params":{params},{head}}} "#), true),
        // A request with unknown members is read in two passes.
        (format!(r#"{{{head},"params":{params},"other":1}}"#), false),
        (format!(r#"{{{head},"params":{params},"result":1}}"#), false),
        (format!(r#"{{{head},"params":{params},"params":{params}}}"#), false),
        (format!(r#"{{{head},"params":{params}}}}}"#), false),
        (format!(r#"{{{head},"params":["t",{arguments}]}}"#), false),
        (format!(r#"{{{head},"params":{{"name":"t","arguments":["/f","n"]}}}}"#), false),
        (format!(r#"["2.0",1,"m",{params}]"#), false),
        (format!(r#"[{{{head},"params":{params}}}]"#), false),
        (format!(r"{{{head}}}"), false),
        (format!(r#"{{"jsonrpc":"2.0","id":null,"method":"m","params":{params}}}"#), false),
        (format!(r#"{{"jsonrpc":"2.0","id":[],"method":"m","params":{params}}}"#), false),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#), false),
        (format!(r#"{{"jsonrpc":"1.0","id":1,"method":"m","params":{params}}}"#), false),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"n","params":{params}}}"#), false),
    ] {
        let read = parse_request::<Params<'_>>(text.as_bytes(), "m");
        assert_eq!(read.is_some(), in_one_pass, "{text}");
        let Some((one_id, one_pass)) = read else { continue };
        let Ok(Message::Request { id, params, .. }) = one(&text) else { panic!("{text}") };
        let two_passes: Params<'_> = params.parse().unwrap();
        assert_eq!((one_id, one_pass.name), (id, two_passes.name));
        assert_eq!(decoded(one_pass.arguments), decoded(two_passes.arguments));
    }
}

#[test]
fn a_batch_has_a_bound() {
    let batch =
        |count| format!("[{}]", [r#"{"jsonrpc":"2.0","method":"m"}"#].repeat(count).join(","));
    for count in [1, 2, MAX_BATCH] {
        let text = batch(count);
        let Ok(Payload::Batch(messages)) = parse(text.as_bytes()) else { panic!("{count}") };
        assert_eq!(messages.len(), count);
    }
    for count in [MAX_BATCH + 1, 10 * MAX_BATCH] {
        let error = parse(batch(count).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "Invalid Request: a batch holds at most 100 messages");
    }
}

#[test]
fn an_error_is_described_without_the_value_that_is_wrong() {
    let describe = |error: serde_json::Error| describe(&error);
    let wrong = serde_json::from_str::<u8>(r#""a secret""#).unwrap_err();
    assert_eq!(describe(wrong), "expected u8");
    let short = serde_json::from_str::<(u8, u8)>("[1]").unwrap_err();
    assert_eq!(describe(short), "invalid length 1, expected a tuple of size 2");
}

/// `gemini-companion changes` may be newer than the companion that it asks.
#[test]
fn the_changes_of_an_older_companion_are_read() {
    let file = r#"{"path":"/f","kind":"changed","revertible":true,"reverted":false,"private":false,"mixed":false,"relativePath":"f"}"#;
    let prompt = format!(r#"{{"session":"s","prompt":1,"title":"t","time":2,"files":[{file}]}}"#);
    let answer = format!(r#"{{"version":1,"prompts":[{prompt}]}}"#);
    let changes: ChangeList = serde_json::from_str(&answer).unwrap();
    assert_eq!((changes.version, &*changes.prompts[0].files[0].file.path), (VERSION, "/f"));
}
