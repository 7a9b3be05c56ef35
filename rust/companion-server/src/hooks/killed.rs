//! Ends the question of a CLI that was killed: no hook of it follows.

use std::sync::Arc;
use std::time::Duration;

use companion_platform::find_process;
use tokio::time::sleep;

use super::Hooks;

/// The time to the first check of the process of a CLI that asks something. It doubles with each check.
const FIRST_CHECK: Duration = Duration::from_secs(2);

/// The longest time between two checks.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(30);

impl Hooks {
    /// Follows the process of a CLI that asks something, until the user has answered or the server stops.
    /// A process that this server can't see may run elsewhere, so its question stays.
    pub(super) fn follow_process(self: &Arc<Self>, session: &str, question: u64, process: &str) {
        let (session, process) = (session.to_owned(), Arc::from(process));
        let hooks = Arc::clone(self);
        let follow = async move {
            if hooks.runs(&process).await != Some(true) {
                return;
            }
            let mut interval = FIRST_CHECK;
            loop {
                sleep(interval).await;
                if !hooks.state.lock().turns.waits_for(&session, question) {
                    return;
                }
                if hooks.runs(&process).await == Some(false) {
                    break;
                }
                interval = (interval * 2).min(MAX_CHECK_INTERVAL);
            }
            if hooks.state.lock().turns.waits_for(&session, question) {
                hooks.go_on(&session);
            }
        };
        let stopping = self.lifecycle.stopping.clone();
        tokio::spawn(async move { stopping.run_until_cancelled(follow).await });
    }

    /// Whether this server sees the process. `None` if the server ends.
    async fn runs(&self, process: &Arc<str>) -> Option<bool> {
        let process = Arc::clone(process);
        let turn = self.processes.turn().await;
        turn.run(move || find_process(&process).is_some()).await.ok()
    }
}
