//! The part of the Model Context Protocol that a server with tools only needs:
//! handshake, protocol versions, tools.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The header that says, by `true`, that a request was sent before and its sender knows no answer.
/// It is not part of MCP. A companion carries out such a request once, if the `initialize` of the
/// session had the header, too: for other clients it keeps no answers.
pub const REPEATED: &str = "companion-repeated";

/// The revisions of the protocol that have a handshake, newest first.
pub const PROTOCOL_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision to answer with: the one that was asked for if it is spoken here, else the newest.
pub fn negotiate(requested: Option<&str>) -> &'static str {
    PROTOCOL_VERSIONS
        .into_iter()
        .find(|version| Some(*version) == requested)
        .unwrap_or(PROTOCOL_VERSIONS[0])
}

/// The parameters of `initialize`. All may be absent: people type this request into curl.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams<'a> {
    /// The revision that the client wants to speak.
    #[serde(borrow, default)]
    pub protocol_version: Option<Cow<'a, str>>,
    /// Which program the client is.
    #[serde(borrow, default)]
    pub client_info: ClientInfo<'a>,
}

/// Which program a client is.
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
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    pub server_info: Implementation,
    /// For the model behind the client.
    pub instructions: &'static str,
}

/// An object without members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// What the server can do: tools, and `logging/setLevel`, which is taken and has no effect.
#[derive(Debug, Default, Serialize)]
pub struct ServerCapabilities {
    /// `logging/setLevel` is answered.
    pub logging: Empty,
    /// `tools/list` and `tools/call` are answered.
    pub tools: ToolsCapability,
}

/// What the server can do about tools.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolsCapability {
    /// It tells when its list of tools is another one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub list_changed: bool,
}

/// A tool as `tools/list` describes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// What `tools/call` calls it.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// For the model.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// What a client may take for granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
}

/// What a client may take for granted of a tool.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It deals with things beyond the client's own machine.
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
    /// Which tool.
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
    /// What the tool has to say; may be empty.
    pub content: Vec<TextContent>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The call failed, and `content` says why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl CallToolResult {
    /// It went well, and there is nothing to say.
    pub fn empty() -> Self {
        Self { content: Vec::new(), structured_content: None, is_error: false }
    }

    /// It went well.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![TextContent::new(text)], ..Self::empty() }
    }

    /// It went well, and programs find the same in `structured`.
    pub fn structured(text: impl Into<String>, structured: Value) -> Self {
        Self { structured_content: Some(structured), ..Self::text(text) }
    }

    /// It failed.
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
    fn new(text: impl Into<String>) -> Self {
        Self { r#type: "text", text: text.into() }
    }
}
