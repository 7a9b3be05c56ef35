//! Ends edits: with the decision about their diff, and by the hook that follows.

use std::sync::Arc;

use super::{Caller, CliSessionId, Clis, Edit};
use crate::session::SessionId;
use crate::text::Digest;

/// An edit that has ended.
pub(crate) struct EndedEdit {
    /// The names of its file: the client may have corrected it.
    pub(crate) names: Vec<Arc<str>>,
    /// Whether the client got the file's text in place of a rejection. `None` if the edit began before this
    /// process.
    pub(crate) is_rejected: Option<bool>,
}

impl Clis {
    /// An edit of a CLI has ended.
    pub(crate) fn edit_ended(&mut self, caller: &Caller<'_>, path: &str, now: u64) -> EndedEdit {
        let mut ended = EndedEdit { names: vec![path.into()], is_rejected: None };
        let mut confirmed = None;
        for edit in self.touch(caller).edits.extract_if(.., |edit| edit.is_of(path)) {
            confirmed = confirmed.or(edit.confirmed(now));
            let is_rejected = edit.present.is_some() || ended.is_rejected == Some(true);
            ended.is_rejected = Some(is_rejected);
            ended.names.extend(edit.opened.map(|(_, opened)| opened));
        }
        if let Some(session) = confirmed
            && !self.knows(session)
        {
            self.connect_last(session);
        }
        ended
    }

    /// The client of a diff gets this text, which is the file's, in place of the rejection.
    pub fn diff_rejected(&mut self, session: SessionId, path: &str, present: Digest) {
        let mut edits = self.known.iter_mut().flat_map(|cli| &mut cli.edits);
        if let Some(edit) = edits.find(|edit| edit.is_opened(session, path)) {
            edit.present = Some(present);
        }
    }

    /// A CLI whose hook follows its diff is about to write `input`. If that is the text that a client got
    /// in place of a rejection, the edit ends. Returns the sessions of its CLI.
    pub(crate) fn rejected_edit_ended(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        input: Digest,
    ) -> Option<Vec<CliSessionId>> {
        let is_rejected = |edit: &mut Edit| edit.is_of(path) && edit.present == Some(input);
        let (edit, sessions) = self.known.iter_mut().find_map(|cli| {
            let edit = cli.edits.extract_if(.., is_rejected).next()?;
            Some((edit, cli.sessions()))
        })?;
        // The CLI may have begun a new session.
        if let Some((session, _)) = edit.opened {
            self.accepted(caller, session);
        }
        Some(sessions)
    }

    /// The user has accepted the diff of a client.
    pub fn diff_accepted(&mut self, session: SessionId, path: &str, now: u64) {
        for edit in self.known.iter_mut().flat_map(|cli| &mut cli.edits) {
            edit.diff_accepted(session, path, now);
        }
    }
}
