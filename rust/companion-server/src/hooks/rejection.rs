//! Checks files on the disk for proposals, rejections with a reason, and accepted texts. The core decides what their
//! clients get.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::{DiskCheck, Input};
use companion_core::text::{Digest, Text};
use companion_protocol::ide::truncate_utf16;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::Hooks;
use super::changes::FileText;
use super::original::MAX_ORIGINAL;
use crate::config::DISK_TIMEOUT;
use crate::disk::written;
use crate::session::SessionId;
use crate::workspace::{PRIVATE, shared};

/// The longest reason, in UTF-16 code units.
const MAX_REASON: usize = 16_384;

/// The time for the client to answer a ping. A client that is suspended would write the file's text
/// much later, when the file may have changed. It would not read a rejection earlier, either. A client
/// that has just shown the edit in its terminal needs seconds on a busy machine.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// The user rejects the diff for `path`, with this reason.
pub(crate) fn rejected_with_reason<'a>(path: &'a str, reason: &str) -> Input<'a> {
    let reason = truncate_utf16(reason, MAX_REASON).to_owned();
    Input::RejectedWithReason(path, Text::from(reason))
}

impl Hooks {
    /// Carries out the checks of the disk that the core requests, without end.
    pub(crate) async fn check_disk(self: Arc<Self>, mut checks: UnboundedReceiver<DiskCheck>) {
        while let Some(check) = checks.recv().await {
            let hooks = Arc::clone(&self);
            self.lifecycle.tasks.spawn(async move { hooks.carry_out(check).await });
        }
    }

    async fn carry_out(&self, check: DiskCheck) {
        match check {
            DiskCheck::ForText(text) => {
                let (diff, path) = (text.diff, PathBuf::from(&*text.path));
                let found = self.on_disk(move || written::find(&path, text.text).ok()).await;
                self.driver.handle(Input::Found(diff, found.flatten()));
            }
            DiskCheck::Original(call, path) => {
                let read = async {
                    self.workspace.check_shared(&path, DISK_TIMEOUT).await.ok()?;
                    self.read_original(&path).await.map(|text| Digest::of(&text))
                };
                let original = timeout(DISK_TIMEOUT, read).await.ok().flatten();
                self.driver.handle(Input::Original(call, original));
            }
            DiskCheck::Access(diff, path) => {
                let why = self.why_unshared(&path).await;
                self.driver.handle(Input::AccessChecked(diff, why));
            }
            DiskCheck::Forgotten(note, path) => {
                let why = self.why_unshared(&path).await;
                self.driver.handle(Input::NoteChecked(note, &path, why));
            }
            DiskCheck::Read(diff, session, path, original) => {
                self.driver.wait_until_journaled().await;
                let present = if original.is_some() && self.is_alive(session).await {
                    // The file is read last, so that little time is left for a change. What a client
                    // would change in it was looked for before the edit.
                    self.read_original(&path).await
                } else {
                    None
                };
                let present = present.map(|text| self.driver.hold(text));
                self.driver.handle(Input::Present(diff, present));
            }
        }
    }

    async fn why_unshared(&self, path: &str) -> Option<&'static str> {
        if self.is_private(path).await { Some(PRIVATE) } else { self.context.why_unshared() }
    }

    /// Reads a file. `None` if a client that writes its text could change it.
    async fn read_original(&self, path: &str) -> Option<String> {
        let file = PathBuf::from(path);
        let read = move || {
            let is_short = file.metadata().is_ok_and(|found| found.len() <= MAX_ORIGINAL as u64);
            FileText::read(&file, is_short).original(&file, false).map(str::to_owned)
        };
        self.on_disk(read).await?
    }

    async fn is_alive(&self, session: SessionId) -> bool {
        let Some(session) = self.sessions.get(session) else { return false };
        // A server that stops does not wait for a client that is suspended.
        let ping = session.is_alive(PING_TIMEOUT);
        self.lifecycle.stopping.run_until_cancelled(ping).await.unwrap_or(false)
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
