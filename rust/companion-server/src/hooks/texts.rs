//! Writes the texts that models get at hooks.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use companion_core::notes::{Note, Reason, Revert};
use companion_protocol::diagnostics::DiagnosticsReport;
use companion_protocol::editor::CommentOnLines;

use super::event::HookEvent;
use super::note_delivery::Checked;
use crate::workspace::Workspace;

/// The first line of a text with comments.
pub(super) const COMMENTS_HEADING: &str = "The user commented on these lines:";

/// The most reverted files that the model gets by name.
const MAX_NAMED: usize = 50;

/// Writes the texts of these notes. `about_reason` writes the text of a reason, which depends on the moment.
pub(super) fn of_notes(
    workspace: &Workspace,
    event: &HookEvent,
    Checked { delivery, shared }: &Checked,
    about_reason: impl Fn(&Reason) -> String,
) -> Vec<String> {
    let (mut texts, mut comments, mut reverts) = (Vec::new(), Vec::new(), Vec::new());
    for (_, note) in &delivery.notes {
        match note {
            Note::Reason(reason) => texts.push(about_reason(reason)),
            Note::Comment(comment) => comments.push(comment),
            Note::Revert(revert) => reverts.push(revert),
        }
    }
    let name = |path: &str| workspace.name_for(event.folder.as_deref(), path);
    texts.extend(of_comments(&comments, name));
    texts.extend(of_reverts(reverts, shared, name));
    texts
}

/// The text in place of the result of an edit.
pub(super) fn rejected<'a>(
    event: &HookEvent,
    path: &str,
    reasons: impl IntoIterator<Item = &'a str>,
) -> String {
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let text = format!("The user rejected this edit of {shown}, and the file was not changed.");
    match Vec::from_iter(reasons).join("\n") {
        reasons if reasons.is_empty() => text,
        reasons => format!("{text} The user's reason: {reasons}"),
    }
}

/// The text with a prompt, about an edit before it.
pub(super) fn rejected_before(
    workspace: &Workspace,
    event: &HookEvent,
    Reason { path, text, .. }: &Reason,
) -> String {
    let path = workspace.name_for(event.folder.as_deref(), path);
    format!(
        "The user rejected your last edit of {path}, and the file was not changed. The user's \
         reason: {}",
        &**text
    )
}

/// The text with the result of an edit that the user has accepted in the terminal at the same time.
pub(super) fn remark(event: &HookEvent, path: &str, Reason { text, .. }: &Reason) -> String {
    let shown = event.shown_path.as_deref().unwrap_or(path);
    format!("The user has a remark about this edit of {shown}: {}", &**text)
}

/// The text with the result of an edit.
pub(super) fn problems(report: &DiagnosticsReport) -> String {
    format!("The user's editor shows these problems after the edit:\n{}", report.text())
}

/// The text with a prompt.
pub(super) fn unsaved(paths: &[String]) -> String {
    format!(
        "These files have changes in the user's editor that are not saved, so the disk has an \
         older text: {}",
        paths.join(", ")
    )
}

fn of_comments(comments: &[&CommentOnLines], name: impl Fn(&str) -> String) -> Option<String> {
    if comments.is_empty() {
        return None;
    }
    let mut text = COMMENTS_HEADING.to_owned();
    for CommentOnLines { id: _, path, line, end_line, content, text: comment } in comments {
        let of_lines = if line == end_line {
            format!("line {line}")
        } else {
            format!("lines {line}-{end_line}")
        };
        let _ = write!(text, "\n- {}, {of_lines} (`{content}`): {comment}", name(path));
    }
    Some(text)
}

/// Names only the files in `shared`.
fn of_reverts(
    mut reverts: Vec<&Revert>,
    shared: &HashSet<Arc<str>>,
    name: impl Fn(&str) -> String,
) -> Option<String> {
    let mut seen = HashSet::new();
    let (mut whole, mut partial) = (Vec::new(), Vec::new());
    // A file that is reverted as a whole is not named a second time for a part.
    reverts.sort_by_key(|revert| revert.is_partial);
    for Revert { paths, is_partial, .. } in reverts {
        for path in paths {
            if shared.contains(path) && seen.insert(Arc::clone(path)) {
                let list = if *is_partial { &mut partial } else { &mut whole };
                list.push(name(path));
            }
        }
    }
    let mut text = String::new();
    for (paths, amount) in [(whole, ""), (partial, "some of ")] {
        if !paths.is_empty() {
            let _ = write!(text, "The user reverted {amount}your changes to {}. ", named(paths));
        }
    }
    if text.is_empty() {
        return None;
    }
    text.push_str("Read a file again before you edit it.");
    Some(text)
}

/// Lists paths; of many only the first ones.
fn named(mut paths: Vec<String>) -> String {
    let others = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    let mut text = paths.join(", ");
    if others > 0 {
        let _ = write!(text, " and {others} other files");
    }
    text
}
