//! The data of Server-Sent Events.

use bytes::Bytes;
use serde::Serialize;

/// `message` as the data of an event: a `data:` line and the empty line that ends the event.
///
/// JSON as serde writes it has no line breaks, so one line it is.
pub(crate) fn data(message: &impl Serialize, size_hint: usize) -> Bytes {
    let mut bytes = Vec::with_capacity(size_hint + size_hint / 8 + 256);
    bytes.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut bytes, message).expect("our messages are JSON");
    bytes.extend_from_slice(b"\n\n");
    Bytes::from(bytes)
}
