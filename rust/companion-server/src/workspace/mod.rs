//! Checks whether a file lies within the workspace, and whether it is private.
//!
//! A path is judged by its target, not by its name: a repository may contain a link to anywhere.
//! The result holds for that moment only. A program that can change the project's links can change
//! them between the check and the editor's write.

pub(crate) mod probe;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use companion_platform::{Platform, relative_to};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::disk::paths::{Folders, SharedFolders, Worktrees, resolve, without_parents};
use crate::disk::pool::{BlockingPool, DiskQueue};
use crate::privacy::Privacy;

/// The reason for a private file.
pub(crate) const PRIVATE: &str =
    "the file stays private; an ignore file lists it, Git ignores it, or it may contain secrets";

/// The reason for a file that counts as private while an ignore file changes.
pub(crate) const UNSETTLED: &str = "the file may be private: an ignore file is changing";

/// The reason for a file that no editor of this companion has open.
pub(crate) const OUTSIDE: &str = "the file lies outside of the workspace";

/// The reason for such a file while the worktrees of the open folders are not known yet.
const UNKNOWN_WORKTREES: &str = "the worktrees of the workspace are not known yet";

/// The reason if the editor has closed all folders.
pub(crate) const NO_FOLDER: &str = "no folder is open in the editor";

/// The reason for a path in which a folder is missing or is a file, or whose links go in a circle.
pub(crate) const LEADS_NOWHERE: &str = "the path leads nowhere, or can't be followed";

/// Whether this reason lasts. The others are those of a disk, which may answer later, and of ignore files
/// and worktrees that change.
pub(crate) fn is_refusal(why: &str) -> bool {
    why == PRIVATE || why == OUTSIDE
}

/// The reason if nothing is known about a path yet.
pub(crate) const DISK_TIMED_OUT: &str = "the disk does not answer";

pub(crate) struct Workspace {
    folders: SharedFolders,
    /// The other worktrees of the open folders' repositories belong to the workspace.
    has_worktrees: bool,
    /// Notified when the editor opens or closes a folder.
    changed: watch::Sender<()>,
    privacy: Arc<Privacy>,
    is_within: fn(&Path, &[PathBuf]) -> io::Result<bool>,
    /// One check at a time, however many calls ask.
    disk: DiskQueue,
}

impl Workspace {
    /// `git_ignored` are private too, if true: all files that Git ignores. With `has_worktrees`,
    /// [`Self::set_worktrees`] follows.
    pub(crate) fn new(
        open: Vec<PathBuf>,
        git_ignored: bool,
        has_worktrees: bool,
        pool: Arc<BlockingPool>,
    ) -> Self {
        let folders = Folders { open, awaits_worktrees: has_worktrees, ..Folders::default() };
        let folders: SharedFolders = Arc::new(Mutex::new(folders));
        let privacy = Arc::new(Privacy::new(Arc::clone(&folders), git_ignored));
        let changed = watch::Sender::default();
        Self { folders, has_worktrees, changed, privacy, is_within, disk: DiskQueue::new(pool) }
    }

    /// The folders that the editor has open.
    pub(crate) fn open(&self) -> Vec<PathBuf> {
        self.folders.lock().open.clone()
    }

    /// Notifies when the editor has opened or closed a folder.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Adds the other worktrees of the repositories of `open`. Returns false if they are known already, or if
    /// other folders are open by now.
    pub(crate) fn set_worktrees(&self, open: &[PathBuf], worktrees: &Worktrees) -> bool {
        let mut folders = self.folders.lock();
        if folders.open != open {
            return false;
        }
        let are_new = folders.worktrees != *worktrees;
        if are_new || folders.awaits_worktrees {
            folders.remember();
            folders.worktrees.clone_from(worktrees);
            folders.awaits_worktrees = false;
            self.privacy.note_change();
        }
        are_new
    }

    /// The rules for private files.
    pub(crate) fn privacy(&self) -> &Arc<Privacy> {
        &self.privacy
    }

    /// Replaces the open folders. Their worktrees follow. Returns the known ones. They stay until then if a
    /// folder stays open: most often they are the same, and their ignore files must count all the time.
    pub(crate) fn change(&self, open: Vec<PathBuf>) -> Vec<PathBuf> {
        let worktrees = {
            let mut folders = self.folders.lock();
            folders.remember();
            if folders.open.iter().any(|folder| open.contains(folder)) {
                folders.worktrees.free.retain(|worktree| !open.contains(worktree));
            } else {
                folders.worktrees = Worktrees::default();
            }
            folders.open = open;
            folders.awaits_worktrees = self.has_worktrees;
            folders.worktrees.free.clone()
        };
        self.privacy.note_change();
        self.changed.send_replace(());
        worktrees
    }

    /// The path from its root, by name; the whole path if it is in no root.
    pub(crate) fn relative(&self, path: &str) -> String {
        let folders = self.folders.lock();
        let mut rests = folders.roots().filter_map(|root| path_from(root.to_str()?, path));
        rests.next().unwrap_or(path).to_owned()
    }

