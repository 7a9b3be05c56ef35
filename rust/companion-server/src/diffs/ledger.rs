//! Which diffs are open, who asked for each, and how each ended: the sole judge of races.
//!
//! A state machine without IO, clock or lock: every step returns what follows from it as
//! [`Effect`]s, in order. Each diff ends exactly once, and each call is answered exactly once,
//! in whatever order requests, the user, the editor and the client's departure come.
//!
//! A diff is known by its path, byte for byte as the client wrote it, because the client keeps
//! one waiter per path (`ide-client.js`, `diffResponses`).

use std::collections::HashMap;
use std::sync::Arc;

use companion_protocol::ide::ClosedDiff;
use companion_protocol::mcp::CallToolResult;
use tokio::sync::oneshot;

use crate::host::HostRequest;
use crate::json;
use crate::session::SessionId;

/// Where the result of a tool call goes.
pub(crate) type Reply = oneshot::Sender<CallToolResult>;

/// How a diff ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The user took it.
    Accepted,
    /// The user refused it, or the server stopped.
    Rejected,
    /// A client closed it, or its asker has gone.
    Closed,
    /// Another diff was opened for the same path.
    Replaced,
    /// The editor could not open it.
    Failed,
    /// The editor did not answer in time.
    TimedOut,
}

/// What follows from a step.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Drop the decisions for the path that the session has not got yet.
    Forget(SessionId, Arc<str>),
    /// Send `ide/diffAccepted` with the content.
    Accepted(SessionId, Arc<str>, String),
    /// Send `ide/diffRejected`.
    Rejected(SessionId, Arc<str>),
    /// Ask the editor.
    Ask(HostRequest, Ask),
    /// The diff of this number has ended; no other effect depends on it.
    Ended(u64, Outcome),
}

/// A request to the editor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Open(Arc<str>, String),
    Close(Arc<str>),
    Accept(Arc<str>),
    Reject(Arc<str>),
}

#[derive(Default)]
pub(crate) struct Ledger {
    open: HashMap<Arc<str>, Diff>,
    /// The requests that the editor has not answered.
    pending: HashMap<HostRequest, Pending>,
    last_diff: u64,
    last_request: u64,
    stopped: bool,
}

struct Diff {
    number: u64,
    asker: SessionId,
    /// The call that waits until the view shows. Until then a decision for the path is about an
    /// earlier view, and ends nothing.
    opening: Option<(HostRequest, Reply)>,
    /// The calls of acceptDiff and rejectDiff that wait for the end.
    deciding: Vec<(HostRequest, bool, Reply)>,
}

enum Pending {
    Open(Arc<str>),
    Close(Arc<str>, Reply),
    Decide(Arc<str>),
}

const STOPPING: &str = "The editor is closing.";
const NO_ANSWER: &str = "The editor did not answer in time.";

impl Ledger {
    /// `openDiff`. The call is answered when the editor has opened the view.
    pub(crate) fn open(
        &mut self,
        asker: SessionId,
        path: &Arc<str>,
        new_content: String,
        reply: Reply,
    ) -> Vec<Effect> {
        if self.stopped {
            answer(reply, CallToolResult::error(STOPPING));
            return Vec::new();
        }
        let mut effects = vec![Effect::Forget(asker, Arc::clone(path))];
        if let Some(earlier) = self.open.remove(path) {
            // The same client has already replaced its waiter: a word about the earlier diff
            // would end the new one.
            if earlier.asker != asker {
                effects.push(Effect::Rejected(earlier.asker, Arc::clone(path)));
            }
            self.end(earlier, Outcome::Replaced, &mut effects);
        }
        let request = self.ask(Pending::Open(Arc::clone(path)));
        self.last_diff += 1;
        let opening = Some((request, reply));
        let diff = Diff { number: self.last_diff, asker, opening, deciding: Vec::new() };
        self.open.insert(Arc::clone(path), diff);
        effects.push(Effect::Ask(request, Ask::Open(Arc::clone(path), new_content)));
        effects
    }

