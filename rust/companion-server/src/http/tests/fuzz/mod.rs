//! Fuzzes the bodies of a client's requests: two thousand, or a million with
//! `COMPANION_TEST_LONG=1`. hyper reads the heads, and has its own tests.
//!
//! - The server answers with a status that it uses, and JSON.
//! - A request that gets an error changes nothing.
//! - Another client notices nothing.
//!
//! `corpus/http` has bodies that failed before. They are tried first.

mod json;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use http_body_util::BodyExt as _;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::value::RawValue;
use tokio::runtime::Builder;
use uuid::Uuid;

use crate::parts::Parts;
use crate::session::Client;
use crate::tests::{EditorCall, Rig, Stream, unsupported};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/http");

/// The file for which the other client has an open diff.
const OTHERS: &str = "/of/the/other/client";

/// The timeout of a request, in paused time. The server answers much earlier.
const HANG: Duration = Duration::from_mins(5);

/// The answer to one message.
#[derive(serde::Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Response<'_> {
    fn is_error(&self) -> bool {
        match (self.result, self.error) {
            (Some(result), None) => result.get().ends_with(r#""isError":true}"#),
            (None, Some(_)) => true,
            _ => panic!("neither a result nor an error"),
        }
    }
}

/// Checks the form of a reply. Returns whether the request was refused and changed nothing.
fn is_error(status: u16, body: &[u8]) -> bool {
    if body.is_empty() {
        assert_eq!(status, 202);
        return false;
    }
    assert!([200, 400, 413].contains(&status), "{status}");
    let responses: Vec<Response<'_>> = if body[0] == b'[' {
        serde_json::from_slice(body).expect("a body is JSON-RPC")
    } else {
        vec![serde_json::from_slice(body).expect("a body is JSON-RPC")]
    };
    assert!(!responses.is_empty(), "an empty batch");
    status >= 400 || responses.iter().all(Response::is_error)
}

/// A server with a well-behaved client, which must never notice anything.
struct World {
    rig: Rig,
    other: Stream,
}

impl World {
    async fn new() -> Self {
        let rig = Rig::limits(|limits| limits.body = 100_000);
        let session = rig.initialize().await;
        let mut other = rig.stream(&session).await;
        other.context().await;
        rig.open(&session, OTHERS).await;
        Self { rig, other }
    }

    /// Posts a body within a session, and carries out the requests to the editor. Returns status and
    /// body of the reply, and the number of these requests that change something.
    async fn post(&self, session: &str, body: Vec<u8>) -> (u16, Vec<u8>, usize) {
        let headers = [("mcp-session-id", session)];
        let exchange = async {
            let reply = self.rig.send("POST", "/mcp", &headers, body).await;
            let status = reply.status().as_u16();
            (status, reply.into_body().collect().await.unwrap().to_bytes())
        };
        tokio::pin!(exchange);
        let mut asked = 0;
        loop {
            tokio::select! {
                biased;
                ask = self.rig.asked() => {
                    asked += usize::from(!matches!(ask, EditorCall::Diagnostics(..)));
                    carry_out(&self.rig, ask);
                }
                (status, body) = &mut exchange => return (status, body.to_vec(), asked),
            }
        }
    }

    async fn try_out(&mut self, body: Vec<u8>) {
        let Parts { clients, context: editor, .. } = &*self.rig.parts;
        let context = editor.message();
        let session = clients.create(Client::default()).expect("the others are idle").id;
        let posted = tokio::time::timeout(HANG, self.post(&session.to_string(), body)).await;
        let (status, reply, asked) = posted.expect("an answer that does not come");
        if is_error(status, &reply) {
            assert_eq!(asked, 0, "an error changed something");
        }
        assert!(clients.get(session).is_some(), "a message ended the session");

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
            rig.accept(&path, "");
        }
        EditorCall::Reject(_responder, path) => {
            rig.reject(&path);
        }
        EditorCall::Diagnostics(responder, _) => unsupported(responder),
        EditorCall::Unsaved(_) => unreachable!("no CLI has a hook"),
    }
}

#[test]
fn whatever_a_client_sends_is_answered_and_harms_nobody() {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let world = tokio::sync::Mutex::new(runtime.block_on(World::new()));
    let try_out = |body| runtime.block_on(async { world.lock().await.try_out(body).await });
    for file in std::fs::read_dir(CORPUS).unwrap() {
        let path = file.unwrap().path();
        eprintln!("{}", path.display());
        try_out(std::fs::read(path).unwrap());
    }
    let is_long = std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1");
    let cases = if is_long { 1_000_000 } else { 2_000 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The default generator of random numbers takes most of the time in unoptimized builds.
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, Uuid::new_v4().as_bytes());
    let tried = TestRunner::new_with_rng(config, rng).run(&json::body(), |body| {
        try_out(body);
        Ok(())
    });
    if let Err(TestError::Fail(reason, body)) = tried {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let file = format!("{CORPUS}/found-{:016x}.json", hasher.finish());
        std::fs::write(&file, &body).unwrap();
        let text = body.escape_ascii().to_string();
        panic!("{reason}\n{text:.3000}\nnow in {file}");
    }
    tried.unwrap();
}
