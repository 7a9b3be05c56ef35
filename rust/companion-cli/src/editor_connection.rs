//! Connects to the editor by stdin and stdout: one JSON-RPC message per line.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};

use companion_client::diagnose::diagnose_terminal;
use companion_protocol::editor::{
    CompanionNotification, Diagnosis, EditorNotification, EditorQuery,
};
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Payload, Request, Response, code, parse,
};
use companion_server::{EditorHost, EditorRequest, Responder, Responders, Server};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::stdio::{MAX_LINE, read_lines};

/// The most bytes of requests and events that the editor may leave unread. Proposals and requests to close
/// views do not count, because the server limits them.
const MAX_UNREAD: usize = 1 << 20;

const BUSY: &str = "The editor is busy: it has not read earlier requests.";

/// Messages to write to stdout.
pub(crate) enum Outgoing {
    /// A line, and its share in the unread bytes, if it counts.
    Line { line: Vec<u8>, _unread: Option<Unread> },
    /// The newest line of its kind, unless that has been written.
    Newest(Newest),
    /// The `diff/open` of this number. The editor takes the proposal when the line is written.
    OpenDiff(u64, EditorRequest),
}

impl Outgoing {
    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Line { line, .. } => output.write_all(line)?,
            Self::Newest(newest) => {
                let line = newest.lock().take();
                output.write_all(&line.unwrap_or_default())?;
            }
            Self::OpenDiff(number, request) => output.write_all(&request_line(*number, request))?,
        }
        output.flush()
    }
}

type Newest = Arc<Mutex<Option<Vec<u8>>>>;

/// The share of a line in the unread bytes, until the line is written.
pub(crate) struct Unread {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Relaxed);
    }
}

/// Writes `first` at once, and later messages from a separate thread until the editor is gone. Then
/// it signals `end`.
pub(crate) fn write(
    first: &impl Serialize,
    outgoing: Receiver<Outgoing>,
    end: Sender<()>,
) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(&line(first))?;
    stdout.flush()?;
    std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        for outgoing in outgoing {
            if let Err(error) = outgoing.write(&mut stdout) {
                log::warn!("the editor does not read any more: {error}");
                let _ = end.send(());
                return;
            }
        }
    })?;
    Ok(())
}

fn request_line(number: u64, request: &EditorRequest) -> Vec<u8> {
    line(&Request::new(Id::from(number), request.method(), request.params()))
}

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("our messages are JSON");
    line.push(b'\n');
    line
}

/// The editor, which receives requests over stdout. An editor that does not read blocks no other
/// part.
pub(crate) struct Editor {
    outgoing: Sender<Outgoing>,
    responders: Responders,
    /// The bytes of unread requests and events.
    unread: Arc<AtomicUsize>,
    /// The newest line about each subject.
    newest: Mutex<BTreeMap<String, Newest>>,
}

impl Editor {
    /// Creates the editor and its output queue.
    pub(crate) fn new() -> (Self, Receiver<Outgoing>) {
        let (sender, outgoing) = mpsc::channel();
        let editor = Self {
            outgoing: sender,
            responders: Responders::default(),
            unread: Arc::default(),
            newest: Mutex::default(),
        };
        (editor, outgoing)
    }

    fn send(&self, outgoing: Outgoing) {
        // Without a receiver the editor is gone, and this program ends soon.
        let _ = self.outgoing.send(outgoing);
    }

    fn write(&self, message: &impl Serialize) {
        self.send(Outgoing::Line { line: line(message), _unread: None });
    }

    /// Sends a request if the editor has read enough of the earlier ones. If the editor is
    /// suspended, its calls expire before it reads again.
    fn ask_if_read(&self, number: u64, request: &EditorRequest) {
        let line = request_line(number, request);
        if let Some(unread) = self.unread(&line) {
            self.send(Outgoing::Line { line, _unread: Some(unread) });
        } else if let Some(responder) = self.responders.take(number) {
            responder.fail(BUSY);
        }
    }

    /// Counts a line as unread; `None` if the editor has not read enough of the earlier ones.
    fn unread(&self, line: &[u8]) -> Option<Unread> {
        let unread = Unread { bytes: line.len(), all: Arc::clone(&self.unread) };
        let all = self.unread.fetch_add(line.len(), Relaxed) + line.len();
        (all <= MAX_UNREAD).then_some(unread)
    }
}

impl EditorHost for Editor {
    fn request(&self, request: EditorRequest, responder: Responder) {
        let number = self.responders.add(responder);
        match request {
            EditorRequest::OpenDiff(_) => self.send(Outgoing::OpenDiff(number, request)),
            // Sent even above the limit. The client assumes that the view is closed, so it must not
            // stay open.
            EditorRequest::CloseDiff(_) => {
                let line = request_line(number, &request);
                self.send(Outgoing::Line { line, _unread: None });
            }
            _ => self.ask_if_read(number, &request),
        }
    }

