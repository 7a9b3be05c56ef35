//! Decides which files are private: an ignore file in a root, present or earlier, or in a folder below
//! it, matches them, they may contain secrets, or Git ignores them and the user has chosen that this
//! counts.
//!
//! In doubt a file is private. A check looks at the folders that lead to the file, and never walks
//! a tree. Most functions block for the disk, so don't call them on the server's thread.

mod brackets;
mod files;
mod git;
mod git_config;
mod rules;
mod secrets;
#[cfg(test)]
mod tests;
mod watched;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::{Component, Path, PathBuf};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::disk::paths::{SharedFolders, resolve, without_parents};
pub(crate) use files::SETTLE_TIME;
use files::{EffectiveRules, Files};
use git::{GitScan, Ignored};
use git_config::{Excludes, NamedFiles};
use rules::{MAX_COMPILED, NAMES, Names, Rules, lowercase};
use secrets::Secret;
pub(crate) use watched::Watched;

/// The most folders between a root and a file. Each costs several accesses to the disk.
const MAX_DEPTH: usize = 256;

/// The most characters of a rule in a reason.
const MAX_SHOWN_RULE: usize = 60;

/// Why a file is private. As text, it also names the line that shares the file, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PrivateBy {
    /// An ignore file matches it, or may match it.
    IgnoreFile,
    /// It is outside of all roots, and may be in a worktree that no look has found yet.
    UnknownWorktree,
    /// It may contain secrets.
    Secret {
        /// The secrets in it.
        content: &'static str,
        /// The line of an ignore file that shares it; `None` outside of all roots.
        line: Option<String>,
    },
    /// Git ignores it.
    Git {
        /// The rule; `None` if the ignore file can't be used.
        rule: Option<String>,
        /// The ignore file, from its root if it is in one.
        file: String,
        /// The line of an ignore file that shares it; `None` outside of all roots.
        line: Option<String>,
    },
}

impl fmt::Display for PrivateBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = match self {
            Self::IgnoreFile => return f.write_str("An ignore file lists it."),
            Self::UnknownWorktree => {
                return f
                    .write_str("Its Git worktree may have an ignore file that is not read yet.");
            }
            Self::Secret { content, line } => {
                write!(f, "It may contain {content}")?;
                line
            }
            Self::Git { rule: Some(rule), file, line } => {
                let rule = rule.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_RULE);
                write!(f, "Git ignores it by {} in {file}", rule.collect::<String>())?;
                line
            }
            Self::Git { rule: None, file, line } => {
                write!(f, "Git may ignore it, but {file} can’t be used")?;
                line
            }
        };
        match line {
            Some(line) => write!(f, ". To share it, add this line to .geminiignore: {line}"),
            None => f.write_str(", and is outside of the project."),
        }
    }
}

pub(crate) struct Privacy {
    folders: SharedFolders,
    /// The targets of folders, as the last scan found them.
    targets: Mutex<HashMap<PathBuf, PathBuf>>,
    files: Files,
    /// Notified when the set of private files may have changed.
    changed: watch::Sender<()>,
    /// Finds the user's ignore file for all repositories. Present if the files that Git ignores are
    /// private.
    git: Option<fn() -> Excludes>,
    named: NamedFiles,
}

impl Privacy {
    /// `git_ignored` are private too, if true: all files that Git ignores.
    pub(crate) fn new(folders: SharedFolders, git_ignored: bool) -> Self {
        let git = git_ignored.then_some(Excludes::of_user as fn() -> _);
        let (targets, files, named) = (Mutex::default(), Files::default(), NamedFiles::default());
        Self { folders, targets, files, changed: watch::Sender::default(), git, named }
    }

    /// Notes that the set of private files may have changed.
    pub(crate) fn note_change(&self) {
        self.changed.send_replace(());
    }

    /// Notifies of the changes from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Notes that ignore files may have changed unseen.
    pub(crate) fn invalidate(&self) {
        self.files.invalidate();
    }

