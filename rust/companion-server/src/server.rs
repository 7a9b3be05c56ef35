//! Provides the server to its host: starts it with listeners, takes editor events, stops it in order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::diffs::{Accepted, DiffId};
use companion_platform::{Platform, SuspendedMark, container_mark, is_absolute};
use companion_protocol::editor::{
    AcceptanceDelivery, AcceptedDiff, ChangedPath, Diagnosis, EditorNotification, EditorQuery,
    ReasonArrival, RejectedDiff, ResumedProposal, ResumedProposals, ShownProposal, ShownProposals,
    TerminalEnvironment, Withdrawn,
};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::jsonrpc::{ErrorObject, code};
use companion_protocol::profile::ClientProfile;
use companion_protocol::settings::{AllowedHost, Settings};
use companion_protocol::status::Status;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::runtime::Handle;

use crate::clock::now_ms;
use crate::config::Config;
use crate::discovery::{Discovery, texts, workspace_path};
use crate::disk::pool::BlockingPool;
use crate::hand_over;
use crate::hooks::{self, Hooks};
use crate::host::{Delivery, EditorHost};
use crate::http;
use crate::net::listen::{Listeners, UnavailableAddress};
use crate::parts::Parts;
use crate::resume::{Resume, Resumed, Token};
use crate::runtime::Runtime;
use crate::worktrees;

/// The longest wait of [`Server::stop`].
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A running server. Clones share it. It stops by [`Server::stop`], when its [`Runtime`] ends, or
/// when the last clone is dropped; a drop does not wait.
///
/// The editor may call all functions from any thread. They neither block nor do IO, except
/// [`Server::apply`] for folders, [`Server::answer`] for changes, and [`Server::stop`].
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Arc<Parts>,
    addresses: Vec<SocketAddr>,
    missing: Vec<UnavailableAddress>,
    token: Token,
    discovery: Discovery,
    runtime: Handle,
    /// `None` once the server has stopped.
    running: Mutex<Option<Running>>,
}

/// A server that has not stopped.
struct Running {
    /// The lock that shows the next process that this one is not ending.
    _lock: Option<File>,
}

impl Server {
    /// Starts a server as the settings say. If they ask for it, the server resumes the last one.
    ///
    /// If a discovery file could not be written, the server logs that. CLIs in the editor's terminals
    /// still find the server by their environment.
    ///
    /// # Errors
    /// If the server can't listen, or if a thread could not be started.
    pub fn open(
        runtime: &Runtime,
        mut config: Config,
        host: Arc<dyn EditorHost>,
    ) -> io::Result<Self> {
        let Settings { resume, port, listen, listen_or_fail, .. } = &config.settings;
        let last = if *resume { Resume::claim(runtime, None, &config) } else { None };
        let known_port = last.as_ref().and_then(Resume::port);
        let (listeners, last) = match last {
            Some(last) => last.bind(runtime, *port, listen),
            None => (Listeners::bind(*port, listen), None),
        };
        let listeners = listeners.map_err(|error| {
            io::Error::new(error.kind(), format!("can't listen on port {port}: {error}"))
        })?;
        if let Some(missing) = listeners.missing().first().filter(|_| *listen_or_fail) {
            return Err(io::Error::other(missing.reason.as_str()));
        }
        let addresses = listeners.addresses()?;
        let port = addresses[0].port();
        let named = addresses.iter().filter(|address| !address.ip().is_unspecified());
        config.settings.allowed_hosts.extend(named.copied().map(AllowedHost::from));
        let (sockets, missing) = listeners.into_parts();
        let handle = runtime.handle().clone();
        let sockets = {
            let _context = handle.enter();
            sockets.into_iter().map(on_runtime).collect::<io::Result<Vec<_>>>()?
        };
        let pool = Arc::new(BlockingPool::new(runtime.alive().clone())?);
        let (token, left, lock, saving, peers) = match last.map(|last| last.begin(port, &pool)) {
            Some(Resumed { token, left, running, saving, peers }) => {
                (token, Some(left), Some(running), Some(saving), Some(peers))
            }
            None => (Token::random(), None, None, None, None),
        };
        let workspace_path = workspace_path(Platform::CURRENT, &texts(&config.settings.workspace));

        let (parts, checks) =
            Parts::new(port, &token, config, host, left, pool, SuspendedMark::of(port));
        for socket in sockets {
            let http = &parts.http;
            let accept = http::accept(socket, Arc::clone(&http.endpoint), Arc::clone(http));
            parts.lifecycle.listening.spawn_on(accept, &handle);
        }
        parts.run(&handle, saving, checks);
        if let Some(peers) = peers {
            hand_over::follow_peers(&parts, &handle, peers);
        }

        let file = DiscoveryFile {
            port,
            workspace_path,
            worktrees: Vec::new(), // they follow
            auth_token: token.expose().to_owned(),
            ppid: None, // set for the clients that read it
            ide_info: parts.config.settings.ide_info(),
        };
        let dir = parts.config.discovery_dir.as_deref();
        let Settings { clients, ide_pid, worktrees, .. } = &parts.config.settings;
        let lost_port = known_port.filter(|known| *known != port);
        let discovery =
            Discovery::publish(runtime.alive(), clients, dir, *ide_pid, lost_port, &file);
        log_addresses(&addresses, &missing);
        if *worktrees {
            let (workspace, pool) = (Arc::clone(&parts.workspace), Arc::clone(&parts.pool));
            parts.until_stopped(&handle, worktrees::follow(workspace, pool, discovery.clone()));
        }
        let inner = Inner {
            parts,
            addresses,
            missing,
            token,
            discovery,
            runtime: handle,
            running: Mutex::new(Some(Running { _lock: lock })),
        };
        let inner = Arc::new(inner);
        inner.parts.hooks.clear_mark();
        inner.parts.hooks.report_pending_comments();
        Ok(Self { inner })
    }

