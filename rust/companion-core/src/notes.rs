//! Keeps the notes of the user until a model has got them: reasons, comments and reverts.
//!
//! A note is delivered exactly once, or it waits. While it is on its way to a model, its user can still
//! change it or take it back: then the delivery is revoked, and its confirmation is refused.
//!
//! | State of a note | Ends by |
//! | --- | --- |
//! | waits | a delivery; its user removes it |
//! | under way | a confirmation: the note is over; no confirmation in time, or a change by its user: the whole delivery waits again |

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::editor::CommentOnLines;
use serde::{Deserialize, Serialize};

use crate::cli::CliSessionId;
use crate::record::DeliveredComment;
use crate::text::{Digest, Fingerprint, Text};

/// The longest time that a reason or a revert waits for its CLI, so that no private text stays on the
/// disk for long.
pub const MAX_AGE: Duration = Duration::from_hours(24);

/// The most reasons that wait. Above it the oldest is dropped.
pub const MAX_REASONS: usize = 256;

/// The most reverts that wait. Above it the oldest is dropped.
pub const MAX_REVERTS: usize = 256;

/// The most comments that wait. A further one is refused.
pub const MAX_COMMENTS: usize = 256;

/// The most delivered comments that are remembered, so that none is delivered twice.
pub const MAX_DELIVERED: usize = 256;

/// The most confirmed deliveries that are remembered, for hooks that confirm twice.
pub const MAX_CONFIRMED: usize = 64;

/// The time after a restart in which an editor reports the comments that its user has changed or
/// removed meanwhile, in milliseconds. The comments of the last process wait for that.
const RESTORED_COMMENTS_DELAY: u64 = 1000;

/// Names a note, also for the next process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NoteId(pub u64);

/// A text for a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Note {
    /// For the CLI whose edit was rejected.
    Reason(Reason),
    /// For the first CLI that can take it.
    Comment(Comment),
    /// For the CLI whose changes were reverted.
    Revert(Revert),
}

impl Note {
    /// The files that it names.
    pub fn paths(&self) -> &[Arc<str>] {
        match self {
            Self::Reason(Reason { path, .. }) | Self::Comment(Comment { path, .. }) => {
                std::slice::from_ref(path)
            }
            Self::Revert(Revert { paths, .. }) => paths,
        }
    }

    /// Whether it names this file.
    pub fn is_on(&self, path: &str) -> bool {
        self.paths().iter().any(|of| **of == *path)
    }

    /// Whether it has waited for too long at the time `now`, in milliseconds since 1970. A comment waits
    /// until its user removes it.
    pub fn is_over(&self, now: u64) -> bool {
        let age = Duration::from_millis(now.saturating_sub(self.since()));
        !matches!(self, Self::Comment(_)) && age >= MAX_AGE
    }

    /// When the user wrote it, in milliseconds since 1970.
    pub fn since(&self) -> u64 {
        match self {
            Self::Reason(Reason { since, .. })
            | Self::Comment(Comment { since, .. })
            | Self::Revert(Revert { since, .. }) => *since,
        }
    }
}

/// The user has reverted changes of a CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revert {
    /// The CLI session that made the changes.
    pub cli: CliSessionId,
    /// Its process; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Arc<str>>,
    /// The files.
    pub paths: Vec<Arc<str>>,
    /// Other changes of the CLI in these files stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// See [`Note::since`].
    pub since: u64,
}

/// The reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The CLI session that proposed the edit.
    pub cli: CliSessionId,
    /// Its process; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Arc<str>>,
    /// The file of the rejected proposal.
    pub path: Arc<str>,
    /// What the user wrote.
    pub text: Text,
    /// See [`Note::since`].
    pub since: u64,
    /// The file's text that the client got in place of a rejection.
    #[serde(skip)]
    pub sent: Option<Digest>,
}

