//! Some CLIs, whose hooks and diffs the tests control.

#![allow(dead_code, clippy::unwrap_used, reason = "for several tests, which may panic")]

use companion_core::cli::{Caller, Connected, FileBefore};
use companion_core::conversation::{Conversation, Due};
use companion_core::diffs::DiffId;
use companion_core::notes::{CommentOutcome, Confirmation, Note};
use companion_core::session::SessionId;
use companion_core::text::Digest;
use companion_protocol::editor::{CommentOnLines, ReasonArrival};

/// Some CLIs. The text of each reason is the path of its file.
pub(crate) struct Cast {
    pub(crate) conversation: Conversation,
    /// Milliseconds.
    pub(crate) now: u64,
    pub(crate) a: SessionId,
    pub(crate) b: SessionId,
}

pub(crate) fn cli(session: &str) -> Caller<'_> {
    Caller { session, process: None, connected: Connected::Unknown }
}

pub(crate) fn of_process<'a>(session: &'a str, process: &'a str) -> Caller<'a> {
    Caller { session, process: Some(process), connected: Connected::Unknown }
}

/// A process with this connection.
pub(crate) fn connected<'a>(session: &'a str, process: &'a str, to: SessionId) -> Caller<'a> {
    Caller { session, process: Some(process), connected: Connected::To(vec![to]) }
}

pub(crate) fn original() -> Digest {
    Digest::of("text")
}

impl Cast {
    pub(crate) fn new() -> Self {
        let (a, b) = (SessionId::new(), SessionId::new());
        Self { conversation: Conversation::new(7), now: 0, a, b }
    }

    pub(crate) fn begin(&mut self, caller: &Caller<'_>, path: &str) {
        self.now += 1;
        self.conversation.before_edit(caller, path, FileBefore::Text(original()), self.now);
    }

    pub(crate) fn open(&mut self, session: SessionId, path: &str) -> ReasonArrival {
        self.open_beside(session, path, &[])
    }

    /// A client opens a diff while these clients are connected.
    pub(crate) fn open_beside(
        &mut self,
        session: SessionId,
        path: &str,
        connected: &[SessionId],
    ) -> ReasonArrival {
        self.now += 1;
        self.conversation.clis.opened(session, path, connected.iter().copied(), self.now).arrival
    }

    /// The user accepts the diff of a client.
    pub(crate) fn accept(&mut self, session: SessionId, path: &str) {
        self.now += 1;
        self.conversation.clis.diff_accepted(session, path, self.now);
    }

    /// A CLI begins an edit of a file, and the client opens its diff.
    pub(crate) fn edit(
        &mut self,
        caller: &Caller<'_>,
        session: SessionId,
        path: &str,
    ) -> ReasonArrival {
        self.begin(caller, path);
        self.open(session, path)
    }

    /// Returns whether the text before the edit is known; `None` if the CLI is not known.
    pub(crate) fn reject(&mut self, session: SessionId, path: &str) -> Option<bool> {
        let text = path.to_owned().into();
        let (_, original) = self.conversation.rejected(session, path, text, 1)?;
        self.conversation.clis.decision_sent(session, path, DiffId(1), Some(Digest::of("sent")));
        assert!(original.is_none_or(|text| text == self::original()));
        Some(original.is_some())
    }

    pub(crate) fn deliver(&mut self, caller: &Caller<'_>, due: &Due) -> Vec<String> {
        let Some(delivery) = self.conversation.deliver(caller, due) else {
            return Vec::new();
        };
        let texts = texts(due);
        assert!(matches!(self.conversation.confirm(delivery.number), Confirmation::Taken(_)));
        texts
    }

    /// What the model gets with a prompt.
    pub(crate) fn prompt(&mut self, caller: &Caller<'_>) -> Vec<String> {
        self.prompt_of(caller, true)
    }

    /// The notes with a prompt of a CLI that runs a hook, or runs none, if the user cancels it.
    pub(crate) fn prompt_of(
        &mut self,
        caller: &Caller<'_>,
        ends_cancelled_turns: bool,
    ) -> Vec<String> {
        self.now += 1;
        self.conversation.turn_begun(caller, ends_cancelled_turns);
        let due = self.conversation.due_before_agent(caller, self.now);
        self.deliver(caller, &due)
    }

    /// What the model gets after a tool.
    pub(crate) fn result(&mut self, caller: &Caller<'_>, path: &str) -> Vec<String> {
        self.now += 1;
        let (_, due) = self.conversation.due_after_tool(caller, path, self.now, |_, _| false);
        self.deliver(caller, &due)
    }

    /// Ends a turn with this answer. Returns the notes that the model gets then.
    pub(crate) fn end(&mut self, caller: &Caller<'_>, answer: &str) -> Vec<String> {
        self.now += 1;
        let answer = Some(Digest::of(answer));
        self.conversation.turn_ended(caller, answer);
        let due = self.conversation.due_after_turn(caller, self.now);
        self.deliver(caller, &due)
    }

    pub(crate) fn comment(&mut self, id: &str, line: u32, text: &str) -> CommentOutcome {
        self.conversation.notes.set_comment(CommentOnLines {
            id: id.into(),
            path: "/1".into(),
            line,
            end_line: line,
            content: "".into(),
            text: text.into(),
        })
    }
}

pub(crate) fn texts(due: &Due) -> Vec<String> {
    let text = |note: &Note| match note {
        Note::Reason(reason) => reason.text.to_string(),
        Note::Comment(comment) => comment.text.to_string(),
        Note::Revert(revert) => format!("reverted {}", revert.paths.join(" ")),
    };
    due.iter().map(|(_, note)| text(note)).collect()
}
