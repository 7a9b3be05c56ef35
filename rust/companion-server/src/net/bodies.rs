//! Reads the bodies of requests into memory, within a limit for each and a budget for all.
//! It does not look at their text.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::Limits;

/// The largest body, in bytes, that is read without a permit.
const SMALL_BODY: usize = 64 << 10;

/// The bytes of one permit. The semaphore counts permits with 32 bits.
const PERMIT_SIZE: usize = 1 << 10;

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The body is larger than the limit.
    TooLarge,
    /// The peer paused for too long, or took too long in all.
    TooSlow,
    /// The peer broke off, or its framing is invalid.
    Broken,
    /// Other bodies used the whole budget for the time that a peer may pause.
    NoRoom,
}

/// The budget for all bodies that are being read: two of `limits.body`, besides small ones. Further
/// bodies wait unread, for the time that a peer may pause. A larger one takes the whole budget.
pub(crate) struct BodyBudget {
    all: u32,
    /// The longest pause of a peer.
    pause: Duration,
    total: Duration,
    budget: Arc<Semaphore>,
}

impl BodyBudget {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (pause, total) = (limits.body_timeout, limits.body_total);
        let all = 2 * units(limits.body);
        Self { all, pause, total, budget: Arc::new(Semaphore::new(all as usize)) }
    }

    /// Reads a body. If its announced length is above `limit`, nothing is read. Without an
    /// announced length, it is read up to the limit.
    pub(crate) async fn read<B>(&self, mut body: B, limit: usize) -> Result<BufferedBody, BodyError>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let size = body.size_hint();
        let announced = usize::try_from(size.lower()).unwrap_or(usize::MAX);
        if announced > limit {
            return Err(BodyError::TooLarge);
        }
        let mut permit = None;
        if announced > SMALL_BODY {
            permit = Some(self.permit(announced).await?);
        }
        let mut bytes = Vec::with_capacity(announced);
        let mut end = Instant::now() + self.total;
        loop {
            let deadline = end.min(Instant::now() + self.pause);
            let frame =
                timeout_at(deadline, body.frame()).await.map_err(|_elapsed| BodyError::TooSlow)?;
            let Some(frame) = frame else { break };
            let data = frame.map_err(|_| BodyError::Broken)?.into_data().unwrap_or_default();
            let length = bytes.len() + data.len();
            if length > limit {
                return Err(BodyError::TooLarge);
            }
            if length > SMALL_BODY && permit.is_none() {
                // Its size is unknown. If bodies took their permits step by step, two of them could
                // wait for each other.
                let asked = Instant::now();
                permit = Some(self.permit(limit).await?);
                end += asked.elapsed();
            }
            bytes.extend_from_slice(&data);
        }
        release(&mut permit, bytes.len());
        Ok(BufferedBody { bytes, permit })
    }

    async fn permit(&self, bytes: usize) -> Result<OwnedSemaphorePermit, BodyError> {
        let permit = Arc::clone(&self.budget).acquire_many_owned(units(bytes).min(self.all));
        let permit = timeout(self.pause, permit).await.map_err(|_elapsed| BodyError::NoRoom)?;
        Ok(permit.expect("it is never closed"))
    }
}

/// Releases the permits that a body of this length does not need.
fn release(permit: &mut Option<OwnedSemaphorePermit>, bytes: usize) {
    if let Some(permit) = permit {
        drop(permit.split(permit.num_permits().saturating_sub(units(bytes) as usize)));
    }
}

fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(PERMIT_SIZE)).unwrap_or(u32::MAX / 2)
}

/// A body that was read. It counts in the budget until it is dropped.
pub(crate) struct BufferedBody {
    pub(crate) bytes: Vec<u8>,
    permit: Option<OwnedSemaphorePermit>,
}

impl BufferedBody {
    /// Frees the body. Bytes that were `copied` out of it count in the budget until the returned
    /// permit is dropped.
    pub(crate) fn free(self, copied: usize) -> Option<OwnedSemaphorePermit> {
        let Self { bytes, mut permit } = self;
        drop(bytes);
        release(&mut permit, copied);
        permit.filter(|_| copied > SMALL_BODY)
    }
}