/// A comment on lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Chosen by the editor.
    pub id: Arc<str>,
    /// The file.
    pub path: Arc<str>,
    /// The first line, from 1.
    pub line: u32,
    /// The last line.
    pub end_line: u32,
    /// The content of the lines when the user wrote the comment.
    pub content: Text,
    /// What the user wrote.
    pub text: Text,
    /// See [`Note::since`].
    pub since: u64,
}

impl Comment {
    /// The comment as the editor sends it.
    pub fn to_editor(&self) -> CommentOnLines {
        let Self { id, path, line, end_line, content, text, .. } = self;
        CommentOnLines {
            id: id.to_string(),
            path: path.to_string(),
            line: *line,
            end_line: *end_line,
            content: content.to_string(),
            text: text.to_string(),
        }
    }

    /// The hash of what the user wrote, and of the file.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&format!("{}\0{}", self.path, &*self.text))
    }
}

/// A note that no model has got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    id: NoteId,
    note: Note,
    /// The delivery that the note is on its way with.
    under_way: Option<u64>,
    /// The note does not leave before this time: its editor may still report a change.
    earliest: u64,
}

/// Notes on their way to one model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// Names the delivery. No other delivery has the number, not even in the next process.
    pub number: u64,
    /// The oldest is first.
    pub notes: Vec<(NoteId, Note)>,
}

impl Delivery {
    /// Its reasons.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.notes.iter().filter_map(|(_, note)| match note {
            Note::Reason(reason) => Some(reason),
            _ => None,
        })
    }

    /// Its comments.
    pub fn comments(&self) -> impl Iterator<Item = &Comment> {
        self.notes.iter().filter_map(|(_, note)| match note {
            Note::Comment(comment) => Some(comment),
            _ => None,
        })
    }

    /// Its reverts.
    pub fn reverts(&self) -> impl Iterator<Item = &Revert> {
        self.notes.iter().filter_map(|(_, note)| match note {
            Note::Revert(revert) => Some(revert),
            _ => None,
        })
    }
}

/// What happens to a comment that an editor sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentOutcome {
    /// It waits as this note.
    Waits(NoteId),
    /// A model has got it.
    Delivered,
    /// Too many comments wait.
    TooMany,
}

/// All notes that no model has got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notes {
    /// The oldest is first.
    pending: Vec<Pending>,
    deliveries: Vec<Delivery>,
    /// The newest comments that a model has got.
    delivered: VecDeque<DeliveredComment>,
    /// The newest confirmed deliveries.
    confirmed: VecDeque<u64>,
    pub(crate) last_note: u64,
    last_delivery: u64,
}

/// The answer to a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// The hook prints the delivery, so its notes are over.
    Taken(Delivery),
    /// It was taken before, perhaps by the last process.
    Repeated,
    /// The hook must not print the delivery. It was given back or revoked, or was never made.
    Refused,
}

impl Notes {
    /// `first_delivery` is a random number, so that no delivery of another process has the same.
    pub fn new(first_delivery: u64) -> Self {
        Self {
            pending: Vec::new(),
            deliveries: Vec::new(),
            delivered: VecDeque::new(),
            confirmed: VecDeque::new(),
            last_note: 0,
            last_delivery: first_delivery,
        }
    }

    /// Adds a note of the last process. `now` is a time in milliseconds.
    pub fn restore(&mut self, id: NoteId, note: Note, now: u64) {
        self.last_note = self.last_note.max(id.0);
        let is_comment = matches!(note, Note::Comment(_));
        let earliest = if is_comment { now + RESTORED_COMMENTS_DELAY } else { now };
        self.pending.push(Pending { id, note, under_way: None, earliest });
    }

    /// Adds a delivery that the last process confirmed.
    pub fn restore_confirmed(&mut self, number: u64) {
        push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
    }

    /// The comments that wait or are under way.
    pub fn comments(&self) -> impl Iterator<Item = &Comment> {
        self.pending.iter().filter_map(|pending| match &pending.note {
            Note::Comment(comment) => Some(comment),
            _ => None,
        })
    }

    /// The note of this id, as it is now.
    pub fn get(&self, id: NoteId) -> Option<&Note> {
        self.pending.iter().find(|pending| pending.id == id).map(|pending| &pending.note)
    }

