//! Takes the user's comments on lines, and reports to the editor what becomes of them.

use std::sync::Arc;

use companion_core::companion::{Companion, Input};
use companion_protocol::editor::{CommentOnLines, CommentRefused, CompanionNotification};
use companion_protocol::ide::{one_line, truncate_utf16};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::Hooks;
use crate::config::DISK_TIMEOUT;
use crate::privacy::SETTLE_TIME;
use crate::workspace::{UNSETTLED, is_refusal};

/// The longest id, in bytes.
const MAX_ID: usize = 64;

/// The longest comment, in UTF-16 code units.
const MAX_TEXT: usize = 16_384;

/// The longest content of lines that the model gets, in UTF-16 code units.
const MAX_CONTENT: usize = 500;

impl Hooks {
    /// Adds or changes a comment. Reports to the editor if no model will get it. Returns the task
    /// that checks its file.
    pub(crate) fn set_comment(
        &self,
        runtime: &Handle,
        comment: CommentOnLines,
    ) -> Option<JoinHandle<()>> {
        let CommentOnLines { id, path, line, end_line, content, text } = comment;
        let (line, text) = (line.max(1), text.trim());
        if id.is_empty() || id.len() > MAX_ID || text.is_empty() {
            let reason = "The comment has no valid id or no text.".to_owned();
            let refused = CommentRefused { id: id.to_string(), reason };
            self.host.notify(CompanionNotification::CommentRefused(refused));
            return None;
        }
        let comment = CommentOnLines {
            id,
            path: Arc::clone(&path),
            line,
            end_line: end_line.max(line),
            content: one_line(&content, MAX_CONTENT).into(),
            text: truncate_utf16(text, MAX_TEXT).into(),
        };
        let note = self.driver.post(Input::Comment(comment, self.context.why_unshared())).comment?;
        let (driver, workspace) = (Arc::clone(&self.driver), Arc::clone(&self.workspace));
        Some(runtime.spawn(async move {
            // Each delivery checks it again. This check lets the user know at once, and the disk gets no
            // comment on a private file.
            let checked = loop {
                match workspace.check_shared(&path, DISK_TIMEOUT).await {
                    Err(UNSETTLED) => sleep(SETTLE_TIME).await,
                    checked => break checked,
                }
            };
            let refused = checked.err().filter(|why| is_refusal(why));
            driver.handle(Input::NoteChecked(note, &path, refused));
        }))
    }

    /// Reports to the editor the comments of the last process.
    pub(crate) fn report_pending_comments(&self) {
        if let Some(pending) = self.driver.ask(Companion::comments_pending) {
            self.host.notify(pending);
        }
    }
}
