//! Writes JSON for a client, a long text piece by piece as it is sent.
//!
//! Written at once, the text would take its memory twice more, and its first byte would wait for
//! the last.

use std::collections::VecDeque;

use bytes::Bytes;
use serde::Serialize;

use companion_core::text::Text;
pub(crate) use companion_protocol::text::Depth;
use companion_protocol::text::escaped;

/// The bytes of text that are written at a time. A message with a shorter text is written at once.
const PIECE_SIZE: usize = 64 << 10;

/// A message, or an event with a message as data: an iterator over its bytes.
#[derive(Default)]
pub(crate) struct Json(VecDeque<Part>);

enum Part {
    Written(Bytes),
    Text(Rest),
}

/// The part of a text that is not written yet.
struct Rest {
    text: Text,
    from: usize,
    depth: Depth,
}

impl Json {
    pub(crate) fn new(message: &impl Serialize) -> Self {
        let mut json = Vec::with_capacity(256);
        serde_json::to_writer(&mut json, message).expect("our messages are JSON");
        json.into()
    }

    /// Puts `text` into the message that `write` writes with a text. Finds its place by two short texts, so the
    /// message may have any shape.
    pub(crate) fn with_text(text: Text, depth: Depth, write: impl Fn(&str) -> Self) -> Self {
        let [json, other] = ["", "x"].map(|text| write(text).into_bytes());
        let mut bytes = json.iter().zip(&*other);
        let place = bytes.position(|(byte, other)| byte != other).expect("the text is there");
        let (before, after) = (json.slice(..place), json.slice(place..));
        if text.len() <= PIECE_SIZE {
            return [&before[..], &escaped(&text, depth), &after].concat().into();
        }
        let text = Rest { text, from: 0, depth };
        Self([Part::Written(before), Part::Text(text), Part::Written(after)].into())
    }

    /// Writes an array. The texts of the elements are not copied.
    pub(crate) fn array(elements: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = VecDeque::new();
        for element in elements {
            let before: &[u8] = if parts.is_empty() { b"[" } else { b"," };
            parts.push_back(Part::Written(Bytes::from_static(before)));
            parts.extend(element.0);
        }
        parts.push_back(Part::Written(Bytes::from_static(b"]")));
        Self(parts)
    }

    /// Turns the message into an event: a `data:` line and an empty line. JSON from serde has no
    /// line breaks.
    pub(crate) fn into_event(self) -> Self {
        let (head, end) = (b"data: ", b"\n\n");
        if self.len().is_some() {
            return [&head[..], &self.into_bytes(), end].concat().into();
        }
        let mut parts = self.0;
        parts.push_front(Part::Written(Bytes::from_static(head)));
        parts.push_back(Part::Written(Bytes::from_static(end)));
        Self(parts)
    }

    /// The remaining bytes, if their number is known.
    pub(crate) fn len(&self) -> Option<usize> {
        let length = |part: &Part| match part {
            Part::Written(bytes) => Some(bytes.len()),
            Part::Text(_) => None,
        };
        self.0.iter().map(length).sum()
    }

    /// All bytes.
    pub(crate) fn into_bytes(self) -> Bytes {
        let pieces: Vec<_> = self.collect();
        <[Bytes; 1]>::try_from(pieces).map_or_else(|pieces| pieces.concat().into(), |[all]| all)
    }
}

/// JSON that is already written.
impl<T: Into<Bytes>> From<T> for Json {
    fn from(json: T) -> Self {
        Self([Part::Written(json.into())].into())
    }
}

impl Iterator for Json {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.0.front_mut()? {
                Part::Text(rest) => {
                    if let Some(piece) = rest.next() {
                        return Some(piece);
                    }
                }
                Part::Written(bytes) if !bytes.is_empty() => return Some(std::mem::take(bytes)),
                Part::Written(_) => {}
            }
            self.0.pop_front();
        }
    }
}

impl Iterator for Rest {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let rest = &self.text[self.from..];
        let piece = &rest[..rest.floor_char_boundary(PIECE_SIZE)];
        if piece.is_empty() {
            return None;
        }
        self.from += piece.len();
        Some(escaped(piece, self.depth).into())
    }
}

#[cfg(test)]
mod tests {
    use companion_protocol::ide::{self, ClosedDiff};
    use companion_protocol::jsonrpc::{Id, Response};
    use companion_protocol::mcp::CallToolResult;

    use super::*;

    /// A text of about this length, with all escaped characters and characters of each length.
    fn text(length: usize) -> Text {
        let line: String = (0..0x80).map(char::from).chain("é€😀\u{2028}".chars()).collect();
        line.repeat(length / line.len() + 1).into()
    }

    fn event(text: &str) -> Json {
        Json::new(&ide::diff_accepted("/\"\"", text))
    }

    fn answer(text: &str) -> Json {
        let closed = serde_json::to_string(&ClosedDiff { content: text }).unwrap();
        Json::new(&Response::new(&Id::from(r#"\"\""#), CallToolResult::text(closed)))
    }

    #[test]
    fn a_text_in_pieces_is_the_same_text() {
        // The pieces end within each of the characters in turn.
        for length in (PIECE_SIZE / 2..PIECE_SIZE / 2 + 9).chain(3 * PIECE_SIZE..3 * PIECE_SIZE + 9)
        {
            let text = Text::from("x".repeat(length % 9) + &text(length));
            let whole = Json::with_text(text.clone(), Depth::String, event);
            assert!(whole.into_bytes() == event(&text).into_bytes(), "{length}");
            let whole = Json::with_text(text.clone(), Depth::StringInString, answer);
            assert!(whole.into_bytes() == answer(&text).into_bytes(), "{length}");
        }
    }

    #[test]
    fn a_text_is_put_in_its_place_whatever_follows_it() {
        let message = |text: &str| Json::new(&["", text, ""]);
        let whole = Json::with_text("text".to_owned().into(), Depth::String, message);
        assert_eq!(whole.into_bytes(), r#"["","text",""]"#);
    }

    #[test]
    fn only_what_is_long_comes_in_pieces_and_none_is_large() {
        let event = |text| Json::with_text(text, Depth::String, event).into_event();
        for short in [Text::default(), text(PIECE_SIZE / 2)] {
            let event = event(short);
            let length = event.len().expect("it is known");
            assert_eq!(event.map(|piece| piece.len()).collect::<Vec<_>>(), [length]);
        }
        let long = event(text(10 * PIECE_SIZE));
        assert_eq!(long.len(), None);
        let pieces: Vec<_> = long.map(|piece| piece.len()).collect();
        assert!(pieces.len() > 10, "{pieces:?}");
        assert!(pieces.iter().all(|length| *length < 3 * PIECE_SIZE), "{pieces:?}");
    }

    #[test]
    fn an_array_has_its_elements_in_pieces() {
        let elements = || {
            [text(10 * PIECE_SIZE), Text::default(), text(3 * PIECE_SIZE)]
                .map(|text| Json::with_text(text, Depth::StringInString, answer))
        };
        let whole = elements().map(Json::into_bytes).join(&b","[..]);
        assert!(Json::array(elements()).into_bytes() == [b"[", &*whole, b"]"].concat());
        assert_eq!(Json::array(elements()).len(), None);
        assert!(Json::array(elements()).all(|piece| piece.len() < 3 * PIECE_SIZE));
        assert_eq!(Json::array([Json::from("1"), Json::from("2")]).len(), Some(5));
    }
}