    /// Sends a notification. A newer state of the same subject replaces it while it is unread. An
    /// event is lost if the editor has not read many of them.
    fn notify(&self, notification: CompanionNotification) {
        let (method, subject) = (notification.method(), notification.subject());
        let line = line(&Notification::new(method, notification));
        let Some(subject) = subject else {
            match self.unread(&line) {
                Some(unread) => self.send(Outgoing::Line { line, _unread: Some(unread) }),
                None => log::warn!("{method} is lost: the editor does not read"),
            }
            return;
        };
        let mut subjects = self.newest.lock();
        subjects.retain(|_, line| line.lock().is_some());
        let newest = Arc::clone(subjects.entry(subject).or_default());
        if newest.lock().replace(line).is_none() {
            self.send(Outgoing::Newest(newest));
        }
    }
}

/// Reads the editor's messages until it closes its end. Answers an invalid line with an error and
/// changes nothing.
pub(crate) fn read(server: &Server, editor: &Arc<Editor>, input: impl BufRead) {
    let from_disk = answer_from_disk(server.clone(), Arc::clone(editor));
    let read = read_lines(input, |line| {
        let taken = if let Some(line) = line {
            take(server, editor, &from_disk, &line)
        } else {
            let message = format!("Parse error: a line is longer than {MAX_LINE} bytes");
            Err((None, ErrorObject::new(code::PARSE_ERROR, message)))
        };
        if let Err((id, error)) = taken {
            refuse(editor, id.as_ref(), error);
        }
        true
    });
    if let Err(error) = read {
        log::warn!("could not read stdin: {error}");
    }
}

fn refuse(editor: &Editor, id: Option<&Id>, error: ErrorObject) {
    log::warn!("the editor sent an invalid line: error {}", error.code);
    editor.write(&ErrorResponse::new(id, error));
}

/// Starts a thread that answers the requests that wait for the disk, one after the other. The lines
/// after them must not wait.
fn answer_from_disk(server: Server, editor: Arc<Editor>) -> Sender<(Id, EditorQuery)> {
    let (sender, queries) = mpsc::channel();
    std::thread::spawn(move || {
        for (id, query) in queries {
            if let Err((id, error)) = answer(&server, &editor, &id, query) {
                refuse(&editor, id.as_ref(), error);
            }
        }
    });
    sender
}

fn take(
    server: &Server,
    editor: &Arc<Editor>,
    from_disk: &Sender<(Id, EditorQuery)>,
    line: &[u8],
) -> Result<(), (Option<Id>, ErrorObject)> {
    let message = match parse(line).map_err(|error| (None, error.into_object()))? {
        Payload::Single(message) => message,
        Payload::Batch(_) => {
            let message = "Invalid Request: one message per line, no batches";
            return Err((None, ErrorObject::new(code::INVALID_REQUEST, message)));
        }
    };
    match message {
        Message::Notification { method, params } => EditorNotification::parse(&method, params)
            .and_then(|notification| server.apply(notification).map(drop))
            .map_err(|error| (None, error)),
        Message::Request { id, method, params } => {
            let query =
                EditorQuery::parse(&method, params).map_err(|error| (Some(id.clone()), error))?;
            match query {
                EditorQuery::Texts(_) | EditorQuery::Hunks(_) | EditorQuery::RevertPlan(_) => {
                    let _ = from_disk.send((id, query)); // The thread lives as long as the sender.
                }
                // It takes seconds.
                EditorQuery::Diagnosis => {
                    let (server, editor) = (server.clone(), Arc::clone(editor));
                    std::thread::spawn(move || answer(&server, &editor, &id, query));
                }
                EditorQuery::Status
                | EditorQuery::Environment
                | EditorQuery::Accepted(_)
                | EditorQuery::Withdraw(_)
                | EditorQuery::Resume(_) => return answer(server, editor, &id, query),
            }
            Ok(())
        }
        Message::Response { id, result } => {
            let responder =
                id.and_then(|id| id.as_u64()).and_then(|number| editor.responders.take(number));
            match (responder, result) {
                (Some(responder), Ok(result)) => responder.complete_json(result.get()),
                (Some(responder), Err(error)) => responder.fail_with(&error),
                (None, _) => {}
            }
            Ok(())
        }
    }
}

/// Answers a request of the editor.
fn answer(
    server: &Server,
    editor: &Editor,
    id: &Id,
    query: EditorQuery,
) -> Result<(), (Option<Id>, ErrorObject)> {
    let result = server.answer(query, |server| Diagnosis {
        text: diagnose_terminal(server.clients(), server.terminal_environment()),
    });
    let result = result.map_err(|error| (Some(id.clone()), error))?;
    let result = RawValue::from_string(result).expect("an answer is JSON");
    editor.write(&Response::new(id, &*result));
    Ok(())
}
