//! Decodes and encodes long JSON strings, and decodes those with half of a surrogate pair.
//!
//! A proposal may have megabytes of source, with an escape in every line. `serde_json` collects such
//! a string in a buffer that grows, and copies it from there. That takes twice the memory of this,
//! and up to half as long again.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;
use serde_json::value::RawValue;

/// Reads the `content` of a message.
pub(crate) fn content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    named("content", JsonString::deserialize(deserializer)?)
}

/// Reads the `content` of a message that may be `null`.
pub(crate) fn optional_content<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let json = JsonString::deserialize(deserializer)?;
    if json.0.get() == "null" { Ok(None) } else { named("content", json).map(Some) }
}

/// Reads the text of the member `name`; the error contains the name.
pub(crate) fn named<E: Error>(name: &str, json: JsonString<'_>) -> Result<String, E> {
    json.decode().ok_or_else(|| E::custom(not_unicode(name)))
}

/// Says that the member `name` can't be decoded.
pub fn not_unicode(name: &str) -> String {
    format!("{name} must be a string of valid Unicode")
}

/// Replaces each half of a surrogate pair in a JSON text by U+FFFD: a program that counts in UTF-16
/// code units, as Gemini CLI, may have cut a pair.
pub fn mend(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(backslash) = memchr(b'\\', &json.as_bytes()[at..]) {
        let escape = at + backslash + 1;
        at = escape + 1;
        let Some(digits) = json.get(escape..).and_then(|rest| rest.strip_prefix('u')) else {
            continue;
        };
        match unicode_escape(digits.as_bytes()) {
            Some((_, length)) => at = escape + 1 + length,
            None if digits.bytes().take(4).filter(u8::is_ascii_hexdigit).count() == 4 => {
                mended.push_str(&json[kept..escape]);
                mended.push_str("ufffd");
                kept = escape + 5;
                at = kept;
            }
            // The JSON is not valid.
            None => {}
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(&json[kept..]);
    Cow::Owned(mended)
}

/// A JSON string of a message that is not decoded yet. It may have half of a surrogate pair.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct JsonString<'a>(#[serde(borrow)] &'a RawValue);

impl JsonString<'_> {
    /// Returns where the string is in the message from which it was read, with its quotes.
    pub fn range_in(self, message: &[u8]) -> Range<usize> {
        let json = self.0.get();
        let start = json.as_ptr().addr() - message.as_ptr().addr();
        start..start + json.len()
    }

    /// Decodes the string into memory of its own. `None` if it is another value or not valid Unicode.
    pub fn decode(self) -> Option<String> {
        let json = self.0.get();
        decode_within(json.as_bytes().to_vec(), 0..json.len())
    }
}

/// Decodes the JSON string in a `range` of a message, and keeps it in the memory of the message: a second
/// buffer for a long text takes more time than the decoding. `None` if it is another value or not valid
/// Unicode.
pub fn decode_within(mut message: Vec<u8>, range: Range<usize>) -> Option<String> {
    // The string has been checked to be JSON, so it has no unknown escapes.
    let quoted = message.get(range.clone())?;
    quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let (mut read, end) = (range.start + 1, range.end - 1);
    let mut written = 0;
    while let Some(plain) = memchr(b'\\', &message[read..end]) {
        message.copy_within(read..read + plain, written);
        written += plain;
        let escape = &message[read + plain + 1..end];
        let (character, length) = match escape.first()? {
            b'n' => ('\n', 1),
            b't' => ('\t', 1),
            b'r' => ('\r', 1),
            b'b' => ('\u{8}', 1),
            b'f' => ('\u{c}', 1),
            b'u' => {
                unicode_escape(&escape[1..]).map(|(character, digits)| (character, 1 + digits))?
            }
            other => (char::from(*other), 1),
        };
        read += plain + 1 + length;
        // No character is longer than its escape.
        written += character.encode_utf8(&mut message[written..read]).len();
    }
    message.copy_within(read..end, written);
    message.truncate(written + end - read);
    if message.len() < message.capacity() / 2 {
        message.shrink_to_fit();
    }
    String::from_utf8(message).ok()
}

/// The position of a text in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The text is a string.
    String,
    /// The text is a string in JSON that is a string itself.
    StringInString,
}

const WORD: usize = size_of::<u64>();

