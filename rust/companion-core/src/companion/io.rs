//! Declares the inputs and the outputs of a [`Companion`](super::Companion).

use std::sync::Arc;

use companion_protocol::editor::{CommentOnLines, CompanionNotification, Delivery, ReasonArrival};
use companion_protocol::tool::Tool;

use super::writes::{ExpectedText, FoundFile};
use crate::calls::{CallId, CallOrigin};
use crate::cli::{Caller, CliSessionId, FileBefore};
use crate::conversation::Due;
use crate::diffs::{Accepted, Answer, Decision, DiffId, EditorCommand, EventId, Outcome, Proposed};
use crate::notes::{self, Confirmation, NoteId};
use crate::record::{Left, Record};
use crate::session::{Client, SessionId};
use crate::text::{Digest, Text};

/// The time of an input, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Since the companion began.
    pub elapsed: u64,
    /// Since 1970. It never goes back.
    pub date: u64,
}

/// What happens to a companion.
///
/// | From | Inputs |
/// | --- | --- |
/// | a client | `Connected`, `Bridged`, `Call`, `StreamOpened`, `StreamClosed`, `Pong`, `Away`, `Gone` |
/// | the editor | `EditorDid`, `EditorFailed`, `EditorUnreadable`, `Accepted`, `Rejected`, `RejectedWithReason`, `Withdraw`, `Shown`, `Comment`, `CommentRemoved`, `Reverted`, `RevertUndone` |
/// | a hook | `Hook`, `Confirm`, `Wrote` |
/// | the disk | `Original`, `AccessChecked`, `Present`, `Found`, `Deliver`, `Refuse`, `NoteChecked`, `Saved`, `NotSaved` |
/// | the clock | `Time`, `GiveBack`, `ExpireNotes` |
/// | the process | `Adopted`, `Stop`, `EndTexts` |
///
/// An input that comes too late, or twice, or about nothing that is known, changes nothing:
///
/// ```
/// # use companion_core::calls::CallId;
/// # use companion_core::companion::{Companion, Input, Limits, Now};
/// # use companion_core::diffs::DiffId;
/// # use companion_core::record::Left;
/// let mut companion = Companion::new(Limits::default(), DiffId(1), 1, false, Left::default());
/// let before = companion.clone();
/// let mut out = Vec::new();
/// companion.handle(Now::default(), Input::EditorDid(CallId(7), None), &mut out);
/// companion.handle(Now::default(), Input::CommentRemoved("9"), &mut out);
/// assert!(out.is_empty() && companion == before);
/// ```
#[derive(Debug)]
pub enum Input<'a> {
    /// A client has connected.
    Connected(SessionId, Client),
    /// Another companion has ended, and its clients go on with this one.
    Adopted(Left),
    /// The bridge of a client was started by these processes, the nearest first. Each has the form of
    /// [`Caller::process`].
    Bridged(SessionId, Vec<Arc<str>>),
    /// A client has had no stream for so long that its views close.
    Away(SessionId),
    /// A client has left, and does not come back.
    Gone(SessionId),
    /// A client calls a tool about a diff.
    Call {
        /// Chosen by the caller.
        call: CallId,
        /// The request.
        from: CallOrigin<'a>,
        /// The file, as the client wrote it.
        path: Arc<str>,
        /// The tool.
        action: Action,
    },
    /// A client has opened a stream.
    StreamOpened {
        /// The client.
        session: SessionId,
        /// The number of the stream. Only the newest stream counts.
        stream: u64,
        /// The last event that the client has got.
        last: &'a EventId,
        /// The stream is the answer to a request. The client can't say what it has got by it.
        is_answer: bool,
    },
    /// A stream has ended.
    StreamClosed(SessionId, u64),
    /// A client has answered the ping after the decision about a diff.
    Pong(SessionId, DiffId),
    /// The answer to [`DiskCheck::Original`]: the file before the edit, if a client may write its text
    /// again without changing it.
    Original(CallId, Option<Digest>),
    /// The editor has carried out a request. A closed view has a text, which counts as accepted.
    EditorDid(CallId, Option<Accepted>),
    /// The editor could not carry out a request.
    EditorFailed(CallId, &'a str),
    /// The editor has sent an invalid answer.
    EditorUnreadable(CallId, &'a str),
    /// The user has accepted the diff of this path.
    Accepted(&'a str, Accepted),
    /// The user has rejected the diff of this path.
    Rejected(&'a str),
    /// The user has rejected the diff of this path, with a reason for the model.
    RejectedWithReason(&'a str, Text),
    /// The answer to [`DiskCheck::Access`]: why no model may get the reason, or else `None`.
    AccessChecked(DiffId, Option<&'static str>),
    /// The answer to [`DiskCheck::Read`].
    Present(DiffId, Option<Text>),
    /// The editor writes the accepted text of this path itself.
    Withdraw(&'a str),
    /// The answer to [`DiskCheck::ForText`]; `None` if the disk does not answer, or if there is no file.
    Found(DiffId, Option<FoundFile>),
    /// A CLI has written a text of this [`written_digest`](crate::text::written_digest) to this file. Another
    /// program may have changed the file since.
    Wrote(&'a str, Digest),
    /// A CLI has run a hook.
    Hook(&'a Caller<'a>, Hook<'a>),
    /// The answer to [`Output::Due`], for this CLI: the notes whose files may be shared.
    Deliver(&'a Caller<'a>, &'a Due),
    /// No model may get this note, because of its file.
    Refuse(NoteId, &'static str),
    /// A hook is about to print the delivery of this number.
    Confirm(u64),
    /// No hook has confirmed the delivery of this number in time.
    GiveBack(u64),
    /// The user has written or changed a comment. With a reason, no new text is kept.
    Comment(CommentOnLines, Option<&'static str>),
    /// The answer to [`Output::CheckComment`] or [`DiskCheck::Forgotten`], on the file of this path: why no
    /// model may get the note, or else `None`.
    NoteChecked(NoteId, &'a str, Option<&'static str>),
    /// The user has removed the comment with this id.
    CommentRemoved(&'a str),
    /// The user has reverted these files, which a CLI session had changed, or only some changes in them.
    Reverted {
        /// The CLI session.
        cli: CliSessionId,
        /// The files.
        paths: Vec<Arc<str>>,
        /// Other changes of the CLI in these files stay.
        is_partial: bool,
    },
    /// The revert of this file was undone.
    RevertUndone(&'a str, &'a str),
    /// The notes that have waited for too long are over.
    ExpireNotes,
    /// All records up to this number are saved.
    Saved(u64),
    /// The disk refuses the records up to this number.
    NotSaved(u64),
    /// Time has passed.
    Time,
    /// The companion ends. It rejects what is open, and opens nothing more.
    Stop {
        /// The editor keeps its views for the next process, so open diffs stay open.
        keeps: bool,
    },
    /// The editor shows these proposals of the last process, and no other one. Each has its text as the
    /// client proposed it.
    Shown(&'a [(DiffId, Text)]),
    /// No text comes from the editor any more.
    EndTexts,
}

/// A tool that a client calls about a diff.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// `openDiff`
    Open {
        /// The proposal.
        proposed: Proposed,
        /// The bytes of texts that clients have not received.
        held: usize,
        /// The editor has not taken earlier proposals.
        is_editor_busy: bool,
        /// Whether the project shares context. If not, no model gets a reason.
        is_shared: bool,
    },
    /// A tool that ends a diff.
    End(End),
}

/// A tool that ends a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// `closeDiff`
    Close {
        /// The client gets no notification of the end.
        suppress: bool,
    },
    /// `acceptDiff` or `rejectDiff`
    Decide {
        /// Which of them.
        accept: bool,
    },
}

/// A proposal of the last process that is open again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedProposal {
    /// Its diff.
    pub diff: DiffId,
    /// Its client.
    pub session: SessionId,
    /// When the model would get the reason of a rejection.
    pub reason: ReasonArrival,
}

/// A hook of a CLI.
#[derive(Clone, Copy, Debug)]
pub enum Hook<'a> {
    /// A session has begun.
    SessionStart {
        /// Its model has no message yet: the CLI does not return to an earlier session.
        is_new: bool,
    },
    /// A session has ended.
    SessionEnd,
    /// An edit of this file begins, and its diff may follow.
    BeforeEdit(&'a str, FileBefore),
    /// An edit of this file begins, and its diff came before. The input is what the CLI writes.
    BeforeWrite(&'a str, Option<Digest>),
    /// Another tool begins, or the CLI asks its user about one. Not for a CLI whose hook before an edit is
    /// [`Self::BeforeWrite`].
    BeforeTool,
    /// The model has begun to answer: the CLI asks its user something, or a tool has ended.
    Answers,
    /// A tool has ended, perhaps an edit of this file, and its result is the next message to the model.
    AfterTool(&'a str),
    /// A tool has ended, perhaps an edit of this file. The model may be that of a subagent, which ends soon. The
    /// main model gets the result after [`Self::BeforeResults`].
    ToolEnded(&'a str),
    /// The CLI is about to send its main model the results of tools.
    BeforeResults,
    /// The user has sent a prompt.
    BeforeAgent {
        /// The CLI runs [`Self::AfterAgent`] also if the user cancels the prompt.
        ends_cancelled_turns: bool,
    },
    /// A turn has ended with this answer of the model; `None` if the CLI does not report it.
    AfterAgent(Option<Digest>),
}

/// What a companion wants to be done. The outputs of one input are carried out in order.
///
/// | For | Outputs |
/// | --- | --- |
/// | a client | `Answer`, `Decided` |
/// | the editor | `Ask`, `Notification` |
/// | a hook | `EditRejected`, `Due`, `Deliver`, `Confirmed` |
/// | the disk | `Record`, `CheckDisk`, `CheckComment` |
/// | the caller of the input | `Arrival`, `Delivery`, `Withdrawn`, `Resumed`; `Ended` for its log |
///
/// A decision is recorded before its client is woken, so that no restart loses what a client has got:
///
/// ```
/// # use companion_core::calls::{Attempt, CallId, CallOrigin};
/// # use companion_core::companion::{Action, Companion, Input, Limits, Now, Output};
/// # use companion_core::diffs::{Decision, DiffId, Proposed};
/// # use companion_core::record::{Left, Record};
/// # use companion_core::session::{ClientTraits, SessionId};
/// # use companion_protocol::jsonrpc::Id;
/// # let (session, client) = (SessionId::new(), ClientTraits::default());
/// # let mut companion = Companion::new(Limits::default(), DiffId(1), 1, true, Left::default());
/// # let mut handle = |input: Input<'_>| {
/// #     let mut out = Vec::new();
/// #     companion.handle(Now::default(), input, &mut out);
/// #     out
/// # };
/// # handle(Input::Connected(session, client.into()));
/// # let from = CallOrigin { session, id: &Id::from(1), sent: Attempt::OnceForAll };
/// # let proposed = Proposed::new("proposed", client);
/// # let action = Action::Open { proposed, held: 0, is_editor_busy: false, is_shared: true };
/// # handle(Input::Call { call: CallId(1), from, path: "/p".into(), action });
/// # handle(Input::EditorDid(CallId(1), None));
/// let out = handle(Input::Rejected("/p"));
/// let recorded = out.iter().position(|of| *of == Output::Record(Record::Rejected(DiffId(1))));
/// let decided = Output::Decided(session, "/p".into(), Decision::Rejected);
/// assert!(recorded.unwrap() < out.iter().position(|of| *of == decided).unwrap());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send the editor a request, for a call if one waits for the result.
    Ask(Option<CallId>, EditorCommand),
    /// Look at a file.
    CheckDisk(DiskCheck),
    /// When the model of this proposal would get the reason of a rejection.
    Arrival(CallId, ReasonArrival),
    /// Send the editor a notification.
    Notification(CompanionNotification),
    /// Answer a call, once all earlier records are saved.
    Answer(CallId, Answer),
    /// Save this for the next process.
    Record(Record),
    /// The diff of that path was decided, with the user's final text. Wake the stream of its client,
    /// which takes the decision by [`Companion::next_event`](super::Companion::next_event).
    Decided(SessionId, Arc<str>, Decision),
    /// The diff has ended.
    Ended(DiffId, Outcome),
    /// The open ones among the proposals that the editor has named. It closes the others.
    Resumed(Vec<ResumedProposal>),
    /// How the client of a decision receives it.
    Delivery(Delivery),
    /// Whether the acceptance was withdrawn. Otherwise the client may have received it.
    Withdrawn(bool),
    /// The client of the edit got the file's text in place of a rejection: its model must not take the edit
    /// for made.
    EditRejected,
    /// Find out which files of these notes may be shared.
    Due(Due),
    /// Give these notes to the hook.
    Deliver(notes::Delivery),
    /// Whether the hook may print the delivery.
    Confirmed(Confirmation),
    /// Find out whether the file of this comment may be shared.
    CheckComment(NoteId),
}

/// A look at a file. The result is an input.
#[derive(Clone, Debug, PartialEq)]
pub enum DiskCheck {
    /// Read the file of a proposal before the editor gets the proposal, and hand in
    /// [`Input::Original`].
    Original(CallId, Arc<str>),
    /// Find out whether a model may get the reason of the rejection of this file, and hand in
    /// [`Input::AccessChecked`].
    Access(DiffId, Arc<str>),
    /// Find out whether a text that a model has forgotten may be saved again, on this file, and hand in
    /// [`Input::NoteChecked`].
    Forgotten(NoteId, Arc<str>),
    /// When all records are saved, read this file, if its client is alive and the file still has this
    /// digest, and hand in [`Input::Present`]. Without a digest there is nothing to read.
    Read(DiffId, SessionId, Arc<str>, Option<Digest>),
    /// Find out whether a client has written this text, and hand in [`Input::Found`].
    ForText(ExpectedText),
}

/// The outputs so far, the oldest first.
pub type Outputs = Vec<Output>;

impl Action {
    /// The tool.
    pub fn tool(self) -> Tool {
        match self {
            Self::Open { .. } => Tool::OpenDiff,
            Self::End(End::Close { .. }) => Tool::CloseDiff,
            Self::End(End::Decide { accept: true }) => Tool::AcceptDiff,
            Self::End(End::Decide { accept: false }) => Tool::RejectDiff,
        }
    }
}
