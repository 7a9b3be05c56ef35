//! Takes the user's comments on lines, and reports to the editor what becomes of them.

use std::fmt::Write as _;
use std::sync::Arc;

use companion_core::companion::{Companion, Input};
use companion_core::notes::Comment;
use companion_protocol::editor::{CommentOnLines, CommentRefused, CompanionNotification};
use companion_protocol::ide::{one_line, truncate_utf16};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::Hooks;
use super::reader::READ_TIMEOUT;
use crate::privacy::SETTLE_TIME;
use crate::workspace::{UNSETTLED, is_refusal};

/// The longest id, in bytes.
const MAX_ID: usize = 64;

/// The longest comment, in UTF-16 code units.
const MAX_TEXT: usize = 16_384;

/// The longest content of lines that the model gets, in UTF-16 code units.
const MAX_CONTENT: usize = 500;

/// The first line of a text with comments.
pub(super) const HEADING: &str = "The user commented on these lines:";

impl Hooks {
    /// Adds or changes a comment. Reports to the editor if no model will get it. Returns the task
    /// that checks its file.
    pub(crate) fn set_comment(
        &self,
        runtime: &Handle,
        comment: CommentOnLines,
    ) -> Option<JoinHandle<()>> {
        let CommentOnLines { id, path, line, end_line, content, text } = comment;
        if id.is_empty() || id.len() > MAX_ID || text.trim().is_empty() {
            self.refuse_comment(id, "The comment has no valid id or no text.");
            return None;
        }
        let comment = Comment {
            id: id.as_str().into(),
            path: path.as_str().into(),
            line: line.max(1),
            end_line: end_line.max(line).max(1),
            content: one_line(&content, MAX_CONTENT).into(),
            text: truncate_utf16(text.trim(), MAX_TEXT).to_owned().into(),
            since: self.driver.now().date,
        };
        let note = self.driver.post(Input::Comment(comment, self.context.why_unshared())).comment?;
        let (driver, workspace) = (Arc::clone(&self.driver), Arc::clone(&self.workspace));
        Some(runtime.spawn(async move {
            // Each delivery checks it again. This check lets the user know at once, and the disk gets no
            // comment on a private file.
            let checked = loop {
                match workspace.check_shared(&path, READ_TIMEOUT).await {
                    Err(UNSETTLED) => sleep(SETTLE_TIME).await,
                    checked => break checked,
                }
            };
            let refused = checked.err().filter(|why| is_refusal(why));
            driver.handle(Input::CommentChecked(note, &path, refused));
        }))
    }

    /// Reports to the editor the comments of the last process.
    pub(crate) fn report_pending_comments(&self) {
        if let Some(pending) = self.driver.ask(Companion::comments_pending) {
            self.host.notify(pending);
        }
    }

    /// The comments as a text for the model of a CLI that runs in `folder`; `None` if there are none.
    pub(super) fn comments_text<'a>(
        &self,
        folder: Option<&str>,
        comments: impl Iterator<Item = &'a Comment>,
    ) -> Option<String> {
        let mut lines = String::new();
        for Comment { path, line, end_line, content, text, .. } in comments {
            let path = self.workspace.name_for(folder, path);
            let of_lines = if line == end_line {
                format!("line {line}")
            } else {
                format!("lines {line}-{end_line}")
            };
            let _ = write!(lines, "\n- {path}, {of_lines} (`{}`): {}", &**content, &**text);
        }
        (!lines.is_empty()).then(|| format!("{HEADING}{lines}"))
    }

    fn refuse_comment(&self, id: String, why: &str) {
        let refused = CommentRefused { id, reason: why.to_owned() };
        self.host.notify(CompanionNotification::CommentRefused(refused));
    }
}