    /// Starts a scan of the disk with the present roots.
    pub(crate) fn scan(&self) -> PrivacyScan<'_> {
        let (open, closed, awaits_worktrees) = {
            let folders = self.folders.lock();
            let open: Vec<_> = folders.with_ignore_files().cloned().collect();
            (open, folders.closed.clone(), folders.awaits_worktrees)
        };
        let known = self.targets.lock().clone();
        let mut targets = HashMap::new();
        let mut root = |folder: PathBuf, is_present: bool| {
            // The disk of a closed folder may be gone.
            let known = known.get(&folder).filter(|_| !is_present).cloned();
            let leads_to = known.or_else(|| folder.canonicalize().ok());
            let path = without_parents(&folder);
            targets.extend(leads_to.clone().map(|target| (folder, target)));
            Root { path, leads_to, is_present }
        };
        let mut roots: Vec<_> = closed.into_iter().map(|folder| root(folder, false)).collect();
        roots.extend(open.into_iter().map(|folder| root(folder, true)));
        *self.targets.lock() = targets;
        PrivacyScan {
            files: &self.files,
            git: self.git.map(|find| GitScan::new(find(), &self.named)),
            roots,
            awaits_worktrees,
            read: HashMap::new(),
            size: 0,
        }
    }
}

struct Root {
    path: PathBuf,
    /// `None` if the target can't be determined.
    leads_to: Option<PathBuf>,
    /// Whether it still belongs to the project. Otherwise its ignore files only hide files.
    is_present: bool,
}

impl Root {
    fn places(&self) -> impl Iterator<Item = &PathBuf> {
        iter::once(&self.path).chain(&self.leads_to)
    }
}

/// The ignore files on the way to a file are too large for a scan. The file is private.
#[derive(Debug)]
struct TooLarge;

/// One scan of the disk. It reads each ignore file once.
pub(crate) struct PrivacyScan<'a> {
    files: &'a Files,
    git: Option<GitScan<'a>>,
    roots: Vec<Root>,
    /// More roots may follow, so a file outside of these may be private.
    awaits_worktrees: bool,
    /// The rules in force because of each ignore file, also of missing ones.
    read: HashMap<PathBuf, EffectiveRules>,
    /// The size of these rules in bytes.
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

    /// The ignore files that the scan has looked for, and the configuration of Git.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.keys().chain(self.git.iter().flat_map(GitScan::configs))
    }

    /// For each of these files, the path that would change if the file did. If the folder of a file that
    /// serves a whole repository is missing, that is the first missing folder.
    pub(crate) fn watched_paths(&self) -> BTreeSet<&Path> {
        let distant: BTreeSet<_> = self.git.iter().flat_map(GitScan::distant_files).collect();
        let mut paths = BTreeSet::new();
        for file in self.files() {
            let mut path = file.as_path();
            if distant.contains(file) {
                let missing = file.ancestors().take_while(|path| !path.is_dir());
                path = missing.last().unwrap_or(path);
            }
            paths.insert(path);
        }
        paths
    }

    /// The time of the next scan, even if nothing happens.
    pub(crate) fn again(&self) -> Option<Instant> {
        let rules = self.read.values().flat_map(|rules| &rules.before).map(|(_, until)| *until);
        rules.chain(self.git.as_ref().and_then(GitScan::settles)).min()
    }

    /// Why this path, which has no `..`, is private.
    fn why(&mut self, path: &Path) -> io::Result<Option<PrivateBy>> {
        // The closed ones come first, so that a root that has opened again counts as present.
        let places =
            self.roots.iter().flat_map(|root| root.places().map(|at| (at, root.is_present)));
        let found: BTreeMap<_, _> = places
            .filter_map(|(root, is_present)| Some((below(path, root)?, is_present)))
            .collect();
        let is_outside = !found.values().any(|is_present| *is_present);
        if is_outside && self.awaits_worktrees {
            return Ok(Some(PrivateBy::UnknownWorktree));
        }
        if !found.is_empty() && path.to_str().is_none() {
            return Err(ErrorKind::InvalidData.into());
        }
        let written = path.components().filter(|name| matches!(name, Component::Normal(_)));
        let written: Vec<_> =
            written.map(|name| name.as_os_str().to_string_lossy().into_owned()).collect();
        if written.len() > 2 * MAX_DEPTH {
            return Ok(Some(PrivateBy::IgnoreFile));
        }
        let folded: Vec<_> = written.iter().map(|name| lowercase(name)).collect();
        let all = Names { folded: &folded, written: &written };
        let opened = found.keys().map(|(_, count)| written.len() - count).min();
        let Ok(mut ignored) = self.ignored_by_git(path, all, opened) else {
            return Ok(Some(PrivateBy::IgnoreFile));
        };
        let mut secret = Secret::of(&folded, 0);
        let mut line = None;
        for ((root, count), is_present) in &found {
            let opened = written.len() - count;
            let names = all.after(opened);
            if *count > MAX_DEPTH {
                return Ok(Some(PrivateBy::IgnoreFile));
            }
            let Ok(on_the_way) = self.on_the_way(root.clone(), names.written) else {
                return Ok(Some(PrivateBy::IgnoreFile));
            };
            if on_the_way.any(|rules| names.are_matched(rules)) {
                return Ok(Some(PrivateBy::IgnoreFile));
            }
            if !is_present {
                continue;
            }
            line = Some(share_line(names.written));
            let is_shared = |end: usize| {
                let hidden = end.saturating_sub(opened).max(1);
                on_the_way.always(|rules| names.are_taken_back(rules, hidden))
            };
            secret = secret
                .and_then(|_| Secret::of(&folded, opened))
                .filter(|secret| !is_shared(secret.end));
            ignored = ignored.filter(|ignored| !is_shared(ignored.end));
        }
        if let Some(Secret { content, .. }) = secret {
            return Ok(Some(PrivateBy::Secret { content, line }));
        }
        Ok(ignored.map(|Ignored { rule, file, .. }| {
            let short = found.keys().find_map(|(root, _)| file.strip_prefix(root).ok());
            let file = short.unwrap_or(&file).to_string_lossy().into_owned();
            PrivateBy::Git { rule, file, line }
        }))
    }

    /// Reads the ignore files of the folders from `root` to the file.
    fn on_the_way(&mut self, mut folder: PathBuf, names: &[String]) -> Result<OnTheWay, TooLarge> {
        let mut on_the_way = OnTheWay::default();
        for name in names {
            for (rules, name) in on_the_way.0.iter_mut().zip(NAMES) {
                rules.push(self.read(&folder.join(name))?);
            }
            folder.push(name);
        }
        Ok(on_the_way)
    }

    /// Reads an ignore file, if the scan has not done so.
    fn read(&mut self, file: &Path) -> Result<EffectiveRules, TooLarge> {
        let rules = self.read.entry(file.to_owned()).or_insert_with(|| {
            let rules = self.files.read(file);
            self.size += rules.size;
            rules
        });
        if self.size > MAX_COMPILED { Err(TooLarge) } else { Ok(rules.clone()) }
    }
}

