//! Follows which files become private, so that no text of them stays in the resume file, and the list of
//! changes shows none. The list keeps its texts in memory.

use std::sync::Arc;
use std::time::Duration;

use companion_core::notes::Note;
use tokio::time::{sleep, timeout};

use super::Hooks;
use crate::privacy::SETTLE_TIME;

/// The interval of the checks if no change is seen, which lets an idle machine sleep. Only the ignore files on
/// the way to open files are watched.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_mins(15);

impl Hooks {
    /// Checks the files of waiting notes and of changes, after each change of ignore files, and at times.
    pub(crate) async fn follow_private_files(self: Arc<Self>) {
        let mut changes = self.workspace.privacy().changes();
        while !matches!(timeout(CHECK_INTERVAL, changes.changed()).await, Ok(Err(_))) {
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
    async fn refuse_private_notes(&self) -> bool {
        let has_text = |note: &Note| matches!(note, Note::Reason(_) | Note::Comment(_));
        let waiting = self.driver.ask(|companion| companion.notes().due(u64::MAX, has_text));
        self.check_notes(waiting).await.is_unsettled
    }
}
