//! Sends requests to the editor: none about a path while a view for it opens.
//!
//! So an editor never has to cancel a view that opens, and the requests about a path can't overtake
//! each other in an editor with several threads.

use std::sync::Arc;

use super::{CloseReason, EditorCommand, Effect, Ledger, PendingEditorRequest};
use crate::calls::CallId;

/// An open that the editor has not answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Opening {
    call: CallId,
    /// The requests about the same path that wait for the answer.
    waiting: Vec<(Option<CallId>, EditorCommand)>,
}

/// What is known of a view after the time of its open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Shows,
    MayShow,
    Fails,
}

impl Ledger {
    /// Sends the editor a request, once it has answered the open of that path.
    pub(super) fn ask(&mut self, call: Option<CallId>, command: EditorCommand) {
        let path = command.path();
        if let Some(opening) = self.opening.get_mut(path) {
            let is_closed = opening.waiting.last().is_some_and(|(_, last)| last.closes());
            if !(is_closed && call.is_none() && command.closes()) {
                opening.waiting.push((call, command));
            }
            return;
        }
        if let (EditorCommand::Open(path, _), Some(call)) = (&command, call) {
            self.opening.insert(Arc::clone(path), Opening { call, waiting: Vec::new() });
        }
        self.effects.push(Effect::Ask(call, command));
    }

    /// Removes a call's request that the editor has not answered. If it was not sent, it never is.
    pub(super) fn forget_request(&mut self, call: CallId) -> Option<PendingEditorRequest> {
        for opening in self.opening.values_mut() {
            opening.waiting.retain(|(waiting, _)| *waiting != Some(call));
        }
        self.asked.remove(&call)
    }

    /// The time of a call is over. Answers it if it waits to close a view once that shows, because nobody
    /// waits for its text then. Returns whether it does.
    pub(super) fn stop_waiting_to_close(&mut self, call: CallId) -> bool {
        let mut requests = self.opening.values_mut().flat_map(|opening| &mut opening.waiting);
        let waits = |(waiting, command): &&mut (Option<CallId>, EditorCommand)| {
            *waiting == Some(call) && command.closes()
        };
        let Some((waiting, command)) = requests.find(waits) else { return false };
        *command = EditorCommand::Close(Arc::clone(command.path()), CloseReason::Unclaimed);
        *waiting = None;
        self.close_without_text(call);
        true
    }

    /// Answers a call that closes a view, unless the stop of the server has answered it.
    fn close_without_text(&mut self, call: CallId) {
        if let Some(PendingEditorRequest::Close { diff, caller, notifies, .. }) =
            self.asked.remove(&call)
        {
            self.closed(call, notifies.then_some((caller, diff)), None);
        }
    }

    /// Handles the editor's answer to an open. A view that shows too late closes again, unless another
    /// one has replaced it.
    pub(super) fn open_answered(&mut self, call: CallId, view: View) {
        self.end_opening(call, view);
        if let Some(path) = self.late.remove(&call)
            && view != View::Fails
        {
            if let Some(diff) = self.open.get_mut(&path) {
                diff.replaces = true;
            } else {
                self.ask(None, EditorCommand::Close(path, CloseReason::Unclaimed));
            }
        }
    }

    /// Handles the deadline of an open. Other requests about its path wait no longer.
    pub(super) fn open_timed_out(&mut self, call: CallId) {
        if let Some(path) = self.end_opening(call, View::MayShow) {
            self.late.insert(call, path);
        }
    }

    /// Sends the requests that have waited for this open. Returns its path.
    fn end_opening(&mut self, call: CallId, view: View) -> Option<Arc<str>> {
        let is_opened = |(_, opening): &(&Arc<str>, &Opening)| opening.call == call;
        let path = Arc::clone(self.opening.iter().find(is_opened)?.0);
        for (call, command) in self.opening.remove(&path)?.waiting {
            match call {
                // The text could be that of an earlier view, which another client may have opened.
                Some(call) if view != View::Shows && command.closes() => {
                    self.close_without_text(call);
                    let close = EditorCommand::Close(Arc::clone(&path), CloseReason::Unclaimed);
                    self.ask(None, close);
                }
                _ => self.ask(call, command),
            }
        }
        Some(path)
    }

    /// Whether the editor still has time to answer this open.
    pub(crate) fn is_opening(&self, call: CallId) -> bool {
        self.opening.values().any(|opening| opening.call == call)
    }
}
