//! Any order of what clients, user, editor and network do: no client waits for ever, and none
//! gets an answer that is not its own.
//!
//! The clients behave as the real one does (`ide-client.js`): one waiter per path, ended by the
//! first notification for that path, whatever it was meant for. So a stale notification shows.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use companion_protocol::mcp::CallToolResult;
use proptest::prelude::*;
use serde_json::Value;
use tokio::sync::oneshot;

use super::super::ledger::{Ask, Effect, Ledger, Outcome};
use crate::host::HostRequest;
use crate::session::{Epoch, EventId, Mailbox, Outgoing, SessionId};
use crate::sse;
use companion_protocol::ide;

const CLIENTS: usize = 3;
const PATHS: [&str; 2] = ["/a", "/b"];

#[derive(Clone, Debug)]
enum Op {
    Open {
        client: usize,
        path: usize,
    },
    Close {
        client: usize,
        path: usize,
        suppress: bool,
    },
    Decide {
        path: usize,
        accept: bool,
    },
    /// The user decides a view that shows.
    User {
        path: usize,
        accept: bool,
    },
    /// The editor carries out the oldest request, if it can.
    Editor {
        can: bool,
    },
    /// The editor's oldest request is overdue; it may still be carried out later.
    Overdue,
    /// The client reads what its stream has.
    Read {
        client: usize,
    },
    /// The stream breaks after `arrived` more events, whatever the server sent on it.
    Cut {
        client: usize,
        arrived: usize,
    },
    /// The client leaves for good, by DELETE.
    Leave {
        client: usize,
    },
}

fn op() -> impl Strategy<Value = Op> {
    let client = 0..CLIENTS;
    let path = 0..PATHS.len();
    prop_oneof![
        4 => (client.clone(), path.clone()).prop_map(|(client, path)| Op::Open { client, path }),
        2 => (client.clone(), path.clone(), any::<bool>())
            .prop_map(|(client, path, suppress)| Op::Close { client, path, suppress }),
        1 => (path.clone(), any::<bool>()).prop_map(|(path, accept)| Op::Decide { path, accept }),
        4 => (path, any::<bool>()).prop_map(|(path, accept)| Op::User { path, accept }),
        6 => prop::bool::weighted(0.9).prop_map(|can| Op::Editor { can }),
        1 => Just(Op::Overdue),
        2 => client.clone().prop_map(|client| Op::Read { client }),
        2 => (client.clone(), 0..3_usize).prop_map(|(client, arrived)| Op::Cut { client, arrived }),
        1 => client.prop_map(|client| Op::Leave { client }),
    ]
}

struct Client {
    session: SessionId,
    mailbox: Mailbox,
    stream: u64,
    last_event_id: Option<EventId>,
    /// Path → the text that it proposed, which names the diff.
    waiters: BTreeMap<&'static str, String>,
    gone: bool,
}

impl Client {
    fn new() -> Self {
        let mailbox = Mailbox::new(Epoch::new());
        let (stream, _) = mailbox.attach(None, None);
        let session = SessionId::new();
        Self {
            session,
            mailbox,
            stream,
            last_event_id: None,
            waiters: BTreeMap::new(),
            gone: false,
        }
    }

    /// Takes up to `limit` events from the stream.
    fn read(&mut self, limit: usize) {
        for _ in 0..limit {
            let cx = Context::from_waker(Waker::noop());
            match self.mailbox.poll_next(self.stream, &cx) {
                Poll::Ready(Some(Outgoing::Event(id, data))) => {
                    self.last_event_id = Some(id);
                    self.take(&data);
                }
                _ => return,
            }
        }
    }

    fn take(&mut self, data: &[u8]) {
        let message: Value = serde_json::from_slice(&data[b"data: ".len()..]).unwrap();
        let path = PATHS.into_iter().find(|path| message["params"]["filePath"] == *path).unwrap();
        let Some(proposed) = self.waiters.remove(path) else { return };
        if message["method"] == "ide/diffAccepted" {
            assert_eq!(message["params"]["content"], proposed, "an answer to another question");
        }
    }

    fn reconnect(&mut self) {
        self.mailbox.detach(self.stream);
        (self.stream, _) = self.mailbox.attach(self.last_event_id.take(), None);
    }
}

/// A call that was made: by whom, for which path, and what ends its waiter.
struct Call {
    client: usize,
    path: &'static str,
    closes: bool,
    answer: oneshot::Receiver<CallToolResult>,
}

struct World {
    ledger: Ledger,
    clients: Vec<Client>,
    calls: Vec<Call>,
    decisions: Vec<oneshot::Receiver<CallToolResult>>,
    asks: VecDeque<(HostRequest, Ask)>,
    /// Path → text of the view that shows.
    views: HashMap<Arc<str>, String>,
    opened: u64,
    ended: HashMap<u64, Outcome>,
}

impl World {
    fn new() -> Self {
        Self {
            ledger: Ledger::default(),
            clients: (0..CLIENTS).map(|_| Client::new()).collect(),
            calls: Vec::new(),
            decisions: Vec::new(),
            asks: VecDeque::new(),
            views: HashMap::new(),
            opened: 0,
            ended: HashMap::new(),
        }
    }

