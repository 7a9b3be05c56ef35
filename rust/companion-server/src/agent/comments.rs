//! Takes the user's comments on lines, and gives each to one model once.

use std::sync::Arc;

use companion_protocol::editor::{
    CommentOnLines, CommentRefused, CommentsDelivered, CommentsPending, CompanionNotification,
};
use companion_protocol::ide::{one_line, truncate_utf16};
use tokio::runtime::Handle;

use super::READ_TIMEOUT;
use super::model::SetComment;
use super::note::{Comment, Note, NoteId};
use crate::diffs::Record;
use crate::state::ServerState;

/// The longest id, in bytes.
const MAX_ID: usize = 64;

/// The longest comment, in UTF-16 code units.
const MAX_TEXT: usize = 16_384;

/// The longest content of lines that the model gets, in UTF-16 code units.
const MAX_CONTENT: usize = 500;

/// Adds or changes a comment. The editor hears if no model will get it.
pub(crate) fn set(state: &Arc<ServerState>, runtime: &Handle, comment: CommentOnLines) {
    let CommentOnLines { id, path, line, end_line, content, text } = comment;
    if id.is_empty() || id.len() > MAX_ID || text.trim().is_empty() {
        return refuse(state, id, "The comment has no valid id or no text.");
    }
    let comment = Comment {
        id: id.as_str().into(),
        path: path.as_str().into(),
        line: line.max(1),
        end_line: end_line.max(line).max(1),
        content: one_line(&content, MAX_CONTENT).into(),
        text: truncate_utf16(text.trim(), MAX_TEXT).to_owned().into(),
    };
    let set = state.agents.model.lock().set_comment(comment);
    let (note, replaced) = match set {
        SetComment::Set(note, replaced) => (note, replaced),
        SetComment::Told => return delivered(state, vec![id]),
        SetComment::Full => return refuse(state, id, "Too many comments wait."),
    };
    if let Some(replaced) = replaced {
        state.diffs.record(Record::NoteTold(replaced));
    }
    let state = Arc::clone(state);
    runtime.spawn(async move {
        match state.workspace.check_shared(&path, READ_TIMEOUT).await {
            Ok(()) => {
                let shared = state.agents.model.lock().share(note);
                if let Some(comment) = shared {
                    state.diffs.record(Record::Note(note, Note::Comment(comment)));
                }
            }
            Err(why) => {
                state.agents.model.lock().refuse(note);
                refuse(&state, id, &format!("No model gets this comment: {why}."));
            }
        }
    });
}

/// Removes a comment, if no model has got it.
pub(crate) fn remove(state: &ServerState, id: &str) {
    let removed = state.agents.model.lock().remove_comment(id);
    if let Some(note) = removed {
        state.diffs.record(Record::NoteTold(note));
    }
}

/// Tells the editor the comments of the last process.
pub(crate) fn pending(state: &ServerState) {
    let comments: Vec<_> = state.agents.model.lock().comments().map(to_editor).collect();
    if !comments.is_empty() {
        let pending = CommentsPending { comments };
        state.host.notify(CompanionNotification::CommentsPending(pending));
    }
}

fn to_editor(comment: &Comment) -> CommentOnLines {
    let Comment { id, path, line, end_line, content, text } = comment;
    CommentOnLines {
        id: id.to_string(),
        path: path.to_string(),
        line: *line,
        end_line: *end_line,
        content: content.to_string(),
        text: text.to_string(),
    }
}

/// The comments as a text for a model; `None` if there are none.
pub(super) fn text(state: &ServerState, comments: &[(NoteId, Comment)]) -> Option<String> {
    let line = |(_, Comment { path, line, end_line, content, text, .. }): &(NoteId, Comment)| {
        let path = state.workspace.relative(path);
        let of_lines = if line == end_line {
            format!("line {line}")
        } else {
            format!("lines {line}-{end_line}")
        };
        format!("- {path}, {of_lines} (`{}`): {}", &**content, &**text)
    };
    let lines: Vec<_> = comments.iter().map(line).collect();
    let text = || format!("The user commented on these lines:\n{}", lines.join("\n"));
    (!lines.is_empty()).then(text)
}

/// Tells the editor that a model has got these comments.
pub(super) fn delivered(state: &ServerState, ids: Vec<String>) {
    let delivered = CommentsDelivered { ids };
    state.host.notify(CompanionNotification::CommentsDelivered(delivered));
}

fn refuse(state: &ServerState, id: String, why: &str) {
    let refused = CommentRefused { id, reason: why.to_owned() };
    state.host.notify(CompanionNotification::CommentRefused(refused));
}
