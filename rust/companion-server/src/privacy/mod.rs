//! Decides which files are private: an ignore file in a root, or in a folder below it, matches
//! them, or they may contain secrets.
//!
//! In doubt a file is private. A check looks at the folders that lead to the file, and never walks
//! a tree. Most functions block for the disk, so don't call them on the server's thread.

mod files;
mod rules;
mod secrets;
#[cfg(test)]
mod tests;
mod watched;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::disk::paths::{SharedFolders, resolve, without_parents};
use files::{EffectiveRules, Files};
use rules::{MAX_COMPILED, NAMES, Rules, is_named, lowercase, takes_back};
use secrets::Secret;
pub(crate) use watched::Watched;

/// The most folders between a root and a file. Each costs several accesses to the disk.
const MAX_DEPTH: usize = 256;

/// Why a file is private. As text, it also says how to share the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PrivateBy {
    /// An ignore file matches it, or may match it.
    IgnoreFile,
    /// It may contain secrets.
    Secret {
        /// The secrets in it.
        content: &'static str,
        /// The line of an ignore file that shares it; `None` outside of all roots.
        line: Option<String>,
    },
}

impl fmt::Display for PrivateBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IgnoreFile => f.write_str("An ignore file lists it."),
            Self::Secret { content, line: None } => {
                write!(f, "It may contain {content}, and is outside of the project.")
            }
            Self::Secret { content, line: Some(line) } => write!(
                f,
                "It may contain {content}. To share it, add this line to .geminiignore: {line}"
            ),
        }
    }
}

pub(crate) struct Privacy {
    folders: SharedFolders,
    files: Files,
    /// Notified when the set of private files may have changed.
    changed: Arc<Notify>,
}

impl Privacy {
    pub(crate) fn new(folders: SharedFolders) -> Self {
        Self { folders, files: Files::default(), changed: Arc::default() }
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
    pub(crate) fn scan(&self) -> PrivacyScan<'_> {
        let roots: Vec<_> = self.folders.lock().roots().cloned().collect();
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
    /// Whether the file is private, by its path or by its target.
    ///
    /// # Errors
    ///
    /// If the target can't be determined.
    pub(crate) fn is_private(&mut self, path: &str) -> io::Result<bool> {
        Ok(self.why_private(path)?.is_some())
    }

    /// Why the file is private, by its path or by its target; `None` if it is not.
    ///
    /// # Errors
    ///
    /// If the target can't be determined.
    pub(crate) fn why_private(&mut self, path: &str) -> io::Result<Option<PrivateBy>> {
        let path = Path::new(path);
        let by_name = without_parents(path);
        if let Some(why) = self.why(&by_name)? {
            return Ok(Some(why));
        }
        let unknown =
            |root: &Root| root.leads_to.is_none() && below(&by_name, &root.path).is_some();
        // Usually both are the same, and resolving a path costs an access for each folder on the
        // way.
        for path in BTreeSet::from([path, &by_name]) {
            match leads_to(path) {
                Ok(place) => {
                    if let Some(why) = self.why(&place)? {
                        return Ok(Some(why));
                    }
                }
                // On some Windows disks no path can be resolved, not even that of a root.
                Err(_) if self.roots.iter().any(unknown) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
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

    /// Why this path, which has no `..`, is private.
    fn why(&mut self, path: &Path) -> io::Result<Option<PrivateBy>> {
        let places = self.roots.iter().flat_map(Root::places);
        let found: BTreeSet<_> = places.filter_map(|root| below(path, root)).collect();
        let names = path.components().filter(|name| matches!(name, Component::Normal(_)));
        let all: Vec<_> =
            names.map(|name| lowercase(&name.as_os_str().to_string_lossy())).collect();
        if all.len() > 2 * MAX_DEPTH {
            return Ok(Some(PrivateBy::IgnoreFile));
        }
        let mut secret = Secret::of(&all, 0).map(|secret| (secret.content, None));
        for (root, names) in found {
            let names = names.iter().map(|name| name.to_str().ok_or(ErrorKind::InvalidData));
            let names = names.collect::<Result<Vec<_>, _>>()?;
            if names.len() > MAX_DEPTH {
                return Ok(Some(PrivateBy::IgnoreFile));
            }
            let Some(on_the_way) = self.read(root, &names) else {
                return Ok(Some(PrivateBy::IgnoreFile));
            };
            let line = share_line(&names);
            let names: Vec<_> = names.iter().map(|name| lowercase(name)).collect();
            if on_the_way.any(|rules| is_named(&names, rules)) {
                return Ok(Some(PrivateBy::IgnoreFile));
            }
            let opened = all.len() - names.len();
            secret = secret.and_then(|_| {
                let Secret { end, content } = Secret::of(&all, opened)?;
                let is_shared = on_the_way.always(|rules| takes_back(&names, rules, end - opened));
                (!is_shared).then_some((content, Some(line)))
            });
        }
        Ok(secret.map(|(content, line)| PrivateBy::Secret { content, line }))
    }

    /// Reads the ignore files of the folders from `root` to the file. `None` if they are too large.
    fn read(&mut self, mut folder: PathBuf, names: &[&str]) -> Option<OnTheWay> {
        let mut on_the_way = Vec::new();
        for name in names {
            let holdings = self.folders.entry(folder.clone()).or_insert_with(|| {
                let read = NAMES.map(|name| self.files.read(&folder, name));
                self.size += read.iter().map(|holding| holding.size).sum::<usize>();
                read
            });
            on_the_way.push(holdings.clone());
            if self.size > MAX_COMPILED {
                return None;
            }
            folder.push(name);
        }
        Some(OnTheWay(on_the_way))
    }
}

/// The folders from a root to a file.
struct OnTheWay(Vec<Folder>);

impl OnTheWay {
    /// Whether `judge` accepts the rules of any ignore file, as they are or as they were before any change
    /// that is still in force.
    fn any(&self, judge: impl Fn(&[Option<&Rules>]) -> bool) -> bool {
        (0..NAMES.len()).any(|file| self.states(file).iter().any(|rules| judge(rules)))
    }

    /// Whether `judge` accepts the rules of one ignore file, as they are and as they were before each
    /// change that is still in force.
    fn always(&self, judge: impl Fn(&[Option<&Rules>]) -> bool) -> bool {
        (0..NAMES.len()).any(|file| self.states(file).iter().all(|rules| judge(rules)))
    }

    /// The rules of the ignore file with this index in each folder: the present ones, and those before
    /// each change.
    fn states(&self, file: usize) -> Vec<Vec<Option<&Rules>>> {
        let holdings: Vec<_> = self.0.iter().map(|folder| &folder[file]).collect();
        let changes = holdings.iter().map(|holding| holding.before.len()).max();
        (0..=changes.unwrap_or_default())
            .map(|back| holdings.iter().map(|holding| holding.rules(back)).collect())
            .collect()
    }
}

/// The line of an ignore file in the root that shares the file again.
fn share_line(names: &[&str]) -> String {
    let mut line = String::from("!");
    for name in names {
        line.push('/');
        for c in name.chars() {
            if "*?[]{}\\".contains(c) {
                line.push('\\');
            }
            line.push(c);
        }
    }
    line
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
