//! Knows which processes have started the bridges of MCP sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::session::SessionId;

/// The bridges of the connected clients. Each names its ancestors, the nearest first. The nearest is its
/// CLI, unless another program starts the bridge for the CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Bridges(BTreeMap<SessionId, Vec<Arc<str>>>);

impl Bridges {
    pub(super) fn insert(&mut self, session: SessionId, ancestors: Vec<Arc<str>>) {
        self.0.insert(session, ancestors);
    }

    pub(super) fn remove(&mut self, session: SessionId) {
        self.0.remove(&session);
    }

    /// A connection whose bridge this process has started itself.
    pub(super) fn of(&self, process: Option<&str>) -> Option<SessionId> {
        self.0.keys().copied().find(|session| self.is_of(process, *session))
    }

    /// Whether this process has started the bridge of a connection itself.
    pub(super) fn is_of(&self, process: Option<&str>, session: SessionId) -> bool {
        let nearest = self.0.get(&session).and_then(|ancestors| ancestors.first());
        nearest.is_some_and(|nearest| process == Some(&**nearest))
    }

    /// Whether the bridge of a connection was not started by this process, directly or not.
    pub(super) fn is_of_other(&self, process: Option<&str>, session: SessionId) -> bool {
        let (Some(process), Some(ancestors)) = (process, self.0.get(&session)) else {
            return false;
        };
        !ancestors.iter().any(|ancestor| **ancestor == *process)
    }
}
