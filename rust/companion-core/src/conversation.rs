//! Decides which CLI gets which note of its user.
//!
//! A reason reaches its own CLI: with the result of the rejected edit, or with the user's next
//! prompt, whichever comes first. A revert reaches it with the next prompt, or in Qwen Code
//! with results of tools before that. A comment reaches one CLI, the first that has a result, an end
//! of a turn or a prompt.
//!
//! A caller asks for the notes that are due, checks that their files may be shared, and delivers
//! the others.

mod turns;

use std::sync::Arc;

use crate::cli::{Caller, CliSessionId, Clis, Edit, FileBefore};
use crate::notes::{Confirmation, Delivery, Note, NoteId, Notes, Reason, Revert};
use crate::session::SessionId;
use crate::text::{Digest, Text};
use turns::{Owner, Turns};

/// The CLIs, and the notes for their models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// The CLIs.
    pub clis: Clis,
    /// The notes.
    pub notes: Notes,
    turns: Turns,
}

/// Notes that are due, with their ids.
pub type Due = Vec<(NoteId, Note)>;

impl Conversation {
    /// See [`Notes::new`].
    pub fn new(first_delivery: u64) -> Self {
        Self { notes: Notes::new(first_delivery), ..Self::default() }
    }

    fn owner<'a>(&self, caller: &'a Caller<'a>) -> Owner<'a> {
        Owner { caller, others: self.clis.other_processes(caller) }
    }

    /// A CLI has begun a session. `is_new`: its model has no message yet.
    pub fn session_started(&mut self, caller: &Caller<'_>, is_new: bool) {
        self.clis.identify(caller);
        if is_new {
            self.turns.session_begun(&self.owner(caller));
        }
    }

    /// A CLI has ended its session. Returns the notes that its model has forgotten. They wait again.
    pub fn session_ended(&mut self, caller: &Caller<'_>) -> Vec<NoteId> {
        self.clis.session_ended(caller);
        let forgotten = self.turns.session_ended(&self.owner(caller));
        self.notes.add_forgotten(forgotten)
    }

    /// A CLI begins an edit of a file.
    pub fn before_edit(&mut self, caller: &Caller<'_>, path: &str, before: FileBefore, now: u64) {
        self.tool_begun(caller);
        self.clis.before_edit(caller, path, before, now);
    }

    /// A CLI calls a tool, or asks its user about the call.
    pub fn tool_begun(&mut self, caller: &Caller<'_>) {
        self.turns.tool_begun(&self.owner(caller));
    }

    /// The model of a CLI has begun to answer a prompt.
    pub fn answered(&mut self, caller: &Caller<'_>) {
        self.turns.answered(&self.owner(caller));
    }

    /// A tool has ended. Its model, which may be that of a subagent, gets the reason of this edit. Also
    /// returns whether the client got the file's text in place of a rejection.
    pub fn reasons_after_tool(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        now: u64,
        is_shown: impl Fn(SessionId, &str) -> bool,
    ) -> (bool, Due) {
        if let Some(edit) = self.clis.edit_ended(caller, path, now, is_shown) {
            return (edit.present.is_some(), self.due_reason(&edit));
        }
        // An edit that was rejected in the last process may have begun there.
        let reasons = self.notes.due(now, |id, note| match note {
            Note::Reason(reason) => {
                *reason.path == *path && self.notes.is_left(id) && self.is_for(caller, reason)
            }
            Note::Comment(_) | Note::Revert(_) => false,
        });
        (!reasons.is_empty(), reasons)
    }

    /// The reason of an edit, if it waits.
    fn due_reason(&self, edit: &Edit) -> Due {
        self.notes.due(u64::MAX, |id, _| Some(id) == edit.reason)
    }

    /// A tool has ended, and its result is the next message to the model. The model gets the reasons of this
    /// edit, or else all comments. A comment never leaves with a reason: its user may still change it,
    /// which would revoke the reason, too.
    pub fn due_after_tool(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        now: u64,
        is_shown: impl Fn(SessionId, &str) -> bool,
    ) -> (bool, Due) {
        self.turns.tool_ended(&self.owner(caller));
        let (is_rejected, reasons) = self.reasons_after_tool(caller, path, now, is_shown);
        let has_comments = !is_rejected && reasons.is_empty();
        (is_rejected, if has_comments { self.due_comments(now) } else { reasons })
    }

    /// A CLI is about to send its model the results of tools. The model gets the same notes as with a prompt.
    pub fn due_before_results(&mut self, caller: &Caller<'_>, now: u64) -> Due {
        self.turns.tool_ended(&self.owner(caller));
        self.due_before_agent(caller, now)
    }

    /// A CLI whose hook follows its diff is about to write `input`. If that is the text that it got
    /// in place of a rejection, its model gets the reason.
    pub fn due_before_write(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        input: Digest,
    ) -> (bool, Due) {
        match self.clis.rejected_edit_ended(caller, path, input) {
            Some(edit) => (true, self.due_reason(&edit)),
            None => (false, Due::new()),
        }
    }