    /// `closeDiff`. The call is answered when the editor has closed the view.
    ///
    /// To close without accepting is to reject, so the asker is told, unless it is the caller
    /// and wants no notification.
    pub(crate) fn close(
        &mut self,
        caller: SessionId,
        path: &Arc<str>,
        suppress: bool,
        reply: Reply,
    ) -> Vec<Effect> {
        let Some(diff) = self.open.remove(path) else {
            answer(reply, closed(None));
            return Vec::new();
        };
        let mut effects = Vec::new();
        if !(suppress && diff.asker == caller) {
            effects.push(Effect::Rejected(diff.asker, Arc::clone(path)));
        }
        self.end(diff, Outcome::Closed, &mut effects);
        let request = self.ask(Pending::Close(Arc::clone(path), reply));
        effects.push(Effect::Ask(request, Ask::Close(Arc::clone(path))));
        effects
    }

    /// `acceptDiff` and `rejectDiff`. The call is answered when the diff has ended.
    pub(crate) fn decide(&mut self, path: &Arc<str>, accept: bool, reply: Reply) -> Vec<Effect> {
        let request = self.ask(Pending::Decide(Arc::clone(path)));
        let Some(diff) = self.open.get_mut(path) else {
            self.pending.remove(&request);
            answer(reply, CallToolResult::error("No diff is open for this filePath."));
            return Vec::new();
        };
        diff.deciding.push((request, accept, reply));
        let ask = if accept { Ask::Accept } else { Ask::Reject };
        vec![Effect::Ask(request, ask(Arc::clone(path)))]
    }

    /// The user has decided, and with what text if it was to accept.
    pub(crate) fn decided(&mut self, path: &str, accepted: Option<String>) -> Vec<Effect> {
        if self.open.get(path).is_some_and(|diff| diff.opening.is_none())
            && let Some((path, diff)) = self.open.remove_entry(path)
        {
            let mut effects = Vec::new();
            let asker = diff.asker;
            let outcome = if let Some(content) = accepted {
                effects.push(Effect::Accepted(asker, path, content));
                Outcome::Accepted
            } else {
                effects.push(Effect::Rejected(asker, path));
                Outcome::Rejected
            };
            self.end(diff, outcome, &mut effects);
            return effects;
        }
        // The view was decided while the request to close it was on its way: the caller gets
        // the text that the user accepted.
        if accepted.is_some()
            && let Some(request) = self.closing(path)
            && let Some(Pending::Close(_, reply)) = self.pending.remove(&request)
        {
            answer(reply, closed(accepted));
        }
        Vec::new()
    }

    /// The editor has done what it was asked, with the proposal's text if it was to close.
    pub(crate) fn completed(&mut self, request: HostRequest, content: Option<String>) {
        match self.pending.remove(&request) {
            Some(Pending::Open(path)) => {
                let opening = self.open.get_mut(&path).and_then(|diff| diff.opening.take());
                if let Some((_, reply)) = opening {
                    answer(reply, CallToolResult::empty());
                }
            }
            Some(Pending::Close(_, reply)) => answer(reply, closed(content)),
            // The decision answers that call; until it comes, so can the deadline.
            Some(decide @ Pending::Decide(_)) => {
                self.pending.insert(request, decide);
            }
            None => {}
        }
    }

    /// The editor could not do what it was asked.
    pub(crate) fn failed(&mut self, request: HostRequest, message: &str) -> Vec<Effect> {
        self.give_up(request, message, Outcome::Failed)
    }

    /// The editor has not answered in time.
    pub(crate) fn expired(&mut self, request: HostRequest) -> Vec<Effect> {
        self.give_up(request, NO_ANSWER, Outcome::TimedOut)
    }

    fn give_up(&mut self, request: HostRequest, message: &str, outcome: Outcome) -> Vec<Effect> {
        let mut effects = Vec::new();
        match self.pending.remove(&request) {
            Some(Pending::Open(path)) => {
                let Some(mut diff) = self.open.remove(&path) else { return effects };
                if let Some((_, reply)) = diff.opening.take() {
                    answer(reply, CallToolResult::error(message));
                }
                self.end(diff, outcome, &mut effects);
                if outcome == Outcome::TimedOut {
                    // Should the view still open, nobody would be waiting for a decision.
                    let request = self.next_request();
                    effects.push(Effect::Ask(request, Ask::Close(path)));
                }
            }
            Some(Pending::Close(_, reply)) if outcome == Outcome::Failed => {
                answer(reply, closed(None));
            }
            Some(Pending::Close(_, reply)) => answer(reply, CallToolResult::error(message)),
            Some(Pending::Decide(path)) => {
                let deciding = self.open.get_mut(&path).map(|diff| &mut diff.deciding);
                for (_, _, reply) in
                    deciding.into_iter().flat_map(|all| all.extract_if(.., |of| of.0 == request))
                {
                    answer(reply, CallToolResult::error(message));
                }
            }
            None => {}
        }
        effects
    }

