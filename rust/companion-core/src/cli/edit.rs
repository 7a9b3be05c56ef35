//! An edit of a CLI, from the hook before it to the hook after it.

use std::path::Path;
use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use super::ACCEPTED_TIME;
use crate::diffs::DiffId;
use crate::notes::NoteId;
use crate::session::SessionId;
use crate::text::Digest;

/// The answer to an `openDiff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// When the model would get a reason.
    pub arrival: ReasonArrival,
    /// The client has corrected the path of the edit, so its text before the edit is unknown. Read it, and
    /// report it by [`Clis::original_read`](super::Clis::original_read).
    pub needs_original: bool,
}

impl Opened {
    pub(crate) const NEVER: Self = Self { arrival: ReasonArrival::Never, needs_original: false };
    pub(super) const NEXT_PROMPT: Self =
        Self { arrival: ReasonArrival::NextPrompt, needs_original: false };
}

/// A file before an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileBefore {
    /// The client leaves it unchanged by writing this text.
    Text(Digest),
    /// It does not exist. The CLI creates it, or corrects its path.
    Absent,
    /// The client could change it by writing its text, or nobody knows.
    Unknown,
}

/// An edit that a CLI has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Edit {
    /// The file, as the model named it.
    pub(crate) path: Arc<str>,
    /// The client that has opened its diff, unless that is gone, and the file as `openDiff` named it.
    pub(super) opened: Option<(Option<SessionId>, Arc<str>)>,
    /// The last diff that may be its own.
    guess: Option<Guess>,
    /// The file before the edit. `None` if the client could change the file by writing it again.
    pub(crate) original: Option<Digest>,
    /// The reason of the user who has rejected its diff.
    pub(crate) reason: Option<NoteId>,
    /// The diff that was rejected, and the file's text that the client got in place of the rejection.
    pub(crate) present: Option<(DiffId, Digest)>,
    /// The file did not exist, so the client may correct its path.
    is_absent: bool,
    /// When the hook before the edit ran.
    pub(super) begun: u64,
}

/// A diff that may be the one of an edit, or of the edit of another CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Guess {
    session: SessionId,
    path: Arc<str>,
    /// When the user has accepted it. If the hook after the edit follows, it was the one of this edit.
    accepted: Option<u64>,
}

impl Edit {
    pub(super) fn new(path: Arc<str>, before: FileBefore, begun: u64) -> Self {
        let original = match before {
            FileBefore::Text(original) => Some(original),
            FileBefore::Absent | FileBefore::Unknown => None,
        };
        let is_absent = before == FileBefore::Absent;
        let (opened, guess, reason, present) = (None, None, None, None);
        Self { path, opened, guess, original, reason, present, is_absent, begun }
    }

    /// When the model would get a reason.
    pub(super) fn arrival(&self) -> ReasonArrival {
        self.original.map_or(ReasonArrival::NextPrompt, |_| ReasonArrival::Now)
    }

    /// Whether a client has opened its diff. Then the diff may still wait for a decision.
    pub(crate) fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    pub(super) fn is_opened(&self, session: SessionId, path: &str) -> bool {
        self.opened.as_ref().is_some_and(|(by, opened)| *by == Some(session) && **opened == *path)
    }

    /// Whether it waits for its decision. `is_shown` says whether a client has an open diff, perhaps a later one.
    pub(super) fn is_waiting(&self, is_shown: impl Fn(SessionId, &str) -> bool) -> bool {
        let Some((Some(session), path)) = &self.opened else { return false };
        self.present.is_none() && is_shown(*session, path)
    }

    /// A client is gone for good.
    pub(super) fn client_gone(&mut self, session: SessionId) {
        if let Some((by, _)) = &mut self.opened {
            by.take_if(|by| *by == session);
        }
        self.guess.take_if(|guess| guess.session == session);
    }

    pub(super) fn is_of(&self, path: &str) -> bool {
        *self.path == *path
            || self.opened.as_ref().is_some_and(|(_, opened)| **opened == *path)
            || self.guess.as_ref().is_some_and(|guess| *guess.path == *path)
    }

    /// A client has opened a diff. The last guess about its file does not hold any more.
    pub(super) fn drop_guess(&mut self, path: &str) {
        self.guess.take_if(|guess| *guess.path == *path);
    }

    /// A client has opened a diff that may be its own. Only [`Self::confirmed`] recognizes its CLI.
    pub(super) fn guess(&mut self, session: SessionId, path: &str) {
        self.guess = Some(Guess { session, path: path.into(), accepted: None });
    }

    /// The user has accepted a diff.
    pub(super) fn diff_accepted(&mut self, session: SessionId, path: &str, now: u64) {
        if let Some(guess) = &mut self.guess
            && guess.session == session
            && *guess.path == *path
        {
            guess.accepted = Some(now);
        }
    }

    /// The client whose diff was accepted just before this edit ended.
    pub(super) fn confirmed(&self, now: u64) -> Option<SessionId> {
        let Guess { session, accepted, .. } = self.guess.as_ref()?;
        let time = now.saturating_sub((*accepted)?);
        (time < ACCEPTED_TIME).then_some(*session)
    }

    /// Whether the client may open the diff of this edit at `path`. Gemini CLI looks for a file that
    /// does not exist in all folders of the workspace (`pathCorrector.js`), and drops a leading `@`.
    pub(super) fn may_open(&self, path: &str) -> bool {
        if self.opened.is_some() {
            return false;
        }
        let name = |path: &str| {
            let name = Path::new(path).file_name()?.to_str()?;
            Some(name.trim_start_matches('@').to_owned())
        };
        *self.path == *path || self.is_absent && name(&self.path) == name(path)
    }
}
