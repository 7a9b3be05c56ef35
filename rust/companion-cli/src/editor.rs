//! Connects the editor by stdin and stdout: one JSON-RPC message per line.

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, Sender};

use companion_platform::{Platform, is_absolute};
use companion_protocol::diagnostics::DiagnosticsRequest;
use companion_protocol::editor::{
    CloseDiff, DiffPath, DiffResult, EditorNotification, PrivateFiles, Sessions,
};
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Payload, Request, code, describe, parse,
};
use companion_server::{
    DiagnosticsResponder, EditorHost, PendingResponder, Proposal, Responder, Responders, Server,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;

/// The longest line, in bytes. A longer one is answered with an error and skipped.
const MAX_LINE: u64 = 256 << 20;

/// How many bytes of requests the editor may leave unread, besides proposals and closing their views: of
/// those there are no more than the server lets it have.
const MAX_UNREAD: usize = 1 << 20;

const BUSY: &str = "The editor is busy: it has not read what it was asked before.";

/// Messages to write to stdout.
pub(crate) enum Outgoing {
    Line(Vec<u8>),
    Request {
        line: Vec<u8>,
        /// Until it is written.
        _unread: Unread,
    },
    /// The newest line of its kind, unless that has been written.
    Newest(Newest),
    /// The request of that number. Until it is written, the editor has not taken the proposal.
    Open(u64, Proposal),
}

impl Outgoing {
    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Line(line) | Self::Request { line, .. } => output.write_all(line)?,
            Self::Newest(newest) => {
                let line = newest.lock().take();
                output.write_all(&line.unwrap_or_default())?;
            }
            Self::Open(number, proposal) => {
                let params = proposal.to_show();
                output.write_all(&line(&Request::new(Id::from(*number), "diff/open", params)))?;
            }
        }
        output.flush()
    }
}

type Newest = Arc<Mutex<Option<Vec<u8>>>>;

/// The place of a request among those that are unread.
pub(crate) struct Unread {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Relaxed);
    }
}

/// Writes `first` at once, and then from a thread of its own all that the server has to say, until
/// the editor is gone, which `end` hears.
pub(crate) fn write(
    first: &impl Serialize,
    outgoing: Receiver<Outgoing>,
    end: Sender<()>,
) -> io::Result<()> {
    let mut stdout = io::stdout();
    Outgoing::Line(line(first)).write(&mut stdout)?;
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

fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("our messages are JSON");
    line.push(b'\n');
    line
}

/// The editor. It is asked over stdout; one that does not read holds up nobody else.
pub(crate) struct Editor {
    outgoing: Sender<Outgoing>,
    responders: Responders,
    /// The bytes of requests that are unread.
    unread: Arc<AtomicUsize>,
    sessions: Newest,
    private: Newest,
}

impl Editor {
    /// Creates the editor and its output queue.
    pub(crate) fn new() -> (Self, Receiver<Outgoing>) {
        let (sender, outgoing) = mpsc::channel();
        let editor = Self {
            outgoing: sender,
            responders: Responders::default(),
            unread: Arc::default(),
            sessions: Newest::default(),
            private: Newest::default(),
        };
        (editor, outgoing)
    }

    fn send(&self, outgoing: Outgoing) {
        // Without a receiver the editor is gone, and so are we soon.
        let _ = self.outgoing.send(outgoing);
    }

    fn write(&self, message: &impl Serialize) {
        self.send(Outgoing::Line(line(message)));
    }

    /// Sends a state. A newer one replaces it while it is unread.
    fn tell(&self, newest: &Newest, state: &impl Serialize) {
        if newest.lock().replace(line(state)).is_none() {
            self.send(Outgoing::Newest(Arc::clone(newest)));
        }
    }

    /// Sends a request if the editor has read enough of the earlier ones. If the editor is suspended, its
    /// calls expire before it reads again.
    fn ask(
        &self,
        method: &'static str,
        params: impl Serialize,
        responder: impl Into<PendingResponder>,
    ) {
        let number = self.responders.add(responder);
        let line = line(&Request::new(Id::from(number), method, params));
        let unread = Unread { bytes: line.len(), all: Arc::clone(&self.unread) };
        if self.unread.fetch_add(line.len(), Relaxed) + line.len() <= MAX_UNREAD {
            self.send(Outgoing::Request { line, _unread: unread });
        } else if let Some(asked) = self.responders.take(number) {
            asked.fail(BUSY);
        }
    }

    fn ask_about(&self, method: &'static str, file_path: &str, responder: Responder) {
        self.ask(method, DiffPath { file_path: file_path.to_owned() }, responder);
    }
}

impl EditorHost for Editor {
    fn open_diff(&self, proposal: Proposal, responder: Responder) {
        self.send(Outgoing::Open(self.responders.add(responder), proposal));
    }

    fn close_diff(&self, file_path: &str, abandoned: bool, responder: Responder) {
        // Sent even above the limit: the client takes the view for closed, so it must not stay open.
        let id = Id::from(self.responders.add(responder));
        self.write(&Request::new(id, "diff/close", CloseDiff { file_path, abandoned }));
    }

    fn accept_diff(&self, file_path: &str, responder: Responder) {
        self.ask_about("diff/accept", file_path, responder);
    }

    fn reject_diff(&self, file_path: &str, responder: Responder) {
        self.ask_about("diff/reject", file_path, responder);
    }

