//! Diffs: carries out what the [`ledger`] decides, towards the editor and the clients.
//!
//! What goes to a client is queued under the ledger's lock, so that a decision can't overtake
//! the next `openDiff` for the same path. The editor is asked without the lock, because it may
//! answer from within the call; all requests to it arise on the server's one thread, so they
//! keep their order.

mod ledger;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use companion_protocol::ide::{self, events};
use companion_protocol::mcp::CallToolResult;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::config::Limits;
use crate::host::{Decision, EditorHost, HostRequest};
use crate::monitor::Monitors;
use crate::resume::{Answer, Journal, Waiting};
use crate::session::{Session, SessionId, Sessions};
use crate::sse;
use ledger::{Ask, Effect, Ledger};

pub(crate) struct Diffs {
    ledger: Mutex<Ledger>,
    sessions: Arc<Sessions>,
    monitors: Arc<Monitors>,
    host: Arc<dyn EditorHost>,
    limits: Limits,
    /// For a server that can be resumed.
    journal: Option<Arc<Journal>>,
}

impl Diffs {
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        monitors: Arc<Monitors>,
        host: Arc<dyn EditorHost>,
        limits: Limits,
        journal: Option<Arc<Journal>>,
    ) -> Self {
        Self { ledger: Mutex::default(), sessions, monitors, host, limits, journal }
    }

    /// `openDiff`
    pub(crate) async fn open(
        &self,
        asker: &Session,
        path: String,
        new_content: String,
    ) -> CallToolResult {
        let (waiting, bytes) = asker.mailbox.backlog();
        let count = waiting + self.ledger.lock().count(asker.id);
        if count >= self.limits.diffs_per_session || bytes >= self.limits.queued_bytes {
            return CallToolResult::error(
                "Too many diffs are open, or decided and not yet read from the event stream.",
            );
        }
        let path = Arc::from(path);
        let mut change = None;
        let step = |ledger: &mut Ledger, reply| {
            change = self.journal.as_ref().map(|journal| journal.changed());
            ledger.open(asker.id, &path, new_content, reply)
        };
        let answered = self.call(step).await;
        // Before the client may take it for open: should this process end now, the next one
        // must know whom to tell of it, and that no earlier decision for the path is due.
        if let (Some(journal), Some(change)) = (&self.journal, change) {
            journal.saved(change).await;
        }
        answered
    }

    /// `closeDiff`
    pub(crate) async fn close(
        &self,
        caller: SessionId,
        path: String,
        suppress: bool,
    ) -> CallToolResult {
        let path = Arc::from(path);
        self.call(|ledger, reply| ledger.close(caller, &path, suppress, reply)).await
    }

    /// `acceptDiff` and `rejectDiff`
    pub(crate) async fn decide(&self, path: String, accept: bool) -> CallToolResult {
        let path = Arc::from(path);
        self.call(|ledger, reply| ledger.decide(&path, accept, reply)).await
    }

    /// Takes a step that leads to a request to the editor, and waits for the call's answer.
    async fn call(
        &self,
        step: impl FnOnce(&mut Ledger, ledger::Reply) -> Vec<Effect>,
    ) -> CallToolResult {
        let (reply, mut answer) = oneshot::channel();
        let asked = self.step(|ledger| step(ledger, reply)).asked;
        let answered = match timeout(self.limits.host_timeout, &mut answer).await {
            Ok(answered) => answered,
            Err(_elapsed) => {
                log::warn!("the editor did not answer request {asked:?}");
                if let Some(request) = asked {
                    self.step(|ledger| ledger.expired(request));
                }
                answer.await
            }
        };
        answered.unwrap_or_else(|_| CallToolResult::error("The call was given up."))
    }

    /// The user has decided.
    pub(crate) fn decided(&self, path: &str, accepted: Option<String>) -> Decision {
        self.step(|ledger| ledger.decided(path, accepted)).decision
    }

    /// The editor has done what it was asked.
    pub(crate) fn completed(&self, request: HostRequest, content: Option<String>) {
        self.ledger.lock().completed(request, content);
    }

    /// The editor could not do what it was asked.
    pub(crate) fn failed(&self, request: HostRequest, message: &str) {
        self.step(|ledger| ledger.failed(request, message));
    }

    /// A session has ended for good.
    pub(crate) fn session_gone(&self, session: SessionId) {
        self.step(|ledger| ledger.session_gone(session));
    }

    /// Rejects what is open and takes nothing more.
    pub(crate) fn stop(&self) {
        self.step(Ledger::stop);
    }

    /// Whether a client waits for a decision and has no stream on which to hear of it.
    pub(crate) fn wants_stream(&self, session: &Session) -> bool {
        session.is_returning()
            && (session.mailbox.backlog().0 > 0 || self.ledger.lock().count(session.id) > 0)
    }

    /// What clients wait for.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        // Decisions are sent under this lock.
        let ledger = self.ledger.lock();
        let decisions = self.sessions.decisions().into_iter();
        let decided = decisions.map(|(session, path, message)| Waiting {
            session,
            path,
            decision: Some(message),
        });
        let open = ledger.open_diffs().map(|(session, path)| Waiting {
            session,
            path: Arc::clone(path),
            decision: None,
        });
        decided.chain(open).collect()
    }

    /// Queues what an earlier process has left unsaid.
    pub(crate) fn restore(&self, answer: Answer) {
        let (session, path) = (answer.session.into(), Arc::from(answer.path));
        match answer.content {
            Some(content) => self.send_accepted(session, path, &content),
            None => self.send_rejected(session, path),
        };
    }

    pub(crate) fn open_count(&self) -> usize {
        self.ledger.lock().len()
    }

    fn step(&self, step: impl FnOnce(&mut Ledger) -> Vec<Effect>) -> Step {
        let mut asks = Vec::new();
        let mut decision = Decision::Unknown;
        {
            let mut ledger = self.ledger.lock();
            for effect in step(&mut ledger) {
                match effect {
                    Effect::Forget(session, path) => {
                        if let Some(session) = self.sessions.get(session) {
                            session.mailbox.forget(&path);
                        }
                    }
                    Effect::Accepted(session, path, content) => {
                        decision = self.send_accepted(session, path, &content);
                    }
                    Effect::Rejected(session, path) => {
                        decision = self.send_rejected(session, path);
                    }
                    Effect::Ask(request, ask) => asks.push((request, ask)),
                    Effect::Ended(diff, outcome) => {
                        if let Some(journal) = &self.journal {
                            journal.changed();
                        }
                        log::debug!("diff {diff} ended: {outcome:?}");
                    }
                }
            }
        }
        let asked = asks.last().map(|(request, _)| *request);
        for (request, ask) in asks {
            match ask {
                Ask::Open(path, content) => self.host.open_diff(request, &path, content),
                Ask::Close(path) => self.host.close_diff(request, &path),
                Ask::Accept(path) => self.host.accept_diff(request, &path),
                Ask::Reject(path) => self.host.reject_diff(request, &path),
            }
        }
        Step { asked, decision }
    }

    fn send_accepted(&self, session: SessionId, path: Arc<str>, content: &str) -> Decision {
        self.monitors.publish(|| sse::data(&events::diff_accepted(&path, content), content.len()));
        let message = sse::data(&ide::diff_accepted(&path, content), content.len());
        self.send(session, path, message)
    }

    fn send_rejected(&self, session: SessionId, path: Arc<str>) -> Decision {
        self.monitors.publish(|| sse::data(&events::diff_rejected(&path), 0));
        let message = sse::data(&ide::diff_rejected(&path), 0);
        self.send(session, path, message)
    }

    fn send(&self, session: SessionId, path: Arc<str>, message: bytes::Bytes) -> Decision {
        match self.sessions.get(session) {
            Some(session) if session.mailbox.push_decision(path, message) => Decision::Delivered,
            Some(_) => Decision::Queued,
            None => Decision::Unknown,
        }
    }
}

/// What came of a step.
struct Step {
    /// The request that the editor was sent.
    asked: Option<HostRequest>,
    /// What became of the decision that was sent to a client.
    decision: Decision,
}
