//! Drops reasons and reverts whose CLI does not return, and old changes, so that no private text stays
//! for long.

use std::sync::Arc;
use std::time::Duration;

use companion_core::notes::MAX_AGE;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::{changes, reason_lost};
use crate::context::now_ms;
use crate::diffs::Record;
use crate::state::ServerState;

/// The longest time between two checks. The server's timer stands still while the machine sleeps.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// The age of notes, also over restarts of the server.
pub(super) struct Expiry {
    begin: Instant,
    begin_ms: u64,
    /// Notified when a note or a change begins to age.
    pub(super) waits: Notify,
}

impl Expiry {
    pub(super) fn new() -> Self {
        Self { begin: Instant::now(), begin_ms: now_ms(), waits: Notify::new() }
    }

    /// Milliseconds since the server began.
    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Milliseconds since 1970. A clock that is set back does not make notes younger.
    pub(super) fn now_ms(&self) -> u64 {
        now_ms().max(self.begin_ms.saturating_add(self.elapsed_ms()))
    }
}

/// Drops old notes and changes, until the server stops. Without any it sleeps.
pub(crate) async fn expire_notes(state: Arc<ServerState>) {
    let Expiry { waits, .. } = &state.agents.expiry;
    let max_age = u64::try_from(MAX_AGE.as_millis()).expect("it is a day");
    let expiring = async {
        loop {
            let now = state.agents.expiry.now_ms();
            let (expired, oldest) = {
                let mut conversation = state.agents.conversation.lock();
                let notes = conversation.notes_mut();
                (notes.expire(now), notes.oldest())
            };
            for (note, of) in expired {
                state.diffs.record(Record::NoteRemoved(note));
                reason_lost(&state, &of, "its CLI has not come back within a day");
            }
            let oldest = oldest.into_iter().chain(changes::expire(&state, now)).min();
            match oldest.map(|since| (since + max_age).saturating_sub(now)) {
                // A note that is under way is checked again soon.
                Some(next) => {
                    let next = Duration::from_millis(next.max(1000)).min(CHECK_INTERVAL);
                    sleep(next).await;
                }
                None => waits.notified().await,
            }
        }
    };
    state.stopping.run_until_cancelled(expiring).await;
}
