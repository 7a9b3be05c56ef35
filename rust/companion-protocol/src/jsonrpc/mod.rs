//! Reads JSON-RPC 2.0 messages from a peer; the submodule `outgoing` writes ours.
//!
//! Parameters stay unparsed ([`RawValue`]) until the method is known, except in [`parse_request`],
//! which expects one method. A large `newContent` keeps the memory of its request ([`crate::text`]) and never
//! becomes a tree of values.

mod outgoing;

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

pub use outgoing::{
    ErrorData, ErrorObject, ErrorResponse, Notification, Request, Response, describe,
    invalid_params, method_not_found,
};

/// The error codes in use.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON, but not a JSON-RPC message.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A fault of the companion.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// Refused before the method was read (MCP: transport errors).
    pub const SERVER_ERROR: i32 = -32000;
    /// The session is unknown or has ended. MCP SDKs answer with the same code.
    pub const SESSION_NOT_FOUND: i32 = -32001;
    /// The headers do not fit the body (MCP 2026-07-28).
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The companion does not support the protocol revision of the request (MCP 2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;
}

/// The most messages in one batch.
pub const MAX_BATCH: usize = 100;

/// The id of a request: a string or a number. It is stored as written, so that the answer repeats
/// it with its type and without loss.
#[derive(Clone, Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// Reads `raw` as an id; `None` if it is neither a string nor a number.
    pub fn new(raw: &RawValue) -> Option<Self> {
        matches!(raw.get().as_bytes(), [b'"' | b'-' | b'0'..=b'9', ..])
            .then(|| Self(raw.to_owned()))
    }

    /// The length as JSON, in bytes.
    pub fn size(&self) -> usize {
        self.0.get().len()
    }

    /// The id as a text, if it is a string without escapes.
    pub fn as_str(&self) -> Option<&str> {
        let text = self.0.get().strip_prefix('"')?.strip_suffix('"')?;
        (!text.contains('\\')).then_some(text)
    }

    /// The id as a number, if the companion could have chosen it.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.get().parse().ok()
    }
}

/// Compares the ids as written.
impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self(serde_json::value::to_raw_value(text).expect("a string is JSON"))
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        Self(RawValue::from_string(number.to_string()).expect("a number is JSON"))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The unparsed parameters of a request or notification.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a>(Option<&'a RawValue>);

impl<'a> Params<'a> {
    pub(crate) fn new(params: &'a RawValue) -> Self {
        Self(Some(params))
    }

    /// Reads the parameters as `T`. Absent ones are read as `{}`.
    ///
    /// # Errors
    /// If the parameters don't fit `T`.
    pub fn parse<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.map_or("{}", RawValue::get))
    }
}

/// One message from a peer.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request; it gets exactly one answer.
    Request {
        /// The id, which the answer repeats.
        id: Id,
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Params<'a>,
    },
    /// A notification; it gets no answer.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters.
        params: Params<'a>,
    },
    /// The answer to a request of the companion.
    Response {
        /// The id of the request; `None` if the peer could not read it.
        id: Option<Id>,
        /// The result or the error.
        result: Result<&'a RawValue, ErrorObject>,
    },
}

/// The content of one HTTP body or one line.
#[derive(Debug)]
pub enum Payload<'a> {
    /// A single message.
    Single(Message<'a>),
    /// Messages that get a common answer; never empty.
    Batch(Vec<Message<'a>>),
}

/// The reason why a text is not a message. Its text is for the sender and does not quote content.
#[derive(Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Not JSON.
    Syntax(String),
    /// JSON, but not JSON-RPC.
    Invalid(String),
}

impl ParseError {
    /// The error to answer with.
    pub fn into_object(self) -> ErrorObject {
        match self {
            Self::Syntax(message) => ErrorObject::new(code::PARSE_ERROR, message),
            Self::Invalid(message) => ErrorObject::new(code::INVALID_REQUEST, message),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) | Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ParseError {}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        if error.is_data() {
            Self::Invalid("Invalid Request: not a JSON-RPC 2.0 message".to_owned())
        } else {
            Self::Syntax(format!("Parse error: not valid JSON at line {line} column {column}"))
        }
    }
}

