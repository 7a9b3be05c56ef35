//! Ends the question of a CLI that was killed: no hook of it follows.

use std::sync::Arc;
use std::time::Duration;

use companion_platform::{find_process, is_process_alive};
use tokio::time::sleep;

use super::Hooks;

/// The time between two checks of the process of a CLI that asks something.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

impl Hooks {
    /// Follows the process of a CLI that asks something, until the user has answered or the server stops.
    /// A process that this server can't see may run elsewhere, so its question stays.
    pub(super) fn follow_process(self: &Arc<Self>, session: &str, question: u64, process: &str) {
        let (session, process) = (session.to_owned(), process.to_owned());
        let hooks = Arc::clone(self);
        let follow = async move {
            let Ok(Some(pid)) = hooks.pool.run(move || find_process(&process)).await else {
                return;
            };
            let mut is_alive = true;
            while is_alive {
                sleep(CHECK_INTERVAL).await;
                if !hooks.state.lock().turns.waits_for(&session, question) {
                    return;
                }
                // If another process has its id by now, it counts as alive.
                is_alive = hooks.pool.run(move || is_process_alive(pid)).await.unwrap_or(true);
            }
            if hooks.state.lock().turns.waits_for(&session, question) {
                hooks.go_on(&session);
            }
        };
        let stopping = self.lifecycle.stopping.clone();
        tokio::spawn(async move { stopping.run_until_cancelled(follow).await });
    }
}
