//! Finds out whether a client has written the text that its user accepted.
//!
//! The user's own text has no other copy. A client that has received it may fail to write it, because
//! of the system or a hook, and a client that is away may never return.

use std::collections::BTreeMap;
use std::sync::Arc;

use companion_protocol::editor::{CompanionNotification, DiffPath};

use crate::diffs::DiffId;
use crate::session::SessionId;
use crate::text::Digest;

/// The pauses before the looks at a file, in milliseconds. The first ones are short, because the next
/// edit of the file may follow at once.
const PAUSES: [u64; 7] = [100, 200, 700, 1000, 1000, 2000, 5000];

/// The pause while the client can't write yet, in milliseconds.
const CLIENT_PAUSE: u64 = 1000;

/// The longest step of a file system's time (FAT), in milliseconds.
const TIME_STEP: u64 = 2000;

/// A text that a client is to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExpectedText {
    /// The diff.
    pub diff: DiffId,
    /// Its client.
    pub session: SessionId,
    /// Its file, as the client wrote it.
    pub path: Arc<str>,
    /// The digest of [`plain`](crate::text::plain).
    pub text: Digest,
    /// The user has changed the proposal. Otherwise the client may make its edit in another text.
    pub is_users: bool,
}

/// A file that a client may have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Whether it has the expected text; `None` if its encoding is not known.
    pub has_text: Option<bool>,
    /// The time of its last change, in milliseconds since 1970.
    pub modified: u64,
}

/// The texts that clients have not been seen to write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExpectedWrites(BTreeMap<DiffId, ExpectedWrite>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ExpectedWrite {
    text: ExpectedText,
    /// The time of the acceptance, in milliseconds since 1970.
    accepted: u64,
    looks: usize,
    /// The time of the next look; `None` while the file is looked at.
    next: Option<u64>,
}

impl ExpectedWrites {
    /// Expects a write from now on. An earlier text for that file was not written: the user has decided
    /// about the next proposal. Returns the message about it.
    pub(super) fn expect(
        &mut self,
        elapsed: u64,
        date: u64,
        text: ExpectedText,
    ) -> Option<CompanionNotification> {
        let earlier = self.forget(&text.path);
        let next = Some(elapsed + PAUSES[0]);
        let (diff, path) = (text.diff, Arc::clone(&text.path));
        self.0.insert(diff, ExpectedWrite { text, accepted: date, looks: 0, next });
        earlier.then(|| CompanionNotification::Unwritten(name(&path)))
    }

    /// Expects no write of that file any more. Returns whether one was expected.
    pub(super) fn forget(&mut self, path: &str) -> bool {
        let count = self.0.len();
        self.0.retain(|_, write| *write.text.path != *path);
        self.0.len() < count
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.0.values().filter_map(|write| write.next).min()
    }

    /// The texts to look for now. A client that can't write yet gets more time.
    pub(super) fn due(
        &mut self,
        elapsed: u64,
        can_write: impl Fn(&ExpectedText) -> bool,
    ) -> Vec<ExpectedText> {
        let mut due = Vec::new();
        for write in self.0.values_mut() {
            if write.next.is_none_or(|next| next > elapsed) {
                continue;
            }
            if can_write(&write.text) {
                write.next = None;
                due.push(write.text.clone());
            } else {
                write.next = Some(elapsed + CLIENT_PAUSE);
            }
        }
        due
    }

    /// Takes the result of a look, without one if the disk did not answer. Returns the message if the
    /// outcome is known.
    pub(super) fn found(
        &mut self,
        elapsed: u64,
        diff: DiffId,
        file: Option<FoundFile>,
    ) -> Option<CompanionNotification> {
        let write = self.0.get_mut(&diff)?;
        write.looks += 1;
        let path = name(&write.text.path);
        if file.is_some_and(|file| write.is_in(file)) {
            self.0.remove(&diff);
            return Some(CompanionNotification::Written(path));
        }
        if let Some(pause) = PAUSES.get(write.looks) {
            write.next = Some(elapsed + pause);
            return None;
        }
        self.0.remove(&diff);
        Some(CompanionNotification::Unwritten(path))
    }
}

impl ExpectedWrite {
    /// Whether the client has written the file. A text in another encoding can't be compared, nor can
    /// the text that a client has made by its own edit. Such a file counts if it has changed since.
    fn is_in(&self, file: FoundFile) -> bool {
        match file.has_text {
            Some(true) => true,
            Some(false) if self.text.is_users => false,
            _ => file.modified.saturating_add(TIME_STEP) >= self.accepted,
        }
    }
}

fn name(path: &str) -> DiffPath {
    DiffPath { file_path: path.to_owned() }
}
