//! Decides about rejections with a reason, comments and reverts, up to the model that gets them.

use std::collections::VecDeque;
use std::sync::Arc;

use companion_protocol::editor::{
    CommentOnLines, CommentRefused, CommentsDelivered, CommentsPending, CompanionNotification,
    ReasonLost,
};

use super::{Companion, Delivery, DiskCheck, Hook, Now, Output, Outputs};
use crate::cli::Caller;
use crate::diffs::DiffId;
use crate::notes::{CommentOutcome, Confirmation, Note, NoteId, Reason};
use crate::record::{DeliveredComment, DeliveredNotes, Record};
use crate::session::SessionId;
use crate::text::{Digest, Text};

/// A rejection with a reason. Until its file was looked at, its diff is open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PendingRejection {
    session: SessionId,
    path: Arc<str>,
    reason: Text,
    /// The text before the edit, once the reason waits.
    original: Option<Digest>,
}

impl Companion {
    /// No model may get this note, because of its file.
    pub(super) fn refuse(&mut self, note: NoteId, why: &str, out: &mut Outputs) {
        if let Some(refused) = self.conversation.notes.remove(note) {
            self.record(Record::NoteRemoved(note), out);
            out.extend(lost(&refused, why));
        }
    }

    /// A model may have got the note by now, or the user may have changed or removed it.
    pub(super) fn note_checked(
        &mut self,
        note: NoteId,
        path: &str,
        why: Option<&str>,
        out: &mut Outputs,
    ) {
        let Some(checked) = self.notes().get(note) else { return };
        match why.filter(|_| checked.is_on(path)) {
            Some(why) => self.refuse(note, why, out),
            None => self.record_note(note, out),
        }
    }

    pub(super) fn comment_removed(&mut self, id: &str, out: &mut Outputs) {
        if let Some(note) = self.conversation.remove_comment(id) {
            self.record(Record::NoteRemoved(note), out);
        }
    }

    pub(super) fn expire_notes(&mut self, now: Now, out: &mut Outputs) {
        for (note, expired) in self.conversation.notes.expire(now.date) {
            self.record(Record::NoteRemoved(note), out);
            out.extend(lost(&expired, "its CLI has not come back within a day"));
        }
    }

    /// The user rejects the diff that is shown for `path`. Until its file was looked at, no other
    /// decision of the user counts.
    pub(super) fn begin_rejection(&mut self, path: &str, reason: Text, out: &mut Outputs) {
        let Some((diff, session)) = self.ledger.begin_rejection(path) else {
            out.push(Output::Delivery(Delivery::Unknown));
            // The reason of the rejection that is under way counts.
            let is_under_way = self.rejections.values().any(|of| *of.path == *path);
            if !reason.is_empty() && !is_under_way {
                out.push(reason_lost(path, &reason, "the proposal has already ended"));
            }
            return;
        };
        let path: Arc<str> = path.into();
        out.push(Output::Delivery(self.delivery_to(session)));
        out.push(Output::CheckDisk(DiskCheck::Access(diff, Arc::clone(&path))));
        self.rejections.insert(diff, PendingRejection { session, path, reason, original: None });
    }

    /// The reason waits for its CLI, or is lost, and then the client gets the rejection.
    pub(super) fn access_checked(
        &mut self,
        now: Now,
        diff: DiffId,
        why: Option<&'static str>,
        out: &mut Outputs,
    ) {
        let Some(PendingRejection { session, path, reason, .. }) =
            self.rejections.get(&diff).cloned()
        else {
            return;
        };
        let rejected = match why {
            Some(why) => Err(why),
            None => self
                .conversation
                .rejected(session, &path, reason.clone(), now.date)
                .ok_or("the CLI runs no hooks of the companion's extension"),
        };
        let (note, original) = match rejected {
            Ok(rejected) => rejected,
            Err(why) => {
                out.push(reason_lost(&path, &reason, why));
                return self.end_rejection(now, diff, None, out);
            }
        };
        self.record_note(note, out);
        if let Some(rejection) = self.rejections.get_mut(&diff) {
            rejection.original = original;
        }
        out.push(Output::CheckDisk(DiskCheck::Read(diff, session, path, original)));
    }

