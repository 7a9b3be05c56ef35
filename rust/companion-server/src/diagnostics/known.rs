//! Remembers which diagnostics each file had when the editor was asked last.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use companion_protocol::diagnostics::{Diagnostic, FileDiagnostics, Severity};

/// The most files that are remembered: those that were asked about last.
pub(super) const MAX_FILES: usize = 256;

/// The most problems that are remembered in all, unless one file alone has more.
pub(super) const MAX_PROBLEMS: usize = 1 << 16;

/// The number of times that each problem occurred. Only a hash and the severity are kept, since the
/// text comes from the user's code.
type Counts = HashMap<(Severity, u64), usize>;

/// The problems that each file had.
#[derive(Default)]
pub(super) struct KnownProblems {
    hasher: RandomState,
    /// The newest last.
    files: Vec<(String, Counts)>,
}

impl KnownProblems {
    /// Remembers the file's problems, and returns those that did not exist before. An incomplete list
    /// replaces only its own part: the editor may know no more yet, or only severities down to
    /// `severity` were asked for.
    pub(super) fn replace(
        &mut self,
        file: &FileDiagnostics,
        severity: Severity,
    ) -> Vec<Diagnostic> {
        let before = self.files.iter().position(|(path, _)| *path == file.path);
        let before = before.map(|at| self.files.remove(at).1);
        let is_part = before.is_some() && file.incomplete.is_some();
        let mut counts = before.clone().unwrap_or_default();
        if !is_part {
            counts.retain(|(of, _), _| *of > severity);
            for diagnostic in &file.diagnostics {
                *counts.entry(identity(&self.hasher, diagnostic)).or_default() += 1;
            }
        }
        self.files.push((file.path.clone(), counts));
        let mut count: usize = self.files.iter().map(|(_, counts)| counts.len()).sum();
        while self.files.len() > MAX_FILES || (count > MAX_PROBLEMS && self.files.len() > 1) {
            count -= self.files.remove(0).1.len();
        }
        let mut before = before.unwrap_or_default();
        let is_new =
            |diagnostic: &&Diagnostic| match before.get_mut(&identity(&self.hasher, diagnostic)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            };
        file.diagnostics.iter().filter(is_new).cloned().collect()
    }
}

/// The identity of a problem. It does not include the position, because an edit moves the lines
/// below it.
fn identity(hasher: &RandomState, diagnostic: &Diagnostic) -> (Severity, u64) {
    let Diagnostic { severity, message, source, code, .. } = diagnostic;
    (*severity, hasher.hash_one((message, source, code)))
}
