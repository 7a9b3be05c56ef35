//! Defines the revision 2026-07-28 of the Model Context Protocol, as far as a companion serves it.
//!
//! It has no handshake, no sessions and no stream of all notifications. Each request names its
//! revision and its client, and the answer to a request may be a stream.
//!
//! Source: the specification's pages *Streamable HTTP*, *Versioning*, *Discovery* and
//! *Subscriptions*.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::jsonrpc::{Id, Notification};
use crate::mcp::{ClientInfo, Empty, Implementation, TextContent};

/// The revision's name in headers and messages.
pub const VERSION: &str = "2026-07-28";

/// The resource that has the context: open files, caret and selection.
pub const CONTEXT_URI: &str = "companion://context";

/// The parameters that each request has.
#[derive(Debug, Deserialize)]
pub struct RequestParams<'a> {
    /// About the request and its client.
    #[serde(borrow, rename = "_meta")]
    pub meta: RequestMeta<'a>,
}

/// The member `_meta` of a request.
#[derive(Debug, Deserialize)]
pub struct RequestMeta<'a> {
    /// The same as in the header.
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: Cow<'a, str>,
    /// The client's program, if it names itself.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    pub client_info: ClientInfo<'a>,
    /// Required, and unused: a companion asks a client nothing.
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    _client_capabilities: Empty,
    /// Names the request in notifications of its progress, if the client wants them.
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
}

/// The parameters of `resources/read`.
#[derive(Debug, Deserialize)]
pub struct ReadResourceParams<'a> {
    /// [`CONTEXT_URI`], if the client knows the resource.
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
}

/// The parameters of `subscriptions/listen`.
#[derive(Debug, Deserialize)]
pub struct ListenParams<'a> {
    /// The notifications that the client subscribes to.
    #[serde(borrow)]
    pub notifications: SubscriptionFilter<'a>,
}

/// The notifications of a subscription, among those that a companion has.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionFilter<'a> {
    /// The resources whose changes are notified.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<Cow<'a, str>>,
}

impl SubscriptionFilter<'_> {
    /// Makes a filter with the changes of the context, or an empty one.
    pub fn of_context(is_wanted: bool) -> Self {
        let uris = is_wanted.then_some(Cow::Borrowed(CONTEXT_URI));
        Self { resource_subscriptions: uris.into_iter().collect() }
    }

    /// Whether the changes of the context are wanted.
    pub fn has_context(&self) -> bool {
        self.resource_subscriptions.iter().any(|uri| uri == CONTEXT_URI)
    }
}

/// A result, with the members that each result has.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Complete<R> {
    result_type: &'static str,
    #[serde(flatten)]
    result: R,
    #[serde(rename = "_meta")]
    meta: ResultMeta,
}

impl<R: Serialize> Complete<R> {
    /// Completes the result of a server.
    pub fn new(result: R, server: Implementation) -> Self {
        Self { result_type: "complete", result, meta: ResultMeta { server, subscription: None } }
    }
}

impl Complete<Empty> {
    /// Makes the result that ends the subscription of the request `id`.
    pub fn of_subscription(id: Id, server: Implementation) -> Self {
        let meta = ResultMeta { server, subscription: Some(id) };
        Self { result_type: "complete", result: Empty {}, meta }
    }
}

#[derive(Debug, Serialize)]
struct ResultMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server: Implementation,
    #[serde(
        rename = "io.modelcontextprotocol/subscriptionId",
        skip_serializing_if = "Option::is_none"
    )]
    subscription: Option<Id>,
}

/// A result that a client may keep for `ttl_ms`, and share with nobody.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cacheable<R> {
    #[serde(flatten)]
    result: R,
    ttl_ms: u32,
    cache_scope: &'static str,
}

impl<R: Serialize> Cacheable<R> {
    /// Limits the time for which a client keeps a result, in milliseconds.
    pub fn new(result: R, ttl_ms: u32) -> Self {
        Self { result, ttl_ms, cache_scope: "private" }
    }
}

/// The result of `server/discover`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverResult {
    /// The newest first.
    pub supported_versions: &'static [&'static str],
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// For the model behind the client.
    pub instructions: String,
}

/// The capabilities of a companion: tools, and a resource with changes.
#[derive(Debug, Default, Serialize)]
pub struct ServerCapabilities {
    tools: Empty,
    resources: ResourcesCapability,
}

