//! Answers the hooks of CLIs: reasons of rejections, comments, problems after an edit, unsaved files.
//!
//! [`companion_core::conversation`] decides which CLI gets which note. This module carries out the
//! rest: it reads files, asks the editor, and saves the notes for the next process. No hook waits for
//! a person.

mod answers;
mod changes;
mod comments;
mod event;
mod note_delivery;
mod original;
mod output;
mod questions;
mod rejection;
#[cfg(test)]
mod tests;
mod texts;
mod turn_times;
mod upkeep;

use std::sync::Arc;

use companion_platform::SuspendedMark;
use companion_protocol::hook::HookSenders;
use companion_protocol::profile::{ClientProfile, shown_name};
use companion_protocol::status::ConnectedCli;
use parking_lot::Mutex;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diagnostics::SharedDiagnostics;
use crate::disk::pool::DiskQueue;
use crate::driver::Driver;
use crate::host::EditorHost;
use crate::lifecycle::Lifecycle;
use crate::net::json::Json;
use crate::session::{Client, Sessions};
use crate::workspace::Workspace;
use changes::CliChanges;
pub(crate) use event::HookRequest;
pub(crate) use rejection::rejected_with_reason;
use turn_times::TurnTimes;

/// The CLIs, as their hooks show them.
pub(crate) struct Hooks {
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) host: Arc<dyn EditorHost>,
    pub(crate) context: Arc<EditorContext>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) diagnostics: Arc<SharedDiagnostics>,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) state: Mutex<HookState>,
    /// Set by hooks while this process is suspended. `None` if hooks can set none.
    pub(crate) mark: Option<SuspendedMark>,
    /// One mark at a time is cleared.
    pub(crate) marking: DiskQueue,
    /// One file at a time is read.
    pub(crate) reading: DiskQueue,
    /// The lines of one prompt at a time are counted.
    pub(crate) counting: DiskQueue,
    /// One list at a time is made, because it copies all texts.
    pub(crate) listing: DiskQueue,
    /// One process at a time is looked for.
    pub(crate) processes: DiskQueue,
}

/// What the hooks and the editor have shown.
#[derive(Default)]
pub(crate) struct HookState {
    /// The user reviews each edit.
    review_all: bool,
    turns: TurnTimes,
    changes: CliChanges,
    /// The clients whose events have arrived.
    senders: Vec<&'static ClientProfile>,
}

impl HookState {
    pub(crate) fn new(review_all: bool) -> Self {
        Self { review_all, ..Self::default() }
    }
}

impl Hooks {
    /// Shows hooks that this process is not suspended any more.
    pub(crate) fn clear_mark(&self) {
        if let Some(mark) = self.mark.clone()
            && let Some(turn) = self.marking.try_turn()
        {
            turn.run(move || mark.clear());
        }
    }

    pub(crate) fn review_changed(&self, all: bool) {
        self.state.lock().review_all = all;
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
            let (name, version) = shown_name(name, version);
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
