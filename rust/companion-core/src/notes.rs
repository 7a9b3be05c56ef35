//! Keeps the notes of the user until a model has got them: reasons, comments and reverts.
//!
//! A note is delivered exactly once, or it waits. While it is on its way to a model, its user can still
//! change it or take it back: then the delivery is revoked, and its confirmation is refused.
//!
//! | State of a note | Ends by |
//! | --- | --- |
//! | waits | a delivery; its user removes it |
//! | under way | a confirmation: the note is over; no confirmation in time, or a change by its user: the whole delivery waits again |

mod note;

use std::collections::VecDeque;
use std::time::Duration;

use companion_protocol::editor::CommentOnLines;

use crate::record::DeliveredComment;
pub use note::{Note, NoteId, Reason, Revert};

/// The longest time that a reason or a revert waits for its CLI, so that no private text stays on the
/// disk for long.
pub const MAX_AGE: Duration = Duration::from_hours(24);

/// The most comments that wait. A further one is refused.
pub const MAX_COMMENTS: usize = 256;

/// The most delivered comments that are remembered, so that none is delivered twice.
pub const MAX_DELIVERED: usize = 256;
// Otherwise a comment could be delivered twice after a restart.
const _: () = assert!(MAX_DELIVERED >= MAX_COMMENTS);

/// The longest texts of one delivery, in bytes, unless its only note is longer. A hook must be able to print
/// them in time, and the model has to read them at once.
pub const MAX_DELIVERY: usize = 64 * 1024;

/// The most confirmed deliveries that are remembered, for hooks that confirm twice.
pub const MAX_CONFIRMED: usize = 64;

/// The time after a restart in which an editor reports the comments that its user has changed or
/// removed meanwhile, in milliseconds. The comments of the last process wait for that.
const RESTORED_COMMENTS_DELAY: u64 = 1000;

