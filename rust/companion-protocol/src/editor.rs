//! Defines the messages between `gemini-companion serve` and an editor.
//!
//! They are JSON-RPC 2.0 with one message per line: the editor writes to stdin, the companion to
//! stdout. `docs/editor-protocol.md` has an example of each.

mod cli;
mod restart;
mod revert;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ide::Position;
use crate::jsonrpc::{ErrorObject, Params, invalid_params, method_not_found};
use crate::text;
pub use cli::{
    ChangeKind, ChangedFile, ChangedPath, ChangedPaths, ChangedText, CliAnswered, CliChanged,
    CliCommand, CliFinished, CliWaiting, CommentId, CommentOnLines, CommentRefused,
    CommentsDelivered, CommentsPending, ReasonLost,
};
pub use restart::{Restarts, ResumedProposal, ResumedProposals, ShownProposal, ShownProposals};
pub use revert::{
    FileToRevert, Hunk, Hunks, ListedHunk, PlanRevert, PlannedFile, PromptOfSession, RevertAction,
    RevertPlan,
};

/// Declares messages from the editor, each with its method. A variant without parameters ignores those of
/// its message.
macro_rules! messages_from_editor {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident$(($params:ty))? = $method:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $(
                #[doc = concat!("`", $method, "`")]
                $(#[$doc])*
                $variant$(($params))?,
            )+
        }

        impl $name {
            /// Reads the message `method`.
            ///
            /// # Errors
            /// If the companion does not know the method, or if `params` don't fit it.
            pub fn parse(method: &str, params: Params<'_>) -> Result<Self, ErrorObject> {
                let parsed = match method {
                    $($method => messages_from_editor!(@parse params $variant $($params)?),)+
                    _ => return Err(method_not_found(method)),
                };
                parsed.map_err(|error| invalid_params(method, &error))
            }

            /// Reads the message `method` whose parameters are JSON.
            ///
            /// # Errors
            /// If the companion does not know the method, or if `params` don't fit it.
            pub fn from_json(method: &str, params: &str) -> Result<Self, ErrorObject> {
                let params = serde_json::from_str(params)
                    .map_err(|error| invalid_params(method, &error))?;
                Self::parse(method, Params::new(params))
            }
        }
    };
    (@parse $from:ident $variant:ident) => { Ok(Self::$variant) };
    (@parse $from:ident $variant:ident $params:ty) => { $from.parse().map(Self::$variant) };
}

messages_from_editor! {
    /// A notification from the editor.
    pub enum EditorNotification {
        Opened(FilePath) = "editor/opened",
        Closed(FilePath) = "editor/closed",
        /// Opens the file if need be.
        Focused(FilePath) = "editor/focused",
        Cursor(CursorMoved) = "editor/cursor",
        /// An empty text clears the selection.
        Selection(SelectionChanged) = "editor/selection",
        /// Of a file or a directory.
        Renamed(Renamed) = "editor/renamed",
        /// Of a file or a directory.
        Deleted(FilePath) = "editor/deleted",
        /// All roots, absolute.
        Folders(Folders) = "workspace/folders",
        Trust(Trust) = "workspace/trust",
        ShareContext(ShareContext) = "workspace/shareContext",
        Review(Review) = "workspace/review",
        CommentSet(CommentOnLines) = "comment/set",
        CommentRemoved(CommentId) = "comment/removed",
        ChangesReverted(ChangedPaths) = "cli/reverted",
        RevertUndone(ChangedPaths) = "cli/revertUndone",
        ChangesKept(ChangedPaths) = "cli/kept",
        /// The user's decision, with the final text.
        DiffAccepted(AcceptedDiff) = "diff/accepted",
        DiffRejected(RejectedDiff) = "diff/rejected",
        Restarts(Restarts) = "editor/restarts",
    }
}

impl EditorNotification {
    /// Replaces the text, for a host that gets long texts beside the JSON.
    #[must_use]
    pub fn with_text(mut self, text: String) -> Self {
        if let Self::Selection(changed) = &mut self {
            changed.text = text;
        }
        self
    }
}

