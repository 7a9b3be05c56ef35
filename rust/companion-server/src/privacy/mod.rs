//! Decides which files are private: an ignore file in a root, or in a folder below it, matches
//! them.
//!
//! In doubt a file is private. A check looks at the folders that lead to the file, and never walks
//! a tree. Most functions block for the disk, so don't call them on the server's thread.

mod files;
mod rules;
#[cfg(test)]
mod tests;
mod watched;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::disk::paths::{Roots, resolve, without_parents};
use files::{EffectiveRules, Files};
use rules::{MAX_COMPILED, NAMES, is_named, lowercase};
pub(crate) use watched::Watched;

/// The most folders between a root and a file. Each costs several accesses to the disk.
const MAX_DEPTH: usize = 256;

pub(crate) struct Privacy {
    roots: Roots,
    files: Files,
    /// Notified when the set of private files may have changed.
    changed: Arc<Notify>,
}

impl Privacy {
    pub(crate) fn new(roots: Roots) -> Self {
        Self { roots, files: Files::default(), changed: Arc::default() }
    }

    /// Waits until the set of private files may have changed.
    pub(crate) fn changed(&self) -> &Arc<Notify> {
        &self.changed
    }

    /// Notes that ignore files may have changed unseen.
    pub(crate) fn invalidate(&self) {
        self.files.invalidate();
    }

    /// Starts a scan of the disk with the present roots.
    pub(crate) fn look(&self) -> PrivacyScan<'_> {
        let roots = self.roots.lock().clone();
        let roots = roots.into_iter().map(|root| {
            let leads_to = root.canonicalize().ok();
            Root { path: without_parents(&root), leads_to }
        });
        PrivacyScan { files: &self.files, roots: roots.collect(), folders: HashMap::new(), size: 0 }
    }
}

struct Root {
    path: PathBuf,
    /// `None` if the target can't be determined.
    leads_to: Option<PathBuf>,
}

impl Root {
    fn places(&self) -> impl Iterator<Item = &PathBuf> {
        iter::once(&self.path).chain(&self.leads_to)
    }
}

/// The rules in force in a folder, by the name of the ignore file.
type Folder = [EffectiveRules; NAMES.len()];

/// One scan of the disk. It reads each folder once.
pub(crate) struct PrivacyScan<'a> {
    files: &'a Files,
    roots: Vec<Root>,
    folders: HashMap<PathBuf, Folder>,
    /// The size of the folders' rules in bytes.
    size: usize,
}

impl PrivacyScan<'_> {
    /// Whether an ignore file matches the file, by its path or by its target.
    ///
    /// # Errors
    ///
    /// If the target can't be determined.
    pub(crate) fn is_private(&mut self, path: &str) -> io::Result<bool> {
        if self.roots.is_empty() {
            return Ok(false);
        }
        let path = Path::new(path);
        let by_name = without_parents(path);
        if self.is_named(&by_name)? {
            return Ok(true);
        }
        let unknown =
            |root: &Root| root.leads_to.is_none() && below(&by_name, &root.path).is_some();
        // Usually both are the same, and resolving a path costs an access for each folder on the
        // way.
        for path in BTreeSet::from([path, &by_name]) {
            match leads_to(path) {
                Ok(place) => {
                    if self.is_named(&place)? {
                        return Ok(true);
                    }
                }
                // On some Windows disks no path can be resolved, not even that of a root.
                Err(_) if self.roots.iter().any(unknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// The folders that the scan has read.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        self.folders.keys().cloned().collect()
    }

    /// The time of the next scan, even if nothing happens.
    pub(crate) fn again(&self) -> Option<Instant> {
        let holdings = self.folders.values().flatten();
        holdings.flat_map(|holding| &holding.before).map(|(_, until)| *until).min()
    }

    /// Whether the rules below any root match this path, which has no `..`.
    fn is_named(&mut self, path: &Path) -> io::Result<bool> {
        let places = self.roots.iter().flat_map(Root::places);
        let found: BTreeSet<_> = places.filter_map(|root| below(path, root)).collect();
        for (root, names) in found {
            let names = names.iter().map(|name| name.to_str().ok_or(ErrorKind::InvalidData));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            if names.len() > MAX_DEPTH || self.is_named_below(root, &names) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_named_below(&mut self, mut folder: PathBuf, names: &[&str]) -> bool {
        let mut on_the_way = Vec::new();
        for name in names {
            let holdings = self.folders.entry(folder.clone()).or_insert_with(|| {
                let read = NAMES.map(|name| self.files.read(&folder, name));
                self.size += read.iter().map(|holding| holding.size).sum::<usize>();
                read
            });
            on_the_way.push(holdings.clone());
            if self.size > MAX_COMPILED {
                return true;
            }
            folder.push(name);
        }
        let names: Vec<_> = names.iter().map(|name| lowercase(name)).collect();
        (0..NAMES.len()).any(|file| {
            let holdings: Vec<_> = on_the_way.iter().map(|folder| &folder[file]).collect();
            let changes = holdings.iter().map(|holding| holding.before.len()).max();
            // By the present rules, and by the rules before each change.
            (0..=changes.unwrap_or_default()).any(|back| {
                let rules = holdings.iter().map(|holding| holding.rules(back));
                is_named(&names, &rules.collect::<Vec<_>>())
            })
        })
    }
}

/// The target of a path, even if nothing exists there.
fn leads_to(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| resolve(path))
}

/// On most disks of these systems, names that differ only in case are the same.
const CASE_COUNTS: bool = !cfg!(any(windows, target_os = "macos"));

/// The root as `path` spells it, and the names below it. `None` if `path` is not below the root.
fn below(path: &Path, root: &Path) -> Option<(PathBuf, Vec<OsString>)> {
    let mut components = path.components();
    let mut written = PathBuf::new();
    for of_root in root.components() {
        let component = components.next()?;
        if !is_same(component, of_root, CASE_COUNTS) {
            return None;
        }
        written.push(component);
    }
    let names = components.map(|name| name.as_os_str().to_owned()).collect();
    Some((written, names))
}

fn is_same(one: Component<'_>, other: Component<'_>, case_counts: bool) -> bool {
    let lower = |component: Component<'_>| component.as_os_str().to_str().map(lowercase);
    one == other || (!case_counts && lower(one).is_some() && lower(one) == lower(other))
}
