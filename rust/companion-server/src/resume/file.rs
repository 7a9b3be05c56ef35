//! The file: its head, then a record per line. Records are appended; once a text need not be told
//! any more the file is written anew without it, so that no text stays on the disk.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::Token;
use super::slots::Slot;
use crate::diffs::{Batch, Left, Record};

/// Changes with the meaning of the file.
const VERSION: u32 = 2;

/// How many bytes are appended before the file is written anew.
const APPENDED: usize = 64 << 10;

/// The first line.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head {
    version: u32,
    pub(super) token: Token,
    pub(super) port: u16,
    /// The editor's process.
    pub(super) ide_pid: u32,
    /// Whether clients have edits reviewed.
    pub(super) diffs: bool,
}

impl Head {
    /// That of a server that nobody knows.
    pub(super) fn new(ide_pid: u32, diffs: bool) -> Self {
        Self { version: VERSION, token: Token::random(), port: 0, ide_pid, diffs }
    }

    /// That of a server which goes on in this process.
    pub(super) fn continued(self, ide_pid: u32, diffs: bool) -> Self {
        Self { ide_pid, diffs, ..self }
    }
}

/// The file of a server that runs.
pub(super) struct File {
    slot: Slot,
    head: Head,
    /// What the records come to.
    left: Left,
    /// Where records are appended; nothing if the file must be written anew.
    end: Option<std::fs::File>,
    appended: usize,
}

impl File {
    pub(super) fn new(slot: Slot, head: Head, left: Left) -> Self {
        Self { slot, head, left, end: None, appended: 0 }
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
        let Some(mut end) = self.end.take().filter(|_| !anew) else { return self.write() };
        if lines.is_empty() {
            end.set_modified(std::time::SystemTime::now())?;
        } else {
            end.write_all(&lines)?;
        }
        self.end = Some(end);
        Ok(())
    }

    /// Puts the file in place, with no more than is needed.
    pub(super) fn write(&mut self) -> io::Result<()> {
        self.end = None;
        let mut lines = Vec::new();
        write_line(&mut lines, &self.head);
        for record in self.left.records() {
            write_line(&mut lines, &record);
        }
        self.end = Some(self.slot.write(&lines)?);
        self.appended = 0;
        Ok(())
    }
}

fn write_line(lines: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *lines, line).expect("strings and numbers are JSON");
    lines.push(b'\n');
}

/// What a file says; nothing if it is damaged. A line that was not finished counts for nothing.
pub(super) fn read(content: &[u8]) -> Option<(Head, Left)> {
    let mut lines = content.split_inclusive(|byte| *byte == b'\n');
    let head: Head = serde_json::from_slice(lines.next()?).ok()?;
    let mut left = Left::default();
    for line in lines.filter(|line| line.ends_with(b"\n")) {
        left.apply(serde_json::from_slice::<Record>(line).ok()?);
    }
    (head.version == VERSION).then_some((head, left))
}
