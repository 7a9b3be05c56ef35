//! Checks the program that a client's hooks run: whether it exists, starts, and has this version.

use std::path::Path;

use companion_platform::{is_executable, program_version};

use super::client_program::find_program;
use crate::discover::Environment;

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
    ProgramOfOtherVersion,
}

/// Finds the program as the client does, and returns why hooks do not work with it. Starts it, unless
/// it is this program.
pub(super) fn problem(environment: &Environment, program: &str) -> Option<RunnerProblem> {
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
    match program_version(&file) {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => None,
        Ok(_) => Some(RunnerProblem::ProgramOfOtherVersion),
        Err(reason) => Some(RunnerProblem::Fails(reason)),
    }
}