    /// The client gets the file's text if that is the text before the edit, so that its turn goes on
    /// and the hook after the edit returns the reason. Otherwise it gets the rejection.
    pub(super) fn end_rejection(
        &mut self,
        now: Now,
        diff: DiffId,
        present: Option<Text>,
        out: &mut Outputs,
    ) {
        let Some(PendingRejection { original, .. }) = self.rejections.remove(&diff) else { return };
        let sent = present.filter(|present| original.is_some_and(|of| of.is_of(present)));
        let effects = self.ledger.end_rejection(diff, sent);
        self.add(now, effects, out);
    }

    pub(super) fn hook(
        &mut self,
        now: Now,
        caller: &Caller<'_>,
        hook: Hook<'_>,
        out: &mut Outputs,
    ) {
        let time = now.elapsed;
        let has_client = |of| self.ledger.has_stream(of) || self.returning.contains(&of);
        self.conversation.clis.forget_killed(caller, has_client);
        let is_shown = |session, path: &str| self.ledger.has_open(session, path);
        let (is_rejected, due) = match hook {
            Hook::SessionStart { is_new } => {
                return self.conversation.session_started(caller, is_new);
            }
            Hook::SessionEnd => {
                let forgotten = self.conversation.session_ended(caller);
                return self.forgotten(forgotten, out);
            }
            Hook::BeforeEdit(path, before) => {
                return self.conversation.before_edit(caller, path, before, time);
            }
            Hook::BeforeWrite(path, input) => {
                self.recognize_writer(now, caller, path, input);
                let Some(input) = input else { return };
                self.conversation.due_before_write(caller, path, input)
            }
            Hook::BeforeTool => return self.conversation.tool_begun(caller),
            Hook::Answers => return self.conversation.answered(caller),
            Hook::AfterTool(path) => self.conversation.due_after_tool(caller, path, time, is_shown),
            Hook::ToolEnded(path) => {
                self.conversation.reasons_after_tool(caller, path, time, is_shown)
            }
            Hook::BeforeResults => (false, self.conversation.due_before_results(caller, time)),
            Hook::BeforeAgent { ends_cancelled_turns } => {
                let forgotten = self.conversation.turn_begun(caller, ends_cancelled_turns);
                self.forgotten(forgotten, out);
                (false, self.conversation.due_before_agent(caller, time))
            }
            Hook::AfterAgent(answer) => {
                let forgotten = self.conversation.turn_ended(caller, answer);
                self.forgotten(forgotten, out);
                (false, self.conversation.due_after_turn(caller, time))
            }
        };
        if is_rejected {
            out.push(Output::EditRejected);
        }
        if !due.is_empty() {
            out.push(Output::Due(due));
        }
    }

    /// Notes that a model has forgotten wait again. The editor gets its comments back.
    fn forgotten(&mut self, notes: Vec<NoteId>, out: &mut Outputs) {
        let mut has_comment = false;
        for id in notes {
            match self.conversation.notes.get(id) {
                Some(Note::Comment(CommentOnLines { id: comment, path, .. })) => {
                    self.delivered.retain(|(_, delivered)| **delivered != **comment);
                    has_comment = true;
                    out.push(Output::CheckDisk(DiskCheck::Forgotten(id, Arc::clone(path))));
                }
                Some(Note::Reason(Reason { path, .. })) => {
                    out.push(Output::CheckDisk(DiskCheck::Forgotten(id, Arc::clone(path))));
                }
                Some(Note::Revert(_)) | None => self.record_note(id, out),
            }
        }
        if has_comment {
            out.extend(self.comments_pending().map(Output::Notification));
        }
    }

    /// Returns the message for the editor with all comments that no model has got, if there are any.
    pub fn comments_pending(&self) -> Option<CompanionNotification> {
        let comments: Vec<_> = self.notes().comments().cloned().collect();
        let pending = CommentsPending { comments };
        (!pending.comments.is_empty()).then_some(CompanionNotification::CommentsPending(pending))
    }

