//! Stops a server in order.
//!
//! 1. Remove the discovery file, so that no new CLI connects. This starts first, even if the
//!    server's thread is too busy for the later steps.
//! 2. Reject open diffs. Otherwise their clients would wait without end. If the editor keeps them for the
//!    next process, they stay open instead.
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

use crate::discovery::Removal;
use crate::lifecycle::Lifecycle;
use crate::parts::Parts;

/// The time, from the start, for clients to acknowledge their texts. It takes them a millisecond,
/// or several hundred on an overloaded machine.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(1);

/// The time for requests to be answered and streams to be read.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// The time for all steps except the dropping of peers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1900);

impl Parts {
    /// Runs all steps after the removal of the discovery file has begun.
    pub(crate) async fn shut_down(&self, mut removal: Option<Removal>) {
        let Lifecycle { aborting, listening, tasks, .. } = &self.lifecycle;
        let begun = Instant::now();
        let end = begun + SHUTDOWN_TIMEOUT;
        if let Some(removal) = &mut removal {
            removal.begin().await;
        }
        let keeps = self.driver.keeps_proposals();
        if keeps {
            self.driver.wait_until_journaled().await;
        }
        self.driver.handle(Input::Stop { keeps });
        if timeout_at(begun + DELIVERY_TIMEOUT, self.driver.all_arrived()).await.is_err() {
            log::debug!(
                "a client has not shown that it got its texts, or the editor has not given one"
            );
        }
        self.driver.handle(Input::EndTexts);
        self.end_streams();
        listening.close();
        listening.wait().await;
        tasks.close();
        if timeout_at(begun + ANSWER_TIMEOUT, tasks.wait()).await.is_err() {
            log::debug!("{} connections were cut", tasks.len());
        }
        aborting.cancel();
        tasks.wait().await;
        self.driver.journal().end();
        if timeout_at(end, self.driver.saved.ended()).await.is_err() {
            log::warn!("resume disk timed out");
        }
        if let Some(removal) = removal {
            removal.end(end).await;
        }
        self.pool.end();
    }

    /// Runs the same steps without waiting.
    pub(crate) fn shut_down_now(&self) {
        let keeps = self.driver.keeps_proposals();
        self.driver.post(Input::Stop { keeps });
        self.driver.post(Input::EndTexts);
        self.end_streams();
        self.lifecycle.aborting.cancel();
        self.driver.journal().end();
    }

    fn end_streams(&self) {
        self.lifecycle.stopping.cancel();
        self.sessions.end_streams();
        self.monitors.end();
    }
}