    /// Adds a reason. Returns its id, and the oldest reason if there were too many.
    pub fn add_reason(&mut self, reason: Reason) -> (NoteId, Option<(NoteId, Note)>) {
        let dropped = self.drop_oldest(MAX_REASONS, |note| matches!(note, Note::Reason(_)));
        (self.add(Note::Reason(reason)), dropped)
    }

    /// Adds a revert. Returns its id, and the oldest revert if there were too many.
    pub fn add_revert(&mut self, revert: Revert) -> (NoteId, Option<(NoteId, Note)>) {
        let dropped = self.drop_oldest(MAX_REVERTS, |note| matches!(note, Note::Revert(_)));
        (self.add(Note::Revert(revert)), dropped)
    }

    fn add(&mut self, note: Note) -> NoteId {
        self.last_note += 1;
        let id = NoteId(self.last_note);
        self.pending.push(Pending { id, note, under_way: None, earliest: 0 });
        id
    }

    fn drop_oldest(
        &mut self,
        max: usize,
        is_of_kind: impl Fn(&Note) -> bool,
    ) -> Option<(NoteId, Note)> {
        let of_kind = |pending: &&Pending| is_of_kind(&pending.note);
        if self.pending.iter().filter(of_kind).count() < max {
            return None;
        }
        let oldest = self.pending.iter().find(of_kind)?.id;
        self.remove(oldest).map(|note| (oldest, note))
    }

    /// Adds a comment, or changes the one of the same id, wherever it is. If only its lines have
    /// changed, a delivery that is under way stands.
    pub fn set_comment(&mut self, comment: Comment) -> CommentOutcome {
        let same = self.pending.iter_mut().find(
            |pending| matches!(&pending.note, Note::Comment(other) if other.id == comment.id),
        );
        if let Some(pending) = same {
            let Note::Comment(other) = &mut pending.note else { unreachable!("it is a comment") };
            let is_same = other.fingerprint() == comment.fingerprint();
            *other = comment;
            pending.earliest = 0;
            let (id, under_way) = (pending.id, pending.under_way);
            if !is_same {
                self.revoke(under_way);
            }
            return CommentOutcome::Waits(id);
        }
        if self.delivered.contains(&DeliveredComment::from(&comment)) {
            CommentOutcome::Delivered
        } else if self.comments().count() >= MAX_COMMENTS {
            CommentOutcome::TooMany
        } else {
            CommentOutcome::Waits(self.add(Note::Comment(comment)))
        }
    }

    /// Removes a comment, wherever it is. `None` if it is not known or a model has got it.
    pub fn remove_comment(&mut self, comment: &str) -> Option<NoteId> {
        let has_id = |note: &Note| matches!(note, Note::Comment(other) if &*other.id == comment);
        let id = self.pending.iter().find(|pending| has_id(&pending.note))?.id;
        self.remove(id);
        Some(id)
    }

    /// Removes a note, wherever it is.
    pub fn remove(&mut self, id: NoteId) -> Option<Note> {
        let index = self.pending.iter().position(|pending| pending.id == id)?;
        let Pending { note, under_way, .. } = self.pending.remove(index);
        self.revoke(under_way);
        Some(note)
    }

    /// Takes a file out of the reverts of this CLI session, wherever they are: its revert was undone.
    /// Returns the reverts that have changed.
    pub fn drop_revert(&mut self, of: &str, path: &str) -> Vec<NoteId> {
        let mut changed = Vec::new();
        let mut revoked = Vec::new();
        for pending in &mut self.pending {
            let Note::Revert(Revert { cli, paths, .. }) = &mut pending.note else { continue };
            if **cli == *of && paths.iter().any(|of| &**of == path) {
                paths.retain(|of| &**of != path);
                changed.push(pending.id);
                revoked.push(pending.under_way);
            }
        }
        for delivery in revoked {
            self.revoke(delivery);
        }
        self.pending.retain(|pending| !pending.note.paths().is_empty());
        changed
    }

