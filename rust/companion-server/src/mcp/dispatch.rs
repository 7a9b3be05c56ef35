//! Answers messages: the methods of MCP.
//!
//! It does not know HTTP. Every request gets an answer, a notification gets none.

use std::mem;
use std::sync::Arc;

use companion_core::calls::{Attempt, CallOrigin};
use companion_core::diffs::DiffId;
use companion_protocol::ide::{CONTEXT_CONTENT, log_line, one_line};
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Params, Payload, Response, code, invalid_params,
    method_not_found, parse_request,
};
use companion_protocol::mcp::{
    ClientInfo, Empty, Implementation, InitializeParams, InitializeResult, ServerCapabilities,
    negotiate,
};
use companion_protocol::profile::{replays_edits, with_empty_acceptance};
use companion_protocol::text::decode_within;
use companion_protocol::tool::Tool;
use serde::Serialize;

use crate::clients::Clients;
use crate::mcp::tools::{Call, Tools};
use crate::net::json::Json;
use crate::session::{Client, ClientTraits, Session};

/// The program's name for clients.
pub(crate) const SERVER: Implementation = Implementation {
    name: "companion-for-gemini-cli",
    title: "Companion for Gemini CLI",
    version: env!("CARGO_PKG_VERSION"),
};

/// The longest name and version of a client that an editor gets, in UTF-16 units.
const MAX_NAME: usize = 100;

/// Explains the server to a model behind a client.
fn instructions() -> String {
    format!(
        "Shows proposed edits in the user's editor. openDiff opens a diff that the user edits, \
         accepts or rejects; the decision comes as the notification ide/diffAccepted or \
         ide/diffRejected on the event stream. Notifications ide/contextUpdate report \
         {CONTEXT_CONTENT}. getDiagnostics returns the errors and warnings that the editor has found."
    )
}

/// Handles `initialize`.
pub(crate) fn initialize(
    params: Params<'_>,
    repeats_requests: bool,
) -> Result<(InitializeResult, Client), ErrorObject> {
    let params: InitializeParams<'_> =
        params.parse().map_err(|error| invalid_params("initialize", &error))?;
    let ClientInfo { name, version } = &params.client_info;
    let known = with_empty_acceptance(name, version);
    let traits = ClientTraits {
        replays_edits: replays_edits(name),
        empty_is_unchanged: known.is_some(),
        confirms_after_hook: known.is_some_and(|client| client.hooks.confirms_after_hook),
        repeats_requests,
        ..ClientTraits::default()
    };
    let client = client(traits, &params.client_info);
    let result = InitializeResult {
        protocol_version: negotiate(params.protocol_version.as_deref()),
        capabilities: ServerCapabilities::default(),
        server_info: SERVER,
        instructions: instructions(),
    };
    Ok((result, client))
}

/// Describes a client, with its name and version as an editor shows them.
pub(crate) fn client(traits: ClientTraits, info: &ClientInfo<'_>) -> Client {
    let shown = |text: &str| log_line(&one_line(text, MAX_NAME)).into();
    Client { traits, name: shown(&info.name), version: shown(&info.version) }
}

/// The messages of one POST, without their body: the body may be large and the editor slow.
pub(crate) struct ReceivedMessages {
    messages: Vec<ParsedMessage>,
    is_batch: bool,
}

/// A message, ready to be carried out.
enum ParsedMessage {
    Call(Id, Call),
    Answer(Id, Json),
    /// The client has received that decision.
    Arrived(DiffId),
}

impl ReceivedMessages {
    /// The id of a single request.
    pub(crate) fn request_id(&self) -> Option<&Id> {
        match self.messages.first()? {
            ParsedMessage::Call(id, _) | ParsedMessage::Answer(id, _) if !self.is_batch => Some(id),
            _ => None,
        }
    }

    /// Whether this is a single call that must not overtake an earlier one.
    pub(crate) fn follows_earlier_calls(&self) -> bool {
        let [ParsedMessage::Call(_, call)] = &self.messages[..] else { return false };
        call.tool().is_some_and(Tool::follows_earlier_calls)
    }

    pub(crate) fn is_batch(&self) -> bool {
        self.is_batch
    }

