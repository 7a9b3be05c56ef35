//! Forgets reasons whose CLI does not return, so that no private text stays on the disk for long.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::context::now_ms;
use crate::diffs::Record;
use crate::state::ServerState;

/// The longest time that a reason waits for a prompt of its CLI.
const MAX_AGE: Duration = Duration::from_hours(24);

/// The longest time between two checks. The server's timer stands still while the machine sleeps.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// The age of reasons, also over restarts of the server.
pub(super) struct Expiry {
    begin: Instant,
    begin_ms: u64,
    /// Notified when a reason begins to wait.
    pub(super) waits: Notify,
}

impl Expiry {
    pub(super) fn new() -> Self {
        Self { begin: Instant::now(), begin_ms: now_ms(), waits: Notify::new() }
    }

    /// Milliseconds since 1970. A clock that is set back does not make reasons younger.
    pub(super) fn now_ms(&self) -> u64 {
        let elapsed = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        now_ms().max(self.begin_ms.saturating_add(elapsed))
    }
}

/// Forgets old reasons, until the server stops. Without reasons it sleeps.
pub(crate) async fn expire_reasons(state: Arc<ServerState>) {
    let Expiry { waits, .. } = &state.agents.expiry;
    let max_age = u64::try_from(MAX_AGE.as_millis()).expect("it is a day");
    let expiring = async {
        loop {
            let now = state.agents.expiry.now_ms();
            let (expired, next) = {
                let mut model = state.agents.model.lock();
                let expired = model.expire_reasons(now.saturating_sub(max_age));
                (expired, model.oldest_reason().map(|since| since + max_age - now))
            };
            for note in expired {
                state.diffs.record(Record::NoteTold(note));
            }
            match next {
                Some(next) => sleep(Duration::from_millis(next).min(CHECK_INTERVAL)).await,
                None => waits.notified().await,
            }
        }
    };
    state.stopping.run_until_cancelled(expiring).await;
}
