//! Counts the lines that a change adds and removes.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::FileText;

/// The time after which the comparison becomes coarse, so that it counts too many lines.
const PRECISE: Duration = Duration::from_millis(200);

/// The numbers of added and removed lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineCounts {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl LineCounts {
    /// Compares two texts. Takes about 200 ms at most.
    pub(super) fn of(before: &FileText, after: &FileText) -> Self {
        let (before, after) = (lines(before), lines(after));
        let deadline = Instant::now() + PRECISE;
        let mut counts = Self::default();
        for op in capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)) {
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

fn lines(text: &FileText) -> Vec<&str> {
    match text {
        FileText::Text(text) => text.split_inclusive('\n').collect(),
        FileText::Absent | FileText::Unkept(_) => Vec::new(),
    }
}
