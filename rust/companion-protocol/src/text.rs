//! Decodes long JSON strings.
//!
//! A proposal is megabytes of source with an escape in every line. `serde_json` collects such a
//! string in a buffer that grows, and copies it from there: four times the time, and twice the
//! memory, of this.

use serde_json::value::RawValue;

/// The text of a JSON string. `None` if `raw` is another value, or if it has half of a surrogate
/// pair, which is no Unicode.
pub(crate) fn decode(raw: &RawValue) -> Option<String> {
    // A raw value has been checked to be JSON, so it has no unknown escapes.
    let mut rest = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(rest.len());
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let character = match escape.as_bytes().first()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let units = [hex(escape, 1), hex(escape, 7)];
                let character = char::decode_utf16(units.into_iter().flatten()).next()?.ok()?;
                rest = &escape[if character.len_utf16() == 2 { 11 } else { 5 }..];
                text.push(character);
                continue;
            }
            other => char::from(*other),
        };
        rest = &escape[1..];
        text.push(character);
    }
    text.push_str(rest);
    Some(text)
}

/// The UTF-16 unit whose four digits stand at `at`, behind `u` or `\u`.
fn hex(escape: &str, at: usize) -> Option<u16> {
    let (introducer, digits) = (escape.get(..at)?, escape.get(at..at + 4)?);
    introducer.ends_with('u').then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(json: &str) -> Option<String> {
        decode(serde_json::from_str(json).expect("the test's own JSON"))
    }

    #[test]
    fn only_whole_strings_of_unicode() {
        assert_eq!(decoded(r#""""#).as_deref(), Some(""));
        assert_eq!(decoded(r#""\"\\\/\b\f\n\r\t""#).as_deref(), Some("\"\\/\u{8}\u{c}\n\r\t"));
        assert_eq!(decoded(r#""\u00e9\u6587 \ud83d\ude00!""#).as_deref(), Some("é文 😀!"));
        assert_eq!(decoded(r#""\u0000""#).as_deref(), Some("\0"));
        for not_unicode in
            [r#""\ud83d""#, r#""\ude00""#, r#""\ud83d\ud83d""#, r#""\ud83dude00""#, r#""\ud83d x""#]
        {
            assert_eq!(decoded(not_unicode), None, "{not_unicode}");
        }
        for not_a_string in ["null", "1", "{}", "[\"a\"]"] {
            assert_eq!(decoded(not_a_string), None, "{not_a_string}");
        }
    }

    /// One piece of a JSON string: anything that may stand there, and much that is close to it.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<char>()
                .prop_filter("not by itself", |c| *c != '"' && *c != '\\' && *c >= ' ')
                .prop_map(String::from),
            any::<u16>().prop_map(|unit| format!("\\u{unit:04x}")),
            (0xd7ff_u16..0xe001).prop_map(|unit| format!("\\u{unit:04X}")),
            prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\/", "u", "0"])
                .prop_map(String::from),
        ]
    }

    proptest! {
        #[test]
        fn says_what_serde_json_says(pieces in prop::collection::vec(piece(), 0..12)) {
            let json = format!("\"{}\"", pieces.concat());
            prop_assert_eq!(decoded(&json), serde_json::from_str::<String>(&json).ok());
        }
    }
}
