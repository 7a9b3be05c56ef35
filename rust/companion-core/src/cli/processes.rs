//! Distinguishes the processes of CLIs with the same session.

use std::sync::Arc;

use super::{Caller, Cli, Clis};
use crate::session::SessionId;

impl Clis {
    /// Forgets the connections that have no client, of other processes with the session of `caller`. They
    /// were killed.
    pub(crate) fn forget_killed(
        &mut self,
        caller: &Caller<'_>,
        has_client: impl Fn(SessionId) -> bool,
    ) {
        let Some(process) = caller.process else { return };
        for cli in &mut self.known {
            let is_other = cli.process.as_deref().is_some_and(|of| of != process);
            if is_other && cli.has_session(caller.session) {
                cli.connection = cli.connection.filter(|of| has_client(*of));
            }
        }
    }

    /// The processes of the other CLIs with the session of `caller`.
    pub(crate) fn other_processes(&self, caller: &Caller<'_>) -> Vec<Arc<str>> {
        let own = self.index_of(caller);
        let is_other =
            |index: usize, cli: &Cli| own != Some(index) && cli.has_session(caller.session);
        let others = self.known.iter().enumerate().filter(|(index, cli)| is_other(*index, cli));
        others.filter_map(|(_, cli)| cli.process.clone()).collect()
    }

    /// Whether an earlier hook of the same session has named the same process.
    pub fn has_process(&self, caller: &Caller<'_>) -> bool {
        caller.process.is_some()
            && self.known.iter().any(|cli| {
                cli.has_session(caller.session) && cli.process.as_deref() == caller.process
            })
    }

    /// The process of the CLI with this session.
    pub(crate) fn process_of(&self, session: &str) -> Option<Arc<str>> {
        self.with_session(session)?.process.clone()
    }

    /// The CLI with this session. Of several, one that runs, then one that has the session now, then the one
    /// that ran a hook last.
    pub(super) fn with_session(&self, session: &str) -> Option<&Cli> {
        let all = self.known.iter().filter(|cli| cli.has_session(session));
        all.max_by_key(|cli| (cli.is_running(), *cli.session == *session))
    }
}
