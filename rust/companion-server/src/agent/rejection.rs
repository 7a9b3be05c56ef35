//! Looks at the disk for rejections with a reason. The core decides what their clients get.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::text::Text;
use companion_protocol::ide::truncate_utf16;

use super::{on_disk, original};
use crate::driver::Look;
use crate::session::SessionId;
use crate::state::ServerState;
use crate::workspace::PRIVATE;

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

/// Looks at the disk, until the server has stopped.
pub(crate) async fn look(state: Arc<ServerState>) {
    let looking = async {
        loop {
            let look = state.driver.next_look().await;
            let of_task = Arc::clone(&state);
            state.tasks.spawn(async move { carry_out(&of_task, look).await });
        }
    };
    state.aborting.run_until_cancelled(looking).await;
}

async fn carry_out(state: &ServerState, look: Look) {
    match look {
        Look::At(diff, path) => {
            let why = if is_private(state, &path).await {
                Some(PRIVATE)
            } else if state.context.is_silent() {
                Some("the project shares nothing with its CLIs")
            } else {
                None
            };
            state.driver.handle(Input::LookedAt(diff, why));
            state.agents.ages.notify_one();
        }
        Look::Read(diff, session, path, has_text) => {
            state.driver.wait_until_journaled().await;
            let present = if has_text && is_alive(state, session).await {
                // The look at the file comes last, so that little time is left for a change.
                present(state, &path).await
            } else {
                None
            };
            let present = present.map(|text| state.driver.hold(text));
            state.driver.handle(Input::Present(diff, present));
        }
    }
}

async fn is_alive(state: &ServerState, session: SessionId) -> bool {
    let Some(session) = state.sessions.get(session) else { return false };
    // A server that stops does not wait for a client that is suspended.
    let ping = session.is_alive(PING_TIMEOUT);
    state.stopping.run_until_cancelled(ping).await.unwrap_or(false)
}

/// The file's text. What a client would change in it was looked for before the edit.
async fn present(state: &ServerState, path: &str) -> Option<String> {
    let file = PathBuf::from(path);
    on_disk(state, move || original::read(&file, false)).await?.ok()?
}

/// Whether the file is known to be private. An editor offers no reason for a file that was private
/// when its proposal came.
async fn is_private(state: &ServerState, path: &str) -> bool {
    let (privacy, path) = (Arc::clone(state.workspace.privacy()), path.to_owned());
    let look = on_disk(state, move || privacy.look().is_private(&path)).await;
    look.is_some_and(|is_private| is_private.unwrap_or(false))
}
