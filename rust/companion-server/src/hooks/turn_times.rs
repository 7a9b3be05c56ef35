//! Measures the turns of CLIs, from a prompt to its answer, and knows which of them wait for the user.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use companion_core::notes::push_limited;
use tokio::time::Instant;

/// The most CLI sessions whose turns are measured. Above it the oldest turn is dropped.
const MAX_TURNS: usize = 1024;

/// The turns that have begun, the oldest first.
#[derive(Debug, Default)]
pub(super) struct TurnTimes(VecDeque<Turn>);

#[derive(Debug)]
struct Turn {
    session: String,
    /// `None` if it began before this companion.
    begun: Option<Instant>,
    /// The user has not answered the question of the CLI.
    is_asking: bool,
}

impl TurnTimes {
    pub(super) fn begin(&mut self, session: &str) {
        self.end(session);
        let turn =
            Turn { session: session.to_owned(), begun: Some(Instant::now()), is_asking: false };
        push_limited(&mut self.0, turn, MAX_TURNS);
    }

    /// The time since the prompt.
    pub(super) fn end(&mut self, session: &str) -> Option<Duration> {
        let index = self.0.iter().position(|turn| turn.session == session)?;
        self.0.remove(index)?.begun.map(|begun| begun.elapsed())
    }

    /// The CLI asks its user something.
    pub(super) fn ask(&mut self, session: &str) {
        if let Some(turn) = self.0.iter_mut().find(|turn| turn.session == session) {
            turn.is_asking = true;
        } else {
            let turn = Turn { session: session.to_owned(), begun: None, is_asking: true };
            push_limited(&mut self.0, turn, MAX_TURNS);
        }
    }

    /// The CLI goes on. Returns whether the user has answered its question.
    pub(super) fn go_on(&mut self, session: &str) -> bool {
        let turn = self.0.iter_mut().find(|turn| turn.session == session);
        turn.is_some_and(|turn| mem::take(&mut turn.is_asking))
    }
}
