//! Formats a diagnosis as text: verdict, advice, then evidence.

use std::fmt;
use std::path::{Path, PathBuf};

use companion_platform::quote;

use super::{Diagnosis, Level, Subject};
use crate::discover::Target;

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.verdict)?;
        if let Some(message) = &self.client_says {
            writeln!(f, "It says: {message}")?;
        }
        if !self.advice.is_empty() {
            writeln!(f, "\nWhat to do")?;
        }
        for (number, advice) in (1..).zip(&self.advice) {
            writeln!(f, "  {number}. {advice}")?;
        }
        let mut subject = None;
        for finding in &self.evidence {
            if subject != Some(finding.subject) {
                subject = Some(finding.subject);
                writeln!(f, "\n{}", title(finding.subject, self.name))?;
            }
            let mark = match finding.level {
                Level::Good => "✓",
                Level::Note => "·",
                Level::Bad => "✗",
            };
            writeln!(f, "  {mark} {}", finding.text.replace('\n', "\n    "))?;
        }
        Ok(())
    }
}

fn title(subject: Subject, client: &'static str) -> &'static str {
    match subject {
        Subject::Folder => "Where the CLI runs",
        Subject::Files => "Files of companions, in the CLI's order",
        Subject::Connection => "Addresses that the CLI tries",
        Subject::Environment => "Environment",
        Subject::Client => client,
        Subject::Hooks => "Hooks of the CLI",
        Subject::Editors => "Editors on this machine",
    }
}

/// Joins paths with commas, as the client does.
pub(super) fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    paths.join(", ")
}

/// Quotes a path for a shell.
pub(super) fn quoted(path: &Path) -> String {
    quote::word(&path.to_string_lossy())
}

/// Describes a target for users. Omits a command's arguments, which may be private.
pub(super) fn place(target: &Target) -> String {
    match target {
        Target::Http { host, port } => format!("{host}:{port}"),
        Target::BadPort(text) => format!("port {text:?}"),
        Target::Stdio(stdio) => format!("the command {}", stdio.command),
    }
}
