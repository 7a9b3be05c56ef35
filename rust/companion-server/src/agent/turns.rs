//! Measures the turns of CLIs, from a prompt to its answer.

use std::collections::VecDeque;
use std::time::Duration;

use companion_core::notes::push_limited;
use tokio::time::Instant;

/// The most CLI sessions whose turns are measured. Above it the oldest turn is dropped.
const MAX_TURNS: usize = 1024;

/// The turns that have begun, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Turns(VecDeque<(String, Instant)>);

impl Turns {
    pub(super) fn begin(&mut self, session: &str) {
        self.end(session);
        push_limited(&mut self.0, (session.to_owned(), Instant::now()), MAX_TURNS);
    }

    /// The time since the prompt.
    pub(super) fn end(&mut self, session: &str) -> Option<Duration> {
        let index = self.0.iter().position(|(of, _)| of == session)?;
        self.0.remove(index).map(|(_, begun)| begun.elapsed())
    }
}
