//! Keeps the resume file of a running server.
//!
//! Records are appended. A text that has been delivered is erased in place, so that no text stays
//! on the disk longer than needed. The file is rewritten once it has doubled: however many texts
//! wait in it, each record costs a bounded number of bytes on average.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

use companion_core::record::{Left, TextId};

use super::lines::{SharedHead, write_line};
use super::slots::{MAX_FILE, Slot};
use crate::journal::Batch;

/// The least bytes that are appended before the file is rewritten.
const MIN_APPENDED: usize = 64 << 10;

/// The largest file that is written, in bytes. It may double before it is rewritten.
const MAX_WRITTEN: usize = MAX_FILE / 2;

/// The resume file of a running server.
pub(super) struct ResumeFile {
    slot: Slot,
    head: SharedHead,
    /// The state after all records.
    left: Left,
    /// The open file. `None` if it must be rewritten.
    pub(super) open: Option<std::fs::File>,
    /// The length after the last rewrite, in bytes.
    written: usize,
    /// The present length, in bytes.
    length: usize,
    /// The positions of the lines with texts.
    texts: BTreeMap<TextId, Range<usize>>,
    /// The number of records that did not fit.
    left_out: usize,
}

impl ResumeFile {
    pub(super) fn new(slot: Slot, head: SharedHead, left: Left) -> Self {
        let texts = BTreeMap::new();
        Self { slot, head, left, open: None, written: 0, length: 0, texts, left_out: 0 }
    }

    /// Saves the records of `batch`.
    pub(super) fn take(&mut self, batch: Batch) -> io::Result<()> {
        let mut lines = Vec::new();
        let mut over: Vec<Range<usize>> = Vec::new();
        for record in batch.records {
            let begin = self.length + lines.len();
            write_line(&mut lines, &record);
            let text = record.text_id();
            for ended in self.left.apply(record) {
                over.extend(self.texts.remove(&ended));
            }
            if let Some(text) = text {
                // A note that has changed replaces its old text.
                over.extend(self.texts.insert(text, begin..self.length + lines.len() - 1));
            }
        }
        let length = self.length + lines.len();
        let is_due =
            batch.ends || batch.rewrites || length > self.written + self.written.max(MIN_APPENDED);
        if let Some(file) = self.open.take().filter(|_| !is_due)
            && let Ok(file) = append(file, self.length, &lines).and_then(|file| erase(file, &over))
        {
            self.open = Some(file);
            self.length = length;
            return Ok(());
        }
        self.write()
    }

    /// Rewrites the file with the records that still count.
    ///
    /// # Errors
    ///
    /// If the disk refuses the file. Then there is no file: the next process may resend too little,
    /// but nothing stale.
    pub(super) fn write(&mut self) -> io::Result<()> {
        self.open = None;
        self.texts.clear();
        let mut lines = Vec::new();
        write_line(&mut lines, &*self.head.lock());
        let mut left_out = 0;
        // The possible ends of the file: before each text. The longest texts come last.
        let mut ends = Vec::new();
        for record in self.left.records() {
            let end = lines.len();
            let text = record.text_id();
            write_line(&mut lines, &record);
            if lines.len() > MAX_WRITTEN {
                lines.truncate(end);
                left_out += 1;
            } else if let Some(text) = text {
                self.texts.insert(text, end..lines.len() - 1);
                ends.push((end, text));
            }
        }
        let mut written = self.slot.write(&lines);
        if written.is_err() {
            // Without the old file there may be space.
            self.slot.clear()?;
            written = self.slot.write(&lines);
        }
        while written.is_err()
            && let Some((end, text)) = ends.pop()
        {
            self.texts.remove(&text);
            lines.truncate(end);
            left_out += 1;
            written = self.slot.write(&lines);
        }
        if left_out > self.left_out {
            log::warn!(
                "the disk has no space for {left_out} accepted texts; after a restart their CLIs \
                 take them for rejected"
            );
        }
        self.left_out = left_out;
        if written.is_err() {
            self.slot.clear()?;
        }
        self.open = Some(written?);
        self.written = lines.len();
        self.length = lines.len();
        Ok(())
    }
}

/// Writes `lines` behind the first `length` bytes, or touches the file to show that the server lives.
fn append(mut file: std::fs::File, length: usize, lines: &[u8]) -> io::Result<std::fs::File> {
    if lines.is_empty() {
        file.set_modified(std::time::SystemTime::now())?;
    } else {
        file.seek(SeekFrom::Start(length as u64))?;
        file.write_all(lines)?;
    }
    Ok(file)
}

/// Overwrites these lines with spaces, from their beginning.
fn erase(mut file: std::fs::File, lines: &[Range<usize>]) -> io::Result<std::fs::File> {
    for line in lines {
        file.seek(SeekFrom::Start(line.start as u64))?;
        file.write_all(&vec![b' '; line.len()])?;
    }
    Ok(file)
}
