//! Reads the events of CLIs.

use std::collections::HashMap;

use companion_core::cli::{Caller, Connected};
use companion_protocol::hook::{HookAck, HookCall, HookEventKind, MAX_PROCESS_ID};
use companion_protocol::ide::one_line;
use companion_protocol::profile::{self, ClientProfile};
use companion_protocol::text;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::changes::{Agent, FileText};
use super::texts::COMMENTS_HEADING;
use crate::disk::paths::check_path;
use crate::session::Sessions;
use companion_core::text::{Digest, written_digest};

/// The longest id of a CLI session or of a subagent, in bytes. The CLIs use UUIDs for sessions.
const MAX_SESSION: usize = 128;

/// The longest path, in bytes. Paths of edits are kept until the next prompt.
const MAX_PATH: usize = 4096;

/// The values of `notification_type` with which Qwen Code asks nothing. The event has the same name in
/// both CLIs.
const STATEMENTS: [&str; 2] = ["idle_prompt", "auth_success"];

/// The values of `source` with which a session begins without any message.
const NEW_SESSIONS: [&str; 2] = ["startup", "clear"];

/// The longest question that an editor shows, in UTF-16 code units.
const MAX_MESSAGE: usize = 200;

/// The body of a request.
#[derive(Debug)]
pub(crate) enum HookRequest {
    Event(Box<HookEvent>),
    /// The program has the answer of this number.
    Ack(u64),
}

impl HookRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// A message without any text of the event.
    pub(crate) fn read(body: &[u8]) -> Result<Self, &'static str> {
        if let Ok(HookAck { ack }) = serde_json::from_slice(body) {
            return Ok(Self::Ack(ack));
        }
        HookEvent::read(body).map(|event| Self::Event(Box::new(event)))
    }
}

/// The longest first line of a prompt that an editor shows, in UTF-16 code units.
const MAX_TITLE: usize = 100;

/// What happened in a CLI.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct HookEvent {
    /// The CLI session.
    pub(crate) session: String,
    /// The process of the CLI.
    process: Option<String>,
    /// The ports of its connections.
    ports: Option<Vec<u16>>,
    /// The subagent that calls the tool.
    pub(crate) subagent: Option<String>,
    /// The subagents that go on after the turn.
    pub(crate) running_subagents: Vec<String>,
    /// The folder of the CLI, as this system writes it.
    pub(crate) folder: Option<String>,
    pub(crate) client: &'static ClientProfile,
    pub(crate) event_kind: HookEventKind,
    /// The CLI's name of the event.
    pub(crate) name: String,
    /// The file of the tool's call.
    pub(crate) path: Option<String>,
    /// The same as the CLI writes it.
    pub(crate) shown_path: Option<String>,
    /// The call is one of a tool that changes files.
    pub(crate) is_edit: bool,
    /// The tool writes the whole file.
    pub(crate) is_write: bool,
    /// The tool runs a shell command.
    pub(crate) is_command: bool,
    /// No model reads the result of the tool as a message of its own.
    pub(crate) is_unread: bool,
    /// The digest of the input of the command, to distinguish calls.
    pub(crate) command: Option<Digest>,
    /// The first line of the prompt; may be empty.
    pub(crate) title: String,
    /// The session that has begun is a new one.
    pub(crate) is_new_session: bool,
    /// The user has sent a prompt: the CLI does not go on after a tool.
    pub(crate) is_new_prompt: bool,
    /// This prompt is a text with comments, with which a turn goes on.
    pub(crate) is_going_on: bool,
    /// The file before the edit, after it was made. The CLI reports the text with `\n` as the line ending,
    /// without a byte order mark.
    pub(crate) original: Option<FileText>,
    /// The [`written_digest`] of the text that the tool has written to the file.
    pub(crate) written: Option<Digest>,
    /// A model may correct an edit that does not fit.
    pub(crate) corrects_edits: bool,
    /// The new text that the tool was given, if the user has confirmed the edit before the hook.
    pub(crate) input: Option<Digest>,
    /// The CLI goes on because a hook asked for it at the end of the turn.
    pub(crate) is_continued: bool,
    /// The model's answer in the turn, at its end. Qwen Code gives none that lasts for a turn.
    pub(crate) answer: Option<Digest>,
    /// The effect of the call, after the tool.
    pub(crate) effect: ToolEffect,
    /// The text of a notification.
    pub(crate) message: String,
    /// The kind of a notification.
    pub(crate) notice: Notice,
}

