//! Tests the hooks of CLIs: at the endpoint, and the model alone.

use std::path::{Path, PathBuf};

use companion_protocol::editor::ReasonArrival::{self, Never, NextPrompt, Now};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::model::{AgentModel, Rejection};
use super::{Reason, ReasonId};
use crate::agent;
use crate::mcp::session::SessionId;
use crate::net::http::ReplyBody;
use crate::net::json::Json;
use crate::testing::{EditorCall, Rig, Stream};
use crate::text::Digest;

/// A server, a project with a file, and Gemini CLI with its hooks.
struct Scene {
    rig: Rig,
    dir: TempDir,
    session: String,
    stream: Stream,
}

const TEXT: &str = "one\r\ntwo\r\n";

impl Scene {
    async fn start() -> Self {
        Self::of(tempfile::tempdir().unwrap(), None).await
    }

    /// With `state` it continues the last one.
    async fn of(dir: TempDir, state: Option<&Path>) -> Self {
        let rig = match state {
            Some(state) => Rig::resume(state),
            None => Rig::with(|config| config.settings.diagnostics = false),
        };
        rig.state.workspace.change(vec![PathBuf::from("/")]);
        std::fs::write(dir.path().join("a.txt"), TEXT).unwrap();
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let params = json!({ "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = rig.send("POST", "/mcp", &[], body.to_string()).await;
        let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        Self { rig, dir, session, stream }
    }

    fn path(&self) -> String {
        self.dir.path().join("a.txt").to_str().unwrap().to_owned()
    }

    /// The answer to an event of the CLI; null if it is empty.
    async fn hook(&self, event: &str, more: Value) -> Value {
        let mut fields = json!({ "session_id": "cli", "hook_event_name": event });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let body = json!({ "filePath": self.path(), "event": fields }).to_string();
        let reply = self.rig.send("POST", "/hook", &[], body).await;
        assert_eq!(reply.status(), 200);
        let answer = reply.into_body().collect();
        tokio::pin!(answer);
        let body = loop {
            tokio::select! {
                body = &mut answer => break body.unwrap().to_bytes(),
                // The editor knows none of these requests.
                call = self.rig.asked() => match call {
                    EditorCall::Diagnostics(responder, _) => responder.unsupported(),
                    EditorCall::Unsaved(responder) => drop(responder),
                    other => panic!("{other:?}"),
                },
            }
        };
        if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() }
    }

    async fn before_agent(&self) -> Value {
        self.hook("BeforeAgent", json!({ "prompt": "p" })).await
    }

    async fn after_tool(&self, response: Value) -> Value {
        self.hook("AfterTool", json!({ "tool_response": response })).await
    }

    /// The CLI proposes an edit. Returns when its model would get a reason.
    async fn propose(&self) -> ReasonArrival {
        assert_eq!(self.hook("BeforeTool", json!({})).await, Value::Null);
        let arguments = json!({ "filePath": self.path(), "newContent": "new" });
        let show = async {
            let EditorCall::Open(responder, proposal) = self.rig.asked().await else { panic!() };
            responder.complete(None);
            proposal.reason
        };
        tokio::join!(self.rig.call(&self.session, "openDiff", &arguments), show).1
    }

    /// The user rejects the edit, and the server has read the file.
    async fn reject(&self) {
        let runtime = tokio::runtime::Handle::current();
        agent::reject(&self.rig.state, &runtime, &self.path(), "use const");
        while self.rig.state.diffs.open_count() > 0 {
            tokio::task::yield_now().await;
        }
    }

    /// The client has no stream any more.
    fn away(self) -> Self {
        let Self { rig, dir, session, .. } = self;
        let stream = Stream::new(ReplyBody::Json(Json::default()));
        Self { rig, dir, session, stream }
    }

    async fn come_back(&mut self) {
        self.stream = self.rig.stream(&self.session).await;
        self.stream.context().await;
    }
}

const NO_CHANGE: &str = r#"{"llmContent":"no","error":{"type":"edit_no_change"}}"#;

fn no_change() -> Value {
    serde_json::from_str(NO_CHANGE).unwrap()
}

fn denied(answer: &Value) -> bool {
    answer["decision"] == "deny" && answer["reason"].as_str().unwrap().ends_with(": use const")
}

#[tokio::test]
async fn a_reason_comes_with_the_result_and_the_client_gets_the_present_text() {
    let mut scene = Scene::start().await;
    assert_eq!(scene.propose().await, Now);
    scene.reject().await;
    let message = scene.stream.message().await.unwrap();
    assert_eq!(message["method"], "ide/diffAccepted");
    assert_eq!(message["params"]["content"], TEXT);
    assert!(denied(&scene.after_tool(no_change()).await));
    assert_eq!(scene.after_tool(no_change()).await, Value::Null, "it is told once");
}

#[tokio::test]
async fn a_client_without_a_stream_gets_a_rejection_and_the_reason_with_the_next_prompt() {
    let scene = Scene::start().await;
    assert_eq!(scene.propose().await, Now);
    let mut scene = scene.away();
    scene.reject().await;
    scene.come_back().await;
    assert_eq!(scene.stream.message().await.unwrap()["method"], "ide/diffRejected");
    let told = scene.before_agent().await["hookSpecificOutput"].take();
    let told = told["additionalContext"].as_str().unwrap().to_owned();
    assert!(told.ends_with("The user's reason: use const"), "{told}");
    assert_eq!(scene.before_agent().await, Value::Null, "it is told once");
}

#[tokio::test]
async fn a_text_that_is_not_read_before_the_stream_breaks_is_not_sent_again() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    scene.come_back().await;
    assert_eq!(scene.stream.message().await.unwrap()["method"], "ide/diffRejected");
}

