//! Decides which CLI gets which note: knows the CLI sessions, their edits, and the notes that
//! the models have not got.
//!
//! A state machine without IO, clock or lock. A reason reaches its own CLI exactly once: with the
//! result of the rejected edit, or with the user's next prompt, whichever comes first. A comment
//! reaches exactly one CLI, the first that has a result, an end of a turn or a prompt.

use std::collections::VecDeque;
use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use super::note::{AgentId, Comment, Note, NoteId, Reason, Revert};
use crate::mcp::session::SessionId;
use crate::text::{Digest, Text};

/// The most CLI sessions that are kept; the oldest are forgotten.
const MAX_AGENTS: usize = 64;

/// The most edits of one session between two prompts.
const MAX_EDITS: usize = 64;

/// The most reasons that wait. The oldest is forgotten.
const MAX_REASONS: usize = 256;

/// The most reverts that wait. Above it the oldest is forgotten.
const MAX_REVERTS: usize = 256;

/// The most comments that wait. A further one is refused.
const MAX_COMMENTS: usize = 256;

/// The most ids of delivered comments that are remembered, so that none is told twice.
const MAX_TOLD: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AgentModel {
    /// The most recent is last.
    agents: VecDeque<Agent>,
    /// The oldest is first.
    reasons: VecDeque<(NoteId, Reason)>,
    /// In the order in which the user wrote them.
    comments: Vec<Pending>,
    /// The oldest is first.
    reverts: VecDeque<(NoteId, Revert)>,
    /// The notes that are on their way to a model.
    under_way: Vec<NotesForModel>,
    /// The ids of the newest comments that a model has got.
    told: VecDeque<Arc<str>>,
    last_note: u64,
}

/// Notes on their way to one model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NotesForModel {
    /// Its number; `None` if it is empty.
    pub(crate) ack: Option<u64>,
    pub(crate) reasons: Vec<(NoteId, Reason)>,
    pub(crate) comments: Vec<(NoteId, Comment)>,
    pub(crate) reverts: Vec<(NoteId, Revert)>,
}

impl NotesForModel {
    /// Its notes.
    pub(crate) fn notes(&self) -> impl Iterator<Item = NoteId> {
        let reasons = self.reasons.iter().map(|(note, _)| *note);
        let comments = self.comments.iter().map(|(note, _)| *note);
        reasons.chain(comments).chain(self.reverts.iter().map(|(note, _)| *note))
    }
}

/// A comment that no model has got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    note: NoteId,
    comment: Comment,
    /// It is known that its file may be shared.
    is_shared: bool,
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

impl Edit {
    /// When the model would get a reason.
    fn arrival(&self) -> ReasonArrival {
        self.original.map_or(ReasonArrival::NextPrompt, |_| ReasonArrival::Now)
    }
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

/// What happens to a comment that an editor sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SetComment {
    /// It is kept as this note, in place of another one.
    Set(NoteId, Option<NoteId>),
    /// A model has got it.
    Told,
    /// Too many comments wait.
    Full,
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
    /// Adds a note of the last process.
    pub(crate) fn restore(&mut self, id: NoteId, note: Note) {
        self.last_note = self.last_note.max(id.0);
        match note {
            Note::Reason(reason) => self.reasons.push_back((id, reason)),
            Note::Comment(comment) => {
                self.comments.push(Pending { note: id, comment, is_shared: true });
            }
            Note::Revert(revert) => self.reverts.push_back((id, revert)),
        }
    }

    fn next_note(&mut self) -> NoteId {
        self.last_note += 1;
        NoteId(self.last_note)
    }

    /// The comments that no model has got and that are not on their way to one.
    pub(crate) fn comments(&self) -> impl Iterator<Item = &Comment> {
        self.comments.iter().map(|pending| &pending.comment)
    }

    /// Adds or changes a comment. It waits until [`Self::share`]. Returns the note that it replaces.
    pub(crate) fn set_comment(&mut self, comment: Comment) -> SetComment {
        if self.told.contains(&comment.id) {
            return SetComment::Told;
        }
        let note = self.next_note();
        let waiting = self.comments.len();
        let same = self.comments.iter_mut().find(|pending| pending.comment.id == comment.id);
        let pending = Pending { note, comment, is_shared: false };
        match same {
            Some(same) => {
                let replaced = std::mem::replace(same, pending);
                SetComment::Set(note, Some(replaced.note))
            }
            None if waiting == MAX_COMMENTS => SetComment::Full,
            None => {
                self.comments.push(pending);
                SetComment::Set(note, None)
            }
        }
    }

    /// Whether it is not known yet if the file of a comment may be shared.
    #[cfg(test)]
    pub(super) fn waits_for_share(&self) -> bool {
        self.comments.iter().any(|pending| !pending.is_shared)
    }

