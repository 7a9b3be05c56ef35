//! Tests random orders of steps of several clients, the user, the editor and the network, from the
//! request to the stream. No client waits for ever, and none gets another's answer.
//!
//! The clients behave like the real one (`ide-client.js`). They set one waiter per path before they
//! send the request. The first notification for that path ends the waiter, even if it is for
//! another question. So the test detects stale notifications.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::diffs::Decision;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use tokio::time::Instant;

use crate::host::Delivery;
use crate::testing::{EditorCall, Rig, Stream};

/// How long `closeDiff` waits for a client.
const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// The user decides about a shown view.
    User {
        path: usize,
        accept: bool,
    },
    /// The editor carries out the oldest request, if it can.
    Editor {
        can: bool,
    },
    /// Pending tasks proceed by one step each.
    Turn,
    /// The editor exceeds its deadline.
    Overdue,
    /// The client reads pending events of its stream.
    Read {
        client: usize,
    },
    /// The stream breaks after `arrived` more events.
    Cut {
        client: usize,
        arrived: usize,
    },
    /// The client leaves by DELETE.
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
        8 => Just(Op::Turn),
        1 => Just(Op::Overdue),
        3 => client.clone().prop_map(|client| Op::Read { client }),
        2 => (client.clone(), 0..3_usize).prop_map(|(client, arrived)| Op::Cut { client, arrived }),
        1 => client.prop_map(|client| Op::Leave { client }),
    ]
}

struct Client {
    session: String,
    stream: Option<Stream>,
    /// How many streams have broken.
    broken: usize,
    last_id: Option<String>,
    /// The proposed text by path. The text identifies the diff.
    waiters: BTreeMap<&'static str, String>,
    /// The texts whose views were shown, as far as the client knows.
    shown: BTreeSet<String>,
    /// The paths that the client is closing.
    closing: BTreeSet<&'static str>,
}

struct World {
    rig: Rc<Rig>,
    clients: Rc<RefCell<Vec<Client>>>,
    calls: Vec<JoinHandle<()>>,
    asks: VecDeque<EditorCall>,
    /// The text of the shown view by path.
    views: HashMap<String, String>,
    /// The accepted texts that the server took.
    accepted: Rc<RefCell<BTreeSet<String>>>,
    opened: u64,
}

