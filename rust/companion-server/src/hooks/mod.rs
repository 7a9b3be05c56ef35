//! Answers the hooks of CLIs: reasons of rejections, comments, problems after an edit, unsaved files.
//!
//! [`companion_core::conversation`] decides which CLI gets which note. This module carries out the
//! rest: it reads files, asks the editor, and saves the notes for the next process. No hook waits for
//! a person.

mod answers;
mod changes;
mod comments;
mod event;
mod expiry;
mod hiding;
mod killed;
mod mark;
mod note_delivery;
mod original;
mod output;
mod reader;
mod rejection;
#[cfg(test)]
mod tests;
mod texts;
mod turn_times;

use std::sync::Arc;

use companion_platform::SuspendedMark;
use companion_protocol::hook::HookSenders;
use companion_protocol::profile::ClientProfile;
use companion_protocol::status::ConnectedCli;
use parking_lot::Mutex;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diagnostics::SharedDiagnostics;
use crate::disk::pool::{BlockingPool, DiskQueue};
use crate::driver::Driver;
use crate::host::EditorHost;
use crate::lifecycle::Lifecycle;
use crate::net::json::Json;
use crate::session::{Client, Sessions};
use crate::workspace::Workspace;
pub(crate) use changes::ChangeTracker;
pub(crate) use event::HookRequest;
use mark::HookMark;
use reader::FileReader;
pub(crate) use rejection::rejected_with_reason;
use turn_times::TurnTimes;

/// The parts of the server that answers to hooks need.
pub(crate) struct HooksParts {
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) host: Arc<dyn EditorHost>,
    pub(crate) context: Arc<EditorContext>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) diagnostics: Arc<SharedDiagnostics>,
    pub(crate) pool: Arc<BlockingPool>,
    /// Set by hooks while this process is suspended.
    pub(crate) mark: Option<SuspendedMark>,
    pub(crate) lifecycle: Lifecycle,
}

/// The CLIs, as their hooks show them.
pub(crate) struct Hooks {
    pub(crate) mark: HookMark,
    pub(crate) changes: Arc<ChangeTracker>,
    reader: Arc<FileReader>,
    state: Mutex<HookState>,
    config: Arc<Config>,
    sessions: Arc<Sessions>,
    driver: Arc<Driver>,
    host: Arc<dyn EditorHost>,
    context: Arc<EditorContext>,
    workspace: Arc<Workspace>,
    diagnostics: Arc<SharedDiagnostics>,
    /// One process at a time is looked for.
    processes: DiskQueue,
    lifecycle: Lifecycle,
}

/// What the hooks have shown, and what the editor knows of it.
struct HookState {
    /// The user reviews each edit.
    review_all: bool,
    turns: TurnTimes,
    /// The clients whose events have arrived.
    senders: Vec<&'static ClientProfile>,
}

impl Hooks {
    pub(crate) fn new(parts: HooksParts) -> Self {
        let (workspace, pool) = (Arc::clone(&parts.workspace), Arc::clone(&parts.pool));
        let reader = Arc::new(FileReader::new(workspace, pool));
        let changes = Arc::new(ChangeTracker::new(&parts, Arc::clone(&reader)));
        let HooksParts {
            config,
            sessions,
            driver,
            host,
            context,
            workspace,
            diagnostics,
            pool,
            mark,
            lifecycle,
        } = parts;
        let state = HookState {
            review_all: config.settings.review_all,
            turns: TurnTimes::default(),
            senders: Vec::new(),
        };
        Self {
            mark: HookMark::new(mark, Arc::clone(&pool)),
            changes,
            reader,
            state: Mutex::new(state),
            config,
            sessions,
            driver,
            host,
            context,
            workspace,
            diagnostics,
            processes: DiskQueue::new(pool),
            lifecycle,
        }
    }

    pub(crate) fn review_changed(&self, all: bool) {
        self.state.lock().review_all = all;
    }

    fn note_sender(&self, client: &'static ClientProfile) {
        let senders = &mut self.state.lock().senders;
        if !senders.contains(&client) {
            senders.push(client);
        }
    }

    /// Lists the clients whose hooks have reached this server, as the body of a reply.
    pub(crate) fn hook_senders(&self) -> Json {
        let senders = &self.state.lock().senders;
        Json::new(&HookSenders { clients: senders.iter().map(|client| client.id.into()).collect() })
    }

    /// The connected clients, for the editor.
    pub(crate) fn connected_clis(&self) -> Vec<ConnectedCli> {
        let known = self.driver.ask(|companion| companion.clis().connections());
        let mut clis = Vec::new();
        self.sessions.for_each_connected(|session| {
            let Client { traits, name, version } = &session.client;
            clis.push(ConnectedCli {
                name: name.to_string(),
                version: version.to_string(),
                awaits_hook: traits.replays_edits && !known.contains(&session.id),
            });
        });
        clis.sort();
        clis
    }
}