    /// The port. The server listens on it at all its addresses.
    pub fn port(&self) -> u16 {
        self.inner.addresses[0].port()
    }

    /// The bearer token that every request must carry.
    pub fn token(&self) -> &str {
        self.inner.token.expose()
    }

    /// The clients that can find this server.
    pub fn clients(&self) -> &[&'static ClientProfile] {
        &self.inner.parts.config.settings.clients
    }

    /// The variables of a terminal, so that a CLI in it finds this server. Contains the token.
    ///
    /// If the server runs in a container, so does the terminal, and the CLI must not look for the
    /// server on the host.
    pub fn terminal_environment(&self) -> BTreeMap<&'static str, String> {
        let settings = &self.inner.parts.config.settings;
        // Without other worktrees: Gemini CLI lets its model read each folder of the variable.
        let roots = texts(&self.inner.parts.workspace.open());
        let workspace_path = workspace_path(Platform::CURRENT, &roots);
        let mut all = BTreeMap::new();
        for ClientProfile { variables, .. } in &settings.clients {
            all.insert(variables.port, self.port().to_string());
            all.insert(variables.workspace_path, workspace_path.clone());
            all.extend(variables.auth_token.map(|name| (name, self.token().to_owned())));
            all.extend(variables.pid.map(|name| (name, settings.ide_pid.to_string())));
            let stay_local = variables.stay_local.filter(|_| container_mark().is_some());
            all.extend(stay_local.map(|name| (name, "1".to_owned())));
            // The editor may have inherited a command that leads to another companion.
            let inherited = [variables.stdio_command, variables.stdio_args]
                .into_iter()
                .filter(|name| std::env::var_os(name).is_some());
            all.extend(inherited.map(|name| (name, String::new())));
        }
        all
    }

    /// The status of the server.
    pub fn status(&self) -> Status {
        let inner = &self.inner;
        Status {
            port: self.port(),
            listening: inner.addresses.clone(),
            not_listening: inner.missing.iter().map(|missing| missing.reason.clone()).collect(),
            discovery_files: inner.discovery.files(),
            clis: inner.parts.hooks.connected_clis(),
            open_diffs: inner.parts.driver.ask(|companion| companion.diffs().open_count()),
            private_files: inner.parts.context.private_files().reasons,
            tasks: inner.parts.lifecycle.tasks.len(),
        }
    }

    /// Applies a notification of the editor. Returns the delivery of a decision. Changed folders block
    /// for the disk, for up to 0.5 s.
    ///
    /// # Errors
    /// If a path is not absolute, or if the discovery file could not be written.
    pub fn apply(&self, notification: EditorNotification) -> Result<Option<Delivery>, ErrorObject> {
        use EditorNotification as Event;
        let Inner { parts, runtime, .. } = &*self.inner;
        let Parts { driver, context, hooks, .. } = &**parts;
        match notification {
            Event::Opened(file) => {
                let path = absolute(&file.path)?;
                context.update(|model| model.opened(path, now_ms()));
            }
            Event::Closed(file) => {
                let path = absolute(&file.path)?;
                context.update(|model| model.closed(path));
            }
            Event::Focused(file) => {
                let path = absolute(&file.path)?;
                context.update(|model| model.focused(path, now_ms()));
            }
            Event::Cursor(moved) => {
                let path = absolute(&moved.path)?;
                context.update(|model| model.cursor(path, moved.cursor));
            }
            Event::Selection(changed) => {
                let path = absolute(&changed.path)?;
                context.update(|model| model.selection(path, &changed.text));
            }
            Event::Renamed(renamed) => {
                let (from, to) = (absolute(&renamed.from)?, absolute(&renamed.to)?);
                context.update(|model| model.renamed(from, to));
            }
            Event::Deleted(file) => {
                let path = absolute(&file.path)?;
                context.update(|model| model.deleted(path));
            }
            Event::Trust(trust) => context.update(|model| model.trusted(trust.trusted)),
            Event::ShareContext(to) => context.update(|model| model.set_shared(to.share)),
            Event::Folders(folders) => {
                for path in &folders.paths {
                    absolute(path)?;
                }
                self.workspace_changed(&folders.paths).map_err(|error| {
                    let message = format!("Could not write the discovery file: {error}");
                    ErrorObject::new(code::INTERNAL_ERROR, message)
                })?;
            }
            Event::CommentSet(comment) => {
                absolute(&comment.path)?;
                drop(hooks.set_comment(runtime, comment));
            }
            Event::CommentRemoved(comment) => {
                driver.post(Input::CommentRemoved(&comment.id));
            }
            Event::ChangesReverted(paths) => hooks.changes_reverted(&paths),
            Event::RevertUndone(paths) => hooks.revert_undone(&paths),
            Event::ChangesKept(paths) => hooks.changes_kept(&paths),
            Event::Review(review) => hooks.review_changed(review.all),
            Event::Restarts(_) => driver.keep_proposals(),
            Event::DiffAccepted(diff) => return Ok(Some(self.accepted(diff))),
            Event::DiffRejected(RejectedDiff { file_path, reason }) => {
                let rejected = match reason.as_deref().map(str::trim) {
                    None | Some("") => Input::Rejected(&file_path),
                    Some(reason) => hooks::rejected_with_reason(&file_path, reason),
                };
                return Ok(Some(driver.post(rejected).delivery));
            }
        }
        Ok(None)
    }

    /// Answers a request of the editor with a result in JSON. Blocks for the disk if it is about kept texts:
    /// for up to 2 s, or 2 s for each 64 files of a plan. `diagnose` makes the result of `companion/diagnosis`.
    ///
    /// # Errors
    /// If the server does not know what the request names, or if the editor may not get it.
    pub fn answer(
        &self,
        query: EditorQuery,
        diagnose: impl FnOnce(&Self) -> Diagnosis,
    ) -> Result<String, ErrorObject> {
        match query {
            EditorQuery::Texts(change) => self.kept(&change, Hooks::changed_texts),
            EditorQuery::Hunks(change) => self.kept(&change, Hooks::changed_hunks),
            EditorQuery::RevertPlan(plan) => {
                let may_show = self.may_show(plan.files.iter().map(|file| &*file.path));
                Ok(json(&self.inner.parts.hooks.revert_plan(&plan, &may_show)))
            }
            EditorQuery::Status => Ok(json(&self.status())),
            EditorQuery::Environment => {
                Ok(json(&TerminalEnvironment { env: self.terminal_environment() }))
            }
            EditorQuery::Diagnosis => Ok(json(&diagnose(self))),
            EditorQuery::Accepted(diff) => {
                Ok(json(&AcceptanceDelivery { delivery: self.accepted(diff) }))
            }
            EditorQuery::Withdraw(diff) => {
                let reply = self.inner.parts.driver.post(Input::Withdraw(&diff.file_path));
                Ok(json(&Withdrawn { withdrawn: reply.is_withdrawn }))
            }
            EditorQuery::Resume(shown) => Ok(json(&self.resume(shown))),
        }
    }

    /// Returns what is kept of a change, unless its file is private by now.
    fn kept<T: Serialize>(
        &self,
        change: &ChangedPath,
        find: fn(&Hooks, &str, u64, &str) -> Option<T>,
    ) -> Result<String, ErrorObject> {
        let ChangedPath { session, prompt, path } = change;
        let invalid = |message| ErrorObject::new(code::INVALID_PARAMS, message);
        if self.may_show([&**path]) != [true] {
            return Err(invalid("Invalid params: the file is private, or may be"));
        }
        let kept = find(&self.inner.parts.hooks, session, *prompt, path);
        let kept = kept.ok_or_else(|| invalid("Invalid params: no text of this change is kept"))?;
        Ok(json(&kept))
    }

    /// Whether the editor may get the kept texts of these files. Blocks for the disk.
    fn may_show<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Vec<bool> {
        let paths: Vec<Arc<str>> = paths.into_iter().map(Arc::from).collect();
        let none = vec![false; paths.len()];
        let hooks = Arc::clone(&self.inner.parts.hooks);
        let (checked, answer) = mpsc::channel();
        self.inner.runtime.spawn(async move {
            let _ = checked.send(hooks.check_now(&paths).await);
        });
        // Without an answer the server has ended.
        answer.recv().unwrap_or(none)
    }

    fn accepted(&self, AcceptedDiff { file_path, content }: AcceptedDiff) -> Delivery {
        let driver = &self.inner.parts.driver;
        let accepted = Accepted { content: driver.hold(content) };
        driver.post(Input::Accepted(&file_path, accepted)).delivery
    }

    /// Takes up the proposals of the last server that the editor shows.
    fn resume(&self, shown: ShownProposals) -> ResumedProposals {
        let Parts { driver, sessions, context, .. } = &*self.inner.parts;
        let mut named = Vec::new();
        for ShownProposal { diff, new_content } in shown.proposals {
            let diff = DiffId::parse(&diff);
            named.extend(diff.map(|diff| (diff, new_content.into())));
        }
        let mut proposals = Vec::new();
        for resumed in driver.post(Input::Shown(&named)).resumed {
            let Some(session) = sessions.get(resumed.session) else { continue };
            let has_open = |of| driver.ask(|companion| companion.diffs().count(of) > 0);
            let is_shared = context.is_shared();
            proposals.push(ResumedProposal {
                diff: resumed.diff.to_string(),
                cli: sessions.number(&session, has_open),
                reason: if is_shared { resumed.reason } else { ReasonArrival::Never },
            });
        }
        ResumedProposals { proposals }
    }

    /// Replaces the roots of the workspace, all absolute.
    fn workspace_changed(&self, roots: &[String]) -> io::Result<()> {
        let open = roots.iter().map(PathBuf::from).collect();
        let worktrees = self.inner.parts.workspace.change(open);
        self.inner.discovery.set_workspace(roots, worktrees::for_clients(worktrees))
    }

    /// Stops the server, in the order of `shutdown.rs`. Blocks for up to 2 s. Does nothing if the
    /// server has stopped. Don't call it from within an [`EditorHost`].
    pub fn stop(&self) {
        let Inner { parts, discovery, runtime, running, .. } = &*self.inner;
        let mut running = running.lock();
        let Some(lock) = running.take() else { return };
        let (done, wait) = mpsc::sync_channel(1);
        let removal = discovery.remove();
        let parts = Arc::clone(parts);
        runtime.spawn(async move {
            drop(lock);
            parts.shut_down(Some(removal)).await;
            let _ = done.send(());
        });
        if wait.recv_timeout(STOP_TIMEOUT).is_err() {
            log::warn!("the server did not stop in time");
        }
    }
}