impl World {
    async fn new() -> Self {
        let rig = Rc::new(Rig::start());
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let session = rig.initialize().await;
            let stream = Some(rig.stream(&session).await);
            let (waiters, shown, closing) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
            let (broken, last_id) = (0, None);
            clients.push(Client { session, stream, broken, last_id, waiters, shown, closing });
        }
        let clients = Rc::new(RefCell::new(clients));
        let (calls, asks, views) = (Vec::new(), VecDeque::new(), HashMap::new());
        Self { rig, clients, calls, asks, views, accepted: Rc::default(), opened: 0 }
    }

    async fn run(&mut self, op: &Op) {
        match *op {
            Op::Open { client, path } => self.open(client, PATHS[path]),
            Op::Close { client, path, suppress } => self.close(client, PATHS[path], suppress),
            Op::Decide { path, accept } => {
                let tool = if accept { "acceptDiff" } else { "rejectDiff" };
                self.call(0, tool, json!({ "filePath": PATHS[path] }), |_, _| {});
            }
            Op::User { path, accept } => self.decide_view(PATHS[path], accept),
            Op::Editor { can } => self.answer_oldest(can),
            Op::Turn => yield_now().await,
            Op::Overdue => tokio::time::sleep(Duration::from_secs(31)).await,
            Op::Read { client } => self.read(client, usize::MAX),
            Op::Cut { client, arrived } => {
                self.read(client, arrived);
                self.reconnect(client).await;
            }
            Op::Leave { client } => {
                let session = self.clients.borrow()[client].session.clone();
                self.rig.send("DELETE", "/mcp", &[("mcp-session-id", &session)], "").await;
                let client = &mut self.clients.borrow_mut()[client];
                client.stream = None;
                client.waiters.clear();
            }
        }
        while let Ok(asked) = self.rig.asked.try_lock().unwrap().try_recv() {
            self.asks.push_back(asked);
        }
    }

    /// Calls a tool in a later turn, and runs `then` with its result.
    fn call(
        &mut self,
        client: usize,
        tool: &'static str,
        arguments: Value,
        then: impl FnOnce(&mut Client, Value) + 'static,
    ) {
        let (rig, clients) = (Rc::clone(&self.rig), Rc::clone(&self.clients));
        let session = clients.borrow()[client].session.clone();
        self.calls.push(spawn_local(async move {
            let result = rig.call(&session, tool, &arguments).await;
            then(&mut clients.borrow_mut()[client], result);
        }));
    }

    fn open(&mut self, client: usize, path: &'static str) {
        let text = format!("{}{}", own(client), self.opened);
        {
            let client = &mut self.clients.borrow_mut()[client];
            // The real client asks again only after an answer.
            let waits = client.waiters.contains_key(path) || client.closing.contains(path);
            if client.stream.is_none() || waits {
                return;
            }
            client.waiters.insert(path, text.clone());
        }
        self.opened += 1;
        let arguments = json!({ "filePath": path, "newContent": text });
        let accepted = Rc::clone(&self.accepted);
        self.call(client, "openDiff", arguments, move |client, result| {
            if result["content"] == json!([]) {
                client.shown.insert(text);
            } else if client.waiters.get(path) == Some(&text) {
                assert!(!accepted.borrow().contains(&text), "an accepted text is lost: {result}");
                client.waiters.remove(path);
            }
        });
    }

    fn close(&mut self, client: usize, path: &'static str, suppress: bool) {
        let (asked, broken) = {
            let client = &mut self.clients.borrow_mut()[client];
            if client.stream.is_none() || !client.closing.insert(path) {
                return;
            }
            (client.waiters.get(path).cloned(), client.broken)
        };
        let begun = Instant::now();
        let arguments = json!({ "filePath": path, "suppressNotification": suppress });
        let accepted = Rc::clone(&self.accepted);
        self.call(client, "closeDiff", arguments, move |client, result| {
            client.closing.remove(path);
            let may_notify = client.stream.is_some() && client.broken == broken;
            if !suppress && may_notify && begun.elapsed() < ACKNOWLEDGEMENT_TIMEOUT {
                let waits =
                    |text| client.shown.contains(text) && client.waiters.get(path) == Some(text);
                assert!(
                    !asked.as_ref().is_some_and(waits),
                    "it stops to listen before it is notified"
                );
            }
            // Without `suppress` the client's waiter is notified of the end.
            let waiter = if suppress { client.waiters.remove(path) } else { None };
            let Some(waiter) = waiter else { return };
            let closed = result["content"][0]["text"].as_str().unwrap_or_default();
            let closed: Value = serde_json::from_str(closed).unwrap_or_default();
            let content = closed["content"].as_str().unwrap_or_default();
            assert!(content == waiter || content.is_empty(), "an answer to another question");
            let is_lost = content != waiter && accepted.borrow().contains(&waiter);
            assert!(!is_lost, "an accepted text is lost: {result}");
        });
    }

    fn decide_view(&mut self, path: &str, accept: bool) {
        if let Some(text) = self.views.remove(path) {
            let decision =
                if accept { Decision::Accepted(text.clone()) } else { Decision::Rejected };
            let delivery = self.rig.user_decided(path, decision);
            if accept && delivery != Delivery::Unknown {
                self.accepted.borrow_mut().insert(text);
            }
        }
    }

    fn answer_oldest(&mut self, can: bool) {
        match self.asks.pop_front() {
            Some(EditorCall::Open(responder, proposal)) if can => {
                self.views.insert(proposal.file_path, proposal.new_content);
                responder.complete(None);
            }
            Some(EditorCall::Close(responder, path)) => match self.views.remove(&path) {
                Some(text) => responder.complete(Some(text)),
                None => responder.fail("no such view"),
            },
            Some(EditorCall::Accept(responder, path)) if can && self.views.contains_key(&path) => {
                self.decide_view(&path, true);
                responder.complete(None);
            }
            Some(EditorCall::Reject(responder, path)) if can && self.views.contains_key(&path) => {
                self.decide_view(&path, false);
                responder.complete(None);
            }
            // The request is dropped, which fails it.
            _ => {}
        }
    }

    /// Makes a client take up to `limit` messages from its stream.
    fn read(&self, client: usize, limit: usize) {
        for _ in 0..limit {
            let mut clients = self.clients.borrow_mut();
            let client = &mut clients[client];
            let Some(stream) = &mut client.stream else { return };
            let Some(message) = stream.any_message_now() else { return };
            client.last_id = stream.last_id.clone();
            if message["method"] == "ping" {
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
                let (rig, session) = (Rc::clone(&self.rig), client.session.clone());
                spawn_local(async move {
                    let headers = [("mcp-session-id", &*session)];
                    rig.send("POST", "/mcp", &headers, answer.to_string()).await;
                });
            }
            let path = message["params"]["filePath"].as_str().unwrap_or_default();
            let Some(proposed) = client.waiters.remove(path) else { continue };
            if message["method"] == "ide/diffAccepted" {
                let content = &message["params"]["content"];
                assert_eq!(*content, proposed, "an answer to another question");
            } else {
                let is_lost = self.accepted.borrow().contains(&proposed);
                assert!(!is_lost, "rejected, although the user has accepted it: {proposed}");
            }
        }
    }

    async fn reconnect(&self, client: usize) {
        let (session, last) = {
            let client = &mut self.clients.borrow_mut()[client];
            if client.stream.take().is_none() {
                return;
            }
            client.broken += 1;
            (client.session.clone(), client.last_id.take())
        };
        let stream = self.rig.stream_after(&session, last.as_deref()).await;
        self.clients.borrow_mut()[client].stream = Some(stream);
    }

    async fn end(&mut self) {
        self.rig.parts.driver.handle(Input::Stop { keeps: false });
        self.asks.clear();
        for call in std::mem::take(&mut self.calls) {
            call.await.expect("a call is answered, whatever happens");
        }
        for client in 0..CLIENTS {
            self.reconnect(client).await;
            self.read(client, usize::MAX);
        }
    }
}

/// Returns the prefix of a client's texts.
fn own(client: usize) -> String {
    format!("proposal of {client}: ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn each_diff_ends_once_and_nobody_waits_for_ever(ops in prop::collection::vec(op(), 0..60)) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let clients = LocalSet::new().block_on(&runtime, async {
            let mut world = World::new().await;
            for op in &ops {
                world.run(op).await;
            }
            world.end().await;
            world.clients
        });
        for client in clients.borrow().iter() {
            prop_assert!(client.waiters.is_empty(), "still waits: {:?}", client.waiters);
        }
    }
}
