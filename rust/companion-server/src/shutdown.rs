//! Stops a server in order.
//!
//! 1. Remove the discovery file, so that no new CLI connects. This starts first, even if the
//!    server's thread is too busy for the later steps.
//! 2. Reject open diffs. Otherwise their clients would wait without end.
//! 3. Give clients a moment to acknowledge their texts and to answer pings: an answer without a
//!    receiver ends their connection for good. Unacknowledged texts stay on the disk for the next
//!    process. The editor has the same time to return the texts of closed views.
//! 4. Close the listener, and end streams by FIN. After an RST the client would stay disconnected
//!    until its user types `/ide enable`.
//! 5. Give requests another 0.5 s.
//! 6. Drop the rest.
//! 7. If the server can be resumed, save the undelivered decisions, unless the disk does not
//!    answer.

use std::time::Duration;

use companion_core::companion::Input;
use tokio::time::{Instant, timeout_at};

use crate::discovery::{Discovery, Removal};
use crate::state::ServerState;

/// The time, from the start, for clients to acknowledge their texts. It takes them a millisecond,
/// or several hundred on an overloaded machine.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(1);

/// The time for requests to be answered and streams to be read.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// The time for all steps except the dropping of peers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1900);

/// Runs all steps after the removal of the discovery file has begun.
pub(crate) async fn shut_down(state: &ServerState, mut removal: Option<Removal>) {
    let begun = Instant::now();
    let end = begun + SHUTDOWN_TIMEOUT;
    state.release_lock();
    if let Some(removal) = &mut removal {
        removal.begin().await;
    }
    state.driver.handle(Input::Stop);
    if timeout_at(begun + DELIVERY_TIMEOUT, state.driver.all_arrived()).await.is_err() {
        log::debug!(
            "a client has not shown that it got its texts, or the editor has not given one"
        );
    }
    state.driver.handle(Input::EndTexts);
    close(state);
    state.listening.close();
    state.listening.wait().await;
    state.tasks.close();
    if timeout_at(begun + ANSWER_TIMEOUT, state.tasks.wait()).await.is_err() {
        log::debug!("{} connections were cut", state.tasks.len());
    }
    state.aborting.cancel();
    state.tasks.wait().await;
    if let Some(journal) = &state.journal {
        journal.end();
        if timeout_at(end, journal.ended()).await.is_err() {
            log::warn!("resume disk timed out");
        }
    }
    if let Some(removal) = removal {
        removal.end(end).await;
    }
    state.pool.end();
}

/// Runs steps 1 to 4 without waiting.
pub(crate) fn begin(state: &ServerState, discovery: &Discovery) {
    state.release_lock();
    drop(discovery.remove());
    state.driver.post(Input::Stop);
    state.driver.post(Input::EndTexts);
    close(state);
}

fn close(state: &ServerState) {
    state.stopping.cancel();
    state.sessions.end_streams();
    state.monitors.end();
}