fn json(result: &impl Serialize) -> String {
    serde_json::to_string(result).expect("our results are JSON")
}

fn absolute(path: &str) -> Result<&str, ErrorObject> {
    let wrong = if path.contains('\0') {
        "Invalid params: a path must not contain a NUL character"
    } else if is_absolute(Platform::CURRENT, path) {
        return Ok(path);
    } else {
        "Invalid params: a path must be absolute"
    };
    Err(ErrorObject::new(code::INVALID_PARAMS, wrong))
}

fn on_runtime(socket: std::net::TcpListener) -> io::Result<tokio::net::TcpListener> {
    socket.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(socket)
}

/// Logs where the server listens, and where it does not.
fn log_addresses(addresses: &[SocketAddr], missing: &[UnavailableAddress]) {
    let list: Vec<_> = addresses.iter().map(SocketAddr::to_string).collect();
    log::info!("listening on {}", list.join(" and "));
    if addresses.iter().any(|address| address.ip().is_unspecified()) {
        log::warn!(
            "every machine that reaches this one can try to connect, and is asked the token"
        );
    }
    for UnavailableAddress { reason, .. } in missing {
        log::warn!("{reason}");
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(lock) = self.running.get_mut().take() {
            drop(lock);
            drop(self.discovery.remove());
            self.parts.shut_down_now();
        }
    }
}
