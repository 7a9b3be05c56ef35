//! Declares the editor as the server sees it.

mod responder;

use std::fmt;
use std::sync::Arc;

pub(crate) use companion_core::calls::CallId;
pub use companion_core::companion::Delivery;
use companion_core::diffs::DiffId;
use companion_core::session::ClientTraits;
use companion_core::text::Share;
use companion_protocol::diagnostics::DiagnosticsRequest;
use companion_protocol::editor::{
    CloseDiff, CompanionNotification, DiffPath, OpenDiff, ReasonArrival,
};
pub(crate) use responder::{Asker, TakeAnswer};
pub use responder::{Responder, Responders};
use serde::Serialize;

use crate::workspace::probe::TargetProbe;

/// An editor, as the server sees it.
///
/// Calls come in causal order and must return immediately. Most come from the server's one thread.
/// A message of the editor may cause calls as well; these come from the thread that calls
/// [`Server::apply`](crate::Server::apply), before it returns. So don't hold a lock there that a
/// call takes.
pub trait EditorHost: Send + Sync + 'static {
    /// Carries out a request. The editor answers later, from any thread, by the [`Responder`].
    ///
    /// A request fails if the editor does not answer within
    /// [`host_timeout`](companion_core::companion::Limits::host_timeout), or, for diagnostics, within
    /// [`diagnostics_timeout`](crate::Limits::diagnostics_timeout). A later answer is ignored, or
    /// has the problems that count as known.
    fn request(&self, request: EditorRequest, responder: Responder);

    /// Receives a change of the server's state.
    fn notify(&self, notification: CompanionNotification);
}

/// A request to the editor.
#[derive(Debug)]
pub enum EditorRequest {
    /// `diff/open`: show a proposal. Complete the request when the view shows, before the user
    /// can decide. The view replaces an open one for the same path, without a decision.
    OpenDiff(Proposal),
    /// `diff/close`: close the view without a decision. Complete the request with the final text
    /// of the proposal; fail it if there is no such view. If the diff is abandoned, no client
    /// takes the text: keep the user's edits within reach.
    CloseDiff(CloseDiff),
    /// `diff/accept`: accept the proposal as the user would, by `diff/accepted` to
    /// [`Server::apply`](crate::Server::apply), then complete the request. Write the text to the
    /// file before, unless the client does that ([`OpenDiff::replays_edits`]).
    AcceptDiff(DiffPath),
    /// `diff/reject`: reject the proposal as the user would, by `diff/rejected` to
    /// [`Server::apply`](crate::Server::apply), then complete the request.
    RejectDiff(DiffPath),
    /// `editor/diagnostics`: report the diagnostics of files, for their texts on the disk. After
    /// 2.5 s report only the known ones.
    Diagnostics(DiagnosticsRequest),
    /// `editor/unsaved`: save the files of the workspace if the user wants that, then list those
    /// whose text is not on the disk. A hook waits up to 0.75 s, and checks the files in that time.
    UnsavedFiles,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RequestParams<'a> {
    OpenDiff(OpenDiff<'a>),
    CloseDiff(&'a CloseDiff),
    DiffPath(&'a DiffPath),
    Diagnostics(&'a DiagnosticsRequest),
    Empty {},
}

impl EditorRequest {
    /// The method in the editor's protocol.
    pub fn method(&self) -> &'static str {
        match self {
            Self::OpenDiff(_) => "diff/open",
            Self::CloseDiff(_) => "diff/close",
            Self::AcceptDiff(_) => "diff/accept",
            Self::RejectDiff(_) => "diff/reject",
            Self::Diagnostics(_) => "editor/diagnostics",
            Self::UnsavedFiles => "editor/unsaved",
        }
    }

    /// The text of a proposal, which may be long.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::OpenDiff(proposal) => Some(&proposal.new_content),
            _ => None,
        }
    }

    /// The parameters in the editor's protocol. For a proposal this asks the disk for up to
    /// 0.5 s, so don't call it from within [`EditorHost::request`].
    pub fn params(&self) -> impl Serialize {
        self.params_with(Proposal::to_show)
    }

    /// The parameters, with an empty text in place of [`text`](Self::text).
    pub fn params_without_text(&self) -> impl Serialize {
        self.params_with(|proposal| OpenDiff { new_content: "", ..proposal.to_show() })
    }

    fn params_with(&self, show: fn(&Proposal) -> OpenDiff<'_>) -> RequestParams<'_> {
        match self {
            Self::OpenDiff(proposal) => RequestParams::OpenDiff(show(proposal)),
            Self::CloseDiff(close) => RequestParams::CloseDiff(close),
            Self::AcceptDiff(path) | Self::RejectDiff(path) => RequestParams::DiffPath(path),
            Self::Diagnostics(request) => RequestParams::Diagnostics(request),
            Self::UnsavedFiles => RequestParams::Empty {},
        }
    }
}

/// A proposed edit.
///
/// It counts as taken by the editor when it is dropped and its call is answered. The server refuses
/// further proposals while too many bytes of proposals are not taken.
pub struct Proposal {
    /// The file, absolute and as the client wrote it. The file may not exist.
    pub file_path: String,
    /// The whole proposed text.
    pub new_content: String,
    /// Its diff, once the companion has opened it.
    pub(crate) diff: Option<DiffId>,
    /// The number of the client, from 1.
    pub(crate) cli: u32,
    pub(crate) client: ClientTraits,
    /// When the model would get the reason of a rejection.
    pub(crate) reason: ReasonArrival,
    pub(crate) probe: Arc<TargetProbe>,
    /// Its part of the bytes that the editor may leave untaken.
    pub(crate) untaken: Option<Arc<Share>>,
}

impl Proposal {
    /// The proposal in the editor's protocol. Asks the disk for up to 0.5 s, so don't call it from
    /// within [`EditorHost::request`].
    pub fn to_show(&self) -> OpenDiff<'_> {
        let Self { file_path, new_content, diff, cli, client, reason, probe, .. } = self;
        let diff = diff.map(|diff| diff.to_string()).unwrap_or_default();
        let (kind, private) = probe.of(file_path);
        let replays_edits = client.replays_edits;
        let reason = if private { ReasonArrival::Never } else { *reason };
        OpenDiff { file_path, diff, kind, private, cli: *cli, replays_edits, reason, new_content }
    }
}

impl fmt::Debug for Proposal {
    /// Omits the text, which must not be in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal").field("file_path", &self.file_path).finish_non_exhaustive()
    }
}
