//! Reads the clock.

use std::time::{Duration, SystemTime};

use companion_core::companion::Now;
use tokio::time::Instant;

/// The time since the server began.
pub(crate) struct Clock {
    begun: Instant,
    date: u64,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), date: now_ms() }
    }

    /// The instant of this many milliseconds.
    pub(crate) fn at(&self, elapsed: u64) -> Instant {
        self.begun + Duration::from_millis(elapsed)
    }

    /// A clock of the system that is set back does not make notes younger.
    pub(crate) fn now(&self) -> Now {
        let elapsed = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now { elapsed, date: now_ms().max(self.date.saturating_add(elapsed)) }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
