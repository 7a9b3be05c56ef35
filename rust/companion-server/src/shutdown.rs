//! The end of a server, in this order:
//!
//! 1. the discovery file goes, so that no CLI comes any more, if its disk answers; also where the
//!    server's thread has so much to do that nothing of what follows is in time;
//! 2. open diffs are rejected: a client that hears nothing would wait for ever;
//! 3. clients have a moment to show that they have the texts they were told, and to answer what they
//!    were asked: an answer that finds nobody ends their connection for good. What they have not shown
//!    stays on the disk for the next process. The editor has as long to give the texts of views that
//!    it closes for them;
//! 4. the listener closes, and streams end by FIN: after a RST the client would stay disconnected
//!    until its user types `/ide enable`;
//! 5. requests that are being answered get half a second more;
//! 6. what is left is dropped;
//! 7. what clients have not been told is saved for the next process, if this server can be
//!    resumed, and its disk answers.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::discovery::{Discovery, Removal};
use crate::state::ServerState;

/// When clients should have shown that they have heard, from the beginning on. It takes them a
/// millisecond, or on a machine that is overloaded several hundred.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(1);

/// When requests should be answered, and streams read.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// When all of it is done, but for peers that are dropped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1900);

/// All of it, once the removal of the discovery file has begun.
pub(crate) async fn shut_down(state: &ServerState, mut removal: Option<Removal>) {
    let begun = Instant::now();
    let end = begun + SHUTDOWN_TIMEOUT;
    state.release_lock();
    if let Some(removal) = &mut removal {
        removal.begin().await;
    }
    state.diffs.stop();
    if timeout_at(begun + DELIVERY_TIMEOUT, state.diffs.all_arrived()).await.is_err() {
        log::debug!(
            "a client has not shown that it got its texts, or the editor has not given one"
        );
    }
    state.diffs.end_texts();
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
            log::warn!("the disk with what a restart needs does not answer");
        }
    }
    if let Some(removal) = removal {
        removal.end(end).await;
    }
    state.pool.end();
}

/// Steps 1 to 4, without waiting.
pub(crate) fn begin(state: &ServerState, discovery: &Discovery) {
    state.release_lock();
    drop(discovery.remove());
    state.diffs.stop();
    state.diffs.end_texts();
    close(state);
}

fn close(state: &ServerState) {
    state.stopping.cancel();
    state.sessions.end_streams();
    state.monitors.end();
}
