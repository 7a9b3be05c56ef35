//! The file of a server that runs. Records are appended; once a text need not be told
//! any more the file is written anew without it, so that no text stays on the disk.

use std::io::{self, Write};

use super::lines::{Head, write_line};
use super::slots::{MAX_FILE, Slot};
use crate::diffs::{Batch, Left, Record};

/// How many bytes are appended before the file is written anew.
const APPENDED: usize = 64 << 10;

/// How large it is then at most, so that the next process reads it after all that is appended.
const WRITTEN: usize = MAX_FILE - APPENDED;

/// The file of a server that runs.
pub(super) struct File {
    slot: Slot,
    head: Head,
    /// What the records come to.
    left: Left,
    /// Where records are appended; nothing if the file must be written anew.
    pub(super) end: Option<std::fs::File>,
    appended: usize,
    /// How many records did not fit.
    left_out: usize,
}

impl File {
    pub(super) fn new(slot: Slot, head: Head, left: Left) -> Self {
        Self { slot, head, left, end: None, appended: 0, left_out: 0 }
    }

    /// Takes what has happened.
    pub(super) fn take(&mut self, batch: Batch) -> io::Result<()> {
        let mut lines = Vec::new();
        let mut anew = batch.ends;
        for record in batch.records {
            write_line(&mut lines, &record);
            anew |= self.left.apply(record);
        }
        self.appended += lines.len();
        anew |= self.appended > APPENDED;
        // What was not written whole is no end to go on from.
        self.end = self.end.take().filter(|_| !anew).and_then(|end| append(end, &lines).ok());
        if self.end.is_some() { Ok(()) } else { self.write() }
    }

    /// Puts the file in place, with no more than is needed. If that fails there is none: what
    /// clients hear from the next process may be too little, but nothing that is over.
    pub(super) fn write(&mut self) -> io::Result<()> {
        self.end = None;
        let mut lines = Vec::new();
        write_line(&mut lines, &self.head);
        let mut left_out = 0;
        // Where the file can end: before each text. The longest texts come last.
        let mut ends = Vec::new();
        for record in self.left.records() {
            let end = lines.len();
            write_line(&mut lines, &record);
            if lines.len() > WRITTEN {
                lines.truncate(end);
                left_out += 1;
            } else if matches!(record, Record::Accepted(..)) {
                ends.push(end);
            }
        }
        let mut written = self.slot.write(&lines);
        if written.is_err() {
            // Without the old one there may be space.
            self.slot.clear()?;
            written = self.slot.write(&lines);
        }
        while written.is_err()
            && let Some(end) = ends.pop()
        {
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
        self.end = Some(written?);
        self.appended = 0;
        Ok(())
    }
}

/// Appends to the file, or shows by its time that the server lives.
fn append(mut end: std::fs::File, lines: &[u8]) -> io::Result<std::fs::File> {
    if lines.is_empty() {
        end.set_modified(std::time::SystemTime::now())?;
    } else {
        end.write_all(lines)?;
    }
    Ok(end)
}