/// Encodes a text as it appears within a JSON string, without the quotes.
///
/// `serde_json` looks at each byte in turn, twice for a string in a string, which takes most of the time of an
/// answer with a text. This copies eight bytes at a time, and takes back those from the first one that has an
/// escape.
pub fn escaped(text: &str, depth: Depth) -> Vec<u8> {
    let mut json = Vec::with_capacity(text.len() + text.len() / 4 + WORD);
    let mut rest = text.as_bytes();
    while let Some(word) = rest.first_chunk::<WORD>() {
        json.extend_from_slice(word);
        let plain = plain_bytes(u64::from_le_bytes(*word));
        if plain == WORD {
            rest = &rest[WORD..];
        } else {
            json.truncate(json.len() - WORD + plain);
            push_escape(word[plain], depth, &mut json);
            rest = &rest[plain + 1..];
        }
    }
    for byte in rest {
        if matches!(byte, 0..0x20 | b'"' | b'\\') {
            push_escape(*byte, depth, &mut json);
        } else {
            json.push(*byte);
        }
    }
    json
}

/// The number of bytes before the first one that has an escape. Its lowest byte is the first.
fn plain_bytes(word: u64) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    // A subtraction sets the highest bit of a byte that is smaller, perhaps also of later ones.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let escaped = (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES * 0x80);
    escaped.trailing_zeros() as usize / 8
}

/// Adds the escape of a byte. In a string in a string, the characters of that have escapes, too.
fn push_escape(byte: u8, depth: Depth, json: &mut Vec<u8>) {
    let before: &[u8] = match depth {
        Depth::String => b"\\",
        Depth::StringInString => b"\\\\",
    };
    json.extend_from_slice(before);
    let letter = match byte {
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        b'\x08' => b'b',
        b'\x0c' => b'f',
        b'"' | b'\\' => {
            json.extend_from_slice(&before[1..]);
            byte
        }
        other => return json.extend_from_slice(format!("u{other:04x}").as_bytes()),
    };
    json.push(letter);
}

/// Parses JSON with comments as the clients do: by `strip-json-comments`, and then `JSON.parse`.
///
/// # Errors
/// If the client can't parse it, either. The error has the position in `json`.
pub fn parse_with_comments(json: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&mend(&without_comments(json)))
}

