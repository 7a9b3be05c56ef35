//! What the parts of one server share.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diffs::Diffs;
use crate::guard::Guard;
use crate::host::EditorHost;
use crate::monitor::{MonitorStream, Monitors};
use crate::resume::{Answer, Identity, Journal};
use crate::session::{Full, Session, SessionId, Sessions};
use crate::workspace::Workspace;

pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) guard: Guard,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) monitors: Arc<Monitors>,
    pub(crate) diffs: Diffs,
    pub(crate) context: EditorContext,
    pub(crate) workspace: Workspace,
    /// For a server that can be resumed.
    pub(crate) journal: Option<Arc<Journal>>,
    /// There is a session or a monitor, to keep house for.
    inhabited: Notify,
    /// No new connections and requests; finish what has begun.
    pub(crate) stopping: CancellationToken,
    /// Drop what has not finished.
    pub(crate) aborting: CancellationToken,
    /// Connections and tool calls.
    pub(crate) tasks: TaskTracker,
}

impl Core {
    /// With an identity, it is a server that can be resumed.
    pub(crate) fn new(
        port: u16,
        token: &str,
        config: Config,
        host: Arc<dyn EditorHost>,
        identity: Option<Identity>,
    ) -> Self {
        let limits = &config.limits;
        let journal = identity.is_some().then(|| Arc::new(Journal::new()));
        let sessions = Arc::new(Sessions::new(limits.clone(), Arc::clone(&host), identity));
        let monitors = Arc::new(Monitors::new(limits.monitors));
        Self {
            guard: Guard::new(port, token, &config.allowed_hosts),
            diffs: Diffs::new(
                Arc::clone(&sessions),
                Arc::clone(&monitors),
                host,
                limits.clone(),
                journal.clone(),
            ),
            context: EditorContext::new(config.trusted),
            workspace: Workspace::new(config.workspace.clone()),
            journal,
            inhabited: Notify::new(),
            sessions,
            monitors,
            stopping: CancellationToken::new(),
            aborting: CancellationToken::new(),
            tasks: TaskTracker::new(),
            config,
        }
    }

    /// A session for a new client; the oldest idle ones may have to go for it.
    pub(crate) fn create_session(&self) -> Result<Arc<Session>, Full> {
        self.session_with(self.sessions.new_id(), false)
    }

    /// The session of that id. One that an earlier process has given out is made anew, without
    /// a handshake: its client need not know.
    pub(crate) fn session(&self, id: SessionId) -> Result<Option<Arc<Session>>, Full> {
        match self.sessions.get(id) {
            None if self.sessions.recognises(id) => self.session_with(id, true).map(Some),
            session => Ok(session),
        }
    }

    fn session_with(&self, id: SessionId, returning: bool) -> Result<Arc<Session>, Full> {
        let (session, gone) = self.sessions.create(id, returning)?;
        for id in gone {
            self.diffs.session_gone(id);
        }
        self.inhabited.notify_one();
        Ok(session)
    }

    /// Has clients told what an earlier process has left unsaid, when they come.
    pub(crate) fn restore(&self, answers: Vec<Answer>) {
        for answer in answers {
            if self.session(answer.session.into()).is_ok() {
                self.diffs.restore(answer);
            }
        }
    }

    /// Ends a session and all that it has open.
    pub(crate) fn end_session(&self, id: SessionId) {
        self.sessions.remove(id);
        self.diffs.session_gone(id);
    }

    /// Sends contexts as the editor's state changes, until the server stops.
    pub(crate) async fn publish_context(self: Arc<Self>) {
        let publishing = self.context.publish(&self.sessions, &self.monitors);
        self.stopping.run_until_cancelled(publishing).await;
    }

    /// A stream of all notifications; nothing if there are too many.
    pub(crate) fn open_monitor(&self) -> Option<MonitorStream> {
        self.inhabited.notify_one();
        self.monitors.open(self.context.event())
    }

    /// Keeps quiet streams alive and ends abandoned sessions, until the server stops. Without
    /// any it sleeps: an idle editor should let the processor sleep, too.
    pub(crate) async fn keep_house(self: Arc<Self>) {
        let interval = self.config.limits.keep_alive;
        let keeping = async {
            loop {
                if self.sessions.is_empty() && self.monitors.is_empty() {
                    self.inhabited.notified().await;
                }
                tokio::time::sleep(interval).await;
                self.monitors.keep_alive();
                for id in self.sessions.expire(interval) {
                    log::debug!("a client did not come back");
                    self.diffs.session_gone(id);
                }
                self.sessions.keep_alive().wake().await;
            }
        };
        self.stopping.run_until_cancelled(keeping).await;
    }
}