messages_from_editor! {
    /// A request from the editor. The companion answers it at once, except [`Self::Diagnosis`].
    pub enum EditorQuery {
        /// The result is a [`ChangedText`].
        Texts(ChangedPath) = "cli/texts",
        /// The result is [`Hunks`].
        Hunks(ChangedPath) = "cli/hunks",
        /// The result is a [`RevertPlan`].
        RevertPlan(PlanRevert) = "cli/revertPlan",
        /// The result is a [`Status`](crate::status::Status).
        Status = "companion/status",
        /// The result is a [`TerminalEnvironment`].
        Environment = "companion/environment",
        /// The result is a [`Diagnosis`]. It takes seconds.
        Diagnosis = "companion/diagnosis",
        /// The result is an [`AcceptanceDelivery`].
        Accepted(AcceptedDiff) = "diff/accepted",
        /// The result is a [`Withdrawn`].
        Withdraw(DiffPath) = "diff/withdraw",
        /// The result is a [`ResumedProposals`].
        Resume(ShownProposals) = "diff/resume",
    }
}

impl EditorQuery {
    /// Replaces the text, for a host that gets long texts beside the JSON.
    #[must_use]
    pub fn with_text(mut self, text: String) -> Self {
        if let Self::Accepted(diff) = &mut self {
            diff.content = text;
        }
        self
    }
}

/// Declares notifications to the editor, each with its method.
macro_rules! notifications_to_editor {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident($params:ty) = $method:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum $name {
            $(#[doc = concat!("`", $method, "`")] $(#[$doc])* $variant($params),)+
        }

        impl $name {
            /// The method.
            pub fn method(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $method,)+
                }
            }
        }
    };
}

notifications_to_editor! {
    /// A notification from the companion to the editor, besides `companion/ready`.
    pub enum CompanionNotification {
        Clients(Clients) = "companion/clients",
        PrivateFiles(PrivateFiles) = "companion/private",
        /// The client has written the accepted text. It is sent only if an editor must keep that text until
        /// then.
        Written(DiffPath) = "diff/written",
        /// The client has not written it.
        Unwritten(DiffPath) = "diff/unwritten",
        ReasonLost(ReasonLost) = "diff/reasonLost",
        CliWaiting(CliWaiting) = "cli/waiting",
        CliAnswered(CliAnswered) = "cli/answered",
        CliFinished(CliFinished) = "cli/finished",
        CliCommand(CliCommand) = "cli/command",
        CliChanged(CliChanged) = "cli/changed",
        CommentsPending(CommentsPending) = "comment/pending",
        CommentsDelivered(CommentsDelivered) = "comment/delivered",
        CommentRefused(CommentRefused) = "comment/refused",
    }
}

impl CompanionNotification {
    /// The subject whose state this reports. A newer notification of the same subject replaces it.
    /// `None` if this reports an event.
    pub fn subject(&self) -> Option<String> {
        match self {
            Self::Clients(_) | Self::PrivateFiles(_) | Self::CommentsPending(_) => {
                Some(self.method().to_owned())
            }
            Self::CliChanged(of) => Some(format!("{} {}", self.method(), of.prompt)),
            Self::Written(_)
            | Self::Unwritten(_)
            | Self::ReasonLost(_)
            | Self::CliWaiting(_)
            | Self::CliAnswered(_)
            | Self::CliFinished(_)
            | Self::CliCommand(_)
            | Self::CommentsDelivered(_)
            | Self::CommentRefused(_) => None,
        }
    }
}

/// A file or directory, absolute.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FilePath {
    /// Absolute.
    pub path: String,
}

/// A move of the caret.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CursorMoved {
    /// The file that has the caret, absolute.
    pub path: String,
    /// The new position.
    #[serde(flatten)]
    pub cursor: Position,
}

/// A new selection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SelectionChanged {
    /// The file that has the selection, absolute.
    pub path: String,
    /// The selected text; empty if nothing is selected.
    pub text: String,
}

/// A rename or move of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Renamed {
    /// The old path.
    pub from: String,
    /// The new path.
    pub to: String,
}

/// The workspace's roots.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Folders {
    /// All of them, absolute; may be empty.
    pub paths: Vec<String>,
}

/// Whether the user trusts the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Trust {
    /// The decision; `None` leaves it to the CLI.
    pub trusted: Option<bool>,
}

/// Whether the user shares context and diagnostics with clients.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShareContext {
    /// The user's decision.
    pub share: bool,
}

/// Whether the user reviews each edit, even if the CLI does not ask for it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Review {
    /// The user's decision.
    pub all: bool,
}

/// An acceptance of a proposal by the user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedDiff {
    /// The path from `diff/open`, byte for byte.
    pub file_path: String,
    /// The text that was accepted, with the user's edits.
    #[serde(deserialize_with = "text::content")]
    pub content: String,
}

