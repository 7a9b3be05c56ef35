//! Drops reasons and reverts whose CLI does not return, and old changes, so that no private text stays
//! for long.

use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes::MAX_AGE;
use tokio::time::sleep;

use super::changes;
use crate::state::ServerState;

/// The longest time between two checks. The server's timer stands still while the machine sleeps.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// Drops old notes and changes, until the server stops. Without any it sleeps.
pub(crate) async fn expire_notes(state: Arc<ServerState>) {
    let max_age = u64::try_from(MAX_AGE.as_millis()).expect("it is a day");
    let expiring = async {
        loop {
            let now = state.driver.now().date;
            state.driver.handle(Input::ExpireNotes);
            let oldest = state.driver.ask(|companion| companion.notes().oldest());
            let oldest = oldest.into_iter().chain(changes::expire(&state, now)).min();
            match oldest.map(|since| (since + max_age).saturating_sub(now)) {
                // A note that is under way is checked again soon.
                Some(next) => {
                    let next = Duration::from_millis(next.max(1000)).min(CHECK_INTERVAL);
                    sleep(next).await;
                }
                None => state.agents.ages.notified().await,
            }
        }
    };
    state.stopping.run_until_cancelled(expiring).await;
}
