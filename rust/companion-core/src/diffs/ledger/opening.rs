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
    pub(super) fn ask(
        &mut self,
        call: Option<CallId>,
        command: EditorCommand,
        effects: &mut Vec<Effect>,
    ) {
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
        effects.push(Effect::Ask(call, command));
    }

    /// Removes a call's request that the editor has not answered. If it was not sent, it never is.
    pub(super) fn forget_request(&mut self, call: CallId) -> Option<PendingEditorRequest> {
        for opening in self.opening.values_mut() {
            opening.waiting.retain(|(waiting, _)| *waiting != Some(call));
        }
        self.asked.remove(&call)
    }

    /// The time of a call is over that waits to close a view once that shows. Nobody waits for its text
    /// then. Returns its answer, if there is such a call.
    pub(super) fn stop_waiting_to_close(&mut self, call: CallId) -> Option<Effect> {
        let mut requests = self.opening.values_mut().flat_map(|opening| &mut opening.waiting);
        let (waiting, command) = requests.find(|(waiting, _)| *waiting == Some(call))?;
        if !command.closes() {
            return None;
        }
        *command = EditorCommand::Close(Arc::clone(command.path()), CloseReason::Unclaimed);
        *waiting = None;
        self.closed_without_text(call)
    }

    /// Answers a call that closes a view, unless the stop of the server has answered it.
    fn closed_without_text(&mut self, call: CallId) -> Option<Effect> {
        match self.asked.remove(&call)? {
            PendingEditorRequest::Close { diff, caller, notifies, .. } => {
                Some(self.closed(call, notifies.then_some((caller, diff)), None))
            }
            PendingEditorRequest::Open(_) | PendingEditorRequest::Decide(_) => None,
        }
    }

    /// Handles the editor's answer to an open. A view that shows too late closes again, unless another
    /// one has replaced it.
    pub(super) fn open_answered(&mut self, call: CallId, view: View, effects: &mut Vec<Effect>) {
        self.end_opening(call, view, effects);
        if let Some(path) = self.late.remove(&call)
            && view != View::Fails
        {
            if let Some(diff) = self.open.get_mut(&path) {
                diff.replaces = true;
            } else {
                self.ask(None, EditorCommand::Close(path, CloseReason::Unclaimed), effects);
            }
        }
    }

    /// Handles the deadline of an open. Other requests about its path wait no longer.
    pub(super) fn open_timed_out(&mut self, call: CallId, effects: &mut Vec<Effect>) {
        if let Some(path) = self.end_opening(call, View::MayShow, effects) {
            self.late.insert(call, path);
        }
    }

    /// Sends the requests that have waited for this open. Returns its path.
    fn end_opening(
        &mut self,
        call: CallId,
        view: View,
        effects: &mut Vec<Effect>,
    ) -> Option<Arc<str>> {
        let is_opened = |(_, opening): &(&Arc<str>, &Opening)| opening.call == call;
        let path = Arc::clone(self.opening.iter().find(is_opened)?.0);
        for (call, command) in self.opening.remove(&path)?.waiting {
            match call {
                // The text could be that of an earlier view, which another client may have opened.
                Some(call) if view != View::Shows && command.closes() => {
                    effects.extend(self.closed_without_text(call));
                    let close = EditorCommand::Close(Arc::clone(&path), CloseReason::Unclaimed);
                    self.ask(None, close, effects);
                }
                _ => self.ask(call, command, effects),
            }
        }
        Some(path)
    }

    /// Whether the editor still has time to answer this open.
    pub(crate) fn is_opening(&self, call: CallId) -> bool {
        self.opening.values().any(|opening| opening.call == call)
    }
}
