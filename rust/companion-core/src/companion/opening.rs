//! Decides about a proposal, before the editor gets it, when its model would get a reason.

use std::sync::Arc;

use super::{Companion, DiskCheck, Now, Output, Outputs};
use crate::calls::CallId;
use crate::cli::{Caller, Connected, Opened};
use crate::diffs::Proposed;
use crate::diffs::ledger::Effect;
use crate::session::SessionId;
use crate::text::Digest;

/// A proposal whose file is being read. The editor gets it after that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct UnreadProposal {
    pub(super) session: SessionId,
    pub(super) path: Arc<str>,
    pub(super) proposed: Proposed,
}

impl Companion {
    /// `openDiff`
    pub(super) fn open(
        &mut self,
        now: Now,
        call: CallId,
        opening: UnreadProposal,
        is_shared: bool,
        out: &mut Outputs,
    ) -> Vec<Effect> {
        let UnreadProposal { session, path, .. } = &opening;
        let client = self.clients.get(session).copied().unwrap_or_default();
        let opened = if !is_shared || !client.replays_edits {
            Opened::NEVER
        } else if client.confirms_after_hook {
            let connected = self.connected_like(*session);
            self.conversation.clis.opened(*session, path, connected, now.elapsed)
        } else if self.clis().knows(*session) {
            Opened { needs_original: true, ..Opened::NEVER }
        } else {
            Opened::NEVER
        };
        if opened.needs_original {
            out.push(Output::CheckDisk(DiskCheck::Original(call, Arc::clone(path))));
            self.unread.insert(call, opening);
            return Vec::new();
        }
        out.push(Output::Arrival(call, opened.arrival));
        self.ledger.open(*session, path, opening.proposed, call)
    }

    /// The file of a proposal was read, or nobody waits for that any more.
    pub(super) fn original(
        &mut self,
        now: Now,
        call: CallId,
        original: Option<Digest>,
        out: &mut Outputs,
    ) {
        let Some(opening) = self.unread.remove(&call) else { return };
        let UnreadProposal { session, path, proposed } = &opening;
        let client = self.clients.get(session).copied().unwrap_or_default();
        let clis = &mut self.conversation.clis;
        let arrival = if client.confirms_after_hook {
            clis.original_read(*session, path, original)
        } else {
            clis.opened_without_hook(*session, path, original, now.elapsed)
        };
        out.push(Output::Arrival(call, arrival));
        let effects = self.ledger.open(*session, path, *proposed, call);
        self.add(now, effects, out);
    }

    /// Opens the proposals that `is_due` at once, because the next input concerns them.
    pub(super) fn end_reading(
        &mut self,
        now: Now,
        is_due: impl Fn(CallId, &UnreadProposal) -> bool,
        out: &mut Outputs,
    ) {
        let openings = self.unread.iter().filter(|(call, opening)| is_due(**call, opening));
        for call in openings.map(|(call, _)| *call).collect::<Vec<_>>() {
            self.original(now, call, None, out);
        }
    }

    /// The connected clients of the same kind as this one. A CLI whose connection has no client has
    /// connected again.
    pub(super) fn connected_like(&mut self, session: SessionId) -> Vec<SessionId> {
        let Self { conversation, clients, returning, ledger, .. } = self;
        let is_connected = |session| ledger.has_stream(session) || returning.contains(&session);
        conversation.clis.keep_connections(is_connected);
        let client = clients.get(&session);
        let alike = clients.iter().filter(|(_, traits)| client == Some(traits));
        alike.map(|(of, _)| *of).filter(|of| is_connected(*of)).collect()
    }

    /// Whether the user reviews the edits of this CLI in the editor, as far as its client is known.
    pub fn may_review(&self, caller: &Caller<'_>) -> bool {
        let mut caller = caller.clone();
        if self.returning.iter().any(|session| !self.ledger.has_stream(*session)) {
            // Until a client of the last process has come back, it has no connection.
            caller.connected = Connected::Unknown;
        }
        let is_connected =
            |of: &SessionId| self.ledger.has_stream(*of) || self.returning.contains(of);
        let reviewed = self.clients.iter().filter(|(_, traits)| traits.replays_edits);
        let connected: Vec<_> = reviewed.map(|(of, _)| *of).filter(is_connected).collect();
        self.clis().is_connected(&caller, &connected)
    }
}
