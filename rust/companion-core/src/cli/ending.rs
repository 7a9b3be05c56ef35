//! Ends edits: with the decision about their diff, and by the hook that follows.

use super::{Caller, Clis, Edit};
use crate::diffs::DiffId;
use crate::session::SessionId;
use crate::text::Digest;

impl Clis {
    /// An edit of a CLI has ended. `is_shown` says whether a client has an open diff: the edit of a subagent
    /// may wait for its decision. Returns the edit, unless it began before this process. No hook names one of
    /// several edits of a file, so a rejected one ends first: its model must not take it for made.
    pub(crate) fn edit_ended(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        now: u64,
        is_shown: impl Fn(SessionId, &str) -> bool,
    ) -> Option<Edit> {
        let edits = &mut self.identify(caller).edits;
        let may_end = |edit: &Edit| edit.is_of(path) && !edit.is_waiting(&is_shown);
        let rejected = edits.iter().position(|edit| may_end(edit) && edit.present.is_some());
        let decided = || edits.iter().position(|edit| may_end(edit) && edit.is_open());
        let newest = || edits.iter().rposition(may_end);
        let ended = rejected.or_else(decided).or_else(newest)?;
        let edit = edits.remove(ended);
        if let Some(session) = edit.confirmed(now)
            && !self.knows(session)
        {
            self.connect_last(session);
        }
        Some(edit)
    }

    /// The client of a diff gets the decision. If that is a rejection in whose place it gets the file's text,
    /// `present` is that text.
    pub fn decision_sent(
        &mut self,
        session: SessionId,
        path: &str,
        diff: DiffId,
        present: Option<Digest>,
    ) {
        let mut edits = self.known.iter_mut().flat_map(|cli| &mut cli.edits);
        if let Some(present) = present {
            if let Some(edit) = edits.rfind(|edit| edit.is_opened(session, path)) {
                edit.present = Some((diff, present));
            }
        } else if let Some(edit) = edits.find(|edit| edit.present.is_some_and(|(of, _)| of == diff))
        {
            // The stream with the text broke, and the file may have changed since.
            edit.present = None;
        }
    }

    /// The user has sent a prompt to a CLI. The hooks of its earlier edits do not follow any more.
    pub(crate) fn prompt_sent(&mut self, caller: &Caller<'_>) {
        for edit in &mut self.identify(caller).edits {
            edit.present = None;
        }
    }

    /// A CLI whose hook follows its diff is about to write `input`. If that is the text that a client got
    /// in place of a rejection, the edit ends.
    pub(crate) fn rejected_edit_ended(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        input: Digest,
    ) -> Option<Edit> {
        let is_rejected = |edit: &Edit| {
            edit.is_of(path) && edit.present.is_some_and(|(_, present)| present == input)
        };
        // The CLI may have begun a new session.
        let mut indexes = self.index_of(caller).into_iter().chain(0..self.known.len());
        let index = indexes.find(|index| self.known[*index].edits.iter().any(is_rejected))?;
        let edits = &mut self.known[index].edits;
        let edit = edits.extract_if(.., |edit| is_rejected(edit)).next()?;
        if let Some((Some(session), _)) = edit.opened {
            self.accepted(caller, session, []);
        }
        Some(edit)
    }

    /// The user has accepted the diff of a client.
    pub fn diff_accepted(&mut self, session: SessionId, path: &str, now: u64) {
        for edit in self.known.iter_mut().flat_map(|cli| &mut cli.edits) {
            edit.diff_accepted(session, path, now);
        }
    }
}