/// Reads a request of `method` with its parameters in one pass, one pass less than [`parse`] needs.
///
/// Returns `None` for anything else, which [`parse`] then reads.
pub fn parse_request<'a, P: Deserialize<'a>>(bytes: &'a [u8], method: &str) -> Option<(Id, P)> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields, bound(deserialize = "P: Deserialize<'de>"))]
    struct Request<'a, P> {
        #[serde(rename = "jsonrpc")]
        _version: Version,
        #[serde(borrow)]
        id: &'a RawValue,
        #[serde(borrow)]
        method: Cow<'a, str>,
        params: Object<P>,
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let Object(request) = serde_json::from_str::<Object<Request<'a, P>>>(text).ok()?;
    (request.method == method).then_some((Id::new(request.id)?, request.params.0))
}

/// Reads a message or a batch. Never panics, and nested JSON uses no stack.
///
/// # Errors
/// If `bytes` are not JSON or not JSON-RPC, or if a batch has more than [`MAX_BATCH`] messages.
pub fn parse(bytes: &[u8]) -> Result<Payload<'_>, ParseError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ParseError::Syntax("Parse error: not valid UTF-8".to_owned()))?;
    if !text.trim_ascii_start().starts_with('[') {
        let envelope: Envelope = serde_json::from_str(text)?;
        return Ok(Payload::Single(envelope.into_message().map_err(invalid)?));
    }
    let Elements(elements) = serde_json::from_str(text)?;
    if elements.is_empty() {
        return Err(invalid("the batch is empty"));
    }
    if elements.len() > MAX_BATCH {
        return Err(invalid(&format!("a batch holds at most {MAX_BATCH} messages")));
    }
    // One bad element makes the batch fail: the sender may not have meant the others, and no
    // answer needs the id `null`, which MCP's schemas refuse.
    let messages = elements.into_iter().enumerate().map(|(index, raw)| {
        serde_json::from_str::<Object<Envelope>>(raw.get())
            .map_err(|_| "it is not a JSON-RPC 2.0 message")
            .and_then(|Object(envelope)| envelope.into_message())
            .map_err(|reason| invalid(&format!("message {index} of the batch: {reason}")))
    });
    Ok(Payload::Batch(messages.collect::<Result<_, _>>()?))
}

fn invalid(reason: &str) -> ParseError {
    ParseError::Invalid(format!("Invalid Request: {reason}"))
}

/// The raw members of a message, in any order.
#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "jsonrpc")]
    _version: Version,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Reads `null` as a value, not as an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Accepts only an object. Serde alone would also accept an array of the members in order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

impl<'a> Envelope<'a> {
    fn into_message(self) -> Result<Message<'a>, &'static str> {
        if self.params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err("`params` must be an object");
        }
        let id = self.id.and_then(Id::new);
        let params = Params(self.params);
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => match (self.id, id) {
                (Some(_), Some(id)) => Ok(Message::Request { id, method, params }),
                (Some(_), None) => Err("`id` must be a string or a number"),
                (None, _) => Ok(Message::Notification { method, params }),
            },
            (None, Some(result), None) => Ok(Message::Response { id, result: Ok(result) }),
            (None, None, Some(error)) => serde_json::from_str(error.get())
                .map(|Object(error)| Message::Response { id, result: Err(error) })
                .map_err(|_| "`error` must have a code and a message"),
            _ => Err("neither a request, nor a notification, nor a response"),
        }
    }
}

/// The elements of a batch. Elements past [`MAX_BATCH`] are not stored, so that a body with
/// millions of small elements needs no memory.
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Elements<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ElementsVisitor;
        impl<'de> Visitor<'de> for ElementsVisitor {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of messages")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while elements.len() <= MAX_BATCH {
                    match seq.next_element()? {
                        Some(element) => elements.push(element),
                        None => return Ok(Elements(elements)),
                    }
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(ElementsVisitor)
    }
}

/// The member `"jsonrpc": "2.0"`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("2.0")
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let version = Cow::<str>::deserialize(deserializer)?;
        if version == "2.0" {
            Ok(Self)
        } else {
            Err(de::Error::custom("`jsonrpc` must be \"2.0\""))
        }
    }
}
