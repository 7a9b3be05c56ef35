//! Sends the ledger's requests to the editor, and takes the answers.

use super::Diffs;
use super::ledger::EditorCommand;
use crate::host::{Asker, CallId, Proposal, Responder};

impl Diffs {
    pub(super) fn ask(
        &self,
        call: Option<CallId>,
        ask: EditorCommand,
        proposal: &mut Option<Proposal>,
    ) {
        let responder = Responder::new(self.me.clone(), call);
        match ask {
            EditorCommand::Open(_) => {
                let proposal = proposal.take().expect("only openDiff opens");
                self.host.open_diff(proposal, responder);
            }
            EditorCommand::Close(path) => self.host.close_diff(&path, false, responder),
            EditorCommand::Abandon(path) => self.host.close_diff(&path, true, responder),
            EditorCommand::Accept(path) => self.host.accept_diff(&path, responder),
            EditorCommand::Reject(path) => self.host.reject_diff(&path, responder),
        }
    }
}

impl Asker for Diffs {
    fn completed(&self, call: CallId, content: Option<String>) {
        let content = content.map(|text| self.texts.hold(text));
        self.step(|ledger| ledger.completed(call, content));
    }

    fn failed(&self, call: CallId, message: &str) {
        self.step(|ledger| ledger.failed(call, message));
    }

    fn unreadable(&self, call: CallId, message: &str) {
        // What follows may be a request to the editor, and this is any thread.
        self.calls.fail(call, message);
    }

    fn is_awaited(&self, call: CallId) -> bool {
        self.calls.is_waiting(call)
    }
}
