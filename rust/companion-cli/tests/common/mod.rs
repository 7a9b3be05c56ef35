//! Provides the program, its output and a running companion to tests.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "some tests are for Linux"))]

pub(crate) mod editor;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_gemini-companion");

/// Returns the program under test, in an environment without the developer's own variables.
pub(crate) fn program(dir: &Path) -> Command {
    isolated(Path::new(PROGRAM), dir)
}

/// Returns a copy of the program, in the same environment.
pub(crate) fn isolated(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", dir).env("TMPDIR", dir.join("tmp")).stdin(Stdio::null());
    command
}

/// Returns the program's help.
pub(crate) fn help(command: &str) -> String {
    let output = program(Path::new("/")).args([command, "--help"]).output().unwrap();
    text(&output.stdout).to_owned()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns the exit code and stderr for each of these arguments; checks that stdout is empty.
pub(crate) fn complaints(run: impl Fn(&[&str]) -> Output, cases: &[&[&str]]) -> String {
    let mut all = String::new();
    for args in cases {
        let output = run(args);
        assert!(output.stdout.is_empty());
        let message = text(&output.stderr).split("\n\n").next().unwrap_or_default();
        writeln!(all, "{args:?}\n{}\n{}\n", output.status, message.trim_end()).unwrap();
    }
    all
}

/// Returns the first line of `serve`, once it is ready.
pub(crate) fn first_line(serve: &mut Child) -> Value {
    let mut first = String::new();
    BufReader::new(serve.stdout.take().unwrap()).read_line(&mut first).unwrap();
    serde_json::from_str(&first).unwrap()
}

/// A `serve` process with a project. It ends when the value is dropped.
pub(crate) struct Companion {
    child: Child,
    /// Contains the discovery file, and all other files of the test.
    pub(crate) dir: tempfile::TempDir,
    pub(crate) project: PathBuf,
    /// Its `companion/ready` message.
    pub(crate) ready: Value,
}

impl Companion {
    /// Starts a companion whose project is a folder with this name.
    pub(crate) fn start(name: &str) -> Self {
        Self::start_by(name, name)
    }

    /// Does the same for an editor that opened the project through a link.
    pub(crate) fn start_by(name: &str, opened: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join(name)).unwrap();
        let project = root.join(opened);
        #[cfg(unix)]
        if name != opened {
            std::os::unix::fs::symlink(name, &project).unwrap();
        }
        std::fs::create_dir_all(root.join("bin")).unwrap();
        let mut child = program(&root)
            .args(["serve".as_ref(), "--workspace".as_ref(), project.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let ready = first_line(&mut child)["params"].take();
        Self { child, dir, project, ready }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.ready["authToken"].as_str().unwrap()
    }

    /// Returns the program with these arguments, in the project.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = program(&self.root());
        command.args(args).current_dir(&self.project);
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.command(args).output().unwrap()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Checks that a help text has the commands of a section of `docs/remote.md`, which an installed
/// program does not have.
pub(crate) fn assert_shows(help: &str, section: &str) {
    let manual = include_str!("../../../../docs/remote.md");
    let (_, section) = manual.split_once(section).unwrap();
    let section = section.split("\n## ").next().unwrap();
    for commands in section.split("```").skip(1).step_by(2) {
        for line in commands.lines().skip(1) {
            assert!(help.contains(line), "{line}");
        }
    }
}
