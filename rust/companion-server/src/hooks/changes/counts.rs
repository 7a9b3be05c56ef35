//! Counts the lines that a change adds and removes.

use similar::DiffOp;

use super::FileText;
use super::hunks::{compare, lines};

/// The numbers of added and removed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineCounts {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl LineCounts {
    /// Compares two texts. Takes about 200 ms at most, and then counts too many lines.
    pub(super) fn of(before: &FileText, after: &FileText) -> Self {
        Self::of_texts(before.text().map(|text| &**text), after.text().map(|text| &**text))
    }

    /// Does the same with the texts; `None` is no file.
    pub(super) fn of_texts(before: Option<&str>, after: Option<&str>) -> Self {
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let mut counts = Self::default();
        for op in compare(&lines(before), &lines(after)) {
            match op {
                DiffOp::Equal { .. } => {}
                DiffOp::Delete { old_len, .. } => counts.removed += old_len,
                DiffOp::Insert { new_len, .. } => counts.added += new_len,
                DiffOp::Replace { old_len, new_len, .. } => {
                    counts.removed += old_len;
                    counts.added += new_len;
                }
            }
        }
        counts
    }
}
