//! Reads files for hooks and rejections, one at a time, from a disk that may not answer.

use std::path::PathBuf;
use std::sync::Arc;

use companion_core::companion::{ExpectedText, FoundFile};
use companion_core::text::Digest;
use tokio::time::timeout;

use super::{Hooks, original};
use crate::config::DISK_TIMEOUT;
use crate::disk::written;
use crate::workspace::{PRIVATE, shared};

impl Hooks {
    /// The file before an edit, if a client may write its text again without changing it.
    pub(super) async fn original_of(&self, path: &str) -> Option<Digest> {
        let file = PathBuf::from(path);
        let read = async {
            self.workspace.check_shared(path, DISK_TIMEOUT).await.ok()?;
            self.on_disk(move || original::digest(&file)).await?
        };
        timeout(DISK_TIMEOUT, read).await.ok()?
    }

    /// The file's text. What a client would change in it was looked for before the edit.
    pub(super) async fn text_of(&self, path: &str) -> Option<String> {
        let file = PathBuf::from(path);
        self.on_disk(move || original::read(&file, false)).await?.ok()?
    }

    /// The file, as far as a client may have written this text. `None` if there is none.
    pub(super) async fn find_text(&self, text: &ExpectedText) -> Option<FoundFile> {
        let (path, text) = (PathBuf::from(&*text.path), text.text);
        self.on_disk(move || written::find(&path, text).ok()).await?
    }

    /// Whether the file is known to be private. An editor offers no reason for a file that was
    /// private when its proposal came. A file that is private only while an ignore file changes may be
    /// shared again before the reason leaves.
    pub(super) async fn is_private(&self, path: &str) -> bool {
        let (privacy, path) = (Arc::clone(self.workspace.privacy()), path.to_owned());
        let look = self.on_disk(move || shared(&privacy, &path)).await;
        matches!(look, Some(Ok(Err(PRIVATE))))
    }

    /// The result of a look at the disk; `None` if the disk does not answer in time.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let looking = async {
            let turn = self.reading.turn().await;
            turn.run(look).await.ok()
        };
        timeout(DISK_TIMEOUT, looking).await.ok()?
    }
}
