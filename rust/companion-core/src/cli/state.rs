//! The state of one CLI: its sessions, process, connection and edits.

use std::sync::Arc;

use super::{Caller, CliSessionId, Connected, Edit};
use crate::session::SessionId;

/// The most earlier sessions of one CLI that are kept.
const MAX_EARLIER: usize = 16;

/// The most edits of one CLI that are kept. An edit that the user has cancelled has no end.
const MAX_EDITS: usize = 64;

/// A CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Cli {
    /// Its present session.
    pub(crate) session: CliSessionId,
    /// Its sessions before.
    pub(crate) earlier: Vec<CliSessionId>,
    pub(crate) process: Option<Arc<str>>,
    pub(super) connection: Option<SessionId>,
    /// As the last hook has seen it.
    pub(super) connected: Connected,
    /// The edits that have begun and not ended.
    pub(crate) edits: Vec<Edit>,
    /// The present session has ended.
    pub(super) has_ended: bool,
}

impl Cli {
    pub(crate) fn has_session(&self, session: &str) -> bool {
        *self.session == *session || self.earlier.iter().any(|of| **of == *session)
    }

    /// Its sessions, the present one last.
    pub(crate) fn sessions(&self) -> Vec<CliSessionId> {
        let mut sessions = self.earlier.clone();
        sessions.push(Arc::clone(&self.session));
        sessions
    }

    pub(super) fn begin(&mut self, edit: Edit) {
        if self.edits.len() == MAX_EDITS {
            let unopened = self.edits.iter().position(|other| !other.is_open());
            self.edits.remove(unopened.unwrap_or(0));
        }
        self.edits.push(edit);
    }

    /// Goes on with another session.
    fn switch_to(&mut self, session: CliSessionId) {
        self.earlier.retain(|of| *of != session);
        if self.session != session {
            if self.earlier.len() == MAX_EARLIER {
                self.earlier.remove(0);
            }
            self.earlier.push(std::mem::replace(&mut self.session, session));
        }
        self.has_ended = false;
    }

    /// Takes the names that a hook of the CLI gives it.
    pub(super) fn take_names(&mut self, caller: &Caller<'_>) {
        self.switch_to(caller.session.into());
        if let Some(process) = caller.process
            && self.process.as_deref() != Some(process)
        {
            // A new process goes on with the session, over a connection of its own.
            if self.process.is_some() {
                self.connection = None;
            }
            self.process = Some(process.into());
        }
        self.connected.clone_from(&caller.connected);
    }

    /// Whether its process is known not to have this connection.
    pub(super) fn rules_out(&self, session: SessionId) -> bool {
        match &self.connected {
            Connected::Unknown => self.connection.is_some_and(|of| of != session),
            Connected::No => self.connection != Some(session),
            // The process may have connected again.
            Connected::To(sessions) => !sessions.contains(&session),
        }
    }

    /// Whether the CLI is known to run.
    pub(super) fn is_running(&self) -> bool {
        !self.has_ended && self.connection.is_some()
    }
}