    /// Names a file for the model of a CLI that runs in `folder`, `None` if that is not known. The model
    /// takes a path from there. A CLI in a container may know the file by another absolute path.
    pub(crate) fn name_for(&self, folder: Option<&str>, path: &str) -> String {
        let Some(folder) = folder else { return self.relative(path) };
        if let Some(rest) = path_from(folder, path) {
            return rest.to_owned();
        }
        let (here, file) = (Path::new(folder), Path::new(path));
        let roots: Vec<_> = self.folders.lock().roots().cloned().collect();
        // Most containers have a root as a whole, so the way within it is the same there.
        if roots.iter().any(|root| is_below(here, root) && is_below(file, root)) {
            return way(here, file);
        }
        match &roots[..] {
            // The editor may have opened the folder by a link, whose target a CLI has as its folder.
            [root] if !is_below(here, root) => self.relative(path),
            _ => path.to_owned(),
        }
    }

    /// Fails unless `path`, which may not exist, leads into a root. Waits for the disk for up to
    /// `limit`.
    pub(crate) async fn check(&self, path: &str, limit: Duration) -> Result<(), &'static str> {
        self.check_all(vec![path.to_owned()], limit, false).await.remove(0)
    }

    /// Fails unless `path` leads into a root and is not private.
    pub(crate) async fn check_shared(
        &self,
        path: &str,
        limit: Duration,
    ) -> Result<(), &'static str> {
        self.check_all(vec![path.to_owned()], limit, true).await.remove(0)
    }

    /// Does the same for each of `paths`, in one check of the disk.
    pub(crate) async fn check_all_shared(
        &self,
        paths: &[Arc<str>],
        limit: Duration,
    ) -> Vec<Result<(), &'static str>> {
        let paths = paths.iter().map(ToString::to_string).collect();
        self.check_all(paths, limit, true).await
    }

    async fn check_all(
        &self,
        paths: Vec<String>,
        limit: Duration,
        must_be_shared: bool,
    ) -> Vec<Result<(), &'static str>> {
        let end = Instant::now() + limit;
        let paths: Arc<[String]> = paths.into();
        let mut changes = self.privacy.changes();
        loop {
            let awaits_worktrees = self.folders.lock().awaits_worktrees;
            let mut checked = self.check_on_disk(Arc::clone(&paths), end, must_be_shared).await;
            if !awaits_worktrees || !checked.contains(&Err(OUTSIDE)) {
                return checked;
            }
            if timeout_at(end, changes.changed()).await.is_err() {
                let outside = checked.iter_mut().filter(|checked| **checked == Err(OUTSIDE));
                outside.for_each(|checked| *checked = Err(UNKNOWN_WORKTREES));
                return checked;
            }
        }
    }

    async fn check_on_disk(
        &self,
        paths: Arc<[String]>,
        end: Instant,
        must_be_shared: bool,
    ) -> Vec<Result<(), &'static str>> {
        let count = paths.len();
        let roots: Vec<_> = self.folders.lock().roots().cloned().collect();
        if roots.is_empty() {
            return vec![Err(NO_FOLDER); count];
        }
        let (is_within, privacy) = (self.is_within, Arc::clone(&self.privacy));
        let check = move |path: &str| -> io::Result<Result<(), &'static str>> {
            if !is_within(Path::new(path), &roots)? {
                return Ok(Err(OUTSIDE));
            }
            if must_be_shared { shared(&privacy, path) } else { Ok(Ok(())) }
        };
        let checked = async {
            let turn = self.disk.turn().await;
            let result = turn.run(move || {
                paths.iter().map(|path| check(path).unwrap_or(Err(LEADS_NOWHERE))).collect()
            });
            result.await.unwrap_or_else(|_| vec![Err(LEADS_NOWHERE); count])
        };
        timeout_at(end, checked).await.unwrap_or_else(|_| vec![Err(DISK_TIMED_OUT); count])
    }
}

/// The path of a file from a folder above it, by name.
fn path_from<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    relative_to(Platform::CURRENT, path, folder)?.get(1..)
}

/// The path of a file from a folder next to it.
fn way(folder: &Path, path: &Path) -> String {
    let common = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let mut way = PathBuf::new();
    for _ in folder.components().skip(common) {
        way.push("..");
    }
    way.extend(path.components().skip(common));
    way.to_string_lossy().into_owned()
}

/// Fails if the file is private. Blocks on the disk.
pub(crate) fn shared(privacy: &Privacy, path: &str) -> io::Result<Result<(), &'static str>> {
    let mut scan = privacy.scan();
    let is_private = scan.is_private(path)?;
    Ok(match scan.again() {
        _ if !is_private => Ok(()),
        Some(_) => Err(UNSETTLED),
        None => Err(PRIVATE),
    })
}

/// Whether `path` leads into one of `roots`, for both readings of `..`: some editors resolve a link
/// before they go up, others go by the name.
fn is_within(path: &Path, roots: &[PathBuf]) -> io::Result<bool> {
    // A missing root contains nothing.
    let roots: Vec<_> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    for path in [resolve(path)?, resolve(&without_parents(path))?] {
        if !roots.iter().any(|root| is_below(&path, root)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_below(path: &Path, root: &Path) -> bool {
    // A name that is not Unicode can't be compared safely.
    let (Some(path), Some(root)) = (path.to_str(), root.to_str()) else { return false };
    relative_to(Platform::CURRENT, path, root).is_some()
}
