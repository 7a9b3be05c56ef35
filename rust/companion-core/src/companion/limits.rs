//! Limits the waits and the memory of a companion.

use std::time::Duration;

use super::{Companion, Now};
use crate::diffs::{MAX_DIFFS_PER_SESSION, Proposed};
use crate::session::SessionId;

/// The maximum wait for a client's acknowledgement of a decision, and of a close for a view that still
/// opens, in milliseconds.
pub(super) const ACKNOWLEDGEMENT_TIMEOUT: u64 = 1000;

/// The limits of a companion.
///
/// A call about a diff waits for these times, one after another:
///
/// | Wait | Limit |
/// | --- | --- |
/// | of a call for a diff of the last process, until the editor has named its views | `resume_timeout` |
/// | of `openDiff`, for the disk, if the file is read before the editor gets the proposal | `DISK_TIMEOUT` in `config.rs` of the server |
/// | for the editor | `host_timeout` from the moment when the request is sent to it; for the kind of the proposal the server waits for the disk within that time |
/// | of `closeDiff`, until a view opens that it closes, or until the client has acknowledged a decision | `ACKNOWLEDGEMENT_TIMEOUT` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The time for the editor to answer a request.
    pub host_timeout: Duration,
    /// The time for the editor to name the proposals that it shows after a restart. Then the companion
    /// rejects the others. If it is 0, the editor closes its views with the companion.
    pub resume_timeout: Duration,
    /// The time that the views of a client stay open while it has no stream. After that its diffs
    /// are rejected. Until then no new client evicts the session.
    pub session_away: Duration,
    /// The most diffs that a session may have open, or decided and not delivered.
    pub diffs_per_session: usize,
    /// The most bytes of texts of all sessions: open proposals, and decisions and answers that
    /// clients have not read. Above this no further diff opens, unless it is the only one.
    pub held_bytes: usize,
    /// The most bytes of calls that are kept for clients that repeat them.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            host_timeout: Duration::from_secs(30),
            resume_timeout: Duration::ZERO,
            session_away: Duration::from_mins(5),
            diffs_per_session: MAX_DIFFS_PER_SESSION,
            held_bytes: 256 << 20,
            kept_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// When a call that waits for the editor fails.
    pub(super) fn answer_deadline(&self, now: Now) -> u64 {
        now.elapsed + ms(self.host_timeout)
    }
}

/// A limit as the companion counts time, in milliseconds.
pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Companion {
    /// Why a client may not open a further diff.
    pub(super) fn refusal(
        &self,
        session: SessionId,
        proposed: Proposed,
        held: usize,
        is_editor_busy: bool,
    ) -> Option<&'static str> {
        let Limits { diffs_per_session, held_bytes, .. } = self.limits;
        let openings = || self.unread.values();
        let opening = openings().filter(|opening| opening.session == session).count();
        if self.ledger.unsent(session) + opening + self.ledger.count(session) >= diffs_per_session {
            return Some(
                "Too many diffs are open, or decided and not yet read from the event stream.",
            );
        }
        let opening: usize = openings().map(|opening| opening.proposed.len()).sum();
        let held = held + opening + self.ledger.proposed_bytes();
        if held > 0 && held + proposed.len() > held_bytes {
            return Some(
                "Proposals that are open, and decisions that their clients have not read, take too \
                 much memory. Decide or close some, then try again.",
            );
        }
        is_editor_busy
            .then_some("The editor is busy: it has not taken the proposals before this one.")
    }
}
