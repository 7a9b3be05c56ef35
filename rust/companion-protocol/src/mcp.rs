//! Defines the part of the Model Context Protocol that a server with only tools needs.
//!
//! These are the handshake, the protocol versions and the tools.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stateless;

/// The header that marks, by `true`, a request that was sent before but got no answer.
///
/// It is not part of MCP. A companion runs such a request once, provided that the session's
/// `initialize` had the header, too. For other clients the companion stores no answers.
pub const REPEATED: &str = "companion-repeated";

/// The header of a bridge's `initialize` and of its requests for a stream. It names the processes that
/// have started the bridge, the nearest first, with commas between them. Each has the form of
/// [`CliProcess::id`](crate::hook::CliProcess::id). Shells are left out.
///
/// It is not part of MCP. By it a companion knows which CLI's hooks belong to the session.
pub const ANCESTORS: &str = "companion-ancestors";

/// The most names in [`ANCESTORS`].
pub const MAX_ANCESTORS: usize = 16;

/// The revisions of the protocol, newest first. The first one has no handshake.
pub const PROTOCOL_VERSIONS: [&str; 5] =
    [stateless::VERSION, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Whether a client of this revision begins with a handshake.
pub fn has_handshake(version: &str) -> bool {
    handshake_versions().any(|known| known == version)
}

/// Returns the revision to answer `initialize` with: the requested one if it is supported, else the
/// newest.
pub fn negotiate(requested: Option<&str>) -> &'static str {
    let requested = handshake_versions().find(|version| Some(*version) == requested);
    requested.or_else(|| handshake_versions().next()).expect("there is one")
}

fn handshake_versions() -> impl Iterator<Item = &'static str> {
    PROTOCOL_VERSIONS.into_iter().filter(|version| *version != stateless::VERSION)
}

/// The parameters of `initialize`. All may be absent: people type this request into curl.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams<'a> {
    /// The revision that the client wants to use.
    #[serde(borrow, default)]
    pub protocol_version: Option<Cow<'a, str>>,
    /// The client's program.
    #[serde(borrow, default)]
    pub client_info: ClientInfo<'a>,
}

/// The program of a client.
#[derive(Debug, Default, Deserialize)]
pub struct ClientInfo<'a> {
    /// For programs.
    #[serde(borrow, default)]
    pub name: Cow<'a, str>,
    /// Any form.
    #[serde(borrow, default)]
    pub version: Cow<'a, str>,
}

/// Name and version of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Implementation {
    /// For programs.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Any form.
    pub version: &'static str,
}

/// The result of `initialize`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// See [`negotiate`].
    pub protocol_version: &'static str,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// The server's program.
    pub server_info: Implementation,
    /// For the model behind the client.
    pub instructions: String,
}

/// An object without members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// The server's capabilities: tools, and `logging/setLevel`, which has no effect.
#[derive(Debug, Default, Serialize)]
pub struct ServerCapabilities {
    /// The server answers `logging/setLevel`.
    pub logging: Empty,
    /// The server answers `tools/list` and `tools/call`.
    pub tools: ToolsCapability,
}

/// The server's capabilities for tools.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsCapability {
    /// The server notifies clients when its list of tools changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
}

/// A tool as `tools/list` describes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The name for `tools/call`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For the model.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent` in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Guarantees for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// Guarantees about a tool that a client may rely on.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// The tool changes nothing.
    pub read_only_hint: bool,
    /// The tool reaches beyond the client's own machine.
    pub open_world_hint: bool,
}

/// The result of `tools/list`.
#[derive(Debug, Serialize)]
pub struct ListToolsResult {
    /// All of them; there are no pages.
    pub tools: Vec<ToolDefinition>,
}

/// The parameters of `tools/call`, with arguments of type `A`.
#[derive(Debug, Deserialize)]
pub struct CallToolParams<'a, A> {
    /// The name of the tool.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its arguments.
    #[serde(default)]
    pub arguments: A,
}

/// The result of `tools/call`.
///
/// A tool's failure is a result with `isError`, not a JSON-RPC error, so that the model sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// The tool's answer; may be empty.
    pub content: Vec<TextContent>,
    /// The same answer for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The call failed, and `content` says why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl CallToolResult {
    /// Makes a successful result without content.
    pub fn empty() -> Self {
        Self { content: Vec::new(), structured_content: None, is_error: false }
    }

    /// Makes a successful result with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![TextContent::new(text)], ..Self::empty() }
    }

    /// Makes a successful result with a text, and the same as `structured` for programs.
    pub fn structured(text: impl Into<String>, structured: Value) -> Self {
        Self { structured_content: Some(structured), ..Self::text(text) }
    }

    /// Makes a failed result with its reason.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextContent {
    r#type: &'static str,
    text: String,
}

impl TextContent {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { r#type: "text", text: text.into() }
    }
}
