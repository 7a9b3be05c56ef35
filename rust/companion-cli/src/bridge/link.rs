//! Shares the state of the companion's connection: the keeper sets it, and requests wait for it.

use std::sync::Arc;
use std::time::Duration;

use companion_client::http::Session;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long a request may wait for the end of the handshake, which has deadlines of its own.
const BEGINNING: Duration = Duration::from_secs(30);

/// A session whose stream is open.
#[derive(Debug)]
pub(super) struct Up {
    pub(super) session: Session,
    /// Which stream it is, counted from the start.
    pub(super) number: u64,
}

#[derive(Clone, Debug)]
enum State {
    /// There was none yet.
    Beginning,
    Down {
        since: Instant,
        why: Arc<str>,
    },
    /// The stream is open, and requests are to wait a moment.
    Coming {
        /// Since when it was down.
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

    /// It will be up in a moment: requests wait for that, however long it has been down.
    pub(super) fn set_reconnecting(&self, up: Arc<Up>) {
        self.state.send_modify(|state| *state = State::Coming { since: state.down_since(), up });
    }

    /// It is down because of `why`; since when stays, if it was down before.
    pub(super) fn set_down(&self, why: &str) {
        self.state.send_modify(|state| {
            *state = State::Down { since: state.down_since(), why: why.into() };
        });
    }

    /// The stream `number` is of no use any more; waiting requests must wait for the next one.
    pub(super) fn suspect(&self, number: u64, why: &str) {
        if self.state.borrow().is(number) {
            self.set_down(why);
        }
    }

    /// Waits until the stream `number` is not in use any more.
    pub(super) async fn left(&self, number: u64) {
        // The sender is our own, so it can't be gone.
        let _ = self.state.subscribe().wait_for(|state| !state.is(number)).await;
    }

    /// A session. Waits for one until it has been away for `patience`.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn up(&self, patience: Duration) -> Result<Arc<Up>, Arc<str>> {
        let mut states = self.state.subscribe();
        let asked = Instant::now();
        loop {
            let (deadline, why) = match &*states.borrow_and_update() {
                State::Up(up) => return Ok(Arc::clone(up)),
                State::Coming { .. } => (None, "".into()),
                State::Down { since, why } => (Some(*since + patience), Arc::clone(why)),
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

    /// The session whose stream is open now, also if requests are to wait.
    pub(super) fn now(&self) -> Option<Arc<Up>> {
        match &*self.state.borrow() {
            State::Up(up) | State::Coming { up, .. } => Some(Arc::clone(up)),
            State::Beginning | State::Down { .. } => None,
        }
    }

    /// Waits until it has been away for `patience` after it was there.
    pub(super) async fn lost(&self, patience: Duration) {
        let mut states = self.state.subscribe();
        let _ = states.wait_for(|state| matches!(state, State::Up(_))).await;
        while self.up(patience).await.is_ok() {
            let _ = states.wait_for(|state| matches!(state, State::Down { .. })).await;
        }
    }
}

impl State {
    /// Since when it is down, if it is from now on.
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
