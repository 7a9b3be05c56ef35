//! Checks the program that a client's hooks run: whether it exists, starts, and has this version.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use companion_platform::is_executable;

use super::program::find_program;
use crate::discover::Environment;

/// The time for the program to print its version.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes that are read of its output.
const MAX_OUTPUT: u64 = 1024;

/// The program that hooks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    /// The program, as a path or a name.
    pub program: String,
    /// Why the hooks do not work with it.
    pub problem: Option<RunnerProblem>,
}

/// Why hooks do not work with their program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerProblem {
    /// There is no file at its path.
    NoFile,
    /// No program of its name is in the PATH.
    NotInPath,
    /// The file can't be run.
    NotExecutable,
    /// It does not print a version. The text is the reason.
    Fails(String),
    /// It has another version than this program.
    OtherVersion,
}

impl Runner {
    /// Finds the program as the client does. Starts it, unless it is this program.
    pub(super) fn of(environment: &Environment, program: &str) -> Self {
        let problem = problem(environment, program);
        Self { program: program.to_owned(), problem }
    }
}

fn problem(environment: &Environment, program: &str) -> Option<RunnerProblem> {
    let file = match Path::new(program) {
        path if path.is_absolute() && !path.is_file() => return Some(RunnerProblem::NoFile),
        path if path.is_absolute() && !is_executable(path) => {
            return Some(RunnerProblem::NotExecutable);
        }
        path if path.is_absolute() => path.to_owned(),
        _ => match find_program(environment, program) {
            Some(file) => file,
            None => return Some(RunnerProblem::NotInPath),
        },
    };
    let is_this = std::env::current_exe()
        .and_then(|this| this.canonicalize())
        .is_ok_and(|this| file.canonicalize().is_ok_and(|file| file == this));
    if is_this {
        return None;
    }
    match version(&file) {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => None,
        Ok(_) => Some(RunnerProblem::OtherVersion),
        Err(reason) => Some(RunnerProblem::Fails(reason)),
    }
}

/// Runs the program to read its version.
fn version(program: &PathBuf) -> Result<String, String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().expect("it is a pipe");
    let (sender, output) = mpsc::channel();
    // The thread ends with the program.
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stdout.take(MAX_OUTPUT).read_to_string(&mut text); // an empty text is an answer, too
        let _ = sender.send(text);
    });
    let text = output.recv_timeout(ANSWER_TIMEOUT);
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
    let text = text.map_err(|_| "it does not print its version in time".to_owned())?;
    let version = text.trim().strip_prefix("gemini-companion ");
    version.map(str::to_owned).ok_or_else(|| "it is another program".to_owned())
}
