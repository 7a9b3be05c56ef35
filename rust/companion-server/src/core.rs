//! What the parts of one server share.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diffs::Diffs;
use crate::guard::Guard;
use crate::host::EditorHost;
use crate::monitor::Monitors;
use crate::session::{Full, Session, SessionId, Sessions};

pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) guard: Guard,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) monitors: Arc<Monitors>,
    pub(crate) diffs: Diffs,
    pub(crate) context: EditorContext,
    /// No new connections and requests; finish what has begun.
    pub(crate) stopping: CancellationToken,
    /// Drop what has not finished.
    pub(crate) aborting: CancellationToken,
    /// Connections and tool calls.
    pub(crate) tasks: TaskTracker,
}

impl Core {
    pub(crate) fn new(port: u16, token: &str, config: Config, host: Arc<dyn EditorHost>) -> Self {
        let limits = &config.limits;
        let sessions = Arc::new(Sessions::new(limits.clone(), Arc::clone(&host)));
        let monitors = Arc::new(Monitors::new(limits.monitors));
        Self {
            guard: Guard::new(port, token, &config.allowed_hosts),
            diffs: Diffs::new(Arc::clone(&sessions), Arc::clone(&monitors), host, limits.clone()),
            context: EditorContext::new(config.trusted),
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
        let (session, gone) = self.sessions.create()?;
        for id in gone {
            self.diffs.session_gone(id);
        }
        Ok(session)
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

    /// Keeps quiet streams alive and ends abandoned sessions, until the server stops.
    pub(crate) async fn keep_house(self: Arc<Self>) {
        let interval = self.config.limits.keep_alive;
        while self.stopping.run_until_cancelled(tokio::time::sleep(interval)).await.is_some() {
            self.sessions.keep_alive();
            self.monitors.keep_alive();
            for id in self.sessions.expire(interval) {
                log::debug!("a client did not come back");
                self.diffs.session_gone(id);
            }
        }
    }
}
