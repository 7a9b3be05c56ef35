//! Simulates a client that acts at random, and checks everything that it receives.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, sleep, timeout};

use crate::common::WAIT_TIMEOUT;
use crate::common::wire::{Connection, Event, EventStream, Session, Target, answer_ping};
use crate::world::{Waiters, World, number, proposal};

/// How long views wait for a client without a stream, in this test. Afterwards its session stays as
/// long again.
pub(crate) const SESSION_AWAY: Duration = Duration::from_secs(10);

/// The state that the reader of a stream shares with the client.
pub(crate) struct Inbox {
    world: World,
    target: Target,
    /// Some clients do not answer pings.
    answers_pings: bool,
    session: Rc<str>,
    waiters: RefCell<Waiters>,
    last_id: RefCell<Option<String>>,
    pub(crate) context: RefCell<Value>,
}

impl Inbox {
    fn new(world: World, target: Target, session: Rc<str>, answers_pings: bool) -> Rc<Self> {
        let (waiters, last_id) = (RefCell::default(), RefCell::default());
        let context = RefCell::default();
        Rc::new(Self { world, target, answers_pings, session, waiters, last_id, context })
    }

    /// Reads a stream until it ends. Returns whether the stream ended in order.
    async fn listen(self: Rc<Self>, mut stream: EventStream) -> bool {
        let first = Cell::new(true);
        loop {
            match stream.next().await {
                Ok(Some(event)) => self.take(event, first.replace(false)),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    fn take(&self, Event { id, mut message }: Event, first: bool) {
        if id.is_some() {
            self.last_id.replace(id);
        }
        let method = message["method"].take();
        let params = message["params"].take();
        assert_eq!(first, first && method == "ide/contextUpdate", "a stream begins with {method}");
        let path = params["filePath"].as_str().unwrap_or_default();
        match method.as_str().unwrap() {
            "ide/contextUpdate" => {
                self.world.count(|counts| counts.contexts += 1);
                *self.context.borrow_mut() = params;
            }
            "ide/diffAccepted" => {
                let text = params["content"].as_str().unwrap();
                match self.world.told_accepted(&self.session, path, text) {
                    Some(number) => self.ended(path, number),
                    None => self.late(path, "one of long ago was accepted"),
                }
            }
            "ide/diffRejected" => {
                let waiting = self.waiters.borrow().get(path);
                match waiting {
                    Some(number) if self.world.was_rejected(&self.session, path, number) => {
                        self.world.count(|counts| counts.rejected += 1);
                        self.ended(path, number);
                    }
                    _ => self.late(path, &format!("rejected; waiting for {waiting:?}")),
                }
            }
            "ping" if self.answers_pings => {
                let (target, session) = (self.target.clone(), Rc::clone(&self.session));
                spawn_local(async move {
                    let status = answer_ping(&target, &session, &message["id"]).await;
                    // The session may have ended meanwhile.
                    assert!(matches!(status, Ok(202 | 404)), "{status:?}");
                });
            }
            "ping" => {}
            other => panic!("{other}"),
        }
    }

    fn ended(&self, path: &str, number: u64) {
        if self.waiters.borrow().get(path) == Some(number) {
            self.waiters.borrow_mut().remove(path, number);
        } else {
            self.late(path, &format!("{number} has ended"));
        }
    }

    fn late(&self, path: &str, what: &str) {
        assert!(self.waiters.borrow().may_be_late(path), "nobody waits for {path}: {what}");
        self.world.count(|counts| counts.late += 1);
    }
}

pub(crate) struct Client {
    target: Target,
    world: World,
    rng: fastrand::Rng,
    /// The files that this client edits. Other clients edit some of them, too.
    paths: Vec<String>,
    session: Session,
    pub(crate) inbox: Rc<Inbox>,
    stream: Option<JoinHandle<bool>>,
    down_since: Instant,
    /// Paths of calls that may not have arrived.
    uncertain: HashSet<String>,
}

impl Client {
    pub(crate) async fn connect(
        target: Target,
        world: World,
        mut rng: fastrand::Rng,
        paths: Vec<String>,
    ) -> Self {
        let session = Session::initialize(&target).await.unwrap();
        world.count(|counts| counts.sessions += 1);
        let id = Rc::clone(&session.id);
        let inbox = Inbox::new(world.clone(), target.clone(), id, rng.bool());
        let (down_since, uncertain) = (Instant::now(), HashSet::new());
        Self { target, world, rng, paths, session, inbox, stream: None, down_since, uncertain }
    }

    pub(crate) fn open_waiters(&self) -> Vec<(String, u64)> {
        self.inbox.waiters.borrow().open()
    }

    /// Does something that takes no longer than the editor may take.
    pub(crate) async fn step(&mut self) {
        let path = self.rng.choice(&self.paths).unwrap().clone();
        match self.rng.u32(0..100) {
            _ if self.stream.is_none() => self.ensure_stream().await,
            0..40 => self.open_diff(path).await,
            40..55 => self.close_diff(&path).await,
            55..60 => self.decide(&path).await,
            60..70 => {
                let method = if self.rng.bool() { "ping" } else { "tools/list" };
                self.session.ask(method, &json!({})).await.unwrap();
            }
            70..84 => self.break_stream().await,
            84..87 => self.replace_stream().await,
            87..93 => self.break_call(path).await,
            93..96 => drop(self.session.hang_up()),
            96..98 => {
                self.session.delete().await.unwrap();
                let ended = timeout(WAIT_TIMEOUT, self.stream.take().unwrap()).await;
                assert!(ended.expect("it ends with the session").unwrap(), "by FIN");
                self.begin_anew().await;
            }
            _ => {
                self.break_stream().await;
                self.begin_anew().await;
            }
        }
        let pause = self.rng.u64(0..60);
        sleep(Duration::from_millis(pause)).await;
    }

    async fn begin_anew(&mut self) {
        let rng = self.rng.fork();
        let (target, world, paths) =
            (self.target.clone(), self.world.clone(), std::mem::take(&mut self.paths));
        *self = Self::connect(target, world, rng, paths).await;
        self.ensure_stream().await;
    }

    async fn open_diff(&mut self, path: String) {
        let (number, _rejecting) = self.world.asks(&self.session.id, &path);
        self.inbox.waiters.borrow_mut().insert(&path, number);
        let arguments = self.arguments(&path, number);
        let result = self.session.call("openDiff", &arguments).await.unwrap();
        if result["isError"] == true {
            self.inbox.waiters.borrow_mut().remove(&path, number);
            self.world.count(|counts| counts.failed += 1);
        } else {
            self.world.count(|counts| counts.opened += 1);
        }
    }

    fn arguments(&mut self, path: &str, number: u64) -> Value {
        let length = if self.rng.u32(0..50) == 0 { 300_000 } else { self.rng.usize(0..3000) };
        json!({ "filePath": path, "newContent": proposal(number, length) })
    }

    async fn close_diff(&mut self, path: &str) {
        let suppress = self.rng.bool();
        let me = Rc::clone(&self.session.id);
        let _rejecting = self.world.rejects(path, suppress.then_some(&me));
        let mine = self.inbox.waiters.borrow().get(path);
        let arguments = json!({ "filePath": path, "suppressNotification": suppress });
        let result = self.session.call("closeDiff", &arguments).await.unwrap();
        let Some(mine) = mine.filter(|_| suppress) else { return };
        let text = result["content"][0]["text"].as_str().unwrap();
        let closed: Value = serde_json::from_str(text).unwrap_or_default();
        let mut waiters = self.inbox.waiters.borrow_mut();
        match closed["content"].as_str().map(number) {
            Some(closed) if closed == mine => {
                waiters.remove(path, mine);
                self.world.count(|counts| counts.closed += 1);
            }
            Some(_) => {} // It belongs to another client; this one was rejected and is notified.
            None => {
                // The editor failed, or the diff had ended before and this is its notification.
                waiters.remove(path, mine);
                waiters.expect_late(path);
            }
        }
    }

    async fn decide(&mut self, path: &str) {
        let tool = if self.rng.bool() { "acceptDiff" } else { "rejectDiff" };
        self.session.call(tool, &json!({ "filePath": path })).await.unwrap();
    }

    /// Breaks the connection in the middle of a call.
    async fn break_call(&mut self, path: String) {
        let (number, rejecting) = self.world.asks(&self.session.id, &path);
        rejecting.for_ever();
        let arguments = self.arguments(&path, number);
        let request = self.session.call_request("openDiff", &arguments);
        self.inbox.waiters.borrow_mut().insert(&path, number);
        self.inbox.waiters.borrow_mut().expect_late(&path);
        self.uncertain.insert(path);
        let sent = self.rng.usize(1..=request.len());
        let mut connection = Connection::open(&self.target).await.unwrap();
        if self.rng.bool() {
            connection.end_by_rst();
        }
        connection.send(&request.as_bytes()[..sent]).await.unwrap();
        let pause = self.rng.u64(0..10);
        sleep(Duration::from_millis(pause)).await;
    }

    async fn break_stream(&mut self) {
        let Some(stream) = self.stream.take() else { return };
        stream.abort();
        let _ = stream.await;
        self.down_since = Instant::now();
        self.world.count(|counts| counts.breaks += 1);
        let pause = self.rng.u64(0..200);
        sleep(Duration::from_millis(pause)).await;
    }

    /// Opens a second stream. The server then ends the first one in order.
    async fn replace_stream(&mut self) {
        let before = self.stream.take().expect("checked by the caller");
        // From now on, events of the old stream may be resent on the new one.
        self.inbox.waiters.borrow_mut().expect_late_all(self.paths.iter().cloned());
        let last = self.inbox.last_id.borrow().clone();
        let stream = self.open_stream(last.as_deref()).await.expect("the session is in use");
        let ended = timeout(WAIT_TIMEOUT, before).await.expect("the old stream ends").unwrap();
        assert!(ended, "by FIN");
        self.stream = Some(spawn_local(Rc::clone(&self.inbox).listen(stream)));
    }

    /// Opens a stream if there is none.
    pub(crate) async fn ensure_stream(&mut self) {
        if self.stream.as_ref().is_some_and(|stream| !stream.is_finished()) {
            return;
        }
        let mut last = self.inbox.last_id.borrow().clone();
        if self.rng.u32(0..10) == 0 {
            // A client that forgets the id of its last event receives that event again.
            last = None;
            self.inbox.waiters.borrow_mut().expect_late_all(self.paths.iter().cloned());
        }
        let opened = self.open_stream(last.as_deref()).await;
        let away = self.down_since.elapsed();
        match opened {
            Ok(stream) => {
                if away > SESSION_AWAY {
                    // On a busy machine. The server may have rejected its diffs meanwhile.
                    self.paths.iter().for_each(|path| drop(self.world.rejects(path, None)));
                }
                self.stream = Some(spawn_local(Rc::clone(&self.inbox).listen(stream)));
            }
            Err(status) => {
                assert!(status == 404 && away > SESSION_AWAY, "{status} after {away:?}");
                Box::pin(self.begin_anew()).await;
            }
        }
    }

    async fn open_stream(&mut self, last: Option<&str>) -> Result<EventStream, u16> {
        self.world.count(|counts| counts.streams += 1);
        let opened: io::Result<_> = EventStream::open(&self.target, &self.session.id, last).await;
        let stream = opened.unwrap()?;
        if self.rng.bool() {
            stream.connection.end_by_rst();
        }
        Ok(stream)
    }

    /// Opens a stream, and resolves the uncertain calls.
    pub(crate) async fn settle(&mut self) {
        self.ensure_stream().await;
        for path in std::mem::take(&mut self.uncertain) {
            let me = Rc::clone(&self.session.id);
            let _rejecting = self.world.rejects(&path, Some(&me));
            let arguments = json!({ "filePath": path, "suppressNotification": true });
            self.session.call("closeDiff", &arguments).await.unwrap();
            let mut waiters = self.inbox.waiters.borrow_mut();
            if let Some(number) = waiters.get(&path) {
                waiters.remove(&path, number);
            }
            waiters.expect_late(&path);
        }
    }

    /// Ends the session by a DELETE.
    pub(crate) async fn leave(&mut self) {
        // A call may have been interrupted, even the one that ended the session.
        self.session.hang_up();
        let status = self.session.delete().await.unwrap();
        assert!(matches!(status, 204 | 404), "{status}");
        self.session.hang_up();
    }

    /// Forgets all paths: nothing is open, and nothing is on its way.
    pub(crate) fn forget(&self) {
        let waiters = &mut *self.inbox.waiters.borrow_mut();
        assert!(waiters.open().is_empty());
        waiters.clear();
    }
}
