//! Carries out the user's rejection of a diff, with a reason for the model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_core::conversation::{Rejected, Rejection};
use companion_core::notes::NoteId;
use companion_protocol::ide::truncate_utf16;
use tokio::runtime::Handle;

use super::delivery::{reason_lost, report_lost};
use super::{on_disk, original};
use crate::diffs::{DiffId, Record};
use crate::disk::workspace::PRIVATE;
use crate::host::Delivery;
use crate::mcp::session::SessionId;
use crate::state::ServerState;
use crate::text::{Digest, Text};

/// The longest reason, in UTF-16 code units.
const MAX_REASON: usize = 16_384;

/// The time for the client to answer a ping. A client that is suspended would write the file's text
/// much later, when the file may have changed. It would not read a rejection earlier, either. A client
/// that has just shown the edit in its terminal needs seconds on a busy machine.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Carries out the user's rejection of the diff for `path`.
///
/// The client gets the file's present text as an acceptance if that changes nothing: then its turn
/// goes on, and the hook after the edit tells the reason. Otherwise the client gets the rejection.
pub(crate) fn reject(
    state: &Arc<ServerState>,
    runtime: &Handle,
    path: &str,
    reason: &str,
) -> Delivery {
    let Some((diff, session)) = state.diffs.begin_decline(path) else { return Delivery::Unknown };
    let reason = Text::from(truncate_utf16(reason, MAX_REASON).to_owned());
    let delivery = state.diffs.delivery_to(session);
    let (of_task, path) = (Arc::clone(state), path.to_owned());
    let task = async move { reject_diff(&of_task, diff, session, &path, reason).await };
    state.tasks.spawn_on(task, runtime);
    delivery
}

async fn reject_diff(
    state: &ServerState,
    diff: DiffId,
    session: SessionId,
    path: &str,
    reason: Text,
) {
    let private = is_private(state, path).await;
    if state.context.is_silent() || private {
        let why = if private { PRIVATE } else { "the project shares nothing with its CLIs" };
        report_lost(state, path, &reason, why);
        return state.diffs.reject(diff);
    }
    let agents = &state.agents;
    let now = agents.expiry.now_ms();
    let rejected = agents.conversation.lock().rejected(session, path, reason.clone(), now);
    let Some(Rejected { rejection, note, dropped }) = rejected else {
        report_lost(state, path, &reason, "the CLI runs no hooks of the companion's extension");
        return state.diffs.reject(diff);
    };
    agents.expiry.waits.notify_one();
    if let Some((id, dropped)) = dropped {
        state.diffs.record(Record::NoteRemoved(id));
        reason_lost(state, &dropped, "too many reasons wait");
    }
    if let Some(kept) = agents.conversation.lock().notes().get(note) {
        state.diffs.record(Record::Note(note, kept.clone()));
    }
    state.diffs.wait_until_journaled().await;
    match rejection {
        Rejection::KeepText(original) => {
            keep_text(state, diff, session, path, note, original).await;
        }
        Rejection::Plain => state.diffs.reject(diff),
    }
}

/// Sends the client the file's text, if the file is as it was before the edit.
async fn keep_text(
    state: &ServerState,
    diff: DiffId,
    session: SessionId,
    path: &str,
    note: NoteId,
    original: Digest,
) {
    let session = state.sessions.get(session);
    let is_alive = match &session {
        // A server that stops does not wait for a client that is suspended.
        Some(session) => {
            let ping = session.is_alive(PING_TIMEOUT);
            state.stopping.run_until_cancelled(ping).await.unwrap_or(false)
        }
        None => false,
    };
    // The look at the file comes last, so that little time is left for a change.
    let present = if is_alive { present(state, path).await } else { None };
    match present.filter(|present| original.is_of(present)) {
        Some(present) => {
            state.agents.conversation.lock().notes_mut().set_sent(note, &present);
            state.diffs.decline(diff, present);
        }
        None => state.diffs.reject(diff),
    }
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