/// A note that no model has got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    id: NoteId,
    note: Note,
    /// The delivery that the note is on its way with.
    under_way: Option<u64>,
    /// The note does not leave before this time: its editor may still report a change.
    earliest: u64,
    /// It is from another process.
    is_left: bool,
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
            Note::Comment(_) | Note::Revert(_) => None,
        })
    }

    /// Its comments.
    pub fn comments(&self) -> impl Iterator<Item = &CommentOnLines> {
        self.notes.iter().filter_map(|(_, note)| match note {
            Note::Comment(comment) => Some(comment),
            Note::Reason(_) | Note::Revert(_) => None,
        })
    }

    /// Its reverts.
    pub fn reverts(&self) -> impl Iterator<Item = &Revert> {
        self.notes.iter().filter_map(|(_, note)| match note {
            Note::Revert(revert) => Some(revert),
            Note::Reason(_) | Note::Comment(_) => None,
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
///
/// ```
/// # use companion_core::notes::{CommentOutcome, Confirmation, Note, Notes};
/// # use companion_protocol::editor::CommentOnLines;
/// let comment = |text: &str| CommentOnLines {
///     id: "1".into(),
///     path: "/project/a".into(),
///     line: 7,
///     end_line: 7,
///     content: "let x = 1;".into(),
///     text: text.into(),
/// };
/// let mut notes = Notes::new(1);
/// notes.set_comment(comment("why?"));
/// let delivery = notes.deliver(&notes.due(0, |_, _| true)).unwrap();
///
/// // The user changes the comment while it is under way. So no model gets the old text,
/// notes.set_comment(comment("why not 2?"));
/// assert_eq!(notes.confirm(delivery.number), Confirmation::Refused);
///
/// // and one gets the new text.
/// let delivery = notes.deliver(&notes.due(0, |_, _| true)).unwrap();
/// assert!(matches!(notes.confirm(delivery.number), Confirmation::Taken(_)));
/// assert!(notes.due(0, |_, _| true).is_empty());
/// assert_eq!(notes.set_comment(comment("why not 2?")), CommentOutcome::Delivered);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Notes {
    /// The oldest is first.
    pending: Vec<Pending>,
    /// The newest comments that a model has got.
    delivered: VecDeque<DeliveredComment>,
    /// The newest confirmed deliveries.
    confirmed: VecDeque<u64>,
    pub(crate) last_note: u64,
    last_delivery: u64,
}

/// The answer to a confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    /// The hook prints the delivery, so its notes are over.
    Taken(Delivery),
    /// It was taken before, perhaps by the last process.
    Repeated,
    /// The hook must not print the delivery. It was given back or revoked, or was never made.
    #[default]
    Refused,
}

impl Notes {
    /// `first_delivery` is a random number, so that no delivery of another process has the same.
    pub fn new(first_delivery: u64) -> Self {
        Self { last_delivery: first_delivery, ..Self::default() }
    }

    /// Adds a note of the last process. `now` is a time in milliseconds.
    pub fn restore(&mut self, id: NoteId, note: Note, now: u64) {
        self.last_note = self.last_note.max(id.0);
        let is_comment = matches!(note, Note::Comment(_));
        let earliest = if is_comment { now + RESTORED_COMMENTS_DELAY } else { now };
        self.pending.push(Pending { id, note, under_way: None, earliest, is_left: true });
    }

    /// Adds a delivery that the last process confirmed.
    pub fn restore_confirmed(&mut self, number: u64) {
        push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
    }

    /// The comments that wait or are under way.
    pub fn comments(&self) -> impl Iterator<Item = &CommentOnLines> {
        self.pending.iter().filter_map(|pending| match &pending.note {
            Note::Comment(comment) => Some(comment),
            Note::Reason(_) | Note::Revert(_) => None,
        })
    }

    /// The texts of the user: the comments, also those under way, and the reasons that wait. A
    /// reason under way stays, because its hook prints the denial only with it.
    pub fn texts(&self) -> Vec<(NoteId, Note)> {
        let mut texts = Vec::new();
        for Pending { id, note, under_way, .. } in &self.pending {
            match note {
                Note::Comment(_) => texts.push((*id, note.clone())),
                Note::Reason(_) if under_way.is_none() => texts.push((*id, note.clone())),
                Note::Reason(_) | Note::Revert(_) => {}
            }
        }
        texts
    }

    /// The note of this id, as it is now.
    pub fn get(&self, id: NoteId) -> Option<&Note> {
        self.pending.iter().find(|pending| pending.id == id).map(|pending| &pending.note)
    }

    /// Whether another process has left this note.
    pub(crate) fn is_left(&self, id: NoteId) -> bool {
        self.pending.iter().any(|pending| pending.id == id && pending.is_left)
    }

    /// Adds a note. Reasons and reverts need no limit: they end after [`MAX_AGE`].
    pub(crate) fn add(&mut self, note: Note) -> NoteId {
        self.last_note += 1;
        let id = NoteId(self.last_note);
        self.pending.push(Pending { id, note, under_way: None, earliest: 0, is_left: false });
        id
    }

    /// Adds notes that a model got and has forgotten, before those that wait. Leaves out the comments that
    /// their user has written anew, also if a model has got the new text.
    pub(crate) fn add_forgotten(&mut self, forgotten: Vec<Note>) -> Vec<NoteId> {
        let mut added = Vec::new();
        for note in forgotten {
            if let Note::Comment(comment) = &note {
                let last = DeliveredComment::from(comment);
                let is_newer = |other: &DeliveredComment| other.id == last.id && *other != last;
                let waits = self.comments().any(|other| other.id == comment.id);
                if waits || self.delivered.iter().any(is_newer) {
                    continue;
                }
                self.delivered.retain(|other| *other != last);
            }
            added.push(self.add(note));
        }
        self.pending.rotate_right(added.len());
        added
    }

    /// Adds a comment, or changes the one of the same id, wherever it is. If only its lines have
    /// changed, a delivery that is under way stands.
    pub fn set_comment(&mut self, comment: CommentOnLines) -> CommentOutcome {
        let same = self.pending.iter_mut().find(
            |pending| matches!(&pending.note, Note::Comment(other) if other.id == comment.id),
        );
        if let Some(pending) = same {
            let Note::Comment(other) = &mut pending.note else { unreachable!("it is a comment") };
            let is_same = DeliveredComment::from(&*other) == DeliveredComment::from(&comment);
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

    /// Whether the comment waits, or a model has got it, with the same words.
    pub fn knows(&self, comment: &CommentOnLines) -> bool {
        // A file that was renamed is checked again before each delivery.
        let is_same =
            |other: &CommentOnLines| other.id == comment.id && other.words() == comment.words();
        self.comments().any(is_same) || self.delivered.contains(&DeliveredComment::from(comment))
    }

    /// Whether this note of another process waits here, or is a comment that a model has got as it is.
    pub(crate) fn has(&self, note: &Note) -> bool {
        self.pending.iter().any(|pending| pending.note.is_same(note))
            || matches!(note, Note::Comment(of) if self.delivered.contains(&of.into()))
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
            if pending.note.drop_revert(of, path) {
                changed.push(pending.id);
                revoked.extend(pending.under_way);
            }
        }
        self.revoke(revoked);
        self.pending.retain(|pending| !pending.note.paths().is_empty());
        changed
    }

    /// The notes that wait and that `is_due` accepts. `now` is a time in milliseconds.
    pub fn due(&self, now: u64, is_due: impl Fn(NoteId, &Note) -> bool) -> Vec<(NoteId, Note)> {
        let mut due = Vec::new();
        for Pending { id, note, under_way, earliest, .. } in &self.pending {
            if under_way.is_none() && *earliest <= now && is_due(*id, note) {
                due.push((*id, note.clone()));
            }
        }
        due
    }

    /// Begins a delivery of those of these notes that still wait unchanged, the oldest up to
    /// [`MAX_DELIVERY`]. The others wait for the next one. `None` if none is left.
    pub fn deliver(&mut self, due: &[(NoteId, Note)]) -> Option<Delivery> {
        let number = self.last_delivery.wrapping_add(1);
        let mut notes = Vec::new();
        let mut bytes = 0;
        for pending in &mut self.pending {
            let is_due = due.iter().any(|(id, note)| *id == pending.id && *note == pending.note);
            if is_due && pending.under_way.is_none() {
                bytes += pending.note.text_bytes();
                if bytes > MAX_DELIVERY && !notes.is_empty() {
                    break;
                }
                pending.under_way = Some(number);
                notes.push((pending.id, pending.note.clone()));
            }
        }
        if notes.is_empty() {
            return None;
        }
        self.last_delivery = number;
        Some(Delivery { number, notes })
    }

    /// A hook is about to print a delivery.
    pub fn confirm(&mut self, number: u64) -> Confirmation {
        if self.confirmed.contains(&number) {
            return Confirmation::Repeated;
        }
        let leave = self.pending.extract_if(.., |pending| pending.under_way == Some(number));
        let notes: Vec<_> = leave.map(|pending| (pending.id, pending.note)).collect();
        if notes.is_empty() {
            return Confirmation::Refused;
        }
        let delivery = Delivery { number, notes };
        for comment in delivery.comments() {
            self.add_delivered(comment.into());
        }
        push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
        Confirmation::Taken(delivery)
    }

    /// Ends a delivery that nobody has confirmed, so its notes wait again.
    pub fn give_back(&mut self, number: u64) {
        for pending in &mut self.pending {
            if pending.under_way == Some(number) {
                pending.under_way = None;
            }
        }
    }

    /// Revokes deliveries, because a note of each was changed or removed. The others wait again.
    fn revoke(&mut self, numbers: impl IntoIterator<Item = u64>) {
        for number in numbers {
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
        self.pending.iter().filter_map(|pending| pending.note.since()).min()
    }
}

/// Adds an item, and drops the oldest one above `max`.
pub fn push_limited<T>(items: &mut VecDeque<T>, item: T, max: usize) {
    if items.len() >= max {
        items.pop_front();
    }
    items.push_back(item);
}
