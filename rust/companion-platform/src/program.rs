//! Runs other programs to read their versions.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The time for the program to print its version.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes that are read of its output.
const MAX_OUTPUT: u64 = 1024;

/// Starts a program, and returns the version that it prints as `gemini-companion VERSION`.
///
/// # Errors
/// Why it does not work: the system can't start it, it does not answer in time, or it is another
/// program.
pub fn program_version(program: &Path) -> Result<String, String> {
    let text = version_text(Command::new(program))?;
    let version = text.trim().strip_prefix("gemini-companion ");
    version.map(str::to_owned).ok_or_else(|| "it is another program".to_owned())
}

/// Starts a program with `--version`, and returns the beginning of its output.
///
/// # Errors
/// Why it does not work: the system can't start it, or it does not answer in time.
pub fn version_text(mut program: Command) -> Result<String, String> {
    let mut child = program
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
        let mut bytes = Vec::new();
        let _ = stdout.take(MAX_OUTPUT).read_to_end(&mut bytes); // an empty text is an answer, too
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    let text = output.recv_timeout(ANSWER_TIMEOUT);
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
    text.map_err(|_| "it does not print its version in time".to_owned())
}
