//! Keeps the open files, the order of their focus, and the caret.
//!
//! The model is a plain value that takes events and gives snapshots. It uses no clock, disk or
//! thread: the time comes with the event, and the caller decides which files may be shared.

use std::collections::HashSet;

use companion_protocol::ide::{
    IdeContext, MAX_OPEN_FILES, MAX_SELECTED_TEXT, OpenFile, Position, WorkspaceState,
    truncate_utf16,
};

use companion_platform::{Platform, relative_to};

#[derive(Debug, Default)]
pub(crate) struct ContextModel {
    /// Newest focus first.
    files: Vec<TrackedFile>,
    /// Whether the first file has the focus.
    active: bool,
    trusted: Option<bool>,
    /// Whether files are shared.
    is_shared: bool,
}

#[derive(Debug)]
struct TrackedFile {
    path: String,
    focused_at: u64,
    cursor: Option<Position>,
    selection: Option<String>,
}

/// Each event returns whether it changed anything.
impl ContextModel {
    pub(crate) fn new(trusted: Option<bool>, is_shared: bool) -> Self {
        Self { trusted, is_shared, ..Self::default() }
    }

    /// Adds a file, perhaps in the background: it follows the files that had the focus. `now` is in
    /// milliseconds since 1970.
    pub(crate) fn opened(&mut self, path: &str, now: u64) -> bool {
        if self.position(path).is_some() {
            return false;
        }
        // The client sorts by time, and takes only the newest file as the active one.
        let oldest = self.files.last().map_or(now, |file| file.focused_at);
        self.files.push(TrackedFile::new(path, now.min(oldest)));
        true
    }

    /// Gives a file the focus. Adds it if needed.
    pub(crate) fn focused(&mut self, path: &str, now: u64) -> bool {
        let position = self.position(path);
        if self.active && position == Some(0) {
            return false;
        }
        // Newer than any other, even if the clock was set back.
        let newest = self.files.first().map_or(0, |file| file.focused_at + 1);
        let mut file = position
            .map_or_else(|| TrackedFile::new(path, now), |position| self.files.remove(position));
        file.focused_at = now.max(newest);
        self.files.insert(0, file);
        self.active = true;
        true
    }

    pub(crate) fn closed(&mut self, path: &str) -> bool {
        self.remove(|file| file.path == path)
    }

    pub(crate) fn cursor(&mut self, path: &str, cursor: Position) -> bool {
        self.change(path, |file| replace(&mut file.cursor, Some(cursor)))
    }

    pub(crate) fn selection(&mut self, path: &str, text: &str) -> bool {
        let text = truncate_utf16(text, MAX_SELECTED_TEXT);
        self.change(path, |file| {
            if file.selection.as_deref().unwrap_or_default() == text {
                return false;
            }
            file.selection = (!text.is_empty()).then(|| text.to_owned());
            true
        })
    }

    /// Renames or moves a file or directory.
    pub(crate) fn renamed(&mut self, from: &str, to: &str) -> bool {
        let mut changed = false;
        for file in &mut self.files {
            if let Some(rest) = relative_to(Platform::CURRENT, &file.path, from) {
                file.path = format!("{to}{rest}");
                changed = true;
            }
        }
        if changed {
            // A file that was renamed over another one has taken its place.
            let mut seen = HashSet::new();
            self.files.retain(|file| seen.insert(file.path.clone()));
        }
        changed
    }

    /// Removes a file or directory.
    pub(crate) fn deleted(&mut self, path: &str) -> bool {
        self.remove(|file| relative_to(Platform::CURRENT, &file.path, path).is_some())
    }

    pub(crate) fn trusted(&mut self, trusted: Option<bool>) -> bool {
        replace(&mut self.trusted, trusted)
    }

    /// Sets whether files are shared.
    pub(crate) fn set_shared(&mut self, is_shared: bool) -> bool {
        replace(&mut self.is_shared, is_shared)
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The paths of the open files, newest focus first.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    /// The context: the newest files for which `is_shared` returns true.
    pub(crate) fn snapshot(&self, is_shared: impl Fn(&str) -> bool) -> IdeContext {
        let shared = |file: &TrackedFile| self.is_shared && is_shared(&file.path);
        let shared = self.files.iter().enumerate().filter(|(_, file)| shared(file));
        let open_files = shared.take(MAX_OPEN_FILES).map(|(position, file)| {
            let is_active = self.active && position == 0;
            OpenFile {
                path: file.path.clone(),
                timestamp: file.focused_at,
                is_active,
                cursor: file.cursor.filter(|_| is_active),
                selected_text: file.selection.clone().filter(|_| is_active),
            }
        });
        let open_files = open_files.collect();
        IdeContext { workspace_state: WorkspaceState { open_files, is_trusted: self.trusted } }
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|file| file.path == path)
    }

    /// Changes what is known of a file. Returns whether the context changes: only the active file counts.
    fn change(&mut self, path: &str, change: impl FnOnce(&mut TrackedFile) -> bool) -> bool {
        let position = self.position(path);
        let changed = position.is_some_and(|position| change(&mut self.files[position]));
        changed && self.active && position == Some(0)
    }

    fn remove(&mut self, gone: impl Fn(&TrackedFile) -> bool) -> bool {
        let before = self.files.len();
        self.active &= !self.files.first().is_some_and(&gone);
        self.files.retain(|file| !gone(file));
        self.files.len() < before
    }
}

impl TrackedFile {
    fn new(path: &str, focused_at: u64) -> Self {
        Self { path: path.to_owned(), focused_at, cursor: None, selection: None }
    }
}

fn replace<T: PartialEq>(place: &mut T, value: T) -> bool {
    *place != value && {
        *place = value;
        true
    }
}
