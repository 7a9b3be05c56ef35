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
