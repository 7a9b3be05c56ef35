//! Creates and ends the sessions of clients, and keeps their streams alive.
//!
//! The core learns of each session and stream here, so both always know the same ones.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use companion_core::companion::Input;
use companion_core::diffs::{DiffId, EventId};
use companion_core::record::Left;
use tokio::time::{Instant, sleep_until};

use crate::config::Limits;
use crate::driver::Driver;
use crate::monitor::{MonitorStream, Monitors};
use crate::session::{Client, Full, Session, SessionId, Sessions};

pub(crate) struct Clients {
    sessions: Arc<Sessions>,
    monitors: Arc<Monitors>,
    driver: Arc<Driver>,
    max_monitors: usize,
    /// The interval of comments on quiet streams.
    interval: Duration,
}

impl Clients {
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        monitors: Arc<Monitors>,
        driver: Arc<Driver>,
        limits: &Limits,
        is_resumable: bool,
    ) -> Self {
        let Limits { keep_alive, retry, monitors: max_monitors, .. } = *limits;
        // The next process can resume this one for twice `retry` after its last record.
        let interval = if is_resumable { keep_alive.min(retry) } else { keep_alive };
        Self { sessions, monitors, driver, max_monitors, interval }
    }

    /// Creates a session for a new client. May evict the oldest idle sessions.
    pub(crate) fn create(&self, client: Client) -> Result<Arc<Session>, Full> {
        let waits = |session| self.driver.ask(|companion| companion.diffs().is_awaited_by(session));
        let (session, gone) = self.sessions.create(client.clone(), waits)?;
        for id in gone {
            self.driver.handle(Input::Gone(id));
        }
        self.driver.handle(Input::Connected(session.id, client));
        self.sessions.resume_maintenance();
        Ok(session)
    }

    /// Adds the clients of another companion, and all that it has left for them.
    pub(crate) fn adopt(&self, left: Left) {
        self.sessions.adopt(left.sessions.clone());
        self.driver.handle(Input::Adopted(left));
        self.sessions.resume_maintenance();
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id)
    }

    /// Ends a session and its diffs.
    pub(crate) fn end(&self, id: SessionId) {
        self.sessions.remove(id);
        self.driver.handle(Input::Gone(id));
    }

    /// Attaches a stream to a session, starting with this context. Ends the earlier stream. Returns
    /// the stream's number.
    pub(crate) fn attach(
        &self,
        session: &Session,
        context: Bytes,
        last: &EventId,
        is_answer: bool,
    ) -> u64 {
        let stream = self.sessions.attach(session, context);
        self.driver.handle(Input::StreamOpened { session: session.id, stream, last, is_answer });
        stream
    }

    /// Detaches the stream `number` of a session.
    pub(crate) fn detach(&self, session: &Session, number: u64) {
        // An editor that learns of it, and then accepts, must learn that nobody has received that.
        self.driver.handle(Input::StreamClosed(session.id, number));
        self.sessions.detach(session, number);
    }

    /// Takes the answer to a ping, which shows that the client has received the decision before it.
    pub(crate) fn ping_answered(&self, session: &Session, diff: DiffId) {
        session.ping_answered(diff);
        self.driver.handle(Input::Pong(session.id, diff));
    }

    /// Opens a stream of all notifications, starting with `first`; `None` if there are too many.
    pub(crate) fn open_monitor(&self, first: Bytes) -> Option<MonitorStream> {
        self.sessions.resume_maintenance();
        self.monitors.open(first, self.max_monitors)
    }

    /// Sends keep-alives on quiet streams and ends abandoned sessions, without end. Without
    /// sessions and monitors it sleeps, so that the processor can sleep, too.
    pub(crate) async fn maintain(&self) {
        loop {
            if self.sessions.is_empty() && self.monitors.is_empty() {
                poll_fn(|cx| self.sessions.poll_maintenance(cx)).await;
            }
            let keep_alive = Instant::now() + self.interval;
            loop {
                let absence = self.sessions.next_absence().unwrap_or(keep_alive);
                let next = absence.min(keep_alive);
                sleep_until(next).await;
                self.end_absent();
                if next == keep_alive {
                    break;
                }
            }
            self.driver.handle(Input::Time);
            self.monitors.keep_alive();
            self.sessions.keep_alive().wake().await;
            self.driver.journal().alive();
        }
    }

    fn end_absent(&self) {
        let absent = self.sessions.absent();
        for id in absent.away {
            log::debug!("a client did not come back");
            self.driver.handle(Input::Away(id));
        }
        for id in absent.gone {
            self.driver.handle(Input::Gone(id));
        }
    }
}
