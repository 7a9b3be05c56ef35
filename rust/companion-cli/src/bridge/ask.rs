//! Sends requests to the companion and returns its answers, even if connections break.

use std::sync::Arc;
use std::time::Duration;

use companion_client::http::{Error, Events};
use companion_protocol::jsonrpc::Id;
use companion_protocol::mcp::CallToolResult;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

use super::diffs::{CallEnd, DiffStep};
use super::link::Up;
use super::relay::Bridge;

/// The most attempts to send a request.
const ATTEMPTS: usize = 3;

/// The time for an answer to arrive after the stream has ended. A stopping companion ends its
/// streams first.
const LATE: Duration = Duration::from_secs(10);

/// The time to wait for an unreachable companion that may have closed a diff. The companion keeps
/// the text no longer.
const KEPT: Duration = Duration::from_mins(1);

impl Bridge {
    /// Sends a request independently of other requests.
    pub(super) fn begin(
        self: Arc<Self>,
        permit: OwnedSemaphorePermit,
        id: Id,
        message: String,
        step: DiffStep,
    ) {
        tokio::spawn(async move {
            let _permit = permit;
            self.ask(&id, message.into(), &step).await;
        });
    }

    /// Sends a request until the companion answers, and passes the answer to the client.
    pub(super) async fn ask(&self, id: &Id, message: bytes::Bytes, step: &DiffStep) -> CallEnd {
        let mut reason = String::new();
        let mut may_have_arrived = false;
        // A client that opens a file again no longer waits for the earlier diff, which may be
        // shown.
        let replaces = if let DiffStep::Open { companion, .. } = step {
            self.diffs.lock().give_up(companion)
        } else {
            false
        };
        for _ in 0..ATTEMPTS {
            let up = match self.up(step, may_have_arrived).await {
                Ok(up) => up,
                Err(why) => {
                    reason = format!("No companion can be reached: {why}");
                    let DiffStep::Open { companion, .. } = step else { break };
                    // The CLI asks in the terminal as well. An error would fail the edit even if
                    // the user accepts it there. An empty result leaves the decision to the
                    // terminal.
                    log::info!("{reason}; a diff is for the terminal alone");
                    self.succeed(id, &CallToolResult::empty()).await;
                    let mut diffs = self.diffs.lock();
                    if replaces {
                        // The earlier diff may still be shown and decided.
                        diffs.give_up(companion);
                    } else {
                        diffs.left_to_terminal(companion, may_have_arrived);
                    }
                    // The companion may show the proposal. The next `closeDiff` must close the view
                    // and get the text.
                    return if may_have_arrived { CallEnd::Answered } else { CallEnd::NeverOpened };
                }
            };
            if let DiffStep::Open { client, companion, .. } = step {
                let is_over = may_have_arrived && self.diffs.lock().is_over(companion);
                if is_over {
                    // The view was shown and decided. A repeated request would show it again
                    // without a waiter.
                    self.succeed(id, &CallToolResult::empty()).await;
                    return CallEnd::Answered;
                }
                self.diffs.lock().opened(client, companion);
            }
            match self.attempt(&up, message.clone(), step, may_have_arrived).await {
                Ok(()) => return CallEnd::Answered,
                Err(error) => {
                    reason = format!("The companion failed: {error}");
                    let is_broken = matches!(error, Error::Broken { .. });
                    let repeatable = is_broken && !matches!(step, DiffStep::Unrepeatable);
                    if !error.is_safe_to_retry() && !repeatable {
                        break;
                    }
                    may_have_arrived |= !error.is_safe_to_retry();
                    if let DiffStep::Open { companion, .. } = step {
                        let mut diffs = self.diffs.lock();
                        if replaces && !may_have_arrived {
                            diffs.give_up(companion);
                        } else {
                            diffs.unsure(companion);
                        }
                    }
                    self.link.suspect(up.number, &error.to_string());
                }
            }
        }
        if let DiffStep::Open { companion, .. } | DiffStep::Close { companion } = step {
            self.diffs.lock().give_up(companion);
        }
        self.fail(id, &reason).await;
        CallEnd::Answered
    }

    /// Sends a request once, and passes the answer to the client. If the stream is lost meanwhile,
    /// the answer may have been lost silently.
    async fn attempt(
        &self,
        up: &Up,
        message: bytes::Bytes,
        step: &DiffStep,
        is_repeated: bool,
    ) -> Result<(), Error> {
        let exchange = async {
            let sent = if is_repeated {
                up.session.post_again(message).await
            } else {
                up.session.post(message).await
            };
            self.answer(sent, step).await
        };
        tokio::select! {
            biased;
            done = exchange => done,
            () = self.too_late(up), if !matches!(step, DiffStep::Unrepeatable) => {
                Err(Error::Broken { reason: "its answer did not come".to_owned() })
            }
        }
    }

    /// Waits until no answer can arrive any more on the connections of `up`.
    pub(super) async fn too_late(&self, up: &Up) {
        self.link.left(up.number).await;
        sleep(LATE).await;
    }

    /// Waits for a companion. An `openDiff` waits only until the client closes the diff.
    async fn up(&self, step: &DiffStep, may_have_arrived: bool) -> Result<Arc<Up>, Arc<str>> {
        // The companion may have returned the text, and only it still has the text.
        let has_text = may_have_arrived && matches!(step, DiffStep::Close { .. });
        let wait = self.reconnect_wait;
        let up = self.link.up(if has_text { wait.max(KEPT) } else { wait });
        let DiffStep::Open { withdrawn, .. } = step else { return up.await };
        tokio::select! {
            biased;
            up = up => up,
            () = withdrawn.notified() => Err("the client did not wait".into()),
        }
    }

    /// Sends the client the answer of one attempt and the messages that belong to it.
    async fn answer(&self, sent: Result<Events, Error>, step: &DiffStep) -> Result<(), Error> {
        let mut events = sent?;
        while let Some(event) = events.next().await? {
            if let Some(went_well) = self.deliver(&event.data).await {
                match step {
                    DiffStep::Open { companion, .. } if !went_well => {
                        self.diffs.lock().ended(companion);
                    }
                    // If the close failed, the diff has ended for the companion, too.
                    DiffStep::Close { companion } => {
                        self.diffs.lock().ended(companion);
                    }
                    _ => {}
                }
                return Ok(());
            }
        }
        Err(Error::Broken { reason: "it ended without an answer".to_owned() })
    }
}
