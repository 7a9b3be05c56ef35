//! Reads files before and after an edit.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use companion_core::text::{BOM, plain};
use companion_platform::open_plain_file;

use super::super::original::is_unchanged_by_write;

/// The largest file whose text is kept, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// A file at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileText {
    Absent,
    /// With the line endings and the byte order mark of the file.
    Text(Arc<str>),
    /// The file exists, but its text is not kept: it is large, private, or not UTF-8. The stamp
    /// is `None` if it is unknown, too.
    Unkept(Option<Stamp>),
}

/// The size of a file in bytes, and the time of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64, Option<SystemTime>);

impl FileText {
    /// Reads a file. With `is_kept` false, its text is not read.
    pub(crate) fn read(path: &Path, is_kept: bool) -> Self {
        let found = match path.metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::Absent,
            Err(_) => return Self::Unkept(None),
        };
        let unkept = Self::Unkept(Some(Stamp(found.len(), found.modified().ok())));
        if !is_kept || !found.is_file() || found.len() > MAX_FILE {
            return unkept;
        }
        // A file that was replaced by a pipe meanwhile must not block.
        let Ok(file) = open_plain_file(path) else { return unkept };
        let mut text = String::with_capacity(usize::try_from(found.len()).unwrap_or_default());
        match file.take(MAX_FILE + 1).read_to_string(&mut text) {
            Ok(_) if text.len() as u64 <= MAX_FILE => Self::Text(text.into()),
            Ok(_) | Err(_) => unkept,
        }
    }

    /// Whether the CLI found another text than this one, apart from the byte order mark and the line
    /// endings. A text that is not kept is not compared.
    pub(super) fn differs_from(&self, of_cli: &str) -> bool {
        match self {
            Self::Text(text) => plain(text) != plain(of_cli),
            Self::Absent => !of_cli.is_empty(),
            Self::Unkept(_) => false,
        }
    }

    /// The text, if it is kept.
    pub(super) fn text(&self) -> Option<&Arc<str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Unkept(_) => None,
        }
    }

    /// The text, if a client may write it again without changing the file, see [`is_unchanged_by_write`].
    pub(crate) fn original(&self, path: &Path, is_write: bool) -> Option<&str> {
        self.text().map(|text| &**text).filter(|text| is_unchanged_by_write(path, text, is_write))
    }

    /// The bytes of its text.
    pub(super) fn size(&self) -> usize {
        self.text().map_or(0, |text| text.len())
    }

    /// Drops the text.
    pub(super) fn forget(&mut self) {
        if matches!(self, Self::Text(_)) {
            *self = Self::Unkept(None);
        }
    }
}

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSnapshot {
    pub(crate) path: Arc<str>,
    pub(crate) text: FileText,
    pub(crate) access: Access,
}

/// Who may see a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is in the workspace.
    Shared,
    /// It is in the workspace, and an ignore file names it.
    Private,
    /// The user does not work on it.
    Outside,
    /// The disk does not answer.
    Unknown,
}

/// Gives a text of a CLI the byte order mark and the line endings that the file has after the edit,
/// because a CLI keeps them.
pub(super) fn as_on_disk(of_cli: &str, after: &FileText) -> Arc<str> {
    let FileText::Text(after) = after else { return of_cli.into() };
    let mut text = of_cli.to_owned();
    if after.contains("\r\n") && !text.contains("\r\n") {
        text = text.replace('\n', "\r\n");
    }
    if after.starts_with(BOM) && !text.starts_with(BOM) {
        text.insert(0, BOM);
    }
    text.into()
}
