//! Reads the body of a request into memory, up to a limit.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout_at};

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is larger than the limit.
    TooLarge,
    /// The peer paused for too long, or took too long in all.
    TooSlow,
    /// The peer broke off, or its framing is wrong.
    Broken,
}

/// Reads a body of at most `limit` bytes, which never pauses for longer than `pause` and is there
/// after `total`.
///
/// A body that says beforehand that it is too large is not read at all; one that does not is
/// read up to the limit.
pub(super) async fn read<B>(
    body: B,
    limit: usize,
    pause: Duration,
    total: Duration,
) -> Result<Vec<u8>, BodyError>
where
    B: Body<Data = Bytes> + Unpin,
{
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(BodyError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(announced);
    let mut body = body;
    let end = Instant::now() + total;
    loop {
        let deadline = end.min(Instant::now() + pause);
        let frame =
            timeout_at(deadline, body.frame()).await.map_err(|_elapsed| BodyError::TooSlow)?;
        let Some(frame) = frame else { return Ok(bytes) };
        let data = frame.map_err(|_| BodyError::Broken)?.into_data().unwrap_or_default();
        if data.len() > limit - bytes.len() {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
}