    fn diagnostics(&self, request: DiagnosticsRequest, responder: DiagnosticsResponder) {
        self.ask("editor/diagnostics", request, responder);
    }

    fn sessions_changed(&self, count: usize) {
        self.tell(&self.sessions, &Notification::new("companion/sessions", Sessions { count }));
    }

    fn private_files_changed(&self, paths: &[String]) {
        self.tell(&self.private, &Notification::new("companion/private", PrivateFiles { paths }));
    }
}

/// Reads the editor's messages until it closes its end. A line that is not valid is answered
/// with an error and changes nothing.
pub(crate) fn read(server: &Server, editor: &Editor, mut input: impl BufRead) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                log::error!("could not read stdin: {error}");
                return;
            }
        }
        if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            let message = format!("Parse error: a line is longer than {MAX_LINE} bytes");
            let error = ErrorObject::new(code::PARSE_ERROR, message);
            editor.write(&ErrorResponse::new(None, error));
            if input.skip_until(b'\n').is_err() {
                return;
            }
        } else if !line.trim_ascii().is_empty()
            && let Err((id, error)) = take(server, editor, &line)
        {
            log::warn!("the editor sent an invalid line: error {}", error.code);
            editor.write(&ErrorResponse::new(id.as_ref(), error));
        }
    }
}

fn take(server: &Server, editor: &Editor, line: &[u8]) -> Result<(), (Option<Id>, ErrorObject)> {
    let message = match parse(line).map_err(|error| (None, error.into_object()))? {
        Payload::Single(message) => message,
        Payload::Batch(_) => {
            let message = "Invalid Request: one message per line, no batches";
            return Err((None, ErrorObject::new(code::INVALID_REQUEST, message)));
        }
    };
    match message {
        Message::Notification { method, params } => EditorNotification::parse(&method, params)
            .and_then(|told| tell(server, told))
            .map_err(|error| (None, error)),
        Message::Request { id, method, .. } => {
            let message = format!("Method not found: {method} (an editor sends notifications)");
            Err((Some(id), ErrorObject::new(code::METHOD_NOT_FOUND, message)))
        }
        Message::Response { id, result } => {
            let number = id.and_then(|id| id.as_u64());
            let result = result.map(RawValue::get);
            match number.and_then(|number| editor.responders.take(number)) {
                Some(PendingResponder::Diff(responder)) => answered(responder, result),
                Some(PendingResponder::Diagnostics(responder)) => told(responder, result),
                None => {}
            }
            Ok(())
        }
    }
}

/// A request about a diff has been answered.
fn answered(responder: Responder, result: Result<&str, ErrorObject>) {
    match result.map(serde_json::from_str::<Option<DiffResult>>) {
        Ok(Ok(result)) => responder.complete(result.and_then(|result| result.content)),
        Ok(Err(error)) => {
            let why = format!("The editor's answer is not valid: {}.", describe(&error));
            log::warn!("{why}");
            responder.unreadable(&why);
        }
        Err(error) => responder.fail(&error.message),
    }
}

/// Completes a request for diagnostics.
fn told(responder: DiagnosticsResponder, result: Result<&str, ErrorObject>) {
    match result {
        Ok(result) => responder.complete_json(result),
        Err(error) if error.code == code::METHOD_NOT_FOUND => responder.unsupported(),
        Err(error) => responder.fail(&error.message),
    }
}

fn tell(server: &Server, told: EditorNotification) -> Result<(), ErrorObject> {
    match told {
        EditorNotification::Opened(file) => server.file_opened(absolute(&file.path)?),
        EditorNotification::Closed(file) => server.file_closed(absolute(&file.path)?),
        EditorNotification::Focused(file) => server.file_focused(absolute(&file.path)?),
        EditorNotification::Cursor(moved) => {
            server.caret_moved(absolute(&moved.path)?, moved.cursor);
        }
        EditorNotification::Selection(changed) => {
            server.selection_changed(absolute(&changed.path)?, &changed.text);
        }
        EditorNotification::Renamed(renamed) => {
            server.file_renamed(absolute(&renamed.from)?, absolute(&renamed.to)?);
        }
        EditorNotification::Deleted(file) => server.file_deleted(absolute(&file.path)?),
        EditorNotification::Trust(trust) => server.trust_changed(trust.trusted),
        EditorNotification::Silent(told) => server.silence_changed(told.silent),
        EditorNotification::Folders(folders) => {
            for path in &folders.paths {
                absolute(path)?;
            }
            server.workspace_changed(&folders.paths).map_err(|error| {
                let message = format!("Could not write the discovery file: {error}");
                ErrorObject::new(code::INTERNAL_ERROR, message)
            })?;
        }
        EditorNotification::DiffAccepted(diff) => {
            let delivery = server.diff_accepted(&diff.file_path, diff.content);
            log::debug!("a diff was accepted: {delivery:?}");
        }
        EditorNotification::DiffRejected(diff) => {
            let delivery = server.diff_rejected(&diff.file_path);
            log::debug!("a diff was rejected: {delivery:?}");
        }
    }
    Ok(())
}

fn absolute(path: &str) -> Result<&str, ErrorObject> {
    let wrong = if path.contains('\0') {
        "Invalid params: a path must not contain a NUL character"
    } else if is_absolute(Platform::CURRENT, path) {
        return Ok(path);
    } else {
        "Invalid params: a path must be absolute"
    };
    Err(ErrorObject::new(code::INVALID_PARAMS, wrong))
}
