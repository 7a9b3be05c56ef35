//! Divides a change into hunks, takes single hunks out of a text, and counts changed lines.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::time::{Duration, Instant};

use companion_protocol::editor::Hunk;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::FileText;

/// The unchanged lines before and after the changed ones.
const CONTEXT: usize = 3;

/// The time after which a comparison becomes coarse.
const COMPARISON_TIMEOUT: Duration = Duration::from_millis(200);

/// The lines of a text, with their line endings.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Compares two texts by lines. Takes about 200 ms at most.
pub(super) fn compare(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let deadline = Instant::now() + COMPARISON_TIMEOUT;
    let mut ops = capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline));
    // similar 2.7.0 moves a removal or an addition, but not its index in the other text.
    let (mut old_end, mut new_end) = (0, 0);
    for op in &mut ops {
        match op {
            DiffOp::Delete { new_index, .. } => *new_index = new_end,
            DiffOp::Insert { old_index, .. } => *old_index = old_end,
            DiffOp::Equal { .. } | DiffOp::Replace { .. } => {}
        }
        (old_end, new_end) = (op.old_range().end, op.new_range().end);
    }
    ops
}

/// The hunks from one text to another.
pub(super) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (lines(before), lines(after));
    let mut hunks = Vec::new();
    for group in group_diff_ops(compare(&old, &new), CONTEXT) {
        let Some(first) = group.first() else { continue };
        let (before, after) = (first.old_range().start + 1, first.new_range().start + 1);
        let mut lines = Vec::new();
        let mut add = |mark: char, from: &[&str]| {
            lines.extend(from.iter().map(|line| format!("{mark}{line}")));
        };
        for op in &group {
            if matches!(op, DiffOp::Equal { .. }) {
                add(' ', &old[op.old_range()]);
            } else {
                add('-', &old[op.old_range()]);
                add('+', &new[op.new_range()]);
            }
        }
        hunks.push(Hunk { before, after, lines });
    }
    hunks
}

/// One side of a hunk: the lines that stay, and those that begin with `mark`.
fn side(hunk: &Hunk, mark: char) -> Vec<&str> {
    let of_side = |line: &&String| line.starts_with([' ', mark]);
    hunk.lines.iter().filter(of_side).map(|line| &line[1..]).collect()
}

/// Puts one side of a hunk in place of the other, whose first line has the index `at`. `None` if the
/// text has other lines there.
fn replace(text: &str, at: usize, from: &[&str], to: &[&str]) -> Option<String> {
    let text = lines(text);
    if text.get(at..at.checked_add(from.len())?)? != from {
        return None;
    }
    Some([&text[..at], to, &text[at + from.len()..]].concat().concat())
}

/// Takes a hunk out of the text as the CLI left it.
pub(super) fn revert(after: &str, hunk: &Hunk) -> Option<String> {
    replace_once(after, hunk.after, hunk, ['+', '-'])
}

/// Puts a hunk into the text before the prompt.
pub(super) fn apply(before: &str, hunk: &Hunk) -> Option<String> {
    replace_once(before, hunk.before, hunk, ['-', '+'])
}

/// Puts the second side of a hunk in place of the first one, which begins in this line, from 1.
fn replace_once(text: &str, line: usize, hunk: &Hunk, [from, to]: [char; 2]) -> Option<String> {
    let (at, from) = (line.checked_sub(1)?, side(hunk, from));
    let is_context = |line: &&String| line.starts_with(' ');
    // Less context after the change is at the end of the text. Lines that were added there already are
    // below it.
    let reaches_end = hunk.lines.iter().rev().take_while(is_context).count() < CONTEXT;
    if reaches_end && at.checked_add(from.len())? != lines(text).len() {
        return None;
    }
    replace(text, at, &from, &side(hunk, to))
}

/// The changed lines of a hunk, as indexes of its `lines`.
fn core(hunk: &Hunk) -> Option<Range<usize>> {
    let is_changed = |line: &String| !line.starts_with(' ');
    let first = hunk.lines.iter().position(is_changed)?;
    let last = hunk.lines.iter().rposition(is_changed)?;
    Some(first..last + 1)
}

/// Takes a hunk of `after` out of the text `now`, which may have further changes. `None` if its
/// lines, or one next to them, are not there as the CLI left them.
pub(super) fn revert_in(now: &str, after: &str, hunk: &Hunk) -> Option<String> {
    // Only the lines next to the change must be as they were.
    let core = core(hunk)?;
    let skipped = core.start.saturating_sub(1);
    let end = hunk.lines.len().min(core.end + 1);
    let near = Hunk {
        before: hunk.before.checked_add(skipped)?,
        after: hunk.after.checked_add(skipped)?,
        lines: hunk.lines[skipped..end].to_vec(),
    };
    let (from, to) = (side(&near, '+'), side(&near, '-'));
    let start = near.after.checked_sub(1)?;
    replace(after, start, &from, &to)?;
    let (old, new) = (lines(after), lines(now));
    let wanted = start..start + from.len();
    let only_removes = hunk.lines[core.clone()].iter().all(|line| line.starts_with('-'));
    for op in compare(&old, &new) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        if old_index <= wanted.start && wanted.end <= old_index + len {
            let at = wanted.start - old_index + new_index;
            // A removal at an end of the file has a line on one side only. Beyond it, the removed lines
            // may be back already.
            let has_more_above = core.start == 0 && at > 0;
            let has_more_below = core.end == hunk.lines.len() && at + from.len() < new.len();
            if only_removes && (has_more_above || has_more_below) {
                return None;
            }
            return replace(now, at, &from, &to);
        }
    }
    // A file without other lines: there is nothing that could have moved.
    if old == new { replace(now, start, &from, &to) } else { None }
}

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
