//! The editor at the other end of stdin and stdout: one JSON-RPC message per line.

#[cfg(test)]
mod fuzz;

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};

use companion_protocol::editor::{
    DiffPath, DiffResult, EditorNotification as Told, OpenDiff, Sessions,
};
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Payload, Request, code, parse,
};
use companion_server::{EditorHost, HostRequest, Server};
use serde::Serialize;
use serde_json::value::RawValue;

/// The longest line, in bytes. A longer one is answered with an error and skipped.
const MAX_LINE: u64 = 256 << 20;

/// The way to stdout. An editor that does not read holds up nobody else.
#[derive(Clone)]
pub(crate) struct Output(Sender<Vec<u8>>);

impl Output {
    /// The way to stdout, and the lines that are to be written.
    pub(crate) fn new() -> (Self, Receiver<Vec<u8>>) {
        let (sender, lines) = mpsc::channel();
        (Self(sender), lines)
    }

    fn write(&self, message: &impl Serialize) {
        // Without a receiver the editor is gone, and so are we soon.
        let _ = self.0.send(line(message));
    }
}

/// Writes `first` at once, and then from a thread of its own all `lines`, until the editor is
/// gone, which `end` hears.
pub(crate) fn write(
    first: &impl Serialize,
    lines: Receiver<Vec<u8>>,
    end: Sender<()>,
) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(&line(first))?;
    stdout.flush()?;
    std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        for line in lines {
            if let Err(error) = stdout.write_all(&line).and_then(|()| stdout.flush()) {
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

/// Asks the editor over stdout.
pub(crate) struct Editor {
    output: Output,
}

impl Editor {
    pub(crate) fn new(output: Output) -> Self {
        Self { output }
    }

    fn ask(&self, request: HostRequest, method: &'static str, params: impl Serialize) {
        self.output.write(&Request::new(Id::from(request.0), method, params));
    }
}

impl EditorHost for Editor {
    fn open_diff(&self, request: HostRequest, path: &str, new_content: String) {
        self.ask(request, "diff/open", OpenDiff { file_path: path, new_content: &new_content });
    }

    fn close_diff(&self, request: HostRequest, path: &str) {
        self.ask(request, "diff/close", DiffPath { file_path: path.to_owned() });
    }

    fn accept_diff(&self, request: HostRequest, path: &str) {
        self.ask(request, "diff/accept", DiffPath { file_path: path.to_owned() });
    }

    fn reject_diff(&self, request: HostRequest, path: &str) {
        self.ask(request, "diff/reject", DiffPath { file_path: path.to_owned() });
    }

    fn sessions_changed(&self, count: usize) {
        self.output.write(&Notification::new("companion/sessions", Sessions { count }));
    }
}

/// Takes what the editor says, until it closes its end. A line that is not valid is answered
/// with an error and changes nothing.
pub(crate) fn read(server: &Server, output: &Output, mut input: impl BufRead) {
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
            output.write(&ErrorResponse::new(None, error));
            if input.skip_until(b'\n').is_err() {
                return;
            }
        } else if !line.trim_ascii().is_empty()
            && let Err((id, error)) = take(server, &line)
        {
            log::warn!("the editor sent an invalid line: error {}", error.code);
            output.write(&ErrorResponse::new(id.as_ref(), error));
        }
    }
}

fn take(server: &Server, line: &[u8]) -> Result<(), (Option<Id>, ErrorObject)> {
    let message = match parse(line).map_err(|error| (None, error.into_object()))? {
        Payload::Single(message) => message,
        Payload::Batch(_) => {
            let message = "Invalid Request: one message per line, no batches";
            return Err((None, ErrorObject::new(code::INVALID_REQUEST, message)));
        }
    };
    match message {
        Message::Notification { method, params } => Told::parse(&method, params)
            .and_then(|told| tell(server, told))
            .map_err(|error| (None, error)),
        Message::Request { id, method, .. } => {
            let message = format!("Method not found: {method} (an editor sends notifications)");
            Err((Some(id), ErrorObject::new(code::METHOD_NOT_FOUND, message)))
        }
        Message::Response { id, result } => {
            if let Some(request) = id.and_then(|id| id.as_u64()) {
                answered(server, HostRequest(request), result.map(RawValue::get));
            }
            Ok(())
        }
    }
}

/// A request to the editor has been answered.
fn answered(server: &Server, request: HostRequest, result: Result<&str, ErrorObject>) {
    match result.map(serde_json::from_str::<Option<DiffResult>>) {
        Ok(Ok(result)) => {
            server.complete_request(request, result.and_then(|result| result.content));
        }
        Ok(Err(_)) => server.fail_request(request, "The editor's answer is not valid."),
        Err(error) => server.fail_request(request, &error.message),
    }
}

fn tell(server: &Server, told: Told) -> Result<(), ErrorObject> {
    match told {
        Told::Opened(file) => server.file_opened(absolute(&file.path)?),
        Told::Closed(file) => server.file_closed(absolute(&file.path)?),
        Told::Focused(file) => server.file_focused(absolute(&file.path)?),
        Told::Cursor(moved) => server.caret_moved(absolute(&moved.path)?, moved.cursor),
        Told::Selection(changed) => {
            server.selection_changed(absolute(&changed.path)?, &changed.text);
        }
        Told::Renamed(renamed) => {
            server.file_renamed(absolute(&renamed.from)?, absolute(&renamed.to)?);
        }
        Told::Deleted(file) => server.file_deleted(absolute(&file.path)?),
        Told::Trust(trust) => server.trust_changed(trust.trusted),
        Told::Folders(folders) => {
            for path in &folders.paths {
                absolute(path)?;
            }
            server.workspace_changed(&folders.paths).map_err(|error| {
                let message = format!("Could not write the discovery file: {error}");
                ErrorObject::new(code::INTERNAL_ERROR, message)
            })?;
        }
        Told::DiffAccepted(diff) => {
            let decision = server.diff_accepted(&diff.file_path, diff.content);
            log::debug!("a diff was accepted: {decision:?}");
        }
        Told::DiffRejected(diff) => {
            let decision = server.diff_rejected(&diff.file_path);
            log::debug!("a diff was rejected: {decision:?}");
        }
    }
    Ok(())
}

fn absolute(path: &str) -> Result<&str, ErrorObject> {
    let wrong = if path.contains('\0') {
        "Invalid params: a path must not contain a NUL character"
    } else if Path::new(path).is_absolute() {
        return Ok(path);
    } else {
        "Invalid params: a path must be absolute"
    };
    Err(ErrorObject::new(code::INVALID_PARAMS, wrong))
}
