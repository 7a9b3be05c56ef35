//! Keeps calls that wait for the editor or for a client's acknowledgement. Each has a deadline;
//! one timer serves all.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, SetOnce};
use tokio::time::{Instant, sleep_until};

use super::Answer;
use crate::host::CallId;
use crate::mcp::session::SessionId;

/// Waits for the answer to a call, and keeps it.
pub(super) type Waiter = Arc<SetOnce<Answered>>;

/// An answer. It is valid as soon as this number of records is saved.
#[derive(Clone)]
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) records: u64,
}

#[derive(Default)]
pub(super) struct Calls {
    state: Mutex<PendingCalls>,
    /// A new deadline is earlier than all others.
    sooner: Notify,
}

#[derive(Default)]
struct PendingCalls {
    last: u64,
    waiting: HashMap<CallId, PendingCall>,
    deadlines: BTreeSet<(Instant, CallId)>,
    /// When the timer wakes up. It is not woken if its call has been answered meanwhile.
    timer: Option<Instant>,
}

struct PendingCall {
    asker: SessionId,
    answer: Waiter,
    deadline: Instant,
    /// The error message, if it is not a timeout.
    why: Option<String>,
    /// Its share of the memory for unread editor requests, until the editor answers.
    _taken: Option<Arc<OwnedSemaphorePermit>>,
}

impl PendingCalls {
    /// Returns true if the timer must wake up earlier.
    fn set_deadline(&mut self, call: CallId, deadline: Instant) -> bool {
        self.deadlines.insert((deadline, call));
        self.timer.is_none_or(|timer| deadline < timer)
    }
}

impl Calls {
    /// Adds a call of `asker`. It holds `taken` until it is answered.
    pub(super) fn begin(
        &self,
        asker: SessionId,
        deadline: Instant,
        taken: Option<Arc<OwnedSemaphorePermit>>,
    ) -> (CallId, Waiter) {
        let waiter = Waiter::default();
        let mut state = self.state.lock();
        state.last += 1;
        let call = CallId(state.last);
        let answer = Arc::clone(&waiter);
        state
            .waiting
            .insert(call, PendingCall { asker, answer, deadline, why: None, _taken: taken });
        if state.set_deadline(call, deadline) {
            self.sooner.notify_one();
        }
        (call, waiter)
    }

    /// Changes the deadline of a call.
    pub(super) fn shorten_deadline(&self, call: CallId, deadline: Instant) {
        self.end_at(call, deadline, None);
    }

    /// Fails a call at once with this message, as if it were overdue.
    pub(super) fn fail(&self, call: CallId, why: &str) {
        self.end_at(call, Instant::now(), Some(why.to_owned()));
    }

    fn end_at(&self, call: CallId, deadline: Instant, why: Option<String>) {
        let mut state = self.state.lock();
        let Some(waiting) = state.waiting.get_mut(&call) else { return };
        waiting.why = why;
        let before = std::mem::replace(&mut waiting.deadline, deadline);
        state.deadlines.remove(&(before, call));
        if state.set_deadline(call, deadline) {
            self.sooner.notify_one();
        }
    }

    /// Answers a call. Returns the session of a waiting call. A caller that has left needs no
    /// answer.
    pub(super) fn answer(&self, call: CallId, answered: Answered) -> Option<SessionId> {
        let mut state = self.state.lock();
        let waiting = state.waiting.remove(&call)?;
        state.deadlines.remove(&(waiting.deadline, call));
        let _ = waiting.answer.set(answered);
        Some(waiting.asker)
    }

    /// Whether a call has not been answered.
    pub(super) fn is_waiting(&self, call: CallId) -> bool {
        self.state.lock().waiting.contains_key(&call)
    }

    /// Waits for the next overdue call. Returns it and its error message, if it has one. Returns
    /// each deadline once.
    pub(super) async fn overdue(&self) -> (CallId, Option<String>) {
        loop {
            let first = {
                let mut state = self.state.lock();
                let first = state.deadlines.first().copied();
                state.timer = first.map(|(deadline, _)| deadline);
                first
            };
            let Some((deadline, call)) = first else {
                self.sooner.notified().await;
                continue;
            };
            if deadline <= Instant::now() {
                let mut state = self.state.lock();
                state.deadlines.remove(&(deadline, call));
                let why = state.waiting.get_mut(&call).and_then(|waiting| waiting.why.take());
                return (call, why);
            }
            tokio::select! {
                () = sleep_until(deadline) => {}
                () = self.sooner.notified() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_timer_is_woken_only_for_a_deadline_before_all_others() {
        let now = Instant::now();
        let mut state = PendingCalls::default();
        assert!(state.set_deadline(CallId(1), now), "it does not sleep");
        state.timer = Some(now + Duration::from_secs(2));
        for (seconds, is_woken) in [(1, true), (2, false), (3, false)] {
            let deadline = now + Duration::from_secs(seconds);
            assert_eq!(state.set_deadline(CallId(2), deadline), is_woken, "{seconds} s");
        }
    }
}