/// A rejection of a proposal by the user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RejectedDiff {
    /// The path from `diff/open`, byte for byte.
    pub file_path: String,
    /// For the model. [`OpenDiff::reason`] says when the model gets it.
    #[serde(default)]
    pub reason: Option<String>,
}

/// The result of `diff/accepted`, if it is a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptanceDelivery {
    /// Whether the client gets the acceptance.
    pub delivery: Delivery,
}

/// The delivery of a decision to its client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// The client is connected, and receives the decision.
    Delivered,
    /// The client's stream is down. It receives the decision when it returns.
    Queued,
    /// No such diff is open: it was decided, closed or replaced before, or its client is gone.
    #[default]
    Unknown,
}

/// The result of `diff/withdraw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Withdrawn {
    /// Whether the client gets a rejection in place of the acceptance. Otherwise it may already have
    /// received the acceptance.
    pub withdrawn: bool,
}

/// A proposal, named by the path from `diff/open`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffPath {
    /// Byte for byte.
    pub file_path: String,
}

/// The parameters of `diff/close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseDiff {
    /// Byte for byte.
    pub file_path: String,
    /// No client waits for the text any more, so the editor keeps the user's edits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abandoned: bool,
}

/// The parameters of `companion/ready`, the first line that the companion writes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready<'a> {
    /// The port on 127.0.0.1.
    pub port: u16,
    /// The URL of the MCP endpoint on that port.
    pub url: String,
    /// All addresses with ports where the server listens, including those that the user added.
    pub listening: Vec<String>,
    /// The bearer token of every request.
    pub auth_token: &'a str,
    /// The discovery file for each client, by the client's id. Absent if the server could not write
    /// it (see the log), or if the client's folder does not exist.
    pub discovery_files: BTreeMap<&'static str, String>,
    /// The variables that a terminal needs so that a CLI in it finds this companion.
    pub env: BTreeMap<&'static str, String>,
}

/// The result of `companion/environment`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TerminalEnvironment {
    /// The variables that a terminal needs so that a CLI in it finds this companion.
    pub env: BTreeMap<&'static str, String>,
}

/// The result of `companion/diagnosis`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// What `gemini-companion doctor` reports for each CLI in the editor's terminal. Without a token.
    pub text: String,
}

/// The parameters of `companion/clients`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clients {
    /// The number of connected clients.
    pub count: usize,
}

/// The parameters of `companion/private`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PrivateFiles {
    /// The open private files. No client gets them.
    pub paths: Vec<String>,
    /// By path, a text for the user: the reason, and the line of an ignore file that shares the file, if
    /// there is one.
    pub reasons: BTreeMap<String, String>,
}

/// The parameters of the request `diff/open`: a proposal that the editor must show. The result is
/// `{}`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenDiff<'a> {
    /// The proposal's file, absolute.
    pub file_path: &'a str,
    /// Names the proposal in `diff/resume`.
    pub diff: String,
    /// Whether accepting changes or creates the file.
    pub kind: ProposalKind,
    /// Whether the file is private.
    pub private: bool,
    /// The number of the connected client that made the proposal, from 1.
    pub cli: u32,
    /// The client writes the file itself after an acceptance. If the user has not changed the
    /// proposal, the client applies the model's edit to the file's current text.
    pub replays_edits: bool,
    /// When the model gets the reason of a rejection.
    pub reason: ReasonArrival,
    /// The whole proposed text.
    pub new_content: &'a str,
}

/// The effect of accepting a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalKind {
    /// Changes an existing file.
    Change,
    /// Creates a file that does not exist when the proposal arrives.
    Create,
}

/// When the model gets the reason of a rejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ReasonArrival {
    /// At once, and the CLI goes on. If the file has changed since, as [`Self::NextPrompt`].
    Now,
    /// With the user's next prompt. The rejection ends the CLI's turn.
    NextPrompt,
    /// Not at all: the CLI's extension is missing, or the file is private.
    #[default]
    Never,
}

/// The result of the request `editor/unsaved`.
#[derive(Debug, Default, Deserialize)]
pub struct UnsavedFiles {
    /// The files whose text in the editor is not on the disk, absolute.
    pub paths: Vec<String>,
}

/// The result of the request `diff/close`. The companion ignores the results of other requests.
#[derive(Debug, Deserialize)]
pub struct DiffResult {
    /// The final text of the proposal.
    #[serde(default, deserialize_with = "text::optional_content")]
    pub content: Option<String>,
}
