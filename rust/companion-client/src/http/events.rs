//! Reads the messages of one answer, which is one JSON text or an event stream.

use std::collections::VecDeque;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;

use super::connection::broken;
use super::sse::{self, Event};
use super::{Error, MAX_MESSAGE};

/// The messages of one answer, which are read on demand. Dropping this value closes the connection.
#[derive(Debug)]
pub struct Events {
    body: Body,
    ready: VecDeque<Event>,
}

#[derive(Debug)]
enum Body {
    Json(Option<Incoming>),
    Stream(Incoming, sse::Parser),
}

impl Events {
    pub(super) fn new(response: Response<Incoming>) -> Self {
        let stream = is_stream(&response);
        let body = response.into_body();
        let body = if stream {
            Body::Stream(body, sse::Parser::default())
        } else {
            Body::Json(Some(body))
        };
        Self { body, ready: VecDeque::new() }
    }

    /// Reads the next message. Returns `None` at the end of the answer; an empty answer ends at
    /// once.
    ///
    /// # Errors
    /// [`Error::Broken`] and [`Error::TooLong`].
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            match &mut self.body {
                Body::Json(body) => {
                    let Some(body) = body.take() else { return Ok(None) };
                    let data =
                        Limited::new(body, MAX_MESSAGE).collect().await.map_err(|error| {
                            if error.is::<LengthLimitError>() {
                                Error::TooLong
                            } else {
                                Error::Broken { reason: error.to_string() }
                            }
                        })?;
                    let data = data.to_bytes();
                    let event = (!data.is_empty()).then_some(Event { id: None, data });
                    return Ok(event);
                }
                Body::Stream(body, parser) => match body.frame().await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(broken(&error)),
                    Some(Ok(frame)) => {
                        if let Some(bytes) = frame.data_ref() {
                            parser.push(bytes, |event| self.ready.push_back(event))?;
                        }
                    }
                },
            }
        }
    }
}

/// Returns whether the answer is an event stream.
pub(super) fn is_stream(response: &Response<Incoming>) -> bool {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| {
        value.split(';').next().is_some_and(|t| t.trim().eq_ignore_ascii_case("text/event-stream"))
    })
}
