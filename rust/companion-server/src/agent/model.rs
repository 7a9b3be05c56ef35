//! Decides which CLI gets which reason: knows the sessions of CLIs, their edits, and the reasons
//! that the models have not got.
//!
//! A state machine without IO, clock or lock. A reason reaches its own CLI exactly once: with the
//! result of the rejected edit, or with the user's next prompt, whichever comes first.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::mcp::session::SessionId;
use crate::text::{Digest, Text};
use companion_protocol::editor::ReasonArrival;

/// The most sessions of CLIs that are kept; the oldest are forgotten.
const MAX_AGENTS: usize = 64;

/// The most edits of one session between two prompts.
const MAX_EDITS: usize = 256;

/// The most reasons that wait. The oldest is forgotten.
const MAX_REASONS: usize = 256;

/// The `session_id` of a CLI's hooks. It stays the same over restarts of the companion.
pub(crate) type AgentId = Arc<str>;

/// Names a reason, also for the next process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ReasonId(pub(crate) u64);

/// A reason that a model has not got.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Reason {
    pub(crate) agent: AgentId,
    /// The file of the rejected proposal.
    pub(crate) path: Arc<str>,
    pub(crate) text: Text,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AgentModel {
    /// The most recent is last.
    agents: VecDeque<Agent>,
    /// The oldest is first.
    reasons: VecDeque<(ReasonId, Reason)>,
}

/// The session of a CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    id: AgentId,
    /// The MCP session of the same CLI.
    session: Option<SessionId>,
    /// The edits that have begun and not ended.
    edits: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Edit {
    path: Arc<str>,
    /// The file before the edit. `None` if the client could change the file by writing it again.
    original: Option<Digest>,
    /// The diff of the edit was opened.
    is_opened: bool,
}

impl Agent {
    fn begin(&mut self, edit: Edit) {
        self.edits.retain(|other| other.path != edit.path);
        if self.edits.len() == MAX_EDITS {
            self.edits.remove(0);
        }
        self.edits.push(edit);
    }
}

/// How a rejection is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// The client gets the file's present text as an acceptance, if the file still has this digest.
    KeepText(Digest),
    /// The client gets the rejection.
    Plain,
}

impl AgentModel {
    /// Adds a reason of the last process.
    pub(crate) fn restore(&mut self, id: ReasonId, reason: Reason) {
        self.reasons.push_back((id, reason));
    }

    /// A CLI begins an edit. It opens a diff next, if the user has to confirm the edit.
    pub(crate) fn before_edit(&mut self, agent: &str, path: &str, original: Option<Digest>) {
        let edit = Edit { path: path.into(), original, is_opened: false };
        self.agent(agent).begin(edit);
    }

    /// A client has opened a diff. Matches its MCP session with the session of the CLI that has
    /// just begun an edit of that file. Returns when the model would get a reason.
    ///
    /// If two CLIs have begun an edit of the file, or if the CLI belongs to another connected
    /// client, nothing is matched.
    pub(crate) fn opened(&mut self, session: SessionId, path: &str) -> ReasonArrival {
        let begun =
            |agent: &Agent| agent.edits.iter().any(|edit| &*edit.path == path && !edit.is_opened);
        let is_own = |agent: &Agent| agent.session == Some(session);
        let mut candidates: Vec<_> = self.agents.iter().filter(|agent| begun(agent)).collect();
        if candidates.iter().any(|agent| is_own(agent)) {
            candidates.retain(|agent| is_own(agent));
        }
        let id = match &candidates[..] {
            [agent] if agent.session.is_none_or(|of| of == session) => AgentId::clone(&agent.id),
            [] if self.agents.iter().any(is_own) => return ReasonArrival::NextPrompt,
            // No CLI, or another one may have begun this edit.
            _ => return ReasonArrival::Never,
        };
        let mut arrival = ReasonArrival::NextPrompt;
        for agent in &mut self.agents {
            if agent.id == id {
                agent.session = Some(session);
                let mut edits = agent.edits.iter_mut().filter(|edit| &*edit.path == path);
                if let Some(edit) = edits.next() {
                    edit.is_opened = true;
                    arrival = edit.original.map_or(arrival, |_| ReasonArrival::Now);
                }
            } else if agent.session == Some(session) {
                // The CLI has begun a new session.
                agent.session = None;
            }
        }
        arrival
    }

