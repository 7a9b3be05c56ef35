//! Tests the hooks of CLIs: at the endpoint, and the model alone.

mod changes;
mod commands;
mod comments;
mod questions;
mod rejections;
mod reverts;
mod sharing;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::notes::NoteId;
use companion_protocol::editor::ReasonArrival::{self, Never, Now};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hooks;
use crate::http::ReplyBody;
use crate::net::json::Json;
use crate::tests::{EditorCall, Rig, Stream, unsupported};

/// A server, a project with a file, and Gemini CLI with its hooks.
struct Scene {
    rig: Rig,
    dir: TempDir,
    session: String,
    /// The process of the CLI, as its hooks see it.
    process: Value,
    stream: Stream,
    /// The messages that the client has read.
    messages: VecDeque<Value>,
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
        Self::with(rig, dir).await
    }

    async fn with(rig: Rig, dir: TempDir) -> Self {
        rig.parts.workspace.change(vec![PathBuf::from("/")]);
        std::fs::write(dir.path().join("a.txt"), TEXT).unwrap();
        let client = json!({ "name": "streamable-http-client", "version": "0.61.0" });
        let params = json!({ "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = rig.send("POST", "/mcp", &[], body.to_string()).await;
        let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let mut stream = rig.stream(&session).await;
        stream.context().await;
        Self { rig, dir, session, process: Value::Null, stream, messages: VecDeque::new() }
    }

    fn path(&self) -> String {
        self.dir.path().join("a.txt").to_str().unwrap().to_owned()
    }

    /// The answer to an event of the CLI, which the hook confirms; null if it is empty.
    async fn hook(&self, event: &str, more: Value) -> Value {
        let mut reply = self.unconfirmed(event, more).await;
        if let Some(ack) = reply["ack"].as_u64() {
            let ack = json!({ "ack": ack }).to_string();
            assert_eq!(self.rig.send("POST", "/hook", &[], ack).await.status(), 200);
        }
        reply["output"].take()
    }

    /// The reply to an event of the CLI.
    async fn unconfirmed(&self, event: &str, more: Value) -> Value {
        let answer = self.send(event, more).await;
        tokio::pin!(answer);
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                // The editor knows none of these requests.
                call = self.rig.asked() => match call {
                    EditorCall::Diagnostics(responder, _) => unsupported(responder),
                    EditorCall::Unsaved(responder) => drop(responder),
                    other => panic!("{other:?}"),
                },
            }
        }
    }

    /// Sends an event of the CLI. The reply to it may wait for the editor.
    async fn send(&self, event: &str, more: Value) -> impl Future<Output = Value> + use<> {
        let mut fields = json!({
            "session_id": "cli", "hook_event_name": event, "tool_name": "replace",
        });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let own = json!(self.path());
        let path = fields["tool_input"].get("file_path").unwrap_or(&own);
        let body = json!({ "filePath": path, "cli": self.process, "event": fields }).to_string();
        let reply = self.rig.send("POST", "/hook", &[], body).await;
        assert_eq!(reply.status(), 200);
        async {
            let body = reply.into_body().collect().await.unwrap().to_bytes();
            if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() }
        }
    }

    /// The user shares the project, or nothing of it.
    fn share(&self, is_shared: bool) {
        self.rig.parts.context.update(|model| model.set_shared(is_shared));
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
        self.open().await
    }

    /// The client opens a diff. Returns when its model would get a reason.
    async fn open(&self) -> ReasonArrival {
        let arguments = json!({ "filePath": self.path(), "newContent": "new" });
        let show = async {
            let EditorCall::Open(responder, proposal) = self.rig.asked().await else { panic!() };
            responder.complete(None);
            proposal.reason
        };
        tokio::join!(self.rig.call(&self.session, "openDiff", &arguments), show).1
    }

    /// The user rejects the edit, and the server has read the file.
    async fn reject(&mut self) {
        self.reject_now();
        while self.rig.open_count() > 0 {
            tokio::task::yield_now().await;
            self.answer_pings().await;
        }
    }

    fn reject_now(&self) {
        let path = self.path();
        self.rig.parts.driver.handle(hooks::rejected_with_reason(&path, "use const"));
    }

    async fn decided(&self) {
        while self.rig.open_count() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The client answers the pings that have come.
    async fn answer_pings(&mut self) {
        while let Some(message) = self.stream.any_message_now() {
            if message["method"] != "ping" {
                self.messages.push_back(message);
                continue;
            }
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} });
            let headers = [("mcp-session-id", &*self.session)];
            self.rig.send("POST", "/mcp", &headers, answer.to_string()).await;
        }
    }

    /// The next notification of the client's stream.
    async fn message(&mut self) -> Value {
        match self.messages.pop_front() {
            Some(message) => message,
            None => self.stream.message().await.unwrap(),
        }
    }

    /// The process ends. The file that it leaves in `state` does not contain `text`.
    async fn end(self, state: &Path, text: &str) -> Self {
        self.rig.parts.driver.wait_until_journaled().await;
        leaves_no(state, text);
        self.rig.parts.driver.journal().end();
        self.rig.parts.driver.saved.ended().await;
        self.rig.release_lock();
        self
    }

    /// The client has no stream any more.
    fn away(self) -> Self {
        let Self { rig, dir, session, .. } = self;
        let stream = Stream::new(ReplyBody::Json(Json::default()));
        Self { rig, dir, session, process: Value::Null, stream, messages: VecDeque::new() }
    }
}

