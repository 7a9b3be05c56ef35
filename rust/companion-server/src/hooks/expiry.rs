//! Drops reasons and reverts whose CLI does not return, and old changes, so that no private text stays
//! for long.

use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes;
use tokio::time::sleep;

use super::{Hooks, changes};

/// The longest time between two checks. The server's timer stands still while the machine sleeps. No
/// note or change that begins to wait between two checks is over before the next one.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// The time between two checks of a note that is over but under way.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl Hooks {
    /// Drops old notes and changes, without end.
    pub(crate) async fn expire_notes(self: Arc<Self>) {
        loop {
            let now = self.driver.now().date;
            self.driver.handle(Input::ExpireNotes);
            let oldest = self.driver.ask(|companion| companion.notes().oldest());
            let of_notes = time_left(now, oldest, notes::MAX_AGE);
            let of_changes = time_left(now, self.expire_changes(now), changes::MAX_AGE);
            let left = of_notes.min(of_changes);
            sleep(if left.is_zero() { RETRY_INTERVAL } else { left.min(CHECK_INTERVAL) }).await;
        }
    }
}

/// The time until something that began to wait at `since` is over. Both times are in milliseconds since
/// 1970.
fn time_left(now: u64, since: Option<u64>, max_age: Duration) -> Duration {
    let age = since.map_or(0, |since| now.saturating_sub(since));
    max_age.saturating_sub(Duration::from_millis(age))
}
