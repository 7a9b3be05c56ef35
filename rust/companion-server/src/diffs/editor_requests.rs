//! Sends the ledger's commands to the editor, and receives the results.

use companion_protocol::editor::{CloseDiff, DiffPath};

use super::Diffs;
use super::ledger::EditorCommand;
use crate::host::{CallId, DiffResponder, EditorRequest, Proposal, RequestOwner};

impl Diffs {
    pub(super) fn ask(
        &self,
        call: Option<CallId>,
        command: EditorCommand,
        proposal: &mut Option<Proposal>,
    ) {
        let request = match command {
            EditorCommand::Open(_) => {
                EditorRequest::OpenDiff(proposal.take().expect("only openDiff opens"))
            }
            EditorCommand::Close(path) => close(&path, false),
            EditorCommand::Abandon(path) => close(&path, true),
            EditorCommand::Accept(path) => EditorRequest::AcceptDiff(diff_path(&path)),
            EditorCommand::Reject(path) => EditorRequest::RejectDiff(diff_path(&path)),
        };
        self.host.request(request, DiffResponder::new(self.me.clone(), call).into());
    }
}

fn close(path: &str, abandoned: bool) -> EditorRequest {
    EditorRequest::CloseDiff(CloseDiff { file_path: path.to_owned(), abandoned })
}

fn diff_path(path: &str) -> DiffPath {
    DiffPath { file_path: path.to_owned() }
}

impl RequestOwner for Diffs {
    fn completed(&self, call: CallId, content: Option<String>) {
        let content = content.map(|text| self.texts.hold(text));
        self.step(|ledger| ledger.completed(call, content));
    }

    fn failed(&self, call: CallId, message: &str) {
        self.step(|ledger| ledger.failed(call, message));
    }

    fn unreadable(&self, call: CallId, message: &str) {
        // The next step may send a request to the editor; this may be any thread.
        self.calls.fail(call, message);
    }

    fn is_awaited(&self, call: CallId) -> bool {
        self.calls.is_waiting(call)
    }
}