    /// The file of a comment may be shared. Returns the comment, unless it has gone.
    pub(crate) fn share(&mut self, note: NoteId) -> Option<Comment> {
        let pending = self.comments.iter_mut().find(|pending| pending.note == note)?;
        pending.is_shared = true;
        Some(pending.comment.clone())
    }

    /// Removes a comment by its note.
    pub(crate) fn refuse(&mut self, note: NoteId) {
        self.comments.retain(|pending| pending.note != note);
    }

    /// Removes a comment.
    pub(crate) fn remove_comment(&mut self, id: &str) -> Option<NoteId> {
        let index = self.comments.iter().position(|pending| &*pending.comment.id == id)?;
        Some(self.comments.remove(index).note)
    }

    /// The user has reverted changes of a CLI.
    pub(crate) fn add_revert(&mut self, revert: Revert) -> (NoteId, Option<NoteId>) {
        let is_full = self.reverts.len() == MAX_REVERTS;
        let forgotten = if is_full { self.reverts.pop_front() } else { None };
        let note = self.next_note();
        self.reverts.push_back((note, revert));
        (note, forgotten.map(|(note, _)| note))
    }

    /// The user has undone the revert of a file. Returns the notes without files.
    pub(crate) fn drop_revert(&mut self, agent: &str, path: &str) -> Vec<NoteId> {
        for (_, revert) in self.reverts.iter_mut().filter(|(_, of)| &*of.agent == agent) {
            revert.paths.retain(|of| &**of != path);
        }
        let (empty, others) = std::mem::take(&mut self.reverts)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(_, of)| of.paths.is_empty());
        self.reverts = others;
        empty.into_iter().map(|(note, _)| note).collect()
    }

    /// A tool has ended. Its model gets the reasons of this edit, and all comments.
    pub(crate) fn after_tool(&mut self, agent: &str, path: &str) -> NotesForModel {
        self.agent(agent).edits.retain(|edit| &*edit.path != path);
        let reasons = self.reasons_with(|of| &*of.agent == agent && &*of.path == path);
        let comments = self.shared_comments();
        self.begin_delivery(reasons, comments, Vec::new())
    }

    /// A CLI whose hook follows its diff is about to write `input`. If that is the text that it got
    /// in place of a rejection, its model gets the reason.
    pub(crate) fn before_write(&mut self, agent: &str, path: &str, input: Digest) -> NotesForModel {
        let reasons = self.reasons_with(|of| &*of.path == path && of.sent == Some(input));
        if let Some((_, reason)) = reasons.first() {
            // The CLI may have begun a new session.
            let old = AgentId::clone(&reason.agent);
            let session = self.agents.iter().find(|of| of.id == old).and_then(|of| of.session);
            if let Some(session) = session {
                self.accepted(agent, session);
            }
        }
        self.begin_delivery(reasons, Vec::new(), Vec::new())
    }

    /// The user has sent a prompt to a CLI. Its model gets all its reasons and reverts, and all
    /// comments.
    pub(crate) fn before_agent(&mut self, agent: &str) -> NotesForModel {
        self.agent(agent).edits.clear();
        let reasons = self.reasons_with(|of| &*of.agent == agent);
        let comments = self.shared_comments();
        let (reverts, others) = std::mem::take(&mut self.reverts)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(_, of)| &*of.agent == agent);
        self.reverts = others;
        self.begin_delivery(reasons, comments, reverts.into())
    }

    /// A turn has ended. Its model gets all comments.
    pub(crate) fn after_turn(&mut self) -> NotesForModel {
        let comments = self.shared_comments();
        self.begin_delivery(Vec::new(), comments, Vec::new())
    }

    fn reasons_with(&mut self, is_due: impl Fn(&Reason) -> bool) -> Vec<(NoteId, Reason)> {
        let (due, others) =
            std::mem::take(&mut self.reasons).into_iter().partition(|(_, reason)| is_due(reason));
        self.reasons = others;
        due.into()
    }

    fn shared_comments(&mut self) -> Vec<(NoteId, Comment)> {
        let shared = self.comments.extract_if(.., |pending| pending.is_shared);
        shared.map(|pending| (pending.note, pending.comment)).collect()
    }

    fn begin_delivery(
        &mut self,
        reasons: Vec<(NoteId, Reason)>,
        comments: Vec<(NoteId, Comment)>,
        reverts: Vec<(NoteId, Revert)>,
    ) -> NotesForModel {
        let is_empty = reasons.is_empty() && comments.is_empty() && reverts.is_empty();
        let ack = (!is_empty).then(|| self.next_note().0);
        let delivery = NotesForModel { ack, reasons, comments, reverts };
        if !is_empty {
            self.under_way.push(delivery.clone());
        }
        delivery
    }

    /// A model has got a delivery. Returns it; `None` if it was given back.
    pub(crate) fn confirm(&mut self, ack: u64) -> Option<NotesForModel> {
        let delivery = self.end_delivery(ack)?;
        for (_, comment) in &delivery.comments {
            if self.told.len() == MAX_TOLD {
                self.told.pop_front();
            }
            self.told.push_back(Arc::clone(&comment.id));
        }
        Some(delivery)
    }

    /// Nobody has confirmed a delivery, so its notes wait again.
    pub(crate) fn give_back(&mut self, ack: u64) {
        let Some(delivery) = self.end_delivery(ack) else { return };
        for reason in delivery.reasons.into_iter().rev() {
            self.reasons.push_front(reason);
        }
        for revert in delivery.reverts.into_iter().rev() {
            self.reverts.push_front(revert);
        }
        let pending = |(note, comment)| Pending { note, comment, is_shared: true };
        self.comments.splice(..0, delivery.comments.into_iter().map(pending));
    }

    fn end_delivery(&mut self, ack: u64) -> Option<NotesForModel> {
        let index = self.under_way.iter().position(|of| of.ack == Some(ack))?;
        Some(self.under_way.swap_remove(index))
    }

    /// A CLI begins an edit. It opens a diff next, if the user has to confirm the edit.
    pub(crate) fn before_edit(&mut self, agent: &str, path: &str, original: Option<Digest>) {
        let edit = Edit { path: path.into(), original, is_opened: false };
        self.agent(agent).begin(edit);
    }

    /// A client has opened a diff. Matches its MCP session with the CLI session that has
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
            [] if self.knows(session) => return ReasonArrival::NextPrompt,
            // No CLI, or another one may have begun this edit.
            _ => return ReasonArrival::Never,
        };
        // The CLI may have begun a new session.
        self.mcp_session_gone(session);
        let mut agents = self.agents.iter_mut();
        let agent = agents.find(|agent| agent.id == id).expect("it is a candidate");
        agent.session = Some(session);
        let mut edits = agent.edits.iter_mut();
        let edit = edits.find(|edit| &*edit.path == path).expect("it has begun this edit");
        edit.is_opened = true;
        edit.arrival()
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
        let edit = Edit { path: path.into(), original, is_opened: true };
        let arrival = edit.arrival();
        agent.begin(edit);
        arrival
    }

    /// A CLI that runs its hook after its diff makes an edit, which the user has just accepted for
    /// this MCP session.
    pub(crate) fn accepted(&mut self, agent: &str, session: SessionId) {
        // The CLI may have begun a new session.
        self.mcp_session_gone(session);
        self.agent(agent).session = Some(session);
    }

    /// The user has rejected the diff of that path, with a reason, at the time `now`. Returns the reason to keep, or
    /// `None` if its CLI is not known, and the note of an old reason that is forgotten.
    pub(crate) fn rejected(
        &mut self,
        session: SessionId,
        path: &str,
        text: Text,
        now: u64,
    ) -> (Rejection, Option<(NoteId, Reason)>, Option<NoteId>) {
        let of_session = |agent: &&Agent| agent.session == Some(session);
        let Some(agent) = self.agents.iter().find(of_session) else {
            return (Rejection::Plain, None, None);
        };
        let mut edits = agent.edits.iter().filter(|edit| &*edit.path == path && edit.is_opened);
        let original = edits.next().and_then(|edit| edit.original);
        let agent = AgentId::clone(&agent.id);
        let reason = Reason { agent, path: path.into(), text, since: now, sent: None };
        let rejection = original.map_or(Rejection::Plain, Rejection::KeepText);
        let note = self.next_note();
        let is_full = self.reasons.len() == MAX_REASONS;
        let forgotten = if is_full { self.reasons.pop_front() } else { None };
        self.reasons.push_back((note, reason.clone()));
        (rejection, Some((note, reason)), forgotten.map(|(note, _)| note))
    }

    /// Forgets the reasons that have waited since `time` or longer. Returns their notes.
    pub(crate) fn expire_reasons(&mut self, time: u64) -> Vec<NoteId> {
        let old = self.reasons_with(|reason| reason.since <= time);
        old.into_iter().map(|(note, _)| note).collect()
    }

    /// When the oldest reason began to wait.
    pub(crate) fn oldest_reason(&self) -> Option<u64> {
        self.reasons.iter().map(|(_, reason)| reason.since).min()
    }

    /// The client gets `text`, the file's text, in place of the rejection.
    pub(crate) fn sent(&mut self, note: NoteId, text: &str) {
        if let Some((_, reason)) = self.reasons.iter_mut().find(|(of, _)| *of == note) {
            reason.sent = Some(Digest::of(text));
        }
    }

    /// Whether an MCP session belongs to that CLI, or to none.
    pub(crate) fn may_belong(&self, session: SessionId, agent: &str) -> bool {
        let owner = self.agents.iter().find(|of| of.session == Some(session));
        owner.is_none_or(|of| &*of.id == agent)
    }

    /// An MCP session has ended.
    pub(crate) fn mcp_session_gone(&mut self, session: SessionId) {
        for agent in &mut self.agents {
            agent.session = agent.session.filter(|of| *of != session);
        }
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
