//! Finds out whether a client has written the text that its user accepted.
//!
//! The user's own text has no other copy. A client that has received it may fail to write it, because
//! of the system or a hook, and a client that is away may never return.

use std::collections::BTreeMap;
use std::sync::Arc;

use companion_protocol::editor::{CompanionNotification, DiffPath};

use crate::diffs::DiffId;
use crate::diffs::ledger::Ledger;
use crate::session::SessionId;
use crate::text::Digest;

/// The pauses before the looks at a file, in milliseconds. The first ones are short, because the next
/// edit of the file may follow at once.
const PAUSES: [u64; 7] = [100, 200, 700, 1000, 1000, 2000, 5000];

/// The pause after the editor was notified that the text is not written, in milliseconds.
const LONG_PAUSE: u64 = 1000;

/// The number of looks after that. The client may wait for its user in the terminal.
const LATE_LOOKS: usize = 300;

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
    /// Its [`written_digest`](crate::text::written_digest).
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

/// The texts that clients have not been seen to write. The editor is notified of each text that is written, and
/// once of each that is late.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExpectedWrites(BTreeMap<DiffId, ExpectedWrite>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ExpectedWrite {
    text: ExpectedText,
    /// The time of the acceptance, in milliseconds since 1970.
    accepted: u64,
    looks: usize,
    /// The time of the next look; `None` while the file is looked at, or while the client can't write.
    next: Option<u64>,
    is_client_late: bool,
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
        let mut earlier = self.0.values().filter(|write| write.text.path == text.path);
        let is_news = earlier.any(|write| write.looks < PAUSES.len());
        self.forget(&text.path);
        let next = Some(elapsed + PAUSES[0]);
        let (diff, path) = (text.diff, Arc::clone(&text.path));
        self.0.insert(
            diff,
            ExpectedWrite { text, accepted: date, looks: 0, next, is_client_late: false },
        );
        is_news.then(|| CompanionNotification::Unwritten(name(&path)))
    }

    /// Expects no write of that file any more.
    pub(super) fn forget(&mut self, path: &str) {
        self.0.retain(|_, write| *write.text.path != *path);
    }

    /// A CLI has written a text. Returns the message if it is the expected one.
    pub(super) fn wrote(&mut self, path: &str, text: Digest) -> Option<CompanionNotification> {
        let mut of_path = self.0.values().filter(|write| *write.text.path == *path);
        let diff = of_path.find(|write| write.text.text == text)?.text.diff;
        self.0.remove(&diff);
        Some(CompanionNotification::Written(name(path)))
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.0.values().filter_map(|write| write.next).min()
    }

    /// Begins the looks for texts whose clients could not write and now can.
    pub(super) fn resume(&mut self, elapsed: u64, can_write: impl Fn(&ExpectedText) -> bool) {
        for write in self.0.values_mut() {
            if write.is_client_late && can_write(&write.text) {
                write.is_client_late = false;
                write.next = Some(elapsed + PAUSES[0]);
            }
        }
    }

    /// The texts of a client that makes its next proposal. It may just have written them, after a look that
    /// has not ended, and cannot write until that proposal is decided. The results of these looks only
    /// count if they find the text.
    pub(super) fn before_proposal<'a>(
        &'a self,
        client: SessionId,
        is_sent: impl Fn(&ExpectedText) -> bool + 'a,
    ) -> impl Iterator<Item = ExpectedText> + 'a {
        let texts = self.0.values().map(|write| &write.text);
        texts.filter(move |text| text.session == client && is_sent(text)).cloned()
    }

    /// The texts to look for now. One whose client can't write yet waits for [`Self::resume`].
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
            write.next = None;
            write.is_client_late = !can_write(&write.text);
            if !write.is_client_late {
                due.push(write.text.clone());
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
        let path = name(&write.text.path);
        if file.is_some_and(|file| write.is_in(file)) {
            self.0.remove(&diff);
            return Some(CompanionNotification::Written(path));
        }
        if write.next.is_some() || write.is_client_late {
            return None;
        }
        write.looks += 1;
        write.next = Some(elapsed + PAUSES.get(write.looks).unwrap_or(&LONG_PAUSE));
        let is_late = write.looks == PAUSES.len();
        if write.looks == PAUSES.len() + LATE_LOOKS {
            self.0.remove(&diff);
        }
        is_late.then_some(CompanionNotification::Unwritten(path))
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

/// Whether a client can write a text that its user has accepted. A client such as Qwen Code writes nothing
/// until its last proposal is decided.
pub(super) fn can_write(ledger: &Ledger, text: &ExpectedText) -> bool {
    ledger.count(text.session) == 0 && !ledger.is_unsent(text.session, text.diff)
}
