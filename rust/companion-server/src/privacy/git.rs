//! Finds files that Git ignores, by its ignore files and without running Git.
//!
//! Git's list of tracked files is not read: a tracked file that a rule matches is private, too.

use std::collections::HashMap;
use std::iter;
use std::path::{Path, PathBuf};

use companion_platform::{GitDirs, are_of_one_repository};
use tokio::time::Instant;

use super::files::EffectiveRules;
use super::git_config::{Excludes, NamedFile, NamedFiles};
use super::rules::{Names, Verdict};
use super::{PrivacyScan, TooLarge, states};

const GITIGNORE: &str = ".gitignore";

/// What one scan knows about Git.
#[derive(Debug)]
pub(super) struct GitScan<'a> {
    /// The user's ignore file for all repositories.
    user: Excludes,
    named: &'a NamedFiles,
    /// The repository of each folder that has a `.git`.
    repositories: HashMap<PathBuf, Option<RepositoryFiles>>,
}

#[derive(Clone, Debug)]
struct RepositoryFiles {
    dirs: GitDirs,
    /// The ignore file in the repository.
    exclude: PathBuf,
    /// The user's ignore file.
    user: NamedFile,
    configs: Vec<PathBuf>,
}

/// A file that Git ignores. Of several reasons, the greatest one counts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ignored {
    /// The number of names up to the file, or to the innermost folder that Git ignores.
    pub(super) end: usize,
    /// The rule; `None` if the ignore file can't be used.
    pub(super) rule: Option<String>,
    /// The ignore file.
    pub(super) file: PathBuf,
}

impl<'a> GitScan<'a> {
    /// `user` is the user's ignore file for all repositories.
    pub(super) fn new(user: Excludes, named: &'a NamedFiles) -> Self {
        Self { user, named, repositories: HashMap::new() }
    }

    /// The ignore files that are not in the folders on the way to a file, and the configuration.
    pub(super) fn distant_files(&self) -> impl Iterator<Item = &PathBuf> {
        let repositories = self.repositories.values().flatten();
        let files = repositories.flat_map(|of| iter::once(&of.exclude).chain(of.user.all()));
        files.chain(self.configs())
    }

    /// The files of the configuration.
    pub(super) fn configs(&self) -> impl Iterator<Item = &PathBuf> {
        let repositories = self.repositories.values().flatten();
        repositories.flat_map(|of| &of.configs).chain(&self.user.configs)
    }

    /// When the changes of the configuration have settled.
    pub(super) fn settles(&self) -> Option<Instant> {
        self.repositories.values().flatten().filter_map(|of| of.user.settles()).max()
    }

    /// The repository, if this folder has a `.git`.
    fn repository(&mut self, folder: &Path) -> Option<&RepositoryFiles> {
        let (named, user) = (self.named, &self.user.file);
        let look = || {
            folder.join(".git").symlink_metadata().ok()?;
            let dirs = GitDirs::of(folder)?;
            let Excludes { file, configs } = Excludes::of_worktree(folder, &dirs, user.as_ref());
            let user = named.note(folder, file);
            let exclude = dirs.common.join("info/exclude");
            Some(RepositoryFiles { dirs, exclude, user, configs })
        };
        self.repositories.entry(folder.to_owned()).or_insert_with(look).as_ref()
    }

    /// Whether a worktree begins in this folder. For Git, an empty `.git` begins none.
    fn is_worktree(&mut self, folder: &Path) -> bool {
        let head = self.repository(folder).map(|of| of.dirs.common.join("HEAD"));
        head.is_some_and(|head| head.symlink_metadata().is_ok())
    }
}

impl PrivacyScan<'_> {
    /// Whether Git ignores the file that `path` and `names` lead to. The first `opened` names are
    /// those of the outermost folder that the user has opened, if the file is in one.
    ///
    /// The rules count from the worktree that this folder is in, or from the folder itself. Outside of
    /// opened folders they count from the file's own worktree.
    pub(super) fn ignored_by_git(
        &mut self,
        path: &Path,
        names: Names<'_>,
        opened: Option<usize>,
    ) -> Result<Option<Ignored>, TooLarge> {
        let Some(git) = &mut self.git else { return Ok(None) };
        // The folder with the index 1 has one name.
        let mut folders: Vec<_> = path.ancestors().skip(1).collect();
        folders.reverse();
        let is_worktree: Vec<_> = folders.iter().map(|folder| git.is_worktree(folder)).collect();
        let last = opened.map_or(folders.len(), |opened| folders.len().min(opened + 1));
        let Some(first) = is_worktree[..last].iter().rposition(|is| *is).or(opened) else {
            return Ok(None);
        };
        // Each worktree within another one has its own rules.
        let begins = |index: &usize| *index == first || is_worktree[*index];
        let mut tops: Vec<_> = (first..folders.len()).filter(begins).collect();
        tops.push(folders.len());
        let mut ignored = None;
        for bounds in tops.windows(2) {
            let (top, next) = (bounds[0], bounds[1]);
            let inner = folders.get(next);
            if inner.is_some_and(|inner| are_of_one_repository(folders[top], inner)) {
                // The outer worktree ignores it because it is a worktree of its own, not because of its files.
                continue;
            }
            if let Some(mut found) =
                self.ignored_in_worktree(&folders[top..next], names.after(top))?
            {
                found.end += top;
                ignored = Some(found);
            }
        }
        Ok(ignored)
    }

    /// Judges the first names by the rules of one worktree, which begins in the first of `folders`.
    /// There is one name for each folder.
    fn ignored_in_worktree(
        &mut self,
        folders: &[&Path],
        names: Names<'_>,
    ) -> Result<Option<Ignored>, TooLarge> {
        let Some((git, top)) = self.git.as_mut().zip(folders.first()) else { return Ok(None) };
        let repository = git.repository(top).cloned();
        let mut users: Vec<_> =
            repository.iter().flat_map(|of| of.user.all()).map(|file| Some(file.clone())).collect();
        if users.is_empty() {
            users.push(None);
        }
        // Later files outweigh earlier ones.
        let mut files = vec![None, repository.map(|of| of.exclude)];
        files.extend(folders.iter().map(|folder| Some(folder.join(GITIGNORE))));
        let mut ignored: Option<Ignored> = None;
        for user in users {
            files[0] = user;
            ignored = ignored.max(self.ignored_by_files(&files, names)?);
        }
        Ok(ignored)
    }

    /// Judges the first names by these files: the user's, the repository's, and one for each further name.
    fn ignored_by_files(
        &mut self,
        files: &[Option<PathBuf>],
        names: Names<'_>,
    ) -> Result<Option<Ignored>, TooLarge> {
        let mut rules = Vec::new();
        for file in files {
            rules.push(match file {
                Some(file) => self.read(file)?,
                None => EffectiveRules::default(),
            });
        }
        let mut ignored: Option<Ignored> = None;
        for state in states(&rules) {
            for end in 1..=files.len() - 2 {
                let verdict = names
                    .judge(&state[2..], end)
                    .map(|(folder, verdict)| (folder + 2, verdict))
                    .or_else(|| Some((1, names.judge(&state[1..2], end)?.1)))
                    .or_else(|| Some((0, names.judge(&state[..1], end)?.1)));
                if let Some((number, Verdict::Hidden(rule))) = verdict
                    && let Some(file) = &files[number]
                    && ignored.as_ref().is_none_or(|ignored| ignored.end <= end)
                {
                    let rule = rule.map(str::to_owned);
                    ignored = Some(Ignored { end, rule, file: file.clone() });
                }
            }
        }
        Ok(ignored)
    }
}