    /// The user has sent a prompt to a CLI. Returns the notes that its model has forgotten. They wait again.
    /// `ends_cancelled_turns`: the CLI runs a hook if the user cancels the prompt.
    pub fn turn_begun(&mut self, caller: &Caller<'_>, ends_cancelled_turns: bool) -> Vec<NoteId> {
        self.clis.prompt_sent(caller);
        let forgotten = self.turns.begin(&self.owner(caller), ends_cancelled_turns);
        self.notes.add_forgotten(forgotten)
    }

    /// The user has sent a prompt to a CLI. Its model gets all its reasons and reverts, and all
    /// comments.
    pub fn due_before_agent(&mut self, caller: &Caller<'_>, now: u64) -> Due {
        self.clis.identify(caller).edits.retain(Edit::is_open);
        self.notes.due(now, |_, note| match note {
            Note::Reason(reason) => self.is_for(caller, reason),
            Note::Revert(revert) => {
                self.clis.is_for(caller, &revert.cli, revert.process.as_deref())
            }
            Note::Comment(_) => true,
        })
    }

    fn is_for(&self, caller: &Caller<'_>, reason: &Reason) -> bool {
        self.clis.is_for(caller, &reason.cli, reason.process.as_deref())
    }

    /// A turn has ended with this answer of the model; `None` if the CLI does not report it. Returns the
    /// notes that the model has forgotten. They wait again.
    pub fn turn_ended(&mut self, caller: &Caller<'_>, answer: Option<Digest>) -> Vec<NoteId> {
        self.clis.identify(caller);
        let forgotten = self.turns.end(&self.owner(caller), answer);
        self.notes.add_forgotten(forgotten)
    }

    /// The comments for the model of a turn that has ended. A turn without a new answer was cancelled or has
    /// failed, so it does not go on.
    pub fn due_after_turn(&self, caller: &Caller<'_>, now: u64) -> Due {
        if !self.turns.is_answered(&self.owner(caller)) {
            return Due::new();
        }
        self.due_comments(now)
    }

    fn due_comments(&self, now: u64) -> Due {
        self.notes.due(now, |_, note| match note {
            Note::Comment(_) => true,
            Note::Reason(_) | Note::Revert(_) => false,
        })
    }

    /// Begins a delivery to the model of a CLI. `None` if none of the notes waits any more.
    pub fn deliver(&mut self, caller: &Caller<'_>, due: &[(NoteId, Note)]) -> Option<Delivery> {
        let delivery = self.notes.deliver(due)?;
        self.turns.delivers(&self.owner(caller), delivery.number);
        Some(delivery)
    }

    /// See [`Notes::confirm`].
    pub fn confirm(&mut self, number: u64) -> Confirmation {
        let confirmation = self.notes.confirm(number);
        if let Confirmation::Taken(delivery) = &confirmation {
            self.turns.confirmed(delivery);
        }
        confirmation
    }

    /// Removes a comment, wherever it is. Returns its note, unless a model has got it.
    pub fn remove_comment(&mut self, comment: &str) -> Option<NoteId> {
        self.turns.forget_comment(comment);
        self.notes.remove_comment(comment)
    }

    /// The revert of a file was undone. Returns the notes that have changed.
    pub fn revert_undone(&mut self, cli: &str, path: &str) -> Vec<NoteId> {
        self.turns.forget_revert(cli, path);
        self.notes.drop_revert(cli, path)
    }

    /// The user has rejected a diff with a reason, at the time `since`. `None` if its CLI is not
    /// known, so that no model can get the reason. Otherwise returns the reason, which waits, and the
    /// text before the edit. If the file still has that text, the client gets it as an acceptance;
    /// otherwise, and if the text is not known, it gets the rejection.
    pub fn rejected(
        &mut self,
        session: SessionId,
        path: &str,
        text: Text,
        since: u64,
    ) -> Option<(NoteId, Option<Digest>)> {
        let (cli, edit) = self.clis.rejected(session, path)?;
        let (of, process) = (Arc::clone(&cli.session), cli.process.clone());
        let reason = Reason { cli: of, process, path: path.into(), text, since };
        let note = self.notes.add(Note::Reason(reason));
        let original = edit.and_then(|edit| {
            cli.edits[edit].reason = Some(note);
            cli.edits[edit].original
        });
        Some((note, original))
    }

    /// The user has reverted changes of a CLI session, or with `is_partial` some of them in these files.
    /// Returns the note.
    pub fn reverted(
        &mut self,
        cli: CliSessionId,
        paths: Vec<Arc<str>>,
        is_partial: bool,
        since: u64,
    ) -> NoteId {
        let process = self.clis.process_of(&cli);
        self.notes.add(Note::Revert(Revert { cli, process, paths, is_partial, since }))
    }
}
