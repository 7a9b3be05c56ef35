//! Fuzzes all input of a client, from the first byte of a head to the last argument of a tool: a
//! few thousand inputs, or a million with `COMPANION_TEST_LONG=1`.
//!
//! - The server answers with a status that it uses, and JSON.
//! - A request that gets an error changes nothing.
//! - Another client notices nothing.
//!
//! `corpus/http` has inputs that failed before, with `{session}` for the id of a session. They are
//! tried first.

mod input;
mod json;
mod reply;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use companion_core::diffs::Decision;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, duplex, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use uuid::Uuid;

use super::super::connection::accept;
use crate::parts::Parts;
use crate::testing::{EditorCall, Rig, Stream};
use input::{SESSION, input};
use reply::Reply;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/http");

/// The file for which the other client has an open diff.
const OTHERS: &str = "/of/the/other/client";

/// The timeout of a connection. The server closes connections much earlier.
const HANG: Duration = Duration::from_mins(5);

/// How the bytes are sent to the server.
#[derive(Clone, Copy)]
enum Transport {
    /// Within the process, with a paused clock, so that long waits take no time.
    Memory,
    Sockets,
}

trait Connection: AsyncRead + AsyncWrite + Unpin {}
impl<C: AsyncRead + AsyncWrite + Unpin> Connection for C {}

/// A server with a well-behaved client, which must never notice anything.
struct World {
    rig: Rig,
    other: Stream,
    /// The server's port, if it listens.
    port: Option<u16>,
}

impl World {
    async fn new(transport: Transport) -> Self {
        let rig = Rig::limits(|limits| {
            limits.body = 100_000;
            if let Transport::Sockets = transport {
                limits.header_timeout = Duration::from_millis(200);
                limits.body_timeout = Duration::from_millis(200);
            }
        });
        let session = rig.initialize().await;
        let mut other = rig.stream(&session).await;
        other.context().await;
        let arguments = json!({ "filePath": OTHERS, "newContent": "" });
        let show = async { carry_out(&rig, rig.asked().await) };
        let (result, ()) = tokio::join!(rig.call(&session, "openDiff", &arguments), show);
        assert_eq!(result, json!({ "content": [] }));
        let mut port = None;
        if let Transport::Sockets = transport {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            port = Some(listener.local_addr().unwrap().port());
            let http = &rig.parts.http;
            tokio::spawn(accept(listener, Arc::clone(&http.endpoint), Arc::clone(http)));
        }
        Self { rig, other, port }
    }

