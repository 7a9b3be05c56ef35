//! Recognizes a CLI that runs its hook after its diff, by the edit that the user has just accepted.

use std::sync::Arc;

use super::{Companion, Now};
use crate::cli::{ACCEPTED_TIME, Caller};
use crate::session::SessionId;
use crate::text::Digest;

impl Companion {
    /// Notes an acceptance for the hook of a CLI that runs it after the acceptance. Gemini CLI runs it
    /// before it opens the diff.
    pub(super) fn remember_acceptance(
        &mut self,
        now: Now,
        session: SessionId,
        path: &Arc<str>,
        text: &str,
    ) {
        let client = self.clients.get(&session);
        if client.is_some_and(|of| of.replays_edits && !of.confirms_after_hook) {
            // A CLI without the extension never asks.
            self.forget_old_acceptances(now);
            self.accepted.push((now.elapsed, session, Arc::clone(path), Digest::of(text)));
        }
    }

    /// A CLI that runs its hook after its diff is about to write `input` to `path`. If an edit of this file
    /// was accepted within the last seconds, for one client only, the CLI may be the one of that client.
    /// Forgets the acceptance.
    pub(super) fn recognize_writer(
        &mut self,
        now: Now,
        caller: &Caller<'_>,
        path: &str,
        input: Option<Digest>,
    ) {
        self.forget_old_acceptances(now);
        let of_path: Vec<_> = self.accepted.extract_if(.., |(_, _, of, _)| **of == *path).collect();
        let Some((_, session, _, text)) = of_path.last() else { return };
        if of_path.iter().any(|(_, of, ..)| of != session) {
            return;
        }
        let mut connected = self.connected_like(*session);
        if input == Some(*text) {
            // The text of an edit by parts is another one, although it is the same edit.
            connected.clear();
        }
        self.conversation.clis.accepted(caller, *session, connected);
    }

    fn forget_old_acceptances(&mut self, now: Now) {
        self.accepted.retain(|(time, ..)| now.elapsed - time < ACCEPTED_TIME);
    }
}