    /// The text that a client got in place of a rejection with this reason.
    pub fn set_sent(&mut self, id: NoteId, text: Digest) {
        if let Some(pending) = self.pending.iter_mut().find(|pending| pending.id == id)
            && let Note::Reason(reason) = &mut pending.note
        {
            reason.sent = Some(text);
        }
    }

    /// The notes that wait and that `is_due` accepts. `now` is a time in milliseconds.
    pub fn due(&self, now: u64, is_due: impl Fn(&Note) -> bool) -> Vec<(NoteId, Note)> {
        let mut due = Vec::new();
        for Pending { id, note, under_way, earliest } in &self.pending {
            if under_way.is_none() && *earliest <= now && is_due(note) {
                due.push((*id, note.clone()));
            }
        }
        due
    }

    /// Begins a delivery of those of these notes that still wait unchanged. `None` if none is left.
    pub fn deliver(&mut self, due: &[(NoteId, Note)]) -> Option<Delivery> {
        let number = self.last_delivery.wrapping_add(1);
        let mut notes = Vec::new();
        for pending in &mut self.pending {
            let is_due = due.iter().any(|(id, note)| *id == pending.id && *note == pending.note);
            if is_due && pending.under_way.is_none() {
                pending.under_way = Some(number);
                notes.push((pending.id, pending.note.clone()));
            }
        }
        if notes.is_empty() {
            return None;
        }
        self.last_delivery = number;
        let delivery = Delivery { number, notes };
        self.deliveries.push(delivery.clone());
        Some(delivery)
    }

    /// A hook is about to print a delivery.
    pub fn confirm(&mut self, number: u64) -> Confirmation {
        if self.confirmed.contains(&number) {
            return Confirmation::Repeated;
        }
        let index = self.deliveries.iter().position(|delivery| delivery.number == number);
        let Some(index) = index else { return Confirmation::Refused };
        let delivery = self.deliveries.swap_remove(index);
        self.pending.retain(|pending| pending.under_way != Some(number));
        for comment in delivery.comments() {
            self.add_delivered(comment.into());
        }
        push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
        Confirmation::Taken(delivery)
    }

    /// Ends a delivery that nobody has confirmed, so its notes wait again.
    pub fn give_back(&mut self, number: u64) {
        self.deliveries.retain(|delivery| delivery.number != number);
        for pending in &mut self.pending {
            if pending.under_way == Some(number) {
                pending.under_way = None;
            }
        }
    }

    /// Revokes a delivery, because one of its notes was changed or removed. The others wait again.
    fn revoke(&mut self, number: Option<u64>) {
        if let Some(number) = number {
            self.give_back(number);
        }
    }

    /// Adds a comment that a model has got, in this process or in the last one.
    pub fn add_delivered(&mut self, comment: DeliveredComment) {
        self.delivered.retain(|other| other.id != comment.id);
        push_limited(&mut self.delivered, comment, MAX_DELIVERED);
    }

    /// Drops the notes that have waited for too long at the time `now`, in milliseconds since 1970.
    /// Returns them.
    pub fn expire(&mut self, now: u64) -> Vec<(NoteId, Note)> {
        let mut expired = Vec::new();
        self.pending.retain(|pending| {
            let is_over = pending.under_way.is_none() && pending.note.is_over(now);
            if is_over {
                expired.push((pending.id, pending.note.clone()));
            }
            !is_over
        });
        expired
    }

    /// When the oldest reason or revert began to wait, in milliseconds since 1970.
    pub fn oldest(&self) -> Option<u64> {
        let old = self.pending.iter().filter(|of| !matches!(of.note, Note::Comment(_)));
        old.map(|pending| pending.note.since()).min()
    }
}

/// Adds an item, and drops the oldest one above `max`.
pub fn push_limited<T>(items: &mut VecDeque<T>, item: T, max: usize) {
    if items.len() >= max {
        items.pop_front();
    }
    items.push_back(item);
}
