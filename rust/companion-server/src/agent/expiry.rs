//! Drops reasons and reverts whose CLI does not return, and old changes, so that no private text stays
//! for long.

use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes::MAX_AGE;
use tokio::time::sleep;

use super::Agents;

/// The longest time between two checks. The server's timer stands still while the machine sleeps.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

impl Agents {
    /// Drops old notes and changes, without end. Without any it sleeps.
    pub(crate) async fn expire_notes(self: Arc<Self>) {
        let max_age = u64::try_from(MAX_AGE.as_millis()).expect("it is a day");
        loop {
            let now = self.driver.now().date;
            self.driver.handle(Input::ExpireNotes);
            let oldest = self.driver.ask(|companion| companion.notes().oldest());
            let oldest = oldest.into_iter().chain(self.changes.expire(now)).min();
            match oldest.map(|since| (since + max_age).saturating_sub(now)) {
                // A note that is under way is checked again soon.
                Some(next) => {
                    let next = Duration::from_millis(next.max(1000)).min(CHECK_INTERVAL);
                    sleep(next).await;
                }
                None => self.ages.notified().await,
            }
        }
    }
}