    async fn connect(&self) -> Box<dyn Connection> {
        if let Some(port) = self.port {
            return Box::new(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
        }
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn(self.rig.serve(theirs));
        Box::new(ours)
    }

    /// Sends `bytes` on a new connection. Carries out the requests to the editor. Returns at most
    /// `enough` replies and the number of these requests that change something.
    async fn send(&self, bytes: &[u8], enough: usize) -> (Vec<Reply>, usize) {
        let (mut from, mut to) = split(self.connect().await);
        let exchange = async {
            let mut replies = std::pin::pin!(reply::read(&mut from, enough));
            // The server may close the connection or stop reading before the end.
            tokio::select! {
                biased;
                replies = &mut replies => replies,
                _ = to.write_all(bytes) => replies.await,
            }
        };
        let mut exchange = std::pin::pin!(exchange);
        let mut asked = 0;
        loop {
            tokio::select! {
                biased;
                ask = self.rig.asked() => {
                    asked += usize::from(!matches!(ask, EditorCall::Diagnostics(..)));
                    carry_out(&self.rig, ask);
                }
                replies = &mut exchange => return (replies, asked),
            }
        }
    }

    /// Tries one input: the bytes within a session, which get `enough` replies at most.
    async fn try_out(&mut self, bytes: impl FnOnce(&str) -> Vec<u8>, enough: usize) {
        let Parts { clients, context: editor, .. } = &self.rig.parts;
        let context = editor.message();
        let session = clients
            .create(crate::session::ClientTraits::default())
            .expect("the others are idle")
            .id;
        let bytes = bytes(&session.to_string());
        let sent = tokio::time::timeout(HANG, self.send(&bytes, enough)).await;
        let (replies, asked) = sent.expect("an answer that does not come");

        for reply in &replies {
            reply.has_good_form();
        }
        if replies.iter().all(Reply::is_error) {
            assert_eq!(asked, 0, "an error changed something");
            assert!(clients.get(session).is_some(), "an error ended the session");
        }

        clients.end(session);
        let mut asked = self.rig.asked.try_lock().unwrap();
        while asked.try_recv().is_ok() {}
        assert_eq!(self.rig.open_count(), 1, "a diff was lost or left behind");
        assert_eq!(editor.message(), context);
        assert_eq!(self.other.message_now(), None, "the other client received something");
    }
}

/// Carries out a request to the editor.
fn carry_out(rig: &Rig, ask: EditorCall) {
    match ask {
        EditorCall::Open(responder, _) => responder.complete(None),
        EditorCall::Close(responder, _) => responder.complete(Some(String::new())),
        EditorCall::Accept(_responder, path) => {
            rig.user_decided(&path, Decision::Accepted(String::new()));
        }
        EditorCall::Reject(_responder, path) => {
            rig.user_decided(&path, Decision::Rejected);
        }
        EditorCall::Diagnostics(responder, _) => responder.unsupported(),
        EditorCall::Unsaved(_) => unreachable!("no CLI has a hook"),
    }
}

/// Runs trials in the same world until one fails.
struct Trials {
    transport: Transport,
    runtime: tokio::runtime::Runtime,
    world: std::cell::RefCell<Option<World>>,
}

impl Trials {
    fn new(transport: Transport) -> Self {
        let paused = matches!(transport, Transport::Memory);
        let runtime = Builder::new_current_thread().enable_all().start_paused(paused).build();
        Self { transport, runtime: runtime.unwrap(), world: std::cell::RefCell::default() }
    }

    fn run(&self, bytes: impl FnOnce(&str) -> Vec<u8>, enough: usize) {
        // Taken out, so that a panic drops the world.
        let world = self.world.borrow_mut().take();
        let world = self.runtime.block_on(async {
            let mut world = match world {
                Some(world) => world,
                None => World::new(self.transport).await,
            };
            world.try_out(bytes, enough).await;
            world
        });
        *self.world.borrow_mut() = Some(world);
    }
}

fn fuzz(transport: Transport, cases: u32) {
    let trials = Trials::new(transport);
    for file in std::fs::read_dir(CORPUS).unwrap() {
        let path = file.unwrap().path();
        eprintln!("{}", path.display());
        let bytes = std::fs::read(path).unwrap();
        trials.run(|session| replace(&bytes, session), usize::MAX);
    }
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The default generator of random numbers takes most of the time in unoptimized builds.
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, Uuid::new_v4().as_bytes());
    let tried = TestRunner::new_with_rng(config, rng).run(&input(), |input| {
        trials.run(|session| input.bytes(session), input.replies());
        Ok(())
    });
    if let Err(TestError::Fail(reason, input)) = tried {
        let bytes = input.bytes(SESSION);
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let file = format!("{CORPUS}/found-{:016x}.http", hasher.finish());
        std::fs::write(&file, &bytes).unwrap();
        let text = bytes.escape_ascii().to_string();
        panic!("{reason}\n{text:.3000}\nnow in {file}");
    }
    tried.unwrap();
}

fn replace(text: &[u8], session: &str) -> Vec<u8> {
    let mut bytes = text.to_vec();
    while let Some(at) = bytes.windows(SESSION.len()).position(|part| part == SESSION.as_bytes()) {
        bytes.splice(at..at + SESSION.len(), session.bytes());
    }
    bytes
}

fn is_long() -> bool {
    std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1")
}

#[test]
fn whatever_a_client_sends_is_answered_and_harms_nobody() {
    fuzz(Transport::Memory, if is_long() { 1_000_000 } else { 5_000 });
}

#[test]
fn the_same_through_sockets() {
    fuzz(Transport::Sockets, if is_long() { 5_000 } else { 50 });
}