/// The files that a process leaves in `state` do not contain `text`.
fn leaves_no(state: &Path, text: &str) {
    let files = std::fs::read_dir(state.join("companion-for-gemini-cli/resume")).unwrap();
    for file in files {
        let left = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!left.contains(text), "{left}");
    }
}

const NO_CHANGE: &str = r#"{"llmContent":"no","error":{"type":"edit_no_change"}}"#;

fn no_change() -> Value {
    serde_json::from_str(NO_CHANGE).unwrap()
}

fn denied(answer: &Value) -> bool {
    answer["decision"] == "deny" && answer["reason"].as_str().unwrap().ends_with(": use const")
}

fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_client_that_answers_no_ping_gets_a_rejection() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject_now();
    // It is suspended until the server has decided.
    scene.decided().await;
    assert_eq!(scene.message().await["method"], "ide/diffRejected");
    assert!(context(&scene.before_agent().await).ends_with(": use const"));
}

#[tokio::test]
async fn a_file_that_has_changed_since_is_rejected() {
    let mut scene = Scene::start().await;
    assert_eq!(scene.propose().await, Now);
    std::fs::write(scene.path(), "zero\n").unwrap();
    scene.reject().await;
    assert_eq!(scene.message().await["method"], "ide/diffRejected");
}

#[tokio::test]
async fn an_edit_that_was_made_all_the_same_gets_the_reason_as_a_remark() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    let display = json!({ "originalContent": "one", "newContent": "two" });
    let answer = scene.after_tool(json!({ "returnDisplay": display })).await;
    let answer = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(answer.contains("has a remark") && answer.ends_with("use const"), "{answer}");
}

#[tokio::test]
async fn a_written_file_that_is_the_same_counts_as_unchanged() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    scene.reject().await;
    let display = json!({ "originalContent": TEXT, "newContent": TEXT });
    assert!(denied(&scene.after_tool(json!({ "returnDisplay": display })).await));
}

#[tokio::test]
async fn an_edit_that_fails_by_itself_is_not_called_rejected() {
    let mut scene = Scene::start().await;
    scene.propose().await;
    // So the client gets a rejection, and the reason waits.
    std::fs::write(scene.path(), "zero\n").unwrap();
    scene.reject().await;
    scene.hook("BeforeTool", json!({})).await;
    assert_eq!(scene.after_tool(no_change()).await, Value::Null);
    assert!(context(&scene.before_agent().await).ends_with(": use const"));
}