    /// A session has ended for good: its views are closed, there is nobody to hear of them.
    pub(crate) fn session_gone(&mut self, session: SessionId) -> Vec<Effect> {
        let mut effects = Vec::new();
        let gone: Vec<_> = self.open.extract_if(|_, diff| diff.asker == session).collect();
        for (path, diff) in gone {
            self.end(diff, Outcome::Closed, &mut effects);
            let request = self.next_request();
            effects.push(Effect::Ask(request, Ask::Close(path)));
        }
        effects
    }

    /// Rejects every open diff, answers every call, and takes no further diff.
    pub(crate) fn stop(&mut self) -> Vec<Effect> {
        self.stopped = true;
        let mut effects = Vec::new();
        for (path, diff) in std::mem::take(&mut self.open) {
            effects.push(Effect::Rejected(diff.asker, path));
            self.end(diff, Outcome::Rejected, &mut effects);
        }
        for (_, pending) in self.pending.drain() {
            if let Pending::Close(_, reply) = pending {
                answer(reply, closed(None));
            }
        }
        effects
    }

    /// The diffs that are open: who asked, and for which path.
    pub(crate) fn open_diffs(&self) -> impl Iterator<Item = (SessionId, &Arc<str>)> {
        self.open.iter().map(|(path, diff)| (diff.asker, path))
    }

    /// How many diffs are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// How many diffs the session has open.
    pub(crate) fn count(&self, session: SessionId) -> usize {
        self.open.values().filter(|diff| diff.asker == session).count()
    }

    /// Answers the calls that waited for `diff`, which is no longer in the ledger.
    fn end(&mut self, diff: Diff, outcome: Outcome, effects: &mut Vec<Effect>) {
        if let Some((request, reply)) = diff.opening {
            self.pending.remove(&request);
            answer(reply, CallToolResult::empty());
        }
        for (request, accept, reply) in diff.deciding {
            self.pending.remove(&request);
            answer(reply, decision(accept, outcome));
        }
        effects.push(Effect::Ended(diff.number, outcome));
    }

    fn closing(&self, path: &str) -> Option<HostRequest> {
        let closing = self.pending.iter().filter_map(|(request, pending)| match pending {
            Pending::Close(closing, _) if **closing == *path => Some(*request),
            _ => None,
        });
        closing.min()
    }

    fn ask(&mut self, pending: Pending) -> HostRequest {
        let request = self.next_request();
        self.pending.insert(request, pending);
        request
    }

    fn next_request(&mut self) -> HostRequest {
        self.last_request += 1;
        HostRequest(self.last_request)
    }
}

/// A caller that has gone needs no answer.
fn answer(reply: Reply, result: CallToolResult) {
    let _ = reply.send(result);
}

fn closed(content: Option<String>) -> CallToolResult {
    let mut text = json::buffer(content.as_ref().map_or(0, String::len));
    serde_json::to_writer(&mut text, &ClosedDiff { content }).expect("strings are JSON");
    CallToolResult::text(String::from_utf8(text).expect("JSON is UTF-8"))
}

fn decision(accept: bool, outcome: Outcome) -> CallToolResult {
    let text = match outcome {
        Outcome::Accepted => "The diff was accepted.",
        Outcome::Rejected => "The diff was rejected.",
        Outcome::Closed => "The diff was closed without a decision.",
        Outcome::Replaced => "The diff was replaced by a newer one for the same file.",
        Outcome::Failed | Outcome::TimedOut => "The editor could not open the diff.",
    };
    let wanted = if accept { Outcome::Accepted } else { Outcome::Rejected };
    if outcome == wanted { CallToolResult::text(text) } else { CallToolResult::error(text) }
}
