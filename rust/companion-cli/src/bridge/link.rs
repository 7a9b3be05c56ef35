//! Shares the state of the companion's connection: the keeper sets it, and requests wait for it.

use std::sync::Arc;
use std::time::Duration;

use companion_client::http::Session;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// The longest wait of a request for the handshake, which has its own deadlines.
const BEGINNING: Duration = Duration::from_secs(30);

/// A session whose stream is open.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) session: Session,
    /// The number of the stream, counted from the start.
    pub(super) number: u64,
}

#[derive(Clone, Debug)]
enum State {
    /// No session has begun.
    Beginning,
    Down {
        since: Instant,
        why: Arc<str>,
    },
    /// The stream is open, but requests must wait a moment.
    Coming {
        /// The time when the connection was lost.
        since: Instant,
        up: Arc<Up>,
    },
    Up(Arc<Up>),
}

/// The state of the connection.
#[derive(Debug)]
pub(super) struct Link {
    state: watch::Sender<State>,
}

impl Link {
    pub(super) fn new() -> Self {
        Self { state: watch::Sender::new(State::Beginning) }
    }

    pub(super) fn set_up(&self, up: Arc<Up>) {
        self.state.send_replace(State::Up(up));
    }

    /// Notes that the connection will be up in a moment. Requests wait for that, however long it
    /// has been down.
    pub(super) fn set_reconnecting(&self, up: Arc<Up>) {
        self.state.send_modify(|state| *state = State::Coming { since: state.down_since(), up });
    }

    /// Notes that the connection is down because of `why`. Keeps the time of an earlier loss.
    pub(super) fn set_down(&self, why: &str) {
        self.state.send_modify(|state| {
            *state = State::Down { since: state.down_since(), why: why.into() };
        });
    }

    /// Notes that the stream `number` is unusable. Requests then wait for the next stream.
    pub(super) fn suspect(&self, number: u64, why: &str) {
        if self.state.borrow().is(number) {
            self.set_down(why);
        }
    }

    /// Waits until the stream `number` is no longer in use.
    pub(super) async fn left(&self, number: u64) {
        // The wait can't fail, because this link owns the sender.
        let _ = self.state.subscribe().wait_for(|state| !state.is(number)).await;
    }

    /// Returns the session. Waits for one until the connection has been down for `wait`.
    ///
    /// # Errors
    /// The reason why there is no session.
    pub(super) async fn up(&self, wait: Duration) -> Result<Arc<Up>, Arc<str>> {
        let mut states = self.state.subscribe();
        let asked = Instant::now();
        loop {
            let (deadline, why) = match &*states.borrow_and_update() {
                State::Up(up) => return Ok(Arc::clone(up)),
                State::Coming { .. } => (None, "".into()),
                State::Down { since, why } => (Some(*since + wait), Arc::clone(why)),
                State::Beginning => (Some(asked + BEGINNING), "the client has not begun".into()),
            };
            let Some(deadline) = deadline else {
                let _ = states.changed().await;
                continue;
            };
            if timeout_at(deadline, states.changed()).await.is_err() {
                return Err(why);
            }
        }
    }

    /// Returns the session with an open stream, even if requests must wait.
    pub(super) fn now(&self) -> Option<Arc<Up>> {
        match &*self.state.borrow() {
            State::Up(up) | State::Coming { up, .. } => Some(Arc::clone(up)),
            State::Beginning | State::Down { .. } => None,
        }
    }

    /// Waits until the connection has been down for `wait` after it was up.
    pub(super) async fn lost(&self, wait: Duration) {
        let mut states = self.state.subscribe();
        let _ = states.wait_for(|state| matches!(state, State::Up(_))).await;
        while self.up(wait).await.is_ok() {
            let _ = states.wait_for(|state| matches!(state, State::Down { .. })).await;
        }
    }
}

impl State {
    /// Returns the time of the loss: the known time, or now.
    fn down_since(&self) -> Instant {
        match self {
            Self::Down { since, .. } | Self::Coming { since, .. } => *since,
            Self::Beginning | Self::Up(_) => Instant::now(),
        }
    }

    fn is(&self, number: u64) -> bool {
        matches!(self, Self::Up(up) if up.number == number)
    }
}