/// The kind of a notification of a CLI to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The CLI asks nothing.
    Statement,
    /// The CLI asks about an edit.
    AsksAboutEdit,
    /// The CLI asks about a call of another tool.
    AsksAboutTool,
    /// The CLI asks something, perhaps about an edit. Qwen Code gives no details.
    Asks,
}

impl Notice {
    /// Reads the kind of an event.
    fn read(event: &Fields<'_>) -> Self {
        if event.string("notification_type").is_some_and(|kind| STATEMENTS.contains(&&*kind)) {
            return Self::Statement;
        }
        let details = Fields::of(event.get("details"));
        match details.string("type").as_deref() {
            _ if details.0.is_empty() => Self::Asks,
            Some("edit") => Self::AsksAboutEdit,
            _ => Self::AsksAboutTool,
        }
    }
}

/// The effect of a tool's call on its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// The file was written, or nothing is known.
    Made,
    /// The file was written with the same text.
    Unchanged,
    /// The call failed.
    Failed,
}

/// The members of an object of an event. One of another shape does not count: what this program does not
/// know must not silence a hook.
#[derive(Default, Deserialize)]
struct Fields<'a>(#[serde(borrow)] HashMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// Reads an object; anything else has no members.
    fn of(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The member of this name, unless it is null.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied().filter(|raw| raw.get() != "null")
    }

    fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|raw| raw.get() == "true")
    }
}

/// A subagent of Qwen Code, at the end of a turn.
#[derive(Deserialize)]
struct BackgroundTask {
    id: String,
    status: String,
}

/// Reads the ids of the subagents that run.
fn running(tasks: Option<&RawValue>) -> Vec<String> {
    let tasks = tasks.and_then(|raw| serde_json::from_str::<Vec<BackgroundTask>>(raw.get()).ok());
    let running = tasks.into_iter().flatten().filter(|task| task.status == "running");
    running.map(|task| task.id).collect()
}

