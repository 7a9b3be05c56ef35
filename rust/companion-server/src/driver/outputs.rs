//! Carries out the outputs of the companion.

use std::sync::Arc;

use companion_core::companion::{Now, Output, Outputs, ResumedProposal};
use companion_core::conversation::Due;
use companion_core::diffs::{Accepted, Decision, EditorCommand};
use companion_core::notes::{self, Confirmation, NoteId};
use companion_protocol::editor::{CloseDiff, CompanionNotification, DiffPath};
use companion_protocol::ide::events;

use super::{Answered, Core, Driver};
use crate::host::{Asker, CallId, Delivery, EditorRequest, Proposal, Responder};
use crate::net::sse;

/// A message for the editor.
pub(super) enum ToEditor {
    Request(EditorRequest, Responder),
    Notification(CompanionNotification),
}

/// The answers to the caller of an input, from its outputs.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) delivery: Delivery,
    pub(crate) is_withdrawn: bool,
    pub(crate) resumed: Vec<ResumedProposal>,
    pub(crate) is_rejected: bool,
    pub(crate) due: Due,
    pub(crate) notes: Option<notes::Delivery>,
    pub(crate) confirmation: Confirmation,
    pub(crate) comment: Option<NoteId>,
}

impl Driver {
    /// Takes a step under the lock, and queues its outputs.
    pub(super) fn step<T>(
        &self,
        step: impl FnOnce(&mut Core, Now, &mut Outputs) -> T,
    ) -> (T, Reply) {
        let mut out = Outputs::new();
        let mut reply = Reply::default();
        let mut decided = Vec::new();
        let value = {
            let core = &mut *self.core.lock();
            let value = step(core, self.now(), &mut out);
            let records = core.companion.diffs().records();
            for output in out {
                match output {
                    Output::Ask(call, command) => self.request(core, call, command),
                    Output::Notification(of) => {
                        core.to_editor.push_back(ToEditor::Notification(of));
                    }
                    Output::Answer(call, answer) => {
                        core.proposals.remove(&call);
                        if let Some(waiter) = core.waiters.remove(&call) {
                            // A caller that has left needs no answer.
                            let _ = waiter.answer.send(Answered { answer, records });
                        }
                    }
                    Output::Record(record) => core.journal.append(record),
                    Output::Decided(session, path, decision) => {
                        decided.push((session, path, decision));
                    }
                    Output::Ended(diff, outcome) => log::debug!("diff {diff} ended: {outcome:?}"),
                    Output::Arrival(call, arrival) => {
                        if let Some(proposal) = core.proposals.get_mut(&call) {
                            proposal.reason = arrival;
                        }
                    }
                    Output::CheckDisk(check) => {
                        let _ = self.disk_checks.send(check); // or the server has stopped
                    }
                    Output::Delivery(delivery) => reply.delivery = delivery,
                    Output::Withdrawn(is_withdrawn) => reply.is_withdrawn = is_withdrawn,
                    Output::Resumed(resumed) => reply.resumed = resumed,
                    Output::EditRejected => reply.is_rejected = true,
                    Output::Due(due) => reply.due = due,
                    Output::Deliver(notes) => reply.notes = Some(notes),
                    Output::Confirmed(confirmation) => reply.confirmation = confirmation,
                    Output::CheckComment(note) => reply.comment = Some(note),
                }
            }
            let next = core.companion.next_deadline();
            if next.is_some_and(|next| core.timer.is_none_or(|timer| next < timer)) {
                core.woken.set();
            }
            if core.all_arrived.is_some() && !core.companion.diffs().is_any_on_its_way() {
                core.all_arrived = None;
            }
            value
        };
        for (session, path, decision) in decided {
            self.monitors.publish(|| match &decision {
                Decision::Accepted(Accepted { content }) => {
                    sse::data(&events::diff_accepted(&path, content))
                }
                Decision::Rejected | Decision::Undecided | Decision::RejectedWithReason(_) => {
                    sse::data(&events::diff_rejected(&path))
                }
            });
            if let Some(session) = self.sessions.get(session) {
                session.wake();
            }
        }
        (value, reply)
    }

    /// Queues a request to the editor.
    fn request(&self, core: &mut Core, call: Option<CallId>, command: EditorCommand) {
        let diff_path = |path: Arc<str>| DiffPath { file_path: path.to_string() };
        let request = match command {
            EditorCommand::Open(_, diff) => {
                let proposal = call.and_then(|call| core.proposals.remove(&call));
                let proposal = proposal.expect("only openDiff opens");
                EditorRequest::OpenDiff(Proposal { diff: Some(diff), ..proposal })
            }
            EditorCommand::Close(path, reason) => EditorRequest::CloseDiff(CloseDiff {
                file_path: path.to_string(),
                abandoned: !reason.takes_text(),
            }),
            EditorCommand::Accept(path) => EditorRequest::AcceptDiff(diff_path(path)),
            EditorCommand::Reject(path) => EditorRequest::RejectDiff(diff_path(path)),
        };
        let asker = call.map_or(Asker::Nobody, |call| Asker::Diff(self.me.clone(), call));
        core.to_editor.push_back(ToEditor::Request(request, Responder(asker)));
    }

    /// Sends the queued messages to the editor.
    pub(super) fn send(&self) {
        loop {
            let Some(message) = self.core.lock().to_editor.pop_front() else { return };
            match message {
                ToEditor::Request(request, responder) => self.host.request(request, responder),
                ToEditor::Notification(notification) => self.host.notify(notification),
            }
        }
    }
}
