//! Tries one route to a companion with a whole `initialize`, over HTTP or stdio.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio as Pipe};
use std::sync::mpsc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::discover::{Environment, Stdio, Token};
use crate::http::{self, Endpoint, Error, InitializeResult, Stage};

/// The time for one attempt.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum length of a server's message in the output.
const MAX_SHOWN: usize = 200;

/// The reason why an attempt failed, as far as it matters to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The host's name has no address here.
    UnknownHost,
    /// No program listens.
    Refused,
    /// No route to the host, or no connection in time.
    Unreachable,
    /// The connection succeeded, but no answer arrived in time.
    Silent,
    /// 401.
    WrongToken,
    /// 403, and the server's message.
    WrongName(String),
    /// The answer is not from a companion, or there is no answer.
    NotACompanion(String),
    /// The port is not a number from 1 to 65535.
    BadPort,
    /// The value of this variable prevents every request of the client.
    BadProxy(&'static str),
    /// The program can't be started or does not speak MCP.
    BadCommand(String),
    /// The program does not answer in time, or with this error: it can't reach a companion.
    BehindCommand(String),
}

/// The server that answered, or the failure.
pub type Probed = Result<InitializeResult, Failure>;

pub(super) fn over_http(host: &str, port: u16, token: Option<&Token>) -> Probed {
    let endpoint = Endpoint::new(host, port, token.cloned());
    http::block_on(http::probe(&endpoint, ANSWER_TIMEOUT)).map_err(failure)
}

fn failure(error: Error) -> Failure {
    match error {
        Error::UnknownHost { .. } => Failure::UnknownHost,
        Error::Refused { .. } => Failure::Refused,
        Error::Unreachable { .. } | Error::Timeout { stage: Stage::Connect, .. } => {
            Failure::Unreachable
        }
        Error::Timeout { stage: Stage::Answer, .. } => Failure::Silent,
        Error::Unauthorized { .. } => Failure::WrongToken,
        Error::Forbidden { message } => Failure::WrongName(shown(&message)),
        other => Failure::NotACompanion(shown(&other.to_string())),
    }
}

/// Shortens a server's message and removes control characters.
pub(super) fn shown(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect();
    text.trim().to_owned()
}

/// The only variables that the client's SDK passes to a program.
const INHERITED: [&str; 17] = [
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
    "PROGRAMFILES",
];

pub(super) fn over_stdio(environment: &Environment, stdio: &Stdio) -> Probed {
    let inherited = if cfg!(windows) { &INHERITED[2..] } else { &INHERITED[..6] };
    let inherited = inherited.iter().filter_map(|name| Some((name, environment.var(name)?)));
    let mut child = Command::new(&stdio.command)
        .args(&stdio.args)
        .env_clear()
        .envs(inherited)
        .current_dir(&environment.cwd)
        .stdin(Pipe::piped())
        .stdout(Pipe::piped())
        .stderr(Pipe::null())
        .spawn()
        .map_err(|error| Failure::BadCommand(format!("it can't be started: {error}")))?;
    let outcome = shake_hands(&mut child);
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
    outcome
}

fn shake_hands(child: &mut Child) -> Probed {
    let failed = |reason: &str| Failure::BadCommand(reason.to_owned());
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let stdout = child.stdout.take().expect("it is a pipe");
    let (answer, answered) = mpsc::channel();
    // The thread ends with the child.
    std::thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let _ = answer.send(messages.find(|message| message["id"] == 0));
    });
    let mut line = http::first_message();
    line.push(b'\n');
    stdin.write_all(&line).map_err(|_| failed("it ended at once"))?;
    match answered.recv_timeout(ANSWER_TIMEOUT) {
        Ok(Some(answer)) => server_info(&answer),
        Ok(None) => Err(failed("it ended without an answer")),
        Err(_) => Err(Failure::BehindCommand("it did not answer in time".to_owned())),
    }
}

fn server_info(answer: &Value) -> Probed {
    if let Some(reason) = answer["error"]["message"].as_str() {
        return Err(Failure::BehindCommand(shown(reason)));
    }
    InitializeResult::deserialize(&answer["result"])
        .map_err(|_| Failure::BadCommand("the response is not MCP".to_owned()))
}
