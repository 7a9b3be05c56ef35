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
    /// Remembers the file's problems, and returns those that did not exist before. Of the others, keeps
    /// those below `severity`, which the editor was not asked for, and if the list is incomplete all of
    /// them, as far as there is room.
    pub(super) fn replace(
        &mut self,
        file: &FileDiagnostics,
        severity: Severity,
    ) -> Vec<Diagnostic> {
        let before = self.files.iter().position(|(path, _)| *path == file.path);
        let before = before.map(|at| self.files.remove(at).1);
        let mut counts = before.clone().unwrap_or_default();
        if file.incomplete.is_none() || counts.len() > MAX_PROBLEMS {
            counts.retain(|(of, _), _| *of > severity);
        }
        let mut found = Counts::new();
        for diagnostic in &file.diagnostics {
            *found.entry(identity(&self.hasher, diagnostic)).or_default() += 1;
        }
        for (problem, count) in found {
            let known = counts.entry(problem).or_default();
            *known = count.max(*known);
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
