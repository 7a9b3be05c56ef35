//! Remembers a question that the editor left unanswered, so that no further call waits in vain.

use std::time::Duration;

use companion_protocol::diagnostics::Diagnostics;
use parking_lot::Mutex;
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::{RecvError, TryRecvError};
use tokio::time::Instant;

/// The time that the editor's protocol gives an editor for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(2500);

type DiagnosticsResult = Result<Diagnostics, String>;

/// The oldest question without a waiting call.
#[derive(Default)]
pub(super) struct Unanswered(Mutex<Option<Question>>);

struct Question {
    asked: Instant,
    answer: Receiver<DiagnosticsResult>,
}

impl Unanswered {
    /// Whether the editor has left this question unanswered for too long.
    pub(super) fn is_overdue(&self) -> bool {
        let mut oldest = self.0.lock();
        let waits =
            |question: &mut Question| question.answer.try_recv() == Err(TryRecvError::Empty);
        if oldest.as_mut().is_some_and(|question| !waits(question)) {
            *oldest = None;
        }
        oldest.as_ref().is_some_and(|question| question.asked.elapsed() >= ANSWER_TIMEOUT)
    }

    /// Waits for the answer to a question. The question stays known if the caller gives up.
    pub(super) async fn wait(
        &self,
        answer: Receiver<DiagnosticsResult>,
    ) -> Result<DiagnosticsResult, RecvError> {
        let question = Some(Question { asked: Instant::now(), answer });
        let mut waiting = WaitingCall { unanswered: self, question };
        let question = waiting.question.as_mut().expect("it is there until the answer comes");
        let answer = (&mut question.answer).await;
        waiting.question = None;
        *self.0.lock() = None;
        answer
    }
}

/// A call that waits.
struct WaitingCall<'a> {
    unanswered: &'a Unanswered,
    question: Option<Question>,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        let mut oldest = self.unanswered.0.lock();
        *oldest = oldest.take().or(self.question.take());
    }
}
