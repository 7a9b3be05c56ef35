//! Makes a bounded report of diagnostics for the model, with the most severe first.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Diagnostic, FileDiagnostics};
use crate::ide::one_line;

/// The most diagnostics of one file.
const MAX_PER_FILE: usize = 50;

/// The most diagnostics in a report.
const MAX_TOTAL: usize = 200;

/// The longest text of a report, in bytes; long paths can exceed it.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// The longest message of a diagnostic, in UTF-16 code units.
const MAX_MESSAGE: usize = 500;

/// The longest name of a source or a rule, in UTF-16 code units.
const MAX_NAME: usize = 100;

/// The result of the tool `getDiagnostics`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsReport {
    /// The files in the order of the request.
    pub files: Vec<FileReport>,
}

/// The report of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReport {
    /// The file, its diagnostics from top to bottom, and why the list may be incomplete.
    #[serde(flatten)]
    pub found: FileDiagnostics,
    /// The number of diagnostics left out because the last answer had them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known: usize,
    /// The number of diagnostics left out because of the limits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl DiagnosticsReport {
    /// Makes a report within the limits. Each file comes with the number of diagnostics that the
    /// model already knows.
    pub fn new(files: impl IntoIterator<Item = (FileDiagnostics, usize)>) -> Self {
        let report = |(mut found, known): (FileDiagnostics, usize)| {
            found.incomplete = found.incomplete.as_deref().map(|why| one_line(why, MAX_MESSAGE));
            found.diagnostics.sort_by_key(|one| (one.severity, place(one)));
            let omitted = found.diagnostics.len().saturating_sub(MAX_PER_FILE);
            found.diagnostics.truncate(MAX_PER_FILE);
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

    /// Removes the least severe diagnostics beyond [`MAX_TOTAL`]. Each file must be sorted by
    /// severity.
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
        for (_, index, length) in lines.into_iter().take(MAX_TOTAL) {
            text += length;
            if text > MAX_TEXT_BYTES {
                break;
            }
            kept[index] += 1;
        }
        for (file, kept) in self.files.iter_mut().zip(kept) {
            file.omitted += file.found.diagnostics.len() - kept;
            file.found.diagnostics.truncate(kept);
        }
    }

    /// Formats the report: one line per diagnostic, and sentences about omitted ones.
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

/// Formats `path:line:character: severity: message [source code]`, like compilers.
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
    *message = one_line(message, MAX_MESSAGE);
    for name in [source, code] {
        let short = name.as_deref().map(|name| one_line(name, MAX_NAME));
        *name = short.filter(|name| !name.is_empty());
    }
}

/// Puts a path on one line, because names of files may contain line breaks and escapes.
fn visible(path: &str) -> String {
    path.replace(char::is_control, "\u{fffd}")
}
