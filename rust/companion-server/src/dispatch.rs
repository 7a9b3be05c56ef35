//! From a message to its answer: the methods of MCP.
//!
//! Knows nothing of HTTP. A request is always answered, a notification never.

use std::sync::Arc;

use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Params, Payload, Response, code, invalid_params,
};
use companion_protocol::mcp::{
    Empty, Implementation, InitializeParams, InitializeResult, ServerCapabilities, negotiate,
};
use serde::Serialize;

use crate::core::Core;
use crate::diffs::{DiffId, Request, Sent};
use crate::json::Json;
use crate::session::Session;
use crate::tools;

/// What a client gets back.
pub(crate) enum Answer {
    /// It asked nothing.
    Nothing,
    /// A response, or an array of them.
    Json(Json),
}

const INSTRUCTIONS: &str = "Shows proposed edits in the user's editor. openDiff opens a diff \
    that the user edits, accepts or rejects; the decision comes as the notification \
    ide/diffAccepted or ide/diffRejected on the event stream. Notifications ide/contextUpdate \
    tell which files are open, where the caret is and what is selected. getDiagnostics tells the \
    errors and warnings that the editor has found.";

/// `initialize`
pub(crate) fn initialize(params: Params<'_>) -> Result<InitializeResult, ErrorObject> {
    let params: InitializeParams<'_> =
        params.parse().map_err(|error| invalid_params("initialize", &error))?;
    Ok(InitializeResult {
        protocol_version: negotiate(params.protocol_version.as_deref()),
        capabilities: ServerCapabilities::default(),
        server_info: Implementation {
            name: "companion-for-gemini-cli",
            title: "Companion for Gemini CLI",
            version: env!("CARGO_PKG_VERSION"),
        },
        instructions: INSTRUCTIONS,
    })
}

/// Answers what a session sent, perhaps for the second time. Requests of a batch are answered one
/// after the other.
pub(crate) async fn answer(
    core: &Arc<Core>,
    session: &Arc<Session>,
    is_repeated: bool,
    payload: Payload<'_>,
) -> Answer {
    match payload {
        Payload::Single(message) => {
            let sent = if is_repeated { Sent::Again } else { Sent::Once };
            let answer = answer_one(core, session, sent, message).await;
            answer.map_or(Answer::Nothing, Answer::Json)
        }
        Payload::Batch(messages) => {
            let mut answers = Vec::new();
            for message in messages {
                answers.extend(answer_one(core, session, Sent::InBatch, message).await);
            }
            if answers.is_empty() {
                return Answer::Nothing;
            }
            Answer::Json(Json::array(answers))
        }
    }
}

async fn answer_one(
    core: &Arc<Core>,
    session: &Arc<Session>,
    sent: Sent,
    message: Message<'_>,
) -> Option<Json> {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { .. } => return None,
        // All that a client is asked is a ping, and any answer to it will do.
        Message::Response { id, .. } => {
            if let Some(diff) = id.as_ref().and_then(Id::as_str).and_then(DiffId::parse) {
                core.diffs.ping_answered(session.id, diff);
            }
            return None;
        }
    };
    let from = Request { session: session.id, id: &id, sent };
    let answer = match &*method {
        "tools/call" => match tools::call(core, session, from, params).await {
            Ok(result) => Ok(result.into_response(&id)),
            Err(error) => Err(invalid_params("tools/call", &error)),
        },
        "tools/list" => Ok(response(&id, &tools::list(&core.config.settings))),
        "ping" | "logging/setLevel" => Ok(response(&id, &Empty {})),
        "initialize" => {
            let message = "Invalid Request: initialize must not be part of a batch";
            Err(ErrorObject::new(code::INVALID_REQUEST, message))
        }
        _ => {
            let message = format!("Method not found: {method}");
            Err(ErrorObject::new(code::METHOD_NOT_FOUND, message))
        }
    };
    Some(answer.unwrap_or_else(|error| Json::new(&ErrorResponse::new(Some(&id), error))))
}

/// The response to the request `id`.
pub(crate) fn response(id: &Id, result: &impl Serialize) -> Json {
    Json::new(&Response::new(id, result))
}