/// By the name of the ignore file, its rules in each folder from a root to a file.
#[derive(Default)]
struct OnTheWay([Vec<EffectiveRules>; NAMES.len()]);

impl OnTheWay {
    /// Whether `judge` accepts the rules of any ignore file, as they are or as they were before any change
    /// that is still in force.
    fn any(&self, judge: impl Fn(&[Option<&Rules>]) -> bool) -> bool {
        self.0.iter().any(|file| states(file).iter().any(|rules| judge(rules)))
    }

    /// Whether `judge` accepts the rules of one ignore file, as they are and as they were before each
    /// change that is still in force.
    fn always(&self, judge: impl Fn(&[Option<&Rules>]) -> bool) -> bool {
        self.0.iter().any(|file| states(file).iter().all(|rules| judge(rules)))
    }
}

/// The rules of ignore files that count together: the present ones, and those before each change.
fn states(files: &[EffectiveRules]) -> Vec<Vec<Option<&Rules>>> {
    let changes = files.iter().map(|rules| rules.before.len()).max();
    (0..=changes.unwrap_or_default())
        .map(|back| files.iter().map(|rules| rules.rules(back)).collect())
        .collect()
}

/// The line of an ignore file in the root that shares the file again.
fn share_line(names: &[String]) -> String {
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

/// The root as `path` spells it, and the number of names below it. `None` if `path` is not below the root.
fn below(path: &Path, root: &Path) -> Option<(PathBuf, usize)> {
    let mut components = path.components();
    let mut written = PathBuf::new();
    for of_root in root.components() {
        let component = components.next()?;
        if !is_same(component, of_root, CASE_COUNTS) {
            return None;
        }
        written.push(component);
    }
    Some((written, components.count()))
}

fn is_same(one: Component<'_>, other: Component<'_>, case_counts: bool) -> bool {
    let lower = |component: Component<'_>| component.as_os_str().to_str().map(lowercase);
    one == other || (!case_counts && lower(one).is_some() && lower(one) == lower(other))
}