#[tokio::test]
async fn a_file_that_has_changed_since_is_rejected() {
    let mut scene = Scene::start().await;
    assert_eq!(scene.propose().await, Now);
    std::fs::write(scene.path(), "zero\n").unwrap();
    scene.reject().await;
    assert_eq!(scene.stream.message().await.unwrap()["method"], "ide/diffRejected");
}

#[tokio::test]
async fn an_edit_that_was_made_all_the_same_gets_the_reason_as_a_remark() {
    let scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    let display = json!({ "originalContent": "one", "newContent": "two" });
    let told = scene.after_tool(json!({ "returnDisplay": display })).await;
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("has a remark") && told.ends_with("use const"), "{told}");
}

#[tokio::test]
async fn a_written_file_that_is_the_same_counts_as_unchanged() {
    let scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    let display = json!({ "originalContent": TEXT, "newContent": TEXT });
    assert!(denied(&scene.after_tool(json!({ "returnDisplay": display })).await));
}

#[tokio::test]
async fn the_next_process_tells_the_reason_and_keeps_no_text_of_it() {
    let state = tempfile::tempdir().unwrap();
    let scene = Scene::of(tempfile::tempdir().unwrap(), Some(state.path())).await;
    scene.propose().await;
    scene.reject().await;
    scene.rig.state.diffs.wait_until_journaled().await;
    let Scene { rig, dir, .. } = scene;
    let journal = rig.state.journal.as_ref().unwrap();
    journal.end();
    journal.ended().await;
    rig.state.release_lock();
    drop(rig);

    let scene = Scene::of(dir, Some(state.path())).await;
    assert!(denied(&scene.after_tool(no_change()).await));
    scene.rig.state.diffs.wait_until_journaled().await;
    let files = state.path().join("companion-for-gemini-cli/resume");
    for file in std::fs::read_dir(files).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("use const"), "{text}");
    }
}

#[tokio::test]
async fn a_project_that_shares_nothing_has_no_reasons() {
    let scene = Scene::start().await;
    scene.rig.state.context.update(|model| model.silenced(true));
    assert_eq!(scene.propose().await, Never);
    assert_eq!(scene.before_agent().await, Value::Null);
}

#[tokio::test]
async fn an_event_that_is_none_is_refused_without_its_text() {
    let rig = Rig::start();
    for body in ["", "{}", r#"{"event":{}}"#, r#"{"event":{"session_id":"secret"}}"#] {
        let reply = rig.send("POST", "/hook", &[], body).await;
        assert_eq!(reply.status(), 400);
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        assert!(!String::from_utf8_lossy(&body).contains("secret"));
    }
    assert_eq!(rig.send("GET", "/hook", &[], "").await.status(), 405);
}

#[tokio::test]
async fn the_head_of_the_answer_does_not_wait_for_the_editor() {
    let rig = Rig::start();
    let event = json!({ "session_id": "cli", "hook_event_name": "BeforeAgent" });
    let body = json!({ "event": event }).to_string();
    let reply = rig.send("POST", "/hook", &[], body).await;
    assert_eq!(reply.status(), 200, "the editor has not been asked");
}

#[tokio::test]
async fn the_editor_hears_of_a_question_and_of_the_end() {
    let scene = Scene::start().await;
    scene.before_agent().await;
    let question = json!({ "message": "Run ls?", "details": { "type": "exec" } });
    scene.hook("Notification", question).await;
    scene.hook("AfterAgent", json!({})).await;
    scene.hook("AfterAgent", json!({})).await;
    assert_eq!(*scene.rig.agents.lock(), ["Run ls?", "finished"]);
    scene.propose().await;
    let question = json!({ "message": "Edit?", "details": { "type": "edit" } });
    scene.hook("Notification", question).await;
    assert_eq!(scene.rig.agents.lock().len(), 2, "the editor shows the edit");
}