/// Replaces each comment by blanks. As for the clients, only a line feed ends a comment after `//`, and the
/// last comment needs no end.
fn without_comments(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(['"', '/']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else {
            let block = rest.strip_prefix("/*");
            block.map(|block| block.find("*/").map_or(rest.len(), |end| end + "/**/".len()))
        };
        if let Some(end) = end {
            plain.extend(rest[..end].chars().map(|c| if is_blank(c) { c } else { ' ' }));
            rest = &rest[end..];
        } else {
            let end = if rest.starts_with('"') { string_end(rest) } else { 1 };
            plain.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    plain + rest
}

/// Returns the end of the JSON string that `json` begins with, after its second quote.
fn string_end(json: &str) -> usize {
    let mut is_escaped = true; // the first quote
    for (at, c) in json.char_indices() {
        match c {
            '"' if !is_escaped => return at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    json.len()
}

/// Whether a character is a blank in JavaScript. JSON allows only some of them.
fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Decodes the digits behind `\u`, including the second `\u` of a surrogate pair. Returns the
/// character and the length of its escape.
fn unicode_escape(digits: &[u8]) -> Option<(char, usize)> {
    let unit = |at| u16::from_str_radix(str::from_utf8(digits.get(at..at + 4)?).ok()?, 16).ok();
    let second = (digits.get(4..6) == Some(b"\\u")).then(|| unit(6)).flatten();
    let units = [unit(0)].into_iter().chain([second]).flatten();
    let character = char::decode_utf16(units).next()?.ok()?;
    Some((character, if character.len_utf16() == 2 { 10 } else { 4 }))
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use serde_json::json;

    use super::*;

    fn decoded(json: &str) -> Option<String> {
        serde_json::from_str::<JsonString<'_>>(json).expect("the test's own JSON").decode()
    }

    #[test]
    fn only_a_string_is_decoded() {
        for not_a_string in ["null", "1", "{}", "[\"a\"]"] {
            assert_eq!(decoded(not_a_string), None, "{not_a_string}");
        }
    }

    #[test]
    fn a_text_is_encoded_as_by_serde() {
        let within = |text: &str| {
            let json = serde_json::to_string(text).unwrap();
            json[1..json.len() - 1].to_owned()
        };
        let all: String =
            (0..0x100).chain([0x20ac, 0x2028, 0x1f600]).filter_map(char::from_u32).collect();
        for pair in all.chars().flat_map(|one| ['\n', '"', '€'].map(|other| [one, other])) {
            let pair = String::from_iter(pair);
            // Each byte is at each place of a word.
            for text in (0..2 * WORD).map(|length| "x".repeat(length) + &pair + &all) {
                let once = within(&text);
                assert_eq!(escaped(&text, Depth::String), once.as_bytes(), "{text:?}");
                let twice = within(&once);
                assert_eq!(escaped(&text, Depth::StringInString), twice.as_bytes(), "{text:?}");
            }
        }
    }

    #[test]
    fn comments_are_the_only_extension_of_json() {
        for (json, expected) in [
            ("/* { */{\"a\": \"// \\\" /*\"}", json!({"a": "// \" /*"})),
            ("{\"é\\\\\"/**/:1}//", json!({"é\\": 1})),
            ("[1, 2] // x\n", json!([1, 2])),
            ("// \r\n{} /*/ x", json!({})),
            ("{\"a\": \"\\ud800\"} /* x", json!({"a": "\u{fffd}"})),
        ] {
            assert_eq!(parse_with_comments(json).ok(), Some(expected), "{json}");
        }
        let not_json =
            ["{a: 1}", "{\"a\": 1,}", "{'a': 1}", "{\"a\" 1}", "{\"a\": 0x1}", "{\"a\": 1"];
        let other_blanks = ["{\"a\": \"\t\"}", "{}\u{a0}", "{} // \u{a0}", "// \r{}", "{}\u{b}"];
        for json in not_json.into_iter().chain(other_blanks) {
            assert!(parse_with_comments(json).is_err(), "{json}");
        }
        let error = parse_with_comments("/* é\n */ {\n  \"a\": x\n}").unwrap_err();
        assert!(error.to_string().ends_with("at line 3 column 8"), "{error}");
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced() {
        for (json, mended) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ude00\ud83d!""#, r#""\ufffd\ufffd!""#),
            (r#""\ud83d\u0041\n\ud83d\ude00\\""#, r#""\ufffd\u0041\n\ud83d\ude00\\""#),
            (r#"{"\\ud83d": "\ud83d"}"#, r#"{"\\ud83d": "\ufffd"}"#),
            (r#""\u12"#, r#""\u12"#),
        ] {
            assert_eq!(mend(json), mended);
        }
    }

    #[test]
    fn a_text_takes_no_more_than_twice_its_length() {
        let short = br#"{"text": "a\nb", "other": ".............................."}"#;
        let text = decode_within(short.to_vec(), 9..15).unwrap();
        assert_eq!((&*text, text.capacity()), ("a\nb", 3));
        let long = br#"{"text": "........................\n"}"#;
        let text = decode_within(long.to_vec(), 9..37).unwrap();
        assert_eq!((text.len(), text.capacity()), (25, long.len()), "the memory is the message's");
    }

    /// Makes a JSON string, or almost one. It mixes whole and half escapes, so that every break
    /// within a surrogate pair occurs.
    fn string(random: &mut Rng) -> Vec<u8> {
        const PIECES: [&str; 13] = [
            "\\", "u", "\\u", "\\ud83d", "ud83d", "\\ude00", "ude00", "xude00", "\\n", "\\\"",
            "\\\\", "\\/", "0",
        ];
        let mut string = vec![b'"'];
        for _ in 0..random.usize(..8) {
            let piece = match random.u8(..5) {
                0 => random.char(..).to_string(),
                1 => format!("\\u{:04x}", random.u16(..)),
                2 => format!("\\u{:04X}", random.u16(0xd7ff..0xe001)),
                3 => random.choice(PIECES).expect("there are some").to_owned(),
                _ => {
                    string.push(random.u8(..));
                    continue;
                }
            };
            string.extend_from_slice(piece.as_bytes());
        }
        string.push(b'"');
        string
    }

    /// Valid JSON is decoded or refused exactly as `serde_json` does it.
    #[test]
    fn agrees_with_serde_json() {
        let long = std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1");
        let inputs = if long { 5_000_000 } else { 100_000 };
        let seed = Rng::new().u64(..);
        let mut random = Rng::with_seed(seed);
        let mut refused = 0;
        for _ in 0..inputs {
            let json = string(&mut random);
            let theirs = serde_json::from_slice::<String>(&json).ok();
            let ours = serde_json::from_slice::<JsonString<'_>>(&json).ok().map(JsonString::decode);
            refused += usize::from(ours == Some(None));
            if let Ok(json) = std::str::from_utf8(&json) {
                let mended = serde_json::from_str::<String>(&mend(json)).is_ok();
                assert_eq!(mended, ours.is_some(), "{json}, seed {seed}");
            }
            let text = String::from_utf8_lossy(&json);
            assert_eq!(ours.clone().flatten(), theirs, "{text}, seed {seed}");
            if ours.is_some() {
                let message = [b"[1, ", &json[..], b"]"].concat();
                let within = decode_within(message, 4..4 + json.len());
                assert_eq!(within, theirs, "{text}, seed {seed}");
            }
        }
        assert!(refused > inputs / 100, "too few broken pairs: {refused} of {inputs}");
    }
}
