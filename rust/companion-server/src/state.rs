//! Shares the parts of one server between its modules.

use std::fs::File;
use std::sync::Arc;

use companion_core::companion::Input;
use companion_core::record::Left;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::Agents;
use crate::config::{Config, Limits};
use crate::context::{ContextModel, EditorContext};
use crate::diagnostics::EditorDiagnostics;
use crate::disk::pool::BlockingPool;
use crate::driver::Driver;
use crate::host::EditorHost;
use crate::journal::Journal;
use crate::monitor::{MonitorStream, Monitors};
use crate::net::bodies::BodyBudget;
use crate::net::guard::Guard;
use crate::net::slots::UnauthenticatedSlots;
use crate::resume::Token;
use crate::session::{ClientTraits, Full, Session, SessionId, Sessions};
use crate::workspace::Workspace;
use crate::workspace::probe::TargetProbe;

pub(crate) struct ServerState {
    pub(crate) config: Config,
    pub(crate) guard: Guard,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) monitors: Arc<Monitors>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) host: Arc<dyn EditorHost>,
    pub(crate) agents: Agents,
    pub(crate) context: EditorContext,
    pub(crate) diagnostics: EditorDiagnostics,
    pub(crate) workspace: Workspace,
    pub(crate) probe: Arc<TargetProbe>,
    pub(crate) pool: Arc<BlockingPool>,
    pub(crate) slots: UnauthenticatedSlots,
    pub(crate) bodies: BodyBudget,
    /// Present if the server can be resumed.
    pub(crate) journal: Option<Arc<Journal>>,
    /// The lock that shows the next process that this one is not ending.
    running: Mutex<Option<File>>,
    /// Notified when a session or monitor is created, so that maintenance resumes.
    inhabited: Notify,
    /// Stop accepting connections and requests, but finish the current ones.
    pub(crate) stopping: CancellationToken,
    /// Drop everything that has not finished.
    pub(crate) aborting: CancellationToken,
    /// The tasks of the listeners.
    pub(crate) listening: TaskTracker,
    /// The tasks of the connections.
    pub(crate) tasks: TaskTracker,
}

impl ServerState {
    /// The server can be resumed if `last` has the state of the last process and the lock of this
    /// one.
    pub(crate) fn new(
        port: u16,
        token: &Token,
        config: Config,
        host: Arc<dyn EditorHost>,
        last: Option<(Left, File)>,
        pool: Arc<BlockingPool>,
    ) -> Self {
        let limits = &config.limits;
        let (left, running) = last.unzip();
        let journal = left.is_some().then(|| Arc::new(Journal::new()));
        let left = left.unwrap_or_default();
        let agents = Agents::new(config.settings.review_all);
        let sessions = left.sessions.iter().map(|(id, client)| (*id, *client));
        let sessions = Arc::new(Sessions::new(limits.clone(), Arc::clone(&host), sessions));
        let monitors = Arc::new(Monitors::new(limits.monitors));
        let diagnostics = EditorDiagnostics::new(Arc::clone(&host));
        let model = ContextModel::new(config.settings.trusted, config.settings.silent);
        let context = EditorContext::new(model, Arc::clone(&host));
        let workspace = Workspace::new(config.settings.workspace.clone(), Arc::clone(&pool));
        let probe = TargetProbe::new(Arc::clone(workspace.privacy()), Arc::clone(&pool));
        let driver = Driver::new(
            Arc::clone(&sessions),
            Arc::clone(&monitors),
            Arc::clone(&host),
            limits,
            journal.clone(),
            left,
        );
        Self {
            guard: Guard::new(port, token.expose(), &config.settings.allowed_hosts),
            host,
            agents,
            context,
            workspace,
            probe: Arc::new(probe),
            pool,
            slots: UnauthenticatedSlots::default(),
            bodies: BodyBudget::new(limits),
            inhabited: Notify::new(),
            stopping: CancellationToken::new(),
            aborting: CancellationToken::new(),
            listening: TaskTracker::new(),
            tasks: TaskTracker::new(),
            journal,
            running: Mutex::new(running),
            diagnostics,
            sessions,
            monitors,
            driver,
            config,
        }
    }

    /// Releases the lock, which shows the next process that this one is ending.
    pub(crate) fn release_lock(&self) {
        *self.running.lock() = None;
    }

    /// Creates a session for a new client. May evict the oldest idle sessions.
    pub(crate) fn create_session(&self, client: ClientTraits) -> Result<Arc<Session>, Full> {
        let waits = |session| self.driver.ask(|companion| companion.diffs().is_awaited_by(session));
        let (session, gone) = self.sessions.create(client, waits)?;
        for id in gone {
            self.forget(id);
        }
        self.driver.handle(Input::Connected(session.id, client));
        self.inhabited.notify_one();
        Ok(session)
    }

    /// Ends a session and its diffs.
    pub(crate) fn end_session(&self, id: SessionId) {
        self.sessions.remove(id);
        self.forget(id);
    }

    fn forget(&self, id: SessionId) {
        self.driver.handle(Input::Gone(id));
    }

    /// Sends contexts when the editor's state changes, until the server stops.
    pub(crate) async fn publish_context(self: Arc<Self>) {
        let (privacy, pool) = (self.workspace.privacy(), &self.pool);
        let publishing = self.context.publish(privacy, pool, &self.sessions, &self.monitors);
        self.stopping.run_until_cancelled(publishing).await;
    }

    /// Opens a stream of all notifications; `None` if there are too many.
    pub(crate) fn open_monitor(&self) -> Option<MonitorStream> {
        self.inhabited.notify_one();
        self.monitors.open(self.context.event())
    }

    /// Sends keep-alives on quiet streams and ends abandoned sessions, until the server stops.
    /// Without sessions and monitors it sleeps, so that the processor can sleep, too.
    pub(crate) async fn run_maintenance(self: Arc<Self>) {
        let Limits { keep_alive, retry, .. } = self.config.limits;
        // The next process can resume this one for twice `retry` after its last record.
        let interval = if self.journal.is_some() { keep_alive.min(retry) } else { keep_alive };
        let keeping = async {
            loop {
                if self.sessions.is_empty() && self.monitors.is_empty() {
                    self.inhabited.notified().await;
                }
                let keep_alive = Instant::now() + interval;
                loop {
                    let absence = self.sessions.next_absence().unwrap_or(keep_alive);
                    let next = absence.min(keep_alive);
                    sleep_until(next).await;
                    self.end_absent();
                    if next == keep_alive {
                        break;
                    }
                }
                self.driver.handle(Input::Time);
                self.monitors.keep_alive();
                self.sessions.keep_alive().wake().await;
                if let Some(journal) = &self.journal {
                    journal.alive();
                }
            }
        };
        self.stopping.run_until_cancelled(keeping).await;
    }

    /// Runs the driver until the server has stopped. It also runs during the stop, so that no call
    /// waits for a text without end.
    pub(crate) async fn drive(self: Arc<Self>) {
        self.aborting.run_until_cancelled(self.driver.run()).await;
    }

    fn end_absent(&self) {
        let absent = self.sessions.absent();
        for id in absent.away {
            log::debug!("a client did not come back");
            self.driver.handle(Input::Away(id));
        }
        for id in absent.gone {
            self.forget(id);
        }
    }
}
