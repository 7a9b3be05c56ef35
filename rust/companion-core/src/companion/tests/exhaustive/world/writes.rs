//! Simulates an editor that keeps texts of the user until it gets their outcome, and a file that
//! no client writes.

use super::{Request, Script, World};
use crate::calls::CallId;
use crate::companion::{Delivery, Input, Now, Output};

/// The number of looks at a file, and of waits for a client before them, that are more than enough.
const ROUNDS: u64 = 30;

impl World {
    /// The editor keeps a text that the user has accepted, if the user has changed it or if its client is away.
    pub(super) fn keep_accepted(&mut self, is_changed: bool, out: &[Output]) {
        let is_queued = out.contains(&Output::Delivery(Delivery::Queued));
        let is_decided = out.iter().any(|of| matches!(of, Output::Decided(..)));
        // The user decided while the client closed the view, and the client gets the text.
        let is_returned = out.iter().any(|of| matches!(of, Output::Answer(..)));
        if (is_changed && (is_decided || is_returned)) || (is_decided && is_queued) {
            self.kept += 1;
        }
    }

    /// Whether a client that closes a view gets a text that the user has changed.
    pub(super) fn returns_changed_text(&self, script: &Script, call: CallId) -> bool {
        match self.calls.get(&call) {
            Some(Request::Close(question, _)) => !script.is_unchanged(*question),
            Some(Request::OfOther) => true,
            _ => false,
        }
    }

    /// The editor gets the outcome of each text that it keeps, unless a client can still write it.
    pub(super) fn check_texts(&self) -> Result<(), String> {
        let mut world = self.clone();
        world.late.extend(world.opens.keys());
        for _ in 0..ROUNDS {
            for diff in std::mem::take(&mut world.text_queries) {
                world.handle(Input::Found(diff, None));
            }
            if let Some(elapsed) = world.companion.next_deadline() {
                world.handle_at(Now { elapsed, date: 0 }, Input::Time);
            }
        }
        let diffs = world.companion.diffs();
        let can_write = [world.session, world.other]
            .into_iter()
            .any(|client| diffs.count(client) > 0 || diffs.unsent(client) > 0);
        if world.kept == 0 || can_write {
            return Ok(());
        }
        Err(format!("the editor keeps {} texts for ever", world.kept))
    }
}
