//! Which problems each file had when the editor was asked about it the last time.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use companion_protocol::diagnostics::{Diagnostic, FileDiagnostics};

/// The most files that are remembered, those that were asked about last.
const FILES: usize = 256;

/// The problems that each file had. Of a problem only a hash is kept, since its text is of the user's
/// code.
#[derive(Default)]
pub(super) struct Known {
    hasher: RandomState,
    /// The newest last.
    files: Vec<(String, HashMap<u64, usize>)>,
}

/// The problems that a file had, each as often as it had it.
pub(super) struct Before {
    hasher: RandomState,
    counts: HashMap<u64, usize>,
}

impl Known {
    /// Remembers the file's problems in place of those that it had, which are returned. A part of them
    /// is no reason to forget the rest.
    pub(super) fn replace(&mut self, file: &FileDiagnostics) -> Before {
        let before = self.files.iter().position(|(path, _)| *path == file.path);
        let before = before.map(|at| self.files.remove(at).1);
        let counts = match &before {
            Some(before) if file.incomplete.is_some() => before.clone(),
            _ => {
                let mut counts = HashMap::new();
                for diagnostic in &file.diagnostics {
                    *counts.entry(identity(&self.hasher, diagnostic)).or_default() += 1;
                }
                counts
            }
        };
        if self.files.len() >= FILES {
            self.files.remove(0);
        }
        self.files.push((file.path.clone(), counts));
        Before { hasher: self.hasher.clone(), counts: before.unwrap_or_default() }
    }
}

impl Before {
    /// Those of `diagnostics` that were not there.
    pub(super) fn without(mut self, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        diagnostics.retain(|diagnostic| {
            match self.counts.get_mut(&identity(&self.hasher, diagnostic)) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        diagnostics
    }
}

/// What makes a problem the same. Its place does not: an edit moves what is below it.
fn identity(hasher: &RandomState, diagnostic: &Diagnostic) -> u64 {
    let Diagnostic { severity, message, source, code, .. } = diagnostic;
    hasher.hash_one((severity, message, source, code))
}
