//! Declares the records that a process leaves to the next one, and their resulting state.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use companion_protocol::editor::CommentOnLines;
use serde::{Deserialize, Serialize};

use crate::cli::CliSessionId;
use crate::diffs::{Accepted, Decision, DiffId};
use crate::notes::{MAX_CONFIRMED, MAX_DELIVERED, Note, NoteId, push_limited};
use crate::session::{Client, SessionId};
use crate::text::Fingerprint;

/// An event. Each is one line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Record {
    /// A client has connected and may return.
    Session(SessionId, Client),
    /// This CLI has the connection.
    Cli(SessionId, RecognizedCli),
    /// The client has left.
    Gone(SessionId),
    /// A client waits for a decision about the diff of that path, as it wrote it.
    Opened(DiffId, SessionId, Arc<str>),
    /// The user accepted it. The client may not have received this content yet.
    Accepted(DiffId, Accepted),
    /// It was rejected. The client may not know that yet.
    Rejected(DiffId),
    /// The client no longer waits for it.
    Settled(DiffId),
    /// A model has to get this note. It replaces the one of the same id.
    Note(NoteId, Note),
    /// No model gets it any more.
    NoteRemoved(NoteId),
    /// A model gets these notes.
    Delivered(DeliveredNotes),
}

/// A CLI whose connection is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecognizedCli {
    /// The last session of the CLI.
    pub session: CliSessionId,
    /// Its process.
    pub process: Arc<str>,
}

/// A delivery that its hook has confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveredNotes {
    /// Its number.
    pub number: u64,
    /// Its notes.
    pub notes: Vec<NoteId>,
    /// Its comments.
    pub comments: Vec<DeliveredComment>,
}

/// A comment that a model has got.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeliveredComment {
    /// Chosen by the editor.
    pub id: Arc<str>,
    /// Of the user's text, and of the file: shows whether the user has changed the comment since then. No
    /// text stays after its delivery.
    fingerprint: Fingerprint,
}

impl From<&CommentOnLines> for DeliveredComment {
    fn from(comment: &CommentOnLines) -> Self {
        let words = format!("{}\0{}", comment.path, comment.words());
        Self { id: Arc::clone(&comment.id), fingerprint: Fingerprint::of(&words) }
    }
}

/// Names a record that contains a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextId {
    /// The text of an acceptance.
    Diff(DiffId),
    /// A note.
    Note(NoteId),
}

impl Record {
    /// The name of the record's text, if it has one.
    pub fn text_id(&self) -> Option<TextId> {
        match self {
            Self::Accepted(diff, _) => Some(TextId::Diff(*diff)),
            Self::Note(id, _) => Some(TextId::Note(*id)),
            Self::Session(..)
            | Self::Cli(..)
            | Self::Gone(_)
            | Self::Opened(..)
            | Self::Rejected(_)
            | Self::Settled(_)
            | Self::NoteRemoved(_)
            | Self::Delivered(_) => None,
        }
    }
}

/// The state after all records, which a process leaves to the next one.
///
/// ```
/// # use companion_core::diffs::{Accepted, DiffId};
/// # use companion_core::record::{Left, Record, TextId};
/// # use companion_core::session::{Client, SessionId};
/// let session = SessionId::new();
/// let mut left = Left::default();
/// left.apply(Record::Session(session, Client::default()));
/// left.apply(Record::Opened(DiffId(1), session, "/project/a".into()));
/// let content = "the final text".to_owned().into();
/// left.apply(Record::Accepted(DiffId(1), Accepted { content }));
/// assert_eq!(left.records().count(), 3);
///
/// // The client has got the decision. Its text must not stay on the disk.
/// assert_eq!(left.apply(Record::Settled(DiffId(1))), [TextId::Diff(DiffId(1))]);
/// assert!(left.diffs.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Left {
    /// The clients that may return.
    pub sessions: BTreeMap<SessionId, Client>,
    /// The CLIs of these clients.
    pub clis: BTreeMap<SessionId, RecognizedCli>,
    /// The diffs whose clients wait.
    pub diffs: BTreeMap<DiffId, PendingDiff>,
    /// The notes that no model has got.
    pub notes: BTreeMap<NoteId, Note>,
    /// The newest comments that a model has got.
    pub delivered: VecDeque<DeliveredComment>,
    /// The newest deliveries that hooks have confirmed.
    pub confirmed: VecDeque<u64>,
}

/// A diff whose client waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PendingDiff {
    /// Its client.
    pub session: SessionId,
    /// As the client wrote it in `openDiff`.
    pub path: Arc<str>,
    /// `None` if the last process ended before it was decided. The editor may still show it.
    pub decision: Option<Decision>,
}

impl PendingDiff {
    fn accepted(&self) -> Option<&Accepted> {
        self.decision.as_ref()?.accepted()
    }
}

impl Left {
    /// Applies a record. Returns the texts that are obsolete and must not stay on the disk.
    pub fn apply(&mut self, record: Record) -> Vec<TextId> {
        match record {
            Record::Session(session, client) => {
                self.sessions.insert(session, client);
            }
            Record::Cli(session, cli) => {
                if self.sessions.contains_key(&session) {
                    self.clis.insert(session, cli);
                }
            }
            Record::Gone(session) => {
                self.sessions.remove(&session);
                self.clis.remove(&session);
                return texts(self.diffs.extract_if(.., |_, diff| diff.session == session));
            }
            Record::Opened(diff, session, path) => {
                self.diffs.insert(diff, PendingDiff { session, path, decision: None });
            }
            Record::Accepted(diff, accepted) => self.decide(diff, Decision::Accepted(accepted)),
            Record::Rejected(diff) => self.decide(diff, Decision::Rejected),
            Record::Settled(diff) => return texts(self.diffs.remove_entry(&diff)),
            Record::Note(id, note) => {
                if let Note::Comment(comment) = &note {
                    // A model has forgotten it, or has got an earlier text.
                    self.delivered.retain(|other| other.id != comment.id);
                }
                self.notes.insert(id, note);
            }
            Record::NoteRemoved(id) => {
                self.notes.remove(&id);
                return vec![TextId::Note(id)];
            }
            Record::Delivered(DeliveredNotes { number, notes, comments }) => {
                push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
                for comment in comments {
                    push_limited(&mut self.delivered, comment, MAX_DELIVERED);
                }
                for note in &notes {
                    self.notes.remove(note);
                }
                return notes.into_iter().map(TextId::Note).collect();
            }
        }
        Vec::new()
    }

