//! Formats Server-Sent Events.

use bytes::Bytes;
use serde::Serialize;

use crate::net::json::Json;

/// A comment, which clients ignore.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// Writes an event with `message` as data.
pub(crate) fn data(message: &impl Serialize) -> Bytes {
    Json::new(message).into_event().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Reads events as the standard says (HTML §9.2.6), and returns the data of each.
    fn read(stream: &str) -> Vec<String> {
        let mut events = Vec::new();
        let mut data: Vec<&str> = Vec::new();
        for line in stream.split(['\n', '\r']) {
            if line.is_empty() {
                if !data.is_empty() {
                    events.push(std::mem::take(&mut data).join("\n"));
                }
            } else if let Some(value) = line.strip_prefix("data:") {
                data.push(value.strip_prefix(' ').unwrap_or(value));
            }
        }
        events
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_is_read(texts in prop::collection::vec(any::<String>(), 1..4)) {
            let messages: Vec<Value> = texts.iter().map(|text| json!({ "text": text })).collect();
            let mut stream = String::new();
            for message in &messages {
                stream.push_str("event: message\nid: 1-1\n");
                stream.push_str(std::str::from_utf8(&super::data(message)).unwrap());
                stream.push_str(":\n\n");
            }
            let read: Vec<Value> =
                read(&stream).iter().map(|data| serde_json::from_str(data).unwrap()).collect();
            prop_assert_eq!(read, messages);
        }
    }
}
