//! Measures the turns of CLIs, from a prompt to its answer, and knows which of them wait for the user.

use std::collections::VecDeque;
use std::time::Duration;

use companion_core::notes::push_limited;
use tokio::time::Instant;

/// The most CLI sessions whose turns are measured. Above it the oldest turn is dropped.
const MAX_TURNS: usize = 1024;

/// The turns that have begun, the oldest first.
#[derive(Debug, Default)]
pub(super) struct TurnTimes {
    turns: VecDeque<TurnTime>,
    last_question: u64,
}

#[derive(Debug)]
struct TurnTime {
    session: String,
    /// `None` if it began before this companion.
    begun: Option<Instant>,
    /// The CLI's question that the user has not answered.
    question: Option<Question>,
}

#[derive(Debug)]
struct Question {
    number: u64,
    /// The editor shows it.
    is_announced: bool,
}

impl TurnTimes {
    pub(super) fn begin(&mut self, session: &str) {
        self.end(session);
        let begun = Some(Instant::now());
        let turn = TurnTime { session: session.to_owned(), begun, question: None };
        push_limited(&mut self.turns, turn, MAX_TURNS);
    }

    /// The time since the prompt.
    pub(super) fn end(&mut self, session: &str) -> Option<Duration> {
        let index = self.turns.iter().position(|turn| turn.session == session)?;
        self.turns.remove(index)?.begun.map(|begun| begun.elapsed())
    }

    /// The CLI asks its user something. Returns the number of the question. If the editor shows an earlier
    /// one, that stays until the CLI goes on.
    pub(super) fn ask(&mut self, session: &str) -> u64 {
        self.last_question += 1;
        let number = self.last_question;
        if let Some(turn) = self.turn(session) {
            let is_announced = turn.question.as_ref().is_some_and(|earlier| earlier.is_announced);
            turn.question = Some(Question { number, is_announced });
        } else {
            let question = Some(Question { number, is_announced: false });
            let turn = TurnTime { session: session.to_owned(), begun: None, question };
            push_limited(&mut self.turns, turn, MAX_TURNS);
        }
        number
    }

    /// The editor gets the question. Returns whether the CLI still waits for the answer to it.
    pub(super) fn announce(&mut self, session: &str, number: u64) -> bool {
        let question = self.turn(session).and_then(|turn| turn.question.as_mut());
        let Some(question) = question.filter(|question| question.number == number) else {
            return false;
        };
        question.is_announced = true;
        true
    }

    /// Whether the CLI waits for the answer to this question.
    pub(super) fn waits_for(&mut self, session: &str, number: u64) -> bool {
        let question = self.turn(session).and_then(|turn| turn.question.as_ref());
        question.is_some_and(|question| question.number == number)
    }

    /// The CLI goes on, or has ended. Returns whether the editor shows a question of it.
    pub(super) fn go_on(&mut self, session: &str) -> bool {
        let question = self.turn(session).and_then(|turn| turn.question.take());
        question.is_some_and(|question| question.is_announced)
    }

    fn turn(&mut self, session: &str) -> Option<&mut TurnTime> {
        self.turns.iter_mut().find(|turn| turn.session == session)
    }
}