#[derive(Debug, Serialize)]
struct ResourcesCapability {
    subscribe: bool,
}

impl Default for ResourcesCapability {
    fn default() -> Self {
        Self { subscribe: true }
    }
}

/// The result of `resources/list`.
#[derive(Debug, Serialize)]
pub struct ListResourcesResult {
    resources: [Resource; 1],
}

/// A resource as `resources/list` describes it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    mime_type: &'static str,
}

impl ListResourcesResult {
    /// Lists the context.
    pub fn context() -> Self {
        let context = Resource {
            uri: CONTEXT_URI,
            name: "context",
            title: "Open files",
            description: "The files that are open in the user's editor, the caret and the selection, as \
                 JSON. Private files are left out.",
            mime_type: "application/json",
        };
        Self { resources: [context] }
    }
}

/// The result of `resources/templates/list`: there are none.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResourceTemplatesResult {
    resource_templates: [Empty; 0],
}

/// The result of `resources/read`.
#[derive(Debug, Serialize)]
pub struct ReadResourceResult {
    contents: [ResourceText; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceText {
    uri: &'static str,
    mime_type: &'static str,
    text: String,
}

impl ReadResourceResult {
    /// Makes the result for the context, as JSON.
    pub fn context(json: String) -> Self {
        let text = ResourceText { uri: CONTEXT_URI, mime_type: "application/json", text: json };
        Self { contents: [text] }
    }
}

/// The result of `openDiff`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedResult<'a> {
    content: [TextContent; 1],
    structured_content: DiffDecision<'a>,
}

impl<'a> DecidedResult<'a> {
    /// Makes the result for a decision.
    pub fn new(decision: DiffDecision<'a>) -> Self {
        let text = match decision {
            DiffDecision::Accepted { .. } => {
                "The user accepted the edit. structuredContent has the accepted content."
            }
            DiffDecision::Rejected => "The user rejected the edit.",
        };
        Self { content: [TextContent::new(text)], structured_content: decision }
    }
}

/// The user's decision about a proposal: the member `structuredContent` of the result of `openDiff`.
#[derive(Debug, Serialize)]
#[serde(tag = "decision", rename_all = "camelCase")]
pub enum DiffDecision<'a> {
    /// The user accepted this text.
    Accepted {
        /// The whole text, with the user's edits.
        content: &'a str,
    },
    /// The user rejected the proposal.
    Rejected,
}

/// The parameters of a subscription's notification.
#[derive(Debug, Serialize)]
struct Subscribed<'a, P> {
    #[serde(rename = "_meta")]
    meta: SubscriptionMeta<'a>,
    #[serde(flatten)]
    params: P,
}

#[derive(Debug, Serialize)]
struct SubscriptionMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'a Id,
}

/// Makes the first message of a subscription: the notifications that will come.
pub fn acknowledged<'a>(
    id: &'a Id,
    notifications: &'a SubscriptionFilter<'a>,
) -> Notification<impl Serialize + 'a> {
    #[derive(Serialize)]
    struct Acknowledged<'a> {
        notifications: &'a SubscriptionFilter<'a>,
    }
    subscribed("notifications/subscriptions/acknowledged", id, Acknowledged { notifications })
}

/// Makes the notification of a changed context.
pub fn context_updated(id: &Id) -> Notification<impl Serialize> {
    #[derive(Serialize)]
    struct Updated {
        uri: &'static str,
    }
    subscribed("notifications/resources/updated", id, Updated { uri: CONTEXT_URI })
}

fn subscribed<'a, P: Serialize>(
    method: &'static str,
    id: &'a Id,
    params: P,
) -> Notification<Subscribed<'a, P>> {
    Notification::new(method, Subscribed { meta: SubscriptionMeta { id }, params })
}

/// Makes a notification that a request is still being answered, for the `step`-th time.
pub fn progress(token: &Id, step: u64) -> Notification<impl Serialize> {
    #[derive(Serialize)]
    struct Progress<'a> {
        #[serde(rename = "progressToken")]
        token: &'a Id,
        #[serde(rename = "progress")]
        step: u64,
        message: &'static str,
    }
    let message = "The user has not decided yet.";
    Notification::new("notifications/progress", Progress { token, step, message })
}
