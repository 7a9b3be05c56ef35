//! Defines the message of the endpoint `/hook`, and how the CLIs run hooks.
//!
//! A CLI runs `gemini-companion hook` at certain moments and gives it an event as JSON. The program
//! posts the event as a [`HookCall`], and prints the server's answer, which the CLI reads.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use strum::VariantArray;

/// The path of the endpoint.
pub const ENDPOINT: &str = "/hook";

/// The largest event, in bytes. An event after an edit contains the file before and after it.
pub const MAX_EVENT: usize = 64 << 20;

/// The time that a companion has to begin its answer. A companion that is suspended does not
/// begin one, and the CLI waits for the hook.
pub const BEGIN_TIMEOUT: Duration = Duration::from_millis(500);

/// An event that a CLI sends to the companion.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookCall<'a> {
    /// The file of the tool's call, absolute and without links, as the companion's system writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The same file as the CLI's system writes it, for texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_path: Option<String>,
    /// The folder of the CLI, absolute and without links, as the companion's system writes it. A model takes
    /// relative paths from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The CLI's settings let a model correct an edit that does not fit. It would make an edit that
    /// the user has rejected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrects_edits: bool,
    /// The process of the CLI; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<CliProcess>,
    /// The CLI's event, unchanged.
    #[serde(borrow)]
    pub event: &'a RawValue,
}

/// The longest [`CliProcess::id`], in bytes.
pub const MAX_PROCESS_ID: usize = 128;

/// The process of a CLI.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CliProcess {
    /// Names the process as long as it lives. Another one never has the same name.
    pub id: String,
    /// The local ports of its connections to the companion, over the loopback interface; absent if
    /// they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<u16>>,
}

/// The answer to a [`HookCall`]. An empty body means that there is no output.
#[derive(Debug, Serialize, Deserialize)]
pub struct HookReply<'a> {
    /// For the CLI.
    #[serde(borrow)]
    pub output: &'a RawValue,
    /// The output contains notes of the user. The program sends a [`HookAck`] before it prints them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<u64>,
}

/// Confirms that the program is about to print an answer, so that its notes are not sent again. The
/// companion replies 200, or 410 if the program must not print it: it is too late, or the user has
/// changed a note.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookAck {
    /// The number of the answer.
    pub ack: u64,
}

/// The answer to `GET` of the endpoint: shows whether a CLI runs its hooks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HookSenders {
    /// The ids of the clients whose events have reached this server.
    pub clients: Vec<String>,
}

/// When a CLI runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum HookEventKind {
    /// Before a tool. [`HookProfile::confirms_after_hook`] says whether the user has confirmed the
    /// call by then.
    BeforeTool,
    /// After a tool, even if it failed.
    AfterTool,
    /// After the user sent a prompt, before the model gets it.
    BeforeAgent,
    /// After the model's last answer to a prompt.
    AfterAgent,
    /// When the CLI asks the user something in its terminal. Gemini CLI has one kind of it, before each
    /// confirmation and question; `details.type` says of what.
    Notification,
    /// The CLI has begun a session: at its start, and by `/clear`.
    SessionStart,
    /// The CLI ends its session.
    SessionEnd,
}

impl HookEventKind {
    /// All events.
    pub const ALL: &'static [Self] = Self::VARIANTS;
}

/// How a CLI runs hooks: its names of the events and of its tools, and the order of events.
#[derive(Debug, PartialEq, Eq)]
pub struct HookProfile {
    /// The CLI's events, with its name of each. A CLI may lack some.
    pub events: &'static [(HookEventKind, &'static str)],
    /// The tools that change a file.
    pub edits: &'static [&'static str],
    /// The one of them that writes a whole file.
    pub writes: &'static str,
    /// The tool that runs a shell command.
    pub command: &'static str,
    /// The tools whose results no model reads as messages of their own: the CLI takes such a result out of the
    /// history with the calls that follow it, or gives it to no model.
    pub unread: &'static [&'static str],
    /// The user confirms an edit after [`HookEventKind::BeforeTool`], not before it.
    pub confirms_after_hook: bool,
    /// The CLI runs [`HookEventKind::BeforeAgent`] also when it goes on after a tool, with an empty prompt.
    pub prompts_after_tool: bool,
    /// The CLI runs [`HookEventKind::AfterAgent`] also if the user cancels the answer to a prompt. Gemini CLI
    /// does not while it compresses its history.
    pub ends_cancelled_turns: bool,
    /// The files and settings that decide whether the CLI runs hooks.
    pub switches: HookSwitches,
}

/// The files and settings of a CLI that decide whether it runs the hooks of an extension.
#[derive(Debug, PartialEq, Eq)]
pub struct HookSwitches {
    /// The extension's manifest.
    pub manifest: &'static str,
    /// The extension's file of hooks.
    pub file: &'static str,
    /// The file that the CLI adds to an extension that the user installs.
    pub install_metadata: &'static str,
    /// The setting that turns all hooks off, and the value that does so.
    pub all: (&'static str, bool),
    /// The setting that lists the names of hooks that are off.
    pub names: Option<&'static str>,
    /// The setting that lists patterns of the sources of extensions. If it is set, the CLI does not
    /// start with an extension that was copied into its folder.
    pub allowed_sources: Option<&'static str>,
    /// The file with the MCP servers that the user has disabled, if the client has one.
    pub servers: Option<&'static str>,
    /// Whether each list `mcp.allowed` must have a server. Otherwise one list is enough.
    pub all_lists_allow: bool,
    /// The variable that, if it is `1` or `true`, turns all hooks and extensions off.
    pub safe_mode: Option<&'static str>,
    /// How the CLI decides whether it trusts a folder.
    pub trust: TrustProfile,
}

/// How a CLI decides whether it trusts a folder. In other folders it ignores the project's settings and
/// starts no MCP server. It runs the hooks of extensions in any folder.
#[derive(Debug, PartialEq, Eq)]
pub struct TrustProfile {
    /// The value of `security.folderTrust.enabled` if no file sets it.
    pub is_enabled: bool,
    /// The variable with the path of the file of decisions.
    pub file: &'static str,
    /// The variable that decides by `true` or `false` for each folder.
    pub decides: Option<&'static str>,
    /// The variable that, if it is `true`, denies trust to each folder.
    pub denies: Option<&'static str>,
    /// Whether the decision with the longest path counts. Otherwise it is the one for the deepest
    /// folder, which differs for a decision about the folder above its path.
    pub longest_rule_counts: bool,
    /// Whether it ignores a decision of an unknown kind. Otherwise it does not start.
    pub skips_unknown_rules: bool,
}

impl HookProfile {
    /// The kind of the event of that name.
    pub fn event_kind(&self, name: &str) -> Option<HookEventKind> {
        let event = self.events.iter().find(|(_, known)| *known == name);
        event.map(|(event_kind, _)| *event_kind)
    }
}