/// Two CLIs, `x` with the session `a`, and `y` with `b`.
struct Cast {
    model: AgentModel,
    a: SessionId,
    b: SessionId,
    reasons: u64,
}

impl Cast {
    fn new() -> Self {
        let (a, b) = (SessionId::new(), SessionId::new());
        Self { model: AgentModel::default(), a, b, reasons: 0 }
    }

    /// The CLI `agent` begins an edit of a file, and the client opens its diff.
    fn edit(&mut self, agent: &str, session: SessionId, path: &str) -> ReasonArrival {
        self.model.before_edit(agent, path, Some(Digest::of("text")));
        self.model.opened(session, path)
    }

    fn reject(&mut self, session: SessionId, path: &str) -> Rejection {
        self.reasons += 1;
        let text = format!("reason {}", self.reasons).into();
        self.model.rejected(session, path, text, ReasonId(self.reasons)).0
    }
}

fn ids(reasons: Vec<(ReasonId, Reason)>) -> Vec<u64> {
    reasons.into_iter().map(|(id, _)| id.0).collect()
}

#[test]
fn each_cli_gets_its_own_reasons() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!([cast.edit("x", a, "/1"), cast.edit("y", b, "/1")], [Now, Now]);
    let keep = Rejection::KeepText(Digest::of("text"));
    assert_eq!([cast.reject(a, "/1"), cast.reject(b, "/1")], [keep, keep]);
    assert_eq!(ids(cast.model.after_edit("y", "/1")), [2]);
    assert_eq!(ids(cast.model.before_agent("y")), [0; 0]);
    assert_eq!(ids(cast.model.before_agent("x")), [1]);
}

#[test]
fn an_edit_that_two_clis_have_begun_belongs_to_none() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.model.before_edit("x", "/1", None);
    cast.model.before_edit("y", "/1", None);
    assert_eq!([cast.model.opened(a, "/1"), cast.model.opened(b, "/1")], [Never, Never]);
    assert_eq!(cast.reject(a, "/1"), Rejection::Plain);
    assert_eq!(ids(cast.model.before_agent("x")), [0; 0]);
    // Once they are known, they are told apart.
    assert_eq!([cast.edit("x", a, "/2"), cast.edit("y", b, "/3")], [Now, Now]);
    cast.model.before_edit("x", "/1", None);
    cast.model.before_edit("y", "/1", None);
    assert_eq!([cast.model.opened(a, "/1"), cast.model.opened(b, "/1")], [NextPrompt; 2]);
}

#[test]
fn a_diff_of_a_client_without_hooks_is_not_taken_for_the_edit_of_another() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!(cast.edit("x", a, "/1"), Now);
    cast.model.before_edit("x", "/2", None);
    assert_eq!(cast.model.opened(b, "/2"), Never);
}

#[test]
fn a_cli_may_begin_a_new_session() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit("x", a, "/1"), Now);
    assert_eq!(cast.edit("new", a, "/1"), Now);
    cast.reject(a, "/1");
    assert_eq!(ids(cast.model.before_agent("x")), [0; 0]);
    assert_eq!(ids(cast.model.before_agent("new")), [1]);
}

#[test]
fn a_diff_without_a_hook_of_its_own_waits_for_the_prompt() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit("x", a, "/1"), Now);
    assert_eq!(cast.model.opened(a, "/1"), NextPrompt, "that was another edit");
    assert_eq!(cast.model.opened(a, "/2"), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Rejection::Plain);
    cast.model.session_gone(a);
    assert_eq!(cast.model.opened(a, "/2"), Never);
    assert_eq!(ids(cast.model.before_agent("x")), [1], "the CLI may have connected again");
}

#[test]
fn a_cli_whose_hook_follows_the_diff_is_known_after_an_acceptance() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let text = Some(Digest::of("text"));
    assert_eq!(cast.model.opened_first(a, "/1", text), Never);
    cast.model.accepted("x", a);
    assert!(cast.model.knows(a) && !cast.model.knows(b));
    assert_eq!(cast.model.opened_first(a, "/2", text), Now);
    assert_eq!(cast.model.opened_first(a, "/3", None), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Rejection::KeepText(Digest::of("text")));
    assert_eq!(ids(cast.model.after_edit("x", "/2")), [1]);
    // The session belongs to x, so this is a mistake.
    cast.model.accepted("y", a);
    cast.reject(a, "/3");
    assert_eq!(ids(cast.model.before_agent("y")), [0; 0]);
    assert_eq!(ids(cast.model.before_agent("x")), [2]);
}
