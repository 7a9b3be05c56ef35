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
        Self::of_texts(before.text().map(|text| &**text), after.text().map(|text| &**text))
    }

    /// Does the same with the texts; `None` is no file.
    pub(super) fn of_texts(before: Option<&str>, after: Option<&str>) -> Self {
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

fn lines(text: Option<&str>) -> Vec<&str> {
    text.unwrap_or_default().split_inclusive('\n').collect()
}
