//! Defines Gemini CLI's additions to MCP: context, diffs, and the discovery file.
//!
//! Source: the companion interface specification and the client's `dist/src/ide/types.js`,
//! `ideContext.js`, `ide-connection-utils.js` (`@google/gemini-cli-core` 0.61.0).

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::jsonrpc::Notification;

/// The most open files that the client reads.
pub const MAX_OPEN_FILES: usize = 10;

/// The longest selection that the client keeps, in UTF-16 code units.
pub const MAX_SELECTED_TEXT: usize = 16_384;

/// Cuts `text` to at most `limit` UTF-16 code units, never within a surrogate pair.
pub fn truncate_utf16(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text; // a UTF-8 text has at least as many bytes as UTF-16 units
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > limit {
            return &text[..at];
        }
    }
    text
}

/// Puts `text` on one line, and cuts it to `limit` UTF-16 code units, the ellipsis at the cut among them.
pub fn one_line(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if truncate_utf16(&line, limit).len() == line.len() {
        return line;
    }
    format!("{}…", truncate_utf16(&line, limit - 1))
}

/// Formats `text` as one line of a log. Escapes characters that end a line, control a terminal, change
/// the writing direction or cannot be seen. Words of Persian and emoji need U+200C and U+200D.
pub fn log_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => {
                line.extend(c.escape_unicode());
            }
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

/// The context that a client gets: the parameters of `ide/contextUpdate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdeContext {
    /// Always sent.
    pub workspace_state: WorkspaceState,
}

/// Names the content of [`WorkspaceState`] for clients.
pub const CONTEXT_CONTENT: &str = "the open files, the caret and the selection";

/// The editor's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceState {
    /// At most [`MAX_OPEN_FILES`], newest focus first.
    pub open_files: Vec<OpenFile>,
    /// Whether the user trusts the workspace; absent leaves that to the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_trusted: Option<bool>,
}

/// A file that is open in the editor and exists on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenFile {
    /// Absolute.
    pub path: String,
    /// When it last had the focus, in milliseconds since 1970.
    pub timestamp: u64,
    /// Present and true for the file that has the focus.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_active: bool,
    /// The caret; only in the active file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Position>,
    /// The selection, at most [`MAX_SELECTED_TEXT`] long; only in the active file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_text: Option<String>,
}

/// A position in a text, such as the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// 1-based.
    pub line: NonZeroU32,
    /// 1-based, in UTF-16 code units from the start of the line (not visual columns).
    pub character: NonZeroU32,
}

impl Position {
    /// Creates a position; `None` if a coordinate is 0.
    pub fn new(line: u32, character: u32) -> Option<Self> {
        Some(Self { line: NonZeroU32::new(line)?, character: NonZeroU32::new(character)? })
    }
}

/// The parameters of `ide/diffAccepted`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffAccepted<'a> {
    /// As the client wrote it in `openDiff`, byte for byte.
    pub file_path: &'a str,
    /// The text that the user accepted, with the user's edits.
    pub content: &'a str,
}

/// The parameters of `ide/diffRejected`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffRejected<P> {
    /// As the client wrote it in `openDiff`, byte for byte.
    pub file_path: P,
}

/// The methods of a companion's notifications. A bridge matches on them without a default, because it
/// changes the paths in their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
pub enum IdeMethod {
    /// The context has changed.
    #[strum(serialize = "ide/contextUpdate")]
    ContextUpdate,
    /// The user has accepted a diff.
    #[strum(serialize = "ide/diffAccepted")]
    DiffAccepted,
    /// A diff was rejected. The other name is that of older companions.
    #[strum(to_string = "ide/diffRejected", serialize = "ide/diffClosed")]
    DiffRejected,
}

/// Makes the notification `ide/contextUpdate`.
pub fn context_update(context: &IdeContext) -> Notification<&IdeContext> {
    Notification::new(IdeMethod::ContextUpdate, context)
}

/// Makes the notification `ide/diffAccepted`.
pub fn diff_accepted<'a>(file_path: &'a str, content: &'a str) -> Notification<DiffAccepted<'a>> {
    Notification::new(IdeMethod::DiffAccepted, DiffAccepted { file_path, content })
}

/// Makes the notification `ide/diffRejected`. `file_path` is a text, or one in JSON.
pub fn diff_rejected<P: Serialize>(file_path: P) -> Notification<DiffRejected<P>> {
    Notification::new(IdeMethod::DiffRejected, DiffRejected { file_path })
}

/// Converts the same notifications to the names and shapes of `GET /events`.
///
/// They are compatible with an earlier companion server for Neovim.
pub mod events {
    use super::{DiffAccepted, DiffRejected, IdeContext, Notification, Position, Serialize};

    /// The parameters of `notifications/context-update`.
    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    pub struct Context<'a> {
        open_files: Vec<File<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        active_file: Option<ActiveFile<'a>>,
    }

    #[derive(Debug, Serialize)]
    struct File<'a> {
        path: &'a str,
        timestamp: u64,
    }

    #[derive(Debug, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ActiveFile<'a> {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cursor_position: Option<Position>,
        #[serde(skip_serializing_if = "Option::is_none")]
        selection: Option<&'a str>,
    }

    /// Makes the notification `notifications/context-update`.
    pub fn context_update(context: &IdeContext) -> Notification<Context<'_>> {
        let files = &context.workspace_state.open_files;
        let active_file = files.iter().find(|file| file.is_active).map(|file| ActiveFile {
            path: &file.path,
            cursor_position: file.cursor,
            selection: file.selected_text.as_deref(),
        });
        let open_files =
            files.iter().map(|file| File { path: &file.path, timestamp: file.timestamp }).collect();
        Notification::new("notifications/context-update", Context { open_files, active_file })
    }

    /// Makes the notification `notifications/ide/diffAccepted`.
    pub fn diff_accepted<'a>(
        file_path: &'a str,
        content: &'a str,
    ) -> Notification<DiffAccepted<'a>> {
        Notification::new("notifications/ide/diffAccepted", DiffAccepted { file_path, content })
    }

    /// Makes the notification `notifications/ide/diffRejected`.
    pub fn diff_rejected(file_path: &str) -> Notification<DiffRejected<&str>> {
        Notification::new("notifications/ide/diffRejected", DiffRejected { file_path })
    }
}

/// The text of a `closeDiff` result; `{}` if there was no such diff.
///
/// The specification's prose asks for the bare content, but the client parses JSON
/// (`ide-client.js`, `closeDiff`).
#[derive(Debug, Serialize)]
pub struct ClosedDiff<'a> {
    /// The final text of the proposal.
    pub content: &'a str,
}

/// The content of a discovery file. The client reads it in `getConnectionConfigFromFile`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryFile {
    /// The server's port.
    pub port: u16,
    /// The workspace's roots, joined by `:`, or on Windows by `;`.
    pub workspace_path: String,
    /// The folders of `workspace_path` that the editor does not have open: other worktrees of its Git
    /// repository. Clients ignore the list. Other companions read it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<String>,
    /// The bearer token of every request.
    pub auth_token: String,
    /// The editor's process, for clients that do not read it from the file's name. They remove the
    /// file when the process has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ppid: Option<u32>,
    /// The editor that the companion belongs to.
    pub ide_info: IdeInfo,
}

/// The editor that a companion belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdeInfo {
    /// For programs, such as `intellijidea` or `neovim`.
    pub name: String,
    /// For people; `/ide status` shows it.
    pub display_name: String,
}