    fn run(&mut self, op: &Op) {
        match *op {
            Op::Open { client, path } if !self.clients[client].gone => {
                let path = PATHS[path];
                let (reply, answer) = oneshot::channel();
                self.opened += 1;
                let text = format!("proposal {}", self.opened);
                let asker = self.clients[client].session;
                self.clients[client].waiters.insert(path, text.clone());
                self.calls.push(Call { client, path, closes: false, answer });
                let effects = self.ledger.open(asker, &Arc::from(path), text, reply);
                self.apply(effects);
            }
            Op::Close { client, path, suppress } if !self.clients[client].gone => {
                let path = PATHS[path];
                let (reply, answer) = oneshot::channel();
                let session = self.clients[client].session;
                self.calls.push(Call { client, path, closes: suppress, answer });
                let effects = self.ledger.close(session, &Arc::from(path), suppress, reply);
                self.apply(effects);
            }
            Op::Decide { path, accept } => {
                let (reply, answer) = oneshot::channel();
                self.decisions.push(answer);
                let effects = self.ledger.decide(&Arc::from(PATHS[path]), accept, reply);
                self.apply(effects);
            }
            Op::User { path, accept } => self.decide_view(PATHS[path], accept),
            Op::Editor { can } => self.answer_oldest(can),
            Op::Overdue => {
                if let Some((request, _)) = self.asks.front() {
                    let effects = self.ledger.expired(*request);
                    self.apply(effects);
                }
            }
            Op::Read { client } => self.clients[client].read(usize::MAX),
            Op::Cut { client, arrived } => {
                let client = &mut self.clients[client];
                client.read(arrived);
                // More was sent, and is lost.
                let cx = Context::from_waker(Waker::noop());
                while let Poll::Ready(Some(_)) = client.mailbox.poll_next(client.stream, &cx) {}
                client.reconnect();
            }
            Op::Leave { client } if !self.clients[client].gone => {
                self.clients[client].gone = true;
                let effects = self.ledger.session_gone(self.clients[client].session);
                self.apply(effects);
            }
            Op::Open { .. } | Op::Close { .. } | Op::Leave { .. } => {}
        }
        self.take_answers();
    }

    fn decide_view(&mut self, path: &str, accept: bool) {
        if let Some(text) = self.views.remove(path) {
            let effects = self.ledger.decided(path, accept.then_some(text));
            self.apply(effects);
        }
    }

    fn answer_oldest(&mut self, can: bool) {
        let Some((request, ask)) = self.asks.pop_front() else { return };
        let done = match ask {
            Ask::Open(path, text) if can => {
                self.views.insert(path, text);
                Some(None)
            }
            Ask::Open(..) => None,
            Ask::Close(path) => self.views.remove(&path).map(Some),
            Ask::Accept(path) | Ask::Reject(path) if !can || !self.views.contains_key(&path) => {
                None
            }
            Ask::Accept(path) => {
                self.decide_view(&path, true);
                Some(None)
            }
            Ask::Reject(path) => {
                self.decide_view(&path, false);
                Some(None)
            }
        };
        if let Some(content) = done {
            self.ledger.completed(request, content);
        } else {
            let effects = self.ledger.failed(request, "can't");
            self.apply(effects);
        }
    }

    fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Forget(session, path) => self.client(session).mailbox.forget(&path),
                Effect::Accepted(session, path, content) => {
                    let message = sse::data(&ide::diff_accepted(&path, &content), 0);
                    self.client(session).mailbox.push_decision(path, message);
                }
                Effect::Rejected(session, path) => {
                    let message = sse::data(&ide::diff_rejected(&path), 0);
                    self.client(session).mailbox.push_decision(path, message);
                }
                Effect::Ask(request, ask) => self.asks.push_back((request, ask)),
                Effect::Ended(diff, outcome) => {
                    let before = self.ended.insert(diff, outcome);
                    assert_eq!(before, None, "diff {diff} ended twice");
                }
            }
        }
    }

    fn client(&mut self, session: SessionId) -> &mut Client {
        self.clients.iter_mut().find(|client| client.session == session).unwrap()
    }

    /// The clients read the answers to their calls, and do what the real one does with them.
    fn take_answers(&mut self) {
        let clients = &mut self.clients;
        self.calls.retain_mut(|call| match call.answer.try_recv() {
            Err(oneshot::error::TryRecvError::Empty) => true,
            Err(oneshot::error::TryRecvError::Closed) => panic!("a call was never answered"),
            Ok(result) => {
                // openDiff: an error ends the waiter. closeDiff: the client ends it itself.
                if result.is_error || call.closes {
                    clients[call.client].waiters.remove(call.path);
                }
                false
            }
        });
    }

    fn stop(&mut self) {
        let effects = self.ledger.stop();
        self.apply(effects);
        self.take_answers();
        for client in &mut self.clients {
            client.reconnect();
            client.read(usize::MAX);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn each_diff_ends_once_and_nobody_waits_for_ever(ops in prop::collection::vec(op(), 0..40)) {
        let mut world = World::new();
        for op in &ops {
            world.run(op);
        }
        world.stop();

        prop_assert!(world.calls.is_empty(), "a call was not answered");
        for mut decision in world.decisions {
            prop_assert!(decision.try_recv().is_ok(), "a decision was not answered");
        }
        prop_assert_eq!(world.ended.len() as u64, world.opened, "a diff did not end");
        for client in world.clients.iter().filter(|client| !client.gone) {
            prop_assert!(client.waiters.is_empty(), "still waits: {:?}", client.waiters);
        }
    }
}
