//! What `gemini-companion serve` and an editor say to each other: JSON-RPC 2.0, one message
//! per line, the editor's on stdin, ours on stdout.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ide::Position;
use crate::jsonrpc::{ErrorObject, Params, code, invalid_params};
use crate::text;

/// A notification from the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorNotification {
    /// `editor/opened {path}`
    Opened(FilePath),
    /// `editor/closed {path}`
    Closed(FilePath),
    /// `editor/focused {path}`; opens the file if need be.
    Focused(FilePath),
    /// `editor/cursor {path, line, character}`
    Cursor(CursorMoved),
    /// `editor/selection {path, text}`; an empty text clears it.
    Selection(SelectionChanged),
    /// `editor/renamed {from, to}`, of a file or a directory.
    Renamed(Renamed),
    /// `editor/deleted {path}`, of a file or a directory.
    Deleted(FilePath),
    /// `workspace/folders {paths}`: all roots, absolute.
    Folders(Folders),
    /// `workspace/trust {trusted}`
    Trust(Trust),
    /// `workspace/silent {silent}`
    Silent(Silent),
    /// `diff/accepted {filePath, content}`: the user's decision, with the final text.
    DiffAccepted(AcceptedDiff),
    /// `diff/rejected {filePath}`
    DiffRejected(DiffPath),
}

impl EditorNotification {
    /// Reads the notification `method`.
    pub fn parse(method: &str, params: Params<'_>) -> Result<Self, ErrorObject> {
        let parsed = match method {
            "editor/opened" => params.parse().map(Self::Opened),
            "editor/closed" => params.parse().map(Self::Closed),
            "editor/focused" => params.parse().map(Self::Focused),
            "editor/cursor" => params.parse().map(Self::Cursor),
            "editor/selection" => params.parse().map(Self::Selection),
            "editor/renamed" => params.parse().map(Self::Renamed),
            "editor/deleted" => params.parse().map(Self::Deleted),
            "workspace/folders" => params.parse().map(Self::Folders),
            "workspace/trust" => params.parse().map(Self::Trust),
            "workspace/silent" => params.parse().map(Self::Silent),
            "diff/accepted" => params.parse().map(Self::DiffAccepted),
            "diff/rejected" => params.parse().map(Self::DiffRejected),
            _ => {
                let message = format!("Method not found: {method}");
                return Err(ErrorObject::new(code::METHOD_NOT_FOUND, message));
            }
        };
        parsed.map_err(|error| invalid_params(method, &error))
    }
}

/// A file or directory, absolute.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FilePath {
    /// Absolute.
    pub path: String,
}

/// Where the caret went.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CursorMoved {
    /// The file it is in.
    pub path: String,
    /// Its new place.
    #[serde(flatten)]
    pub cursor: Position,
}

/// What is selected now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SelectionChanged {
    /// The file it is in.
    pub path: String,
    /// Empty: nothing.
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
    /// The decision.
    pub trusted: bool,
}

/// Whether clients are told nothing of files and problems.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Silent {
    /// The user's decision.
    pub silent: bool,
}

/// A decision to take a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedDiff {
    /// As `diff/open` gave it, byte for byte.
    pub file_path: String,
    /// The text that was accepted, with the user's edits.
    #[serde(deserialize_with = "text::content")]
    pub content: String,
}

/// A diff, by the path that `diff/open` gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffPath {
    /// Byte for byte.
    pub file_path: String,
}

/// The parameters of `diff/close`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseDiff<'a> {
    /// Byte for byte.
    pub file_path: &'a str,
    /// No client takes the text, since none waits for it any more: the editor keeps what its user has written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abandoned: bool,
}

/// The parameters of `companion/ready`, the first line that the companion writes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ready<'a> {
    /// Where the server listens, on 127.0.0.1.
    pub port: u16,
    /// The same as a URL, with the path.
    pub url: String,
    /// All addresses at which it listens, with port: that one, and those that the user added.
    pub listening: Vec<String>,
    /// The bearer token of every request.
    pub auth_token: &'a str,
    /// The discovery file for each client, by its id. Absent if it could not be written (the log
    /// says why), or if it is for a client that nobody here uses.
    pub discovery_files: BTreeMap<&'static str, String>,
    /// What to set in a terminal in which the CLI is to find this companion.
    pub env: BTreeMap<&'static str, String>,
}

/// The parameters of `companion/sessions`.
#[derive(Debug, Serialize)]
pub struct Sessions {
    /// How many CLIs are connected.
    pub count: usize,
}

/// The parameters of `companion/private`.
#[derive(Debug, Serialize)]
pub struct PrivateFiles<'a> {
    /// The open files that are not told, because an ignore file names them.
    pub paths: &'a [String],
}

/// A proposal as the editor is to show it: the parameters of the request `diff/open`, whose result
/// is `{}`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenDiff<'a> {
    /// The file.
    pub file_path: &'a str,
    /// What accepting does to it.
    pub kind: ProposalKind,
    /// Whether an ignore file names it, so that it is not told otherwise.
    pub private: bool,
    /// Which of the connected CLIs it is from, from 1.
    pub cli: u32,
    /// The CLI writes the file itself once the proposal is accepted. If the user has not changed the
    /// proposal, it makes the model's edit in the file as it is by then.
    pub replays_edits: bool,
    /// The whole proposed text.
    pub new_content: &'a str,
}

/// What accepting a proposal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalKind {
    /// Changes a file that there is.
    Change,
    /// Creates a file: it does not exist when the proposal comes.
    Create,
}

/// The result of the request `diff/close`. Those of the other requests are not looked at.
#[derive(Debug, Deserialize)]
pub struct DiffResult {
    /// The final text of the proposal.
    #[serde(default, deserialize_with = "text::optional_content")]
    pub content: Option<String>,
}
