//! Builds the parts of a server, each from those that it needs, and runs their tasks.

use std::sync::Arc;

use companion_core::companion::DiskCheck;
use companion_core::record::Left;
use companion_platform::SuspendedMark;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;

use crate::clients::Clients;
use crate::config::Config;
use crate::context::{ContextModel, EditorContext, FileScan};
use crate::diagnostics::SharedDiagnostics;
use crate::disk::pool::{BlockingPool, DiskQueue};
use crate::driver::Driver;
use crate::hooks::{HookState, Hooks};
use crate::host::EditorHost;
use crate::http::HttpServer;
use crate::lifecycle::Lifecycle;
use crate::mcp::dispatch::Dispatcher;
use crate::mcp::tools::Tools;
use crate::monitor::Monitors;
use crate::net::bodies::BodyBudget;
use crate::net::guard::Endpoint;
use crate::net::slots::UnauthenticatedSlots;
use crate::resume::{self, Saving, Token};
use crate::session::Sessions;
use crate::workspace::Workspace;
use crate::workspace::probe::TargetProbe;

/// The parts of a server, for its start, its end and its editor. The other modules take single parts.
pub(crate) struct Parts {
    pub(crate) config: Arc<Config>,
    pub(crate) pool: Arc<BlockingPool>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) monitors: Arc<Monitors>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) context: Arc<EditorContext>,
    pub(crate) clients: Arc<Clients>,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) http: Arc<HttpServer>,
    pub(crate) lifecycle: Lifecycle,
}

impl Parts {
    /// The server can be resumed if `left` is the state of the last process. Hooks set `mark` while
    /// this process is suspended. Returns the checks of the disk for [`Self::run`], too.
    pub(crate) fn new(
        port: u16,
        token: &Token,
        config: Config,
        host: Arc<dyn EditorHost>,
        left: Option<Left>,
        pool: Arc<BlockingPool>,
        mark: Option<SuspendedMark>,
    ) -> (Arc<Self>, UnboundedReceiver<DiskCheck>) {
        let config = Arc::new(config);
        let (settings, limits) = (&config.settings, &config.limits);
        let lifecycle = Lifecycle::default();

        let workspace = Workspace::new(
            settings.workspace.clone(),
            settings.git_ignored_private,
            settings.worktrees,
            Arc::clone(&pool),
        );
        let probe = TargetProbe::new(Arc::clone(workspace.privacy()), Arc::clone(&pool));
        let workspace = Arc::new(workspace);
        let is_resumable = left.is_some();
        let known = left.as_ref().map(|left| left.sessions.clone()).unwrap_or_default();
        let sessions = Arc::new(Sessions::new(limits.clone(), Arc::clone(&host), known));
        let monitors = Arc::new(Monitors::default());
        let (driver, checks) = Driver::new(
            Arc::clone(&sessions),
            Arc::clone(&monitors),
            Arc::clone(&host),
            &config,
            left,
        );
        let model = ContextModel::new(settings.trusted, settings.share_context);
        let context = Arc::new(EditorContext::new(model, Arc::clone(&host)));
        let diagnostics = Arc::new(SharedDiagnostics::new(
            Arc::clone(&host),
            Arc::clone(&context),
            Arc::clone(&workspace),
            limits.diagnostics_timeout,
        ));
        let clients = Arc::new(Clients::new(
            Arc::clone(&sessions),
            Arc::clone(&monitors),
            Arc::clone(&driver),
            limits,
            is_resumable,
        ));
        let queue = || DiskQueue::new(Arc::clone(&pool));
        let hook_state = Mutex::new(HookState::new(settings.review_all));
        let hooks = Arc::new(Hooks {
            config: Arc::clone(&config),
            sessions: Arc::clone(&sessions),
            driver: Arc::clone(&driver),
            host,
            context: Arc::clone(&context),
            workspace: Arc::clone(&workspace),
            diagnostics: Arc::clone(&diagnostics),
            lifecycle: lifecycle.clone(),
            state: hook_state,
            mark,
            marking: queue(),
            reading: queue(),
            counting: queue(),
            listing: queue(),
            processes: queue(),
        });
        let tools = Tools {
            config: Arc::clone(&config),
            sessions: Arc::clone(&sessions),
            driver: Arc::clone(&driver),
            workspace: Arc::clone(&workspace),
            probe: Arc::new(probe),
            diagnostics,
            context: Arc::clone(&context),
        };
        let (token, hosts) = (token.expose(), &settings.allowed_hosts);
        let endpoint = Endpoint::new(port, token, hosts, &lifecycle.stopping);
        let http = Arc::new(HttpServer {
            config: Arc::clone(&config),
            endpoint: Arc::new(endpoint),
            slots: UnauthenticatedSlots::default(),
            bodies: BodyBudget::new(limits),
            lifecycle: lifecycle.clone(),
            clients: Arc::clone(&clients),
            driver: Arc::clone(&driver),
            dispatcher: Dispatcher { tools, clients: Arc::clone(&clients) },
            context: Arc::clone(&context),
            hooks: Arc::clone(&hooks),
        });
        let parts = Self {
            config,
            pool,
            workspace,
            sessions,
            monitors,
            driver,
            context,
            clients,
            hooks,
            http,
            lifecycle,
        };
        (Arc::new(parts), checks)
    }

    /// Runs the tasks of the parts until the server stops. `saving` is the resume file.
    pub(crate) fn run(
        self: &Arc<Self>,
        runtime: &Handle,
        saving: Option<JoinHandle<Saving>>,
        checks: UnboundedReceiver<DiskCheck>,
    ) {
        if let Some(saving) = saving {
            let (driver, pool) = (Arc::clone(&self.driver), Arc::clone(&self.pool));
            runtime.spawn(resume::keep(driver, pool, saving));
        }
        let parts = Arc::clone(self);
        self.until_stopped(runtime, async move {
            let Self { context, workspace, pool, sessions, monitors, .. } = &*parts;
            let disk = FileScan::new(Arc::clone(workspace.privacy()));
            context.publish(disk, pool, sessions, monitors).await;
        });
        let clients = Arc::clone(&self.clients);
        self.until_stopped(runtime, async move { clients.maintain().await });
        self.until_stopped(runtime, Arc::clone(&self.hooks).expire_notes());
        self.until_stopped(runtime, Arc::clone(&self.hooks).follow_private_files());
        // These also run during the stop, so that no call waits for a text without end.
        let driver = Arc::clone(&self.driver);
        self.until_aborted(runtime, async move { driver.run().await });
        self.until_aborted(runtime, Arc::clone(&self.hooks).check_disk(checks));
    }

    /// Runs a task until the server begins to stop.
    pub(crate) fn until_stopped(
        &self,
        runtime: &Handle,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let stopping = self.lifecycle.stopping.clone();
        runtime.spawn(async move { stopping.run_until_cancelled(task).await });
    }

    fn until_aborted(&self, runtime: &Handle, task: impl Future<Output = ()> + Send + 'static) {
        let aborting = self.lifecycle.aborting.clone();
        runtime.spawn(async move { aborting.run_until_cancelled(task).await });
    }
}
