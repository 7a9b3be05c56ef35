//! What a model is told of problems: not more than it can use, the worst first.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Diagnostic, FileDiagnostics};
use crate::ide::one_line;

/// The most problems of one file.
const PER_FILE: usize = 50;

/// The most problems in all.
const IN_ALL: usize = 200;

/// The longest text, in bytes; somewhat more with long paths.
const TEXT: usize = 16 << 10;

/// The longest message of a problem, in UTF-16 units.
const MESSAGE: usize = 500;

/// The longest name of a source or a rule, in UTF-16 units.
const NAME: usize = 100;

/// The result of the tool `getDiagnostics`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsReport {
    /// In the order in which they were asked for.
    pub files: Vec<FileReport>,
}

/// What is told of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// The file, its problems from top to bottom, and why there may be more of them.
    #[serde(flatten)]
    pub found: FileDiagnostics,
    /// How many are left out because the last answer had them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known: usize,
    /// How many are left out because there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl DiagnosticsReport {
    /// Of these files, each with the number of problems that are known already. Keeps the bounds.
    pub fn new(files: impl IntoIterator<Item = (FileDiagnostics, usize)>) -> Self {
        let report = |(mut found, known): (FileDiagnostics, usize)| {
            found.incomplete = found.incomplete.as_deref().map(|why| one_line(why, MESSAGE));
            found.diagnostics.sort_by_key(|one| (one.severity, place(one)));
            let omitted = found.diagnostics.len().saturating_sub(PER_FILE);
            found.diagnostics.truncate(PER_FILE);
            found.diagnostics.iter_mut().for_each(shorten);
            FileReport { found, known, omitted }
        };
        let mut report = Self { files: files.into_iter().map(report).collect() };
        report.keep_the_worst();
        for file in &mut report.files {
            file.found.diagnostics.sort_by_key(place);
        }
        report
    }

    /// Leaves out what is too much in all. The problems of each file are sorted by severity.
    fn keep_the_worst(&mut self) {
        let lines = self.files.iter().enumerate().flat_map(|(index, file)| {
            let path = &file.found.path;
            file.found
                .diagnostics
                .iter()
                .map(move |one| (one.severity, index, line(path, one).len()))
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort_by_key(|(severity, ..)| *severity);
        let mut kept = vec![0; self.files.len()];
        let mut text = 0;
        for (_, index, length) in lines.into_iter().take(IN_ALL) {
            text += length;
            if text > TEXT {
                break;
            }
            kept[index] += 1;
        }
        for (file, kept) in self.files.iter_mut().zip(kept) {
            file.omitted += file.found.diagnostics.len() - kept;
            file.found.diagnostics.truncate(kept);
        }
    }

    /// The same as text: a line for each problem, and sentences about what is not listed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut clean = Vec::new();
        for FileReport { found, known, omitted } in &self.files {
            let path = visible(&found.path);
            for diagnostic in &found.diagnostics {
                text.push_str(&line(&path, diagnostic));
            }
            if *known > 0 {
                let were = if *known == 1 { "problem was" } else { "problems were" };
                let _ = writeln!(text, "{path}: {known} {were} there before.");
            }
            if *omitted > 0 {
                let more = if *omitted == 1 { "more problem is" } else { "more problems are" };
                let _ = writeln!(text, "{path}: {omitted} {more} not listed.");
            }
            if let Some(why) = &found.incomplete {
                let _ = writeln!(text, "{path}: there may be more problems: {why}.");
            } else if found.diagnostics.is_empty() && *known == 0 && *omitted == 0 {
                clean.push(path);
            }
        }
        match clean.as_slice() {
            [] => {}
            [path] if self.files.len() == 1 => {
                let _ = writeln!(text, "No problems in {path}.");
            }
            clean => {
                let files = if clean.len() == 1 { "file" } else { "files" };
                let other = if clean.len() < self.files.len() { "other " } else { "" };
                let _ = writeln!(text, "No problems in {} {other}{files}.", clean.len());
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}

fn place(diagnostic: &Diagnostic) -> (u32, u32) {
    let start = diagnostic.range.start;
    (start.line.get(), start.character.get())
}

/// `path:line:character: severity: message [source code]`, as compilers write it.
fn line(path: &str, diagnostic: &Diagnostic) -> String {
    let Diagnostic { severity, message, source, code, .. } = diagnostic;
    let (line, character) = place(diagnostic);
    let mut text = format!("{path}:{line}:{character}: {}: {message}", severity.name());
    let found_by: Vec<_> = source.iter().chain(code).map(String::as_str).collect();
    if !found_by.is_empty() {
        let _ = write!(text, " [{}]", found_by.join(" "));
    }
    text.push('\n');
    text
}

fn shorten(diagnostic: &mut Diagnostic) {
    let Diagnostic { message, source, code, .. } = diagnostic;
    *message = one_line(message, MESSAGE);
    for name in [source, code] {
        let short = name.as_deref().map(|name| one_line(name, NAME));
        *name = short.filter(|name| !name.is_empty());
    }
}

/// A path on one line: the name of a file may have line breaks and escapes in it.
fn visible(path: &str) -> String {
    path.replace(char::is_control, "\u{fffd}")
}