/// Its client has got the file's text in place of the rejection.
#[tokio::test]
async fn a_rejected_edit_is_not_taken_for_made_while_its_reason_may_not_leave() {
    let hide: [fn(&Scene); 4] = [
        |scene| {
            scene.rig.parts.driver.handle(Input::Refuse(NoteId(1), "it is private"));
        },
        |scene| std::fs::write(scene.dir.path().join(".aiexclude"), "a.txt").unwrap(),
        |scene| drop(scene.rig.parts.workspace.change(Vec::new())),
        |scene| scene.share(false),
    ];
    for hide in hide {
        let mut scene = Scene::start().await;
        scene.propose().await;
        scene.reject().await;
        hide(&scene);
        let answer = scene.after_tool(no_change()).await;
        let reason = format!(
            "The user rejected this edit of {}, and the file was not changed.",
            scene.path()
        );
        assert_eq!(answer, json!({ "decision": "deny", "reason": reason }));
    }
}

#[tokio::test]
async fn the_next_process_sends_the_reason_and_keeps_no_text_of_it() {
    let state = tempfile::tempdir().unwrap();
    let mut scene = Scene::of(tempfile::tempdir().unwrap(), Some(state.path())).await;
    scene.propose().await;
    scene.reject().await;
    let Scene { rig, dir, .. } = scene.end(state.path(), TEXT).await;
    drop(rig);
    let scene = Scene::of(dir, Some(state.path())).await;
    assert!(denied(&scene.after_tool(no_change()).await));
    scene.end(state.path(), "use const").await;
}

const DAY: Duration = Duration::from_hours(24);

#[tokio::test(start_paused = true)]
async fn a_reason_of_a_cli_that_never_returns_stays_a_day_at_most() {
    let state = tempfile::tempdir().unwrap();
    let scene = Scene::of(tempfile::tempdir().unwrap(), Some(state.path())).await;
    scene.propose().await;
    let scene = scene.away();
    scene.reject_now();
    scene.decided().await;
    tokio::time::sleep(DAY).await;
    let scene = scene.end(state.path(), "use const").await;
    assert_eq!(scene.before_agent().await, Value::Null);
}

/// The hook of a CLI that this server has taken over sees no connection to its own port.
#[tokio::test]
async fn a_cli_that_was_taken_over_still_gets_its_reasons_at_once() {
    for (has_adopted, arrival) in [(true, Now), (false, Never)] {
        let mut scene = Scene::start().await;
        scene.rig.parts.sessions.set_adopted(has_adopted);
        scene.process = json!({ "id": "4711", "ports": [] });
        assert_eq!(scene.propose().await, arrival, "{has_adopted}");
    }
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
    assert_eq!(rig.send("DELETE", "/hook", &[], "").await.status(), 405);
}

#[tokio::test]
async fn the_head_of_the_answer_does_not_wait_for_the_editor() {
    let rig = Rig::start();
    let event = json!({ "session_id": "cli", "hook_event_name": "BeforeAgent" });
    let body = json!({ "event": event }).to_string();
    let reply = rig.send("POST", "/hook", &[], body).await;
    assert_eq!(reply.status(), 200, "the editor has not been asked");
}

/// Qwen Code runs the hook of a prompt after each tool, too, with an empty prompt.
#[tokio::test]
async fn the_editor_lists_unsaved_files_for_a_prompt_and_not_after_a_tool() {
    let scene = Scene::start().await;
    let is_asked = async |prompt: &str| {
        let answer = scene.send("UserPromptSubmit", json!({ "prompt": prompt })).await;
        tokio::select! {
            _ = answer => false,
            call = scene.rig.asked() => matches!(call, EditorCall::Unsaved(_)),
        }
    };
    assert!(is_asked("p").await);
    assert!(!is_asked("").await);
}

#[tokio::test]
async fn the_clients_that_run_their_hooks_are_listed() {
    let scene = Scene::start().await;
    let senders = async || {
        let reply = scene.rig.send("GET", "/hook", &[], String::new()).await;
        assert_eq!(reply.status(), 200);
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    assert_eq!(senders().await, json!({ "clients": [] }));
    scene.hook("SessionStart", json!({ "source": "startup" })).await;
    scene.hook("Notification", json!({ "message": "Run ls?" })).await;
    assert_eq!(senders().await, json!({ "clients": [] }), "each CLI has these events");
    scene.before_agent().await;
    scene.hook("UserPromptSubmit", json!({ "prompt": "p" })).await;
    scene.before_agent().await;
    assert_eq!(senders().await, json!({ "clients": ["gemini", "qwen"] }));
}