    /// Whether the CLI of an MCP session is known.
    pub(crate) fn knows(&self, session: SessionId) -> bool {
        self.agents.iter().any(|agent| agent.session == Some(session))
    }

    /// A client that runs no hook before its diff has opened one. `original` is the file by now.
    /// Returns when the model would get a reason.
    pub(crate) fn opened_first(
        &mut self,
        session: SessionId,
        path: &str,
        original: Option<Digest>,
    ) -> ReasonArrival {
        let mut agents = self.agents.iter_mut();
        let Some(agent) = agents.find(|agent| agent.session == Some(session)) else {
            return ReasonArrival::Never;
        };
        agent.begin(Edit { path: path.into(), original, is_opened: true });
        original.map_or(ReasonArrival::NextPrompt, |_| ReasonArrival::Now)
    }

    /// A CLI that runs its hook after its diff makes an edit, which the user has just accepted for
    /// this MCP session.
    pub(crate) fn accepted(&mut self, agent: &str, session: SessionId) {
        let is_taken = |of: &Agent| &*of.id != agent && of.session == Some(session);
        if !self.agents.iter().any(is_taken) {
            self.agent(agent).session = Some(session);
        }
    }

    /// The user has rejected the diff of that path, with a reason. Returns the reason to keep, or
    /// `None` if its CLI is not known.
    pub(crate) fn rejected(
        &mut self,
        session: SessionId,
        path: &str,
        text: Text,
        id: ReasonId,
    ) -> (Rejection, Option<Reason>) {
        let of_session = |agent: &&Agent| agent.session == Some(session);
        let Some(agent) = self.agents.iter().find(of_session) else {
            return (Rejection::Plain, None);
        };
        let mut edits = agent.edits.iter().filter(|edit| &*edit.path == path && edit.is_opened);
        let original = edits.next().and_then(|edit| edit.original);
        let reason = Reason { agent: AgentId::clone(&agent.id), path: path.into(), text };
        if self.reasons.len() == MAX_REASONS {
            self.reasons.pop_front();
        }
        self.reasons.push_back((id, reason.clone()));
        (original.map_or(Rejection::Plain, Rejection::KeepText), Some(reason))
    }

    /// A CLI has ended an edit. Returns the reasons of its rejection.
    pub(crate) fn after_edit(&mut self, agent: &str, path: &str) -> Vec<(ReasonId, Reason)> {
        self.agent(agent).edits.retain(|edit| &*edit.path != path);
        self.take(|reason| &*reason.agent == agent && &*reason.path == path)
    }

    /// The user has sent a prompt to a CLI. Returns all its reasons.
    pub(crate) fn before_agent(&mut self, agent: &str) -> Vec<(ReasonId, Reason)> {
        self.agent(agent).edits.clear();
        self.take(|reason| &*reason.agent == agent)
    }

    /// An MCP session has ended.
    pub(crate) fn session_gone(&mut self, session: SessionId) {
        for agent in &mut self.agents {
            agent.session = agent.session.filter(|of| *of != session);
        }
    }

    fn take(&mut self, is_due: impl Fn(&Reason) -> bool) -> Vec<(ReasonId, Reason)> {
        let (due, others) =
            std::mem::take(&mut self.reasons).into_iter().partition(|(_, reason)| is_due(reason));
        self.reasons = others;
        due.into()
    }

    /// The session of a CLI, as the most recent one.
    fn agent(&mut self, id: &str) -> &mut Agent {
        let agent = match self.agents.iter().position(|agent| &*agent.id == id) {
            Some(index) => self.agents.remove(index),
            None => None,
        };
        if self.agents.len() == MAX_AGENTS {
            self.agents.pop_front();
        }
        let new = || Agent { id: id.into(), session: None, edits: Vec::new() };
        self.agents.push_back(agent.unwrap_or_else(new));
        self.agents.back_mut().expect("it was just pushed")
    }
}