    pub(super) fn confirm(&mut self, number: u64, out: &mut Outputs) {
        let confirmation = self.conversation.confirm(number);
        if let Confirmation::Taken(delivery) = &confirmation {
            let comments: Vec<_> = delivery.comments().map(DeliveredComment::from).collect();
            let ids: Vec<_> = comments.iter().map(|comment| comment.id.to_string()).collect();
            let notes = delivery.notes.iter().map(|(id, _)| *id).collect();
            self.record(Record::Delivered(DeliveredNotes { number, notes, comments }), out);
            let records = self.ledger.records();
            self.delivered.extend(ids.into_iter().map(|id| (records, id)));
            self.report_delivered(self.ledger.saved, out);
        }
        out.push(Output::Confirmed(confirmation));
    }

    /// All records up to this number are saved.
    pub(super) fn saved(&mut self, records: u64, out: &mut Outputs) {
        self.ledger.saved(records);
        self.report_delivered(records, out);
    }

    /// Reports the comments whose deliveries are in the first `records`, which the disk has taken or refused.
    /// Before that the next process could deliver them again, or lose them if the editor had removed them.
    pub(super) fn report_delivered(&mut self, records: u64, out: &mut Outputs) {
        let mut ids = Vec::new();
        while let Some((_, id)) = self.delivered.pop_front_if(|(number, _)| *number <= records) {
            ids.push(id);
        }
        if !ids.is_empty() {
            out.push(comments_delivered(ids));
        }
    }

    /// With a reason, only the lines of a comment that is known may change.
    pub(super) fn comment(
        &mut self,
        comment: CommentOnLines,
        why: Option<&str>,
        out: &mut Outputs,
    ) {
        let id = comment.id.to_string();
        if let Some(why) = why.filter(|_| !self.notes().knows(&comment)) {
            // The user has replaced the earlier text, if there is one.
            self.comment_removed(&id, out);
            return out.push(comment_refused(id, no_model_gets(why)));
        }
        out.push(match self.conversation.notes.set_comment(comment) {
            CommentOutcome::Waits(note) => {
                // What was delivered is an earlier version.
                self.delivered.retain(|(_, delivered)| *delivered != id);
                Output::CheckComment(note)
            }
            CommentOutcome::Delivered if self.delivered.iter().any(|(_, of)| *of == id) => return,
            CommentOutcome::Delivered => comments_delivered(vec![id]),
            CommentOutcome::TooMany => comment_refused(id, "Too many comments wait.".to_owned()),
        });
    }

    /// Drops the comments that models have got from another process, and reports them.
    pub(super) fn drop_comments(
        &mut self,
        delivered: &VecDeque<DeliveredComment>,
        out: &mut Outputs,
    ) {
        let is_delivered = |of: &&CommentOnLines| delivered.contains(&DeliveredComment::from(*of));
        let dropped = self.notes().comments().filter(is_delivered);
        let ids: Vec<_> = dropped.map(|comment| comment.id.to_string()).collect();
        for id in &ids {
            if let Some(note) = self.conversation.notes.remove_comment(id) {
                self.record(Record::NoteRemoved(note), out);
            }
        }
        if !ids.is_empty() {
            out.push(comments_delivered(ids));
        }
    }

    /// Records a note as it is by now.
    pub(super) fn record_note(&mut self, id: NoteId, out: &mut Outputs) {
        let record = match self.notes().get(id) {
            Some(note) => Record::Note(id, note.clone()),
            None => Record::NoteRemoved(id),
        };
        self.record(record, out);
    }
}

/// Reports to the editor that no model gets a note.
fn lost(note: &Note, why: &str) -> Option<Output> {
    match note {
        Note::Reason(Reason { path, text, .. }) => Some(reason_lost(path, text, why)),
        Note::Comment(CommentOnLines { id, .. }) => {
            Some(comment_refused(id.to_string(), no_model_gets(why)))
        }
        Note::Revert(_) => None,
    }
}

fn reason_lost(path: &str, reason: &str, why: &str) -> Output {
    Output::Notification(CompanionNotification::ReasonLost(ReasonLost {
        file_path: path.to_owned(),
        reason: reason.to_owned(),
        why: why.to_owned(),
    }))
}

fn no_model_gets(why: &str) -> String {
    format!("No model gets this comment: {why}.")
}

fn comment_refused(id: String, reason: String) -> Output {
    Output::Notification(CompanionNotification::CommentRefused(CommentRefused { id, reason }))
}

fn comments_delivered(ids: Vec<String>) -> Output {
    Output::Notification(CompanionNotification::CommentsDelivered(CommentsDelivered { ids }))
}
