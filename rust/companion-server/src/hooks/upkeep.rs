//! Drops notes and changes, so that no private text stays for long: of files that become private, of CLIs
//! that do not return, and old ones.
//!
//! The list of changes keeps its texts in memory, and shows none of a file that has become private.

use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes;
use tokio::time::{sleep, timeout};

use super::{Hooks, changes};
use crate::privacy::SETTLE_TIME;

/// The interval of the checks of private files if no change is seen, which lets an idle machine sleep. Only
/// the ignore files on the way to open files are watched.
pub(super) const PRIVATE_CHECK_INTERVAL: Duration = Duration::from_mins(15);

/// The longest time between two checks of old notes. The server's timer stands still while the machine
/// sleeps. No note or change that begins to wait between two checks is over before the next one.
const AGE_CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// The time between two checks of a note that is over but under way.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl Hooks {
    /// Checks the files of waiting notes and of changes, after each change of ignore files, and at times.
    pub(crate) async fn follow_private_files(self: Arc<Self>) {
        let mut changes = self.workspace.privacy().changes();
        while !matches!(timeout(PRIVATE_CHECK_INTERVAL, changes.changed()).await, Ok(Err(_))) {
            loop {
                // Many programs empty a file before they write it, and that may hide everything.
                sleep(SETTLE_TIME).await;
                let has_unsettled_notes = self.refuse_private_notes().await;
                let has_unsettled_changes = self.follow_access().await;
                if !has_unsettled_notes && !has_unsettled_changes {
                    break;
                }
            }
        }
    }

    /// Refuses the reasons and comments whose files are private by now. Returns whether ignore files are
    /// changing.
    pub(super) async fn refuse_private_notes(&self) -> bool {
        let texts = self.driver.ask(|companion| companion.notes().texts());
        self.check_notes(texts).await.is_unsettled
    }

    /// Drops old notes and changes, without end.
    pub(crate) async fn expire_notes(self: Arc<Self>) {
        loop {
            let now = self.driver.now().date;
            self.driver.handle(Input::ExpireNotes);
            let oldest = self.driver.ask(|companion| companion.notes().oldest());
            let of_notes = time_left(now, oldest, notes::MAX_AGE);
            let of_changes = time_left(now, self.expire_changes(now), changes::MAX_AGE);
            let left = of_notes.min(of_changes);
            sleep(if left.is_zero() { RETRY_INTERVAL } else { left.min(AGE_CHECK_INTERVAL) }).await;
        }
    }
}

/// The time until something that began to wait at `since` is over. Both times are in milliseconds since
/// 1970.
fn time_left(now: u64, since: Option<u64>, max_age: Duration) -> Duration {
    let age = since.map_or(0, |since| now.saturating_sub(since));
    max_age.saturating_sub(Duration::from_millis(age))
}
