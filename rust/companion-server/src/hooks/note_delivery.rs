//! Carries out deliveries of notes: checks their files, waits for the confirmation, saves it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::Caller;
use companion_core::companion::Input;
use companion_core::conversation::Due;
use companion_core::notes::{Confirmation, Delivery, Note, Reason};
use tokio::time::{Instant, sleep_until};

use super::Hooks;
use crate::config::DISK_TIMEOUT;
use crate::driver::Driver;
use crate::workspace::{OUTSIDE, PRIVATE, UNSETTLED};

/// The time for the hook to confirm an answer with notes.
const ACK_TIMEOUT: Duration = Duration::from_secs(3);

/// A part of that time. If its timer is late by a part, the process was suspended, and a confirmation
/// may be waiting in its socket: the part does not count.
const ACK_PART: Duration = Duration::from_millis(300);

/// Notes on their way, with the files that may be named.
pub(super) struct Checked {
    pub(super) delivery: Delivery,
    pub(super) shared: HashSet<Arc<str>>,
}

/// The notes that may leave, with the files that may be named.
#[derive(Default)]
pub(super) struct Allowed {
    notes: Due,
    shared: HashSet<Arc<str>>,
    /// A file may be private, because ignore files are changing.
    pub(super) is_unsettled: bool,
}

impl Hooks {
    /// Begins a delivery to the model of `caller`, of the notes whose files may be shared now. Those about
    /// private files are refused. The others wait. `None` if nothing is left, or if the project shares
    /// nothing.
    ///
    /// A delivery to a subagent also counts in the turn of the main agent. If the CLI forgets that turn,
    /// the notes wait for the main agent.
    pub(super) async fn deliver(&self, caller: &Caller<'_>, due: Due) -> Option<Checked> {
        if !self.context.is_shared() {
            return None;
        }
        let Allowed { notes, shared, .. } = self.check_notes(due).await;
        // The disk may have taken its time.
        if !self.context.is_shared() {
            return None;
        }
        let delivery = self.driver.handle(Input::Deliver(caller, &notes)).notes?;
        tokio::spawn(give_back_unconfirmed(Arc::clone(&self.driver), delivery.number));
        Some(Checked { delivery, shared })
    }

    /// Finds the notes whose files may be shared now, and refuses those about private files.
    pub(super) async fn check_notes(&self, due: Due) -> Allowed {
        let mut paths: Vec<Arc<str>> = Vec::new();
        for path in due.iter().flat_map(|(_, note)| note.paths()) {
            if !paths.contains(path) {
                paths.push(Arc::clone(path));
            }
        }
        if paths.is_empty() {
            return Allowed::default();
        }
        let checked = self.workspace.check_all_shared(&paths, DISK_TIMEOUT).await;
        let is_unsettled = checked.contains(&Err(UNSETTLED));
        let (mut shared, mut outside, mut refused) = (HashSet::new(), HashSet::new(), Vec::new());
        for (path, checked) in paths.into_iter().zip(checked) {
            match checked {
                Ok(()) => drop(shared.insert(path)),
                Err(OUTSIDE) if self.is_private(&path).await => {
                    refused.push((path, PRIVATE));
                }
                // The editor may not have opened its folder yet.
                Err(OUTSIDE) => drop(outside.insert(path)),
                Err(PRIVATE) => refused.push((path, PRIVATE)),
                Err(_) => {}
            }
        }
        let mut notes = Vec::new();
        for (id, note) in due {
            let is_known = |path| shared.contains(path) || refused.iter().any(|(of, _)| of == path);
            if let Note::Reason(Reason { path, .. }) = &note
                && outside.contains(path)
            {
                // The CLI itself has named the file.
                notes.push((id, note));
            } else if note.paths().iter().any(|path| shared.contains(path)) {
                // A revert names the others of its files with the next prompt at the latest.
                if note.paths().iter().all(is_known) {
                    notes.push((id, note));
                }
            } else if let Some((_, why)) =
                refused.iter().find(|(path, _)| note.paths().contains(path))
            {
                self.driver.handle(Input::Refuse(id, why));
            }
        }
        Allowed { notes, shared, is_unsettled }
    }

    /// A hook is about to print the delivery of this number. Returns false if it must not. The disk
    /// has the confirmation by then, unless the disk is slow.
    pub(crate) async fn confirm_delivery(&self, number: u64) -> bool {
        match self.driver.handle(Input::Confirm(number)).confirmation {
            Confirmation::Refused => return false,
            Confirmation::Repeated => {}
            Confirmation::Taken(delivery) => self.reverts_delivered(delivery.reverts()),
        }
        self.driver.wait_until_journaled().await;
        true
    }
}

async fn give_back_unconfirmed(driver: Arc<Driver>, number: u64) {
    let mut left = ACK_TIMEOUT;
    while !left.is_zero() {
        let due = Instant::now() + ACK_PART;
        sleep_until(due).await;
        if due.elapsed() < ACK_PART {
            left = left.saturating_sub(ACK_PART);
        }
    }
    driver.handle(Input::GiveBack(number));
}
