//! Parses Server-Sent Events as the standard requires (HTML §9.2.6), in pieces of any size.

use bytes::Bytes;

use super::{Error, MAX_MESSAGE};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// ID of the last event, to resume the stream after it.
    pub id: Option<String>,
    /// The data, usually JSON.
    pub data: Bytes,
}

/// Converts bytes to events.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The bytes of the incomplete line.
    line: Vec<u8>,
    /// The data of the incomplete event, with a line break after each line.
    data: Vec<u8>,
    /// The id of the newest event. Later events without an id keep it.
    id: Option<String>,
    after_cr: bool,
}

impl Parser {
    /// Takes the next bytes, and passes each completed event to `event`.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(Event),
    ) -> Result<(), Error> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + self.data.len() + piece.len() > MAX_MESSAGE {
                return Err(Error::TooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { return Ok(()) };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            if let Some(complete) = self.line(line) {
                event(complete);
            }
        }
        Ok(())
    }

    fn line(&mut self, mut line: Vec<u8>) -> Option<Event> {
        if line.is_empty() {
            let mut data = std::mem::take(&mut self.data);
            data.pop()?; // the last line break
            return Some(Event { id: self.id.clone(), data: data.into() });
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = (colon + 1).min(line.len());
        if line.get(value) == Some(&b' ') {
            value += 1;
        }
        match &line[..colon] {
            b"data" if self.data.is_empty() => {
                line.drain(..value);
                line.push(b'\n');
                self.data = line;
            }
            b"data" => {
                self.data.extend_from_slice(&line[value..]);
                self.data.push(b'\n');
            }
            b"id" => {
                let id = std::str::from_utf8(&line[value..]).ok();
                if let Some(id) = id.filter(|id| !id.contains('\0')) {
                    self.id = Some(id.to_owned());
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser
                .push(piece, |event| {
                    let data = String::from_utf8(event.data.to_vec()).unwrap();
                    events.push((event.id, data));
                })
                .unwrap();
        }
        events
    }

    const STREAM: &str = "retry: 20000\n\n: a comment\n\nevent: message\nid: 1-1\ndata: {\"a\":1}\n\n\
        data:é\r\ndata: \r\rid: 2\nretry: soon\n\ndata\n\nid:3\ndata:  x\n\nid: 4\ndata: not over\n";

    fn expected() -> Vec<(Option<String>, String)> {
        [("1-1", "{\"a\":1}"), ("1-1", "é\n"), ("2", ""), ("3", " x")]
            .map(|(id, data)| (Some(id.to_owned()), data.to_owned()))
            .to_vec()
    }

    #[test]
    fn fields_as_in_the_standard() {
        assert_eq!(read(&[STREAM.as_bytes()]), expected());
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_read_ends(cuts in prop::collection::vec(0..STREAM.len(), 0..9)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&STREAM.as_bytes()[from..cut]);
                from = cut;
            }
            pieces.push(&STREAM.as_bytes()[from..]);
            prop_assert_eq!(read(&pieces), expected());
        }
    }
}