    /// The bytes that the messages take until they are answered. The text of a single proposal
    /// counts for the editor, which receives it immediately.
    pub(crate) fn size(&self) -> usize {
        let size = |asked: &ParsedMessage| match asked {
            ParsedMessage::Call(id, call) => {
                id.size() + if self.is_batch { call.size() } else { 0 }
            }
            ParsedMessage::Answer(_, json) => json.len().unwrap_or_default(),
            ParsedMessage::Arrived(_) => 0,
        };
        self.messages.iter().map(size).sum()
    }
}

/// Answers messages by the tools and the sessions of a server.
pub(crate) struct Dispatcher {
    pub(crate) tools: Tools,
    pub(crate) clients: Arc<Clients>,
}

impl Dispatcher {
    /// Reads a single call of a tool. Nearly all messages are of this kind, and all large ones. The text of a
    /// proposal takes over the memory of `body`.
    pub(crate) fn read_call(&self, body: &mut Vec<u8>) -> Option<ReceivedMessages> {
        let (id, params) = parse_request(body, "tools/call")?;
        let (mut call, content) = Call::without_content(&self.tools, params);
        if let Some(range) = content.map(|content| content.range_in(body)) {
            call = call.with_content(decode_within(mem::take(body), range));
        }
        Some(ReceivedMessages { messages: vec![ParsedMessage::Call(id, call)], is_batch: false })
    }

    pub(crate) fn read(&self, payload: Payload<'_>) -> ReceivedMessages {
        let (messages, is_batch) = match payload {
            Payload::Single(message) => (vec![message], false),
            Payload::Batch(messages) => (messages, true),
        };
        let messages = messages.into_iter().filter_map(|message| self.read_one(message)).collect();
        ReceivedMessages { messages, is_batch }
    }

    fn read_one(&self, message: Message<'_>) -> Option<ParsedMessage> {
        let (id, method, params) = match message {
            Message::Request { id, method, params } => (id, method, params),
            Message::Notification { .. } => return None,
            // The server asks a client only pings, and any answer acknowledges one.
            Message::Response { id, .. } => {
                let diff = id.as_ref().and_then(Id::as_str).and_then(DiffId::parse);
                return diff.map(ParsedMessage::Arrived);
            }
        };
        let answer = match &*method {
            "tools/call" => match self.tools.read(params) {
                Ok(call) => return Some(ParsedMessage::Call(id, call)),
                Err(error) => Err(invalid_params("tools/call", &error)),
            },
            "tools/list" => Ok(response(&id, &self.tools.list())),
            "ping" | "logging/setLevel" => Ok(response(&id, &Empty {})),
            "initialize" => {
                let message = "Invalid Request: initialize must not be part of a batch";
                Err(ErrorObject::new(code::INVALID_REQUEST, message))
            }
            _ => Err(method_not_found(&method)),
        };
        let json = answer.unwrap_or_else(|error| Json::new(&ErrorResponse::new(Some(&id), error)));
        Some(ParsedMessage::Answer(id, json))
    }

    /// Answers the messages of a session, perhaps for the second time. Requests of a batch are
    /// answered in order, in an array. `None` if there is no request.
    pub(crate) async fn answer(
        &self,
        session: &Session,
        is_repeated: bool,
        received: ReceivedMessages,
    ) -> Option<Json> {
        let ReceivedMessages { messages, is_batch } = received;
        // No client repeats a batch. In a repeated one, a small request could get the answer to the
        // same call a hundred times.
        let sent = match is_batch || !session.client.traits.repeats_requests {
            true => Attempt::OnceForAll,
            false if is_repeated => Attempt::Again,
            false => Attempt::Once,
        };
        let mut answers = Vec::new();
        for message in messages {
            match message {
                ParsedMessage::Call(id, call) => {
                    let from = CallOrigin { session: session.id, id: &id, sent };
                    let result = self.tools.run(session, from, call).await;
                    answers.push(result.into_response(&id));
                }
                ParsedMessage::Answer(_, json) => answers.push(json),
                ParsedMessage::Arrived(diff) => self.clients.ping_answered(session, diff),
            }
        }
        if is_batch && !answers.is_empty() {
            return Some(Json::array(answers));
        }
        answers.pop()
    }
}

/// Responds to the request `id`.
pub(crate) fn response(id: &Id, result: &impl Serialize) -> Json {
    Json::new(&Response::new(id, result))
}