    fn decide(&mut self, diff: DiffId, decision: Decision) {
        if let Some(diff) = self.diffs.get_mut(&diff) {
            diff.decision = Some(decision);
        }
    }

    /// The fewest records for this state. Texts are last, the longest at the end.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let sessions =
            self.sessions.iter().map(|(session, client)| Record::Session(*session, client.clone()));
        let clis = self.clis.iter().map(|(session, cli)| Record::Cli(*session, cli.clone()));
        let opened = self
            .diffs
            .iter()
            .map(|(id, diff)| Record::Opened(*id, diff.session, Arc::clone(&diff.path)));
        let is_rejected =
            |(_, diff): &(&DiffId, &PendingDiff)| diff.decision == Some(Decision::Rejected);
        let rejected = self.diffs.iter().filter(is_rejected).map(|(id, _)| Record::Rejected(*id));
        let accepted = |(id, diff): (&DiffId, &PendingDiff)| Some((*id, diff.accepted()?.clone()));
        let mut accepted: Vec<_> = self.diffs.iter().filter_map(accepted).collect();
        accepted.sort_by_key(|(_, accepted)| accepted.content.len());
        let accepted = accepted.into_iter().map(|(id, accepted)| Record::Accepted(id, accepted));
        let notes = self.notes.iter().map(|(id, note)| Record::Note(*id, note.clone()));
        // One record for all comments: a reader drops the oldest of each list.
        let delivered = self.confirmed.iter().enumerate().map(|(index, number)| {
            let comments =
                if index == 0 { self.delivered.iter().cloned().collect() } else { vec![] };
            Record::Delivered(DeliveredNotes { number: *number, notes: Vec::new(), comments })
        });
        let diffs = opened.chain(rejected);
        sessions.chain(clis).chain(diffs).chain(delivered).chain(notes).chain(accepted)
    }

    /// Drops the notes that have waited for too long at the time `now`, in milliseconds since 1970.
    pub fn drop_old_notes(&mut self, now: u64) {
        self.notes.retain(|_, note| !note.is_over(now));
    }

    /// Rejects the diffs that were not decided.
    pub fn reject_undecided(&mut self) {
        for diff in self.diffs.values_mut() {
            diff.decision.get_or_insert(Decision::Rejected);
        }
    }

    /// Adds the notes of another process, behind its own ones, each once: a process that was killed may have
    /// left them in both files.
    pub fn adopt_notes(&mut self, other: &Self) {
        let last = self.notes.keys().next_back().copied().unwrap_or(NoteId(0));
        let mut other = other.clone();
        other.notes.retain(|_, note| !self.notes.values().any(|own| own.is_same(note)));
        let other = other.with_notes_after(last);
        self.notes.extend(other.notes);
        for comment in other.delivered {
            push_limited(&mut self.delivered, comment, MAX_DELIVERED);
        }
        for number in other.confirmed {
            push_limited(&mut self.confirmed, number, MAX_CONFIRMED);
        }
    }

    /// Numbers the notes from the one after `last`.
    #[must_use]
    pub fn with_notes_after(self, last: NoteId) -> Self {
        let numbers = (last.0 + 1..).map(NoteId);
        Self { notes: numbers.zip(self.notes.into_values()).collect(), ..self }
    }

    /// The part that needs neither the token nor the clients: the notes.
    #[must_use]
    pub fn without_clients(self) -> Self {
        let (sessions, clis, diffs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { sessions, clis, diffs, ..self }
    }
}

/// The texts of these diffs.
fn texts(diffs: impl IntoIterator<Item = (DiffId, PendingDiff)>) -> Vec<TextId> {
    let with_text = diffs.into_iter().filter(|(_, diff)| diff.accepted().is_some());
    with_text.map(|(diff, _)| TextId::Diff(diff)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_no_longer_counts_is_named() {
        let [first, second] = [SessionId::new(), SessionId::new()];
        let opened = |number, session| Record::Opened(DiffId(number), session, "/a".into());
        let accepted = |number| {
            Record::Accepted(DiffId(number), Accepted { content: "text".to_owned().into() })
        };
        let mut left = Left::default();
        for (record, over) in [
            (Record::Session(first, Client::default()), vec![]),
            (opened(1, first), vec![]),
            (Record::Settled(DiffId(1)), vec![]),
            (opened(2, first), vec![]),
            (Record::Gone(first), vec![]),
            (opened(3, second), vec![]),
            (accepted(3), vec![]),
            (Record::Settled(DiffId(3)), vec![TextId::Diff(DiffId(3))]),
            (opened(4, second), vec![]),
            (accepted(4), vec![]),
            (opened(5, second), vec![]),
            (Record::Gone(second), vec![TextId::Diff(DiffId(4))]),
        ] {
            assert_eq!(left.apply(record.clone()), over, "{record:?}");
        }
    }
}