impl HookEvent {
    fn read(body: &[u8]) -> Result<Self, &'static str> {
        let body = str::from_utf8(body).map_err(|_| "the body is not UTF-8")?;
        // Gemini CLI cuts texts between UTF-16 code units (`fileUtils.js`).
        let body = text::mend(body);
        let call: HookCall<'_> =
            serde_json::from_str(&body).map_err(|_| "the body is not a hook call")?;
        let event: Fields<'_> = serde_json::from_str(call.event.get())
            .map_err(|_| "the event is not an event of a CLI")?;
        let name = event.string("hook_event_name").ok_or("the event has no hook_event_name")?;
        let (client, event_kind) = profile::hook(&name).ok_or("the event is not known")?;
        let valid = |session: &String| !session.is_empty() && session.len() <= MAX_SESSION;
        let session = event.string("session_id").filter(valid);
        let session = session.ok_or("the event has no valid session_id")?;
        let tool = event.string("tool_name").unwrap_or_default();
        let is_confirmed =
            event_kind == HookEventKind::BeforeTool && !client.hooks.confirms_after_hook;
        let tool_input = event.get("tool_input");
        let input = Fields::of(tool_input.filter(|_| is_confirmed));
        let input = input.string("content").or_else(|| input.string("new_string"));
        let is_edit = client.hooks.edits.contains(&&*tool);
        let is_command = client.hooks.command == tool;
        let response = event.get("tool_response");
        let response = response.filter(|_| event_kind == HookEventKind::AfterTool);
        let ToolOutcome { effect, original, written } = match response {
            // Qwen Code has another event for a tool that has failed, such as a command with an exit code,
            // and gives only this.
            None if event.get("error").is_some() => ToolOutcome::of(ToolEffect::Failed),
            None => ToolOutcome::of(ToolEffect::Made),
            Some(response) => effect(response),
        };
        let prompt = event.string("prompt").unwrap_or_default();
        let title = prompt.trim_start().lines().next().unwrap_or_default();
        let valid = |path: &String| path.len() <= MAX_PATH && check_path(path).is_ok();
        let (process, ports) = call.cli.map_or((None, None), |cli| (Some(cli.id), cli.ports));
        Ok(Self {
            session,
            process: process.filter(|id| id.len() <= MAX_PROCESS_ID),
            ports,
            subagent: event.string("agent_id").filter(|id| id.len() <= MAX_SESSION),
            running_subagents: running(event.get("background_tasks")),
            folder: call.folder.filter(valid),
            client,
            event_kind,
            name,
            path: call.file_path.filter(valid),
            shown_path: call.shown_path.filter(|path| path.len() <= MAX_PATH),
            is_edit,
            is_write: client.hooks.writes == tool,
            is_command,
            is_unread: client.hooks.unread.contains(&&*tool),
            command: is_command.then(|| Digest::of(tool_input.map_or("", RawValue::get))),
            is_going_on: title == COMMENTS_HEADING,
            title: one_line(title, MAX_TITLE),
            is_new_session: event
                .string("source")
                .is_some_and(|source| NEW_SESSIONS.contains(&&*source)),
            is_new_prompt: !client.hooks.prompts_after_tool || !title.is_empty(),
            original: original.filter(|_| is_edit),
            written: written.filter(|_| is_edit),
            corrects_edits: call.corrects_edits,
            input: input.map(|text| Digest::of(&text)),
            is_continued: event.is_true("stop_hook_active"),
            answer: event.string("prompt_response").map(|answer| Digest::of(&answer)),
            effect,
            message: one_line(&event.string("message").unwrap_or_default(), MAX_MESSAGE),
            notice: Notice::read(&event),
        })
    }

    /// Whether a question of the CLI can't wait for the user any more. Subagents and the tools that a CLI
    /// does not ask about may run meanwhile.
    pub(crate) fn shows_answer(&self) -> bool {
        match self.event_kind {
            HookEventKind::Notification | HookEventKind::BeforeTool => false,
            HookEventKind::AfterTool => {
                self.subagent.is_none() && (self.is_edit || self.is_command)
            }
            HookEventKind::BeforeAgent
            | HookEventKind::AfterAgent
            | HookEventKind::SessionStart
            | HookEventKind::SessionEnd => true,
        }
    }

    /// The agent that calls the tool, and whose model gets the answer.
    pub(crate) fn agent(&self) -> Agent<'_> {
        Agent { cli: &self.session, subagent: self.subagent.as_deref() }
    }

    /// The CLI that has run the hook.
    pub(crate) fn caller(&self, sessions: &Sessions) -> Caller<'_> {
        let connected = match self.ports.as_deref() {
            None => Connected::Unknown,
            // The hook knows only one port of this server.
            Some([]) if sessions.has_adopted() => Connected::Unknown,
            Some([]) => Connected::No,
            Some(ports) => match sessions.with_ports(ports) {
                // The connections lead through a tunnel.
                of if of.is_empty() => Connected::Unknown,
                of => Connected::To(of),
            },
        };
        Caller { session: &self.session, process: self.process.as_deref(), connected }
    }
}

/// The effect of a call, the file's text before it, and the digest of the one after it.
struct ToolOutcome {
    effect: ToolEffect,
    original: Option<FileText>,
    written: Option<Digest>,
}

impl ToolOutcome {
    fn of(effect: ToolEffect) -> Self {
        Self { effect, original: None, written: None }
    }
}

/// Reads the effect of a call. `edit.js` and `write-file.js` of Gemini CLI return the texts before and after
/// the call.
fn effect(response: &RawValue) -> ToolOutcome {
    let response = Fields::of(Some(response));
    if response.get("error").is_some() {
        return ToolOutcome::of(ToolEffect::Failed);
    }
    let display = Fields::of(response.get("returnDisplay"));
    // The text before may be null if the file is new.
    let texts = display.0.get("originalContent").zip(display.get("newContent"));
    let Some((before, after)) = texts else { return ToolOutcome::of(ToolEffect::Made) };
    // A new file may be empty, as its text from before.
    let is_new = display.is_true("isNewFile");
    if !is_new && before.get() == after.get() {
        return ToolOutcome::of(ToolEffect::Unchanged);
    }
    let original = if is_new {
        Some(FileText::Absent)
    } else {
        serde_json::from_str(before.get()).ok().map(FileText::Text)
    };
    let written = display.string("newContent").map(|text| written_digest(&text));
    ToolOutcome { effect: ToolEffect::Made, original, written }
}
