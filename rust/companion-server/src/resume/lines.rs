//! Writes and reads the lines of the resume file: its head, then one record per line.

use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use companion_core::record::{Left, Record};
use companion_platform::{is_process_alive, process_identity};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::Token;

/// Changes when the meaning of the file changes: the next server then keeps only the notes, and no clients and
/// diffs. A new field with a serde default needs no change.
const VERSION: u32 = 8;

/// The first line.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head {
    version: u32,
    pub(super) token: Token,
    pub(super) port: u16,
    /// The editor's process.
    pub(super) ide_pid: u32,
    /// Names that process, because the system may use its id again; `None` if that can't be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ide_identity: Option<String>,
    /// Whether clients let the user review edits.
    pub(super) review: bool,
    /// The roots of the workspace, without links and sorted. Empty if other companions must not take
    /// the clients over.
    pub(super) workspace: Vec<PathBuf>,
    /// The ports and tokens of other companions, whose clients this server has taken over.
    pub(crate) adopted: Vec<Address>,
}

/// A port and its token.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Address {
    pub(crate) port: u16,
    pub(crate) token: Token,
}

/// The head of the file of a running server.
pub(crate) type SharedHead = Arc<Mutex<Head>>;

impl Head {
    /// The head of a server of a running editor, without a token that a client knows.
    pub(super) fn new(ide_pid: u32, review: bool) -> Self {
        Self { ide_identity: process_identity(ide_pid), ..Self::of_ended(ide_pid, review) }
    }

    /// The same, of an editor of which nothing but its process is known.
    pub(super) fn of_ended(ide_pid: u32, review: bool) -> Self {
        let (workspace, adopted) = (Vec::new(), Vec::new());
        let (version, token, ide_identity) = (VERSION, Token::random(), None);
        Self { version, token, port: 0, ide_pid, ide_identity, review, workspace, adopted }
    }

    /// Whether the editor runs. Blocks for the system.
    pub(super) fn is_editor_alive(&self) -> bool {
        let is_same = || match (&self.ide_identity, process_identity(self.ide_pid)) {
            (Some(editor), Some(process)) => *editor == process,
            _ => true,
        };
        is_process_alive(self.ide_pid) && is_same()
    }

    /// Whether this server has taken over the clients of another one.
    pub(super) fn has_adopted(&self, other: &Self) -> bool {
        self.adopted.iter().any(|of| of.token == other.token)
    }

    /// All ports and tokens that clients know.
    pub(super) fn addresses(&self) -> Vec<Address> {
        let own = Address { port: self.port, token: self.token.clone() };
        iter::once(own).chain(self.adopted.iter().cloned()).collect()
    }

    /// The head of the same editor, without a token that a client knows.
    pub(super) fn without_clients(&self) -> Self {
        let (workspace, ide_identity) = (self.workspace.clone(), self.ide_identity.clone());
        Self { ide_identity, workspace, ..Self::of_ended(self.ide_pid, self.review) }
    }

    /// The head of a server that continues in this process.
    pub(super) fn continued(self, ide_pid: u32, review: bool) -> Self {
        Self { ide_pid, ide_identity: process_identity(ide_pid), review, ..self }
    }
}

/// The whole file.
pub(super) fn write(head: &Head, left: &Left) -> Vec<u8> {
    let mut lines = Vec::new();
    write_line(&mut lines, head);
    for record in left.records() {
        write_line(&mut lines, &record);
    }
    lines
}

pub(super) fn write_line(lines: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *lines, line).expect("strings and numbers are JSON");
    lines.push(b'\n');
}

/// The owner of a file; `None` if it is damaged.
pub(super) fn read_head(content: &[u8]) -> Option<Head> {
    let head: Head = serde_json::from_slice(lines(content).next()?).ok()?;
    (head.version == VERSION).then_some(head)
}

/// Reads a file; `None` if it is damaged. A line that is unfinished or erased does not count.
pub(super) fn read(content: &[u8]) -> Option<(Head, Left)> {
    let head = read_head(content)?;
    let mut left = Left::default();
    for line in records(content) {
        left.apply(serde_json::from_slice::<Record>(line).ok()?);
    }
    Some((head, left))
}

/// Reads the notes of a file that is damaged, or that another version wrote, without the lines that
/// can't be read.
pub(super) fn read_notes(content: &[u8]) -> Left {
    let mut left = Left::default();
    for line in records(content) {
        if let Ok(record) = serde_json::from_slice::<Record>(line) {
            left.apply(record);
        }
    }
    left.without_clients()
}

fn records(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let counts = |line: &&[u8]| line.ends_with(b"\n") && !line.starts_with(b" ");
    lines(content).skip(1).filter(counts)
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split_inclusive(|byte| *byte == b'\n')
}
