//! Finds the other worktrees of a Git repository by its files, without running Git.
//!
//! A repository may be hostile, so a worktree counts only if both sides name each other: the
//! repository's `worktrees/NAME/gitdir`, and the worktree's own `.git`. A repository can't write the
//! second one outside of itself. All functions block for the disk.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Platform, Watch, current_user, open_file, owner, real_path};

/// The most worktrees of a repository that are read.
const MAX_WORKTREES: usize = 64;

/// The longest file that names a folder, in bytes.
const MAX_FILE: u64 = 4096;

/// The folder of a repository with its list of worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder that all worktrees share, without links: `.git` of the main worktree, or a bare
    /// repository.
    common: PathBuf,
}

impl Repository {
    /// The names to watch.
    pub const WATCHED: [&str; 2] = ["worktrees", "gitdir"];

    /// Finds the repository of the worktree that a folder is in, and the folder's path within that
    /// worktree. `None` also if the repository's files belong to another user.
    pub fn around(folder: &Path) -> Option<(Self, PathBuf)> {
        let folder = folder.canonicalize().ok()?;
        let has_git = |above: &&Path| fs::symlink_metadata(above.join(".git")).is_ok();
        let worktree = folder.ancestors().find(has_git)?;
        Some((Self::of(worktree)?, folder.strip_prefix(worktree).ok()?.to_owned()))
    }

    /// Finds the repository of a worktree's uppermost folder.
    fn of(worktree: &Path) -> Option<Self> {
        let dot_git = worktree.join(".git");
        let metadata = fs::symlink_metadata(&dot_git).ok()?;
        if metadata.is_dir() {
            let common = dot_git.canonicalize().ok().filter(|dir| is_own(dir))?;
            return Some(Self { common });
        }
        let entry = linked_entry(worktree)?;
        let list = entry.parent().filter(|list| list.ends_with("worktrees"))?;
        let repository = Self { common: list.parent()?.to_owned() };
        let named = read_path(&entry.join("commondir"), "", &entry)?;
        let is_linked = named == repository.common
            && repository.checked(&entry) == worktree.canonicalize().ok();
        is_linked.then_some(repository)
    }

    /// The uppermost folders of all worktrees, without links.
    pub fn worktrees(&self) -> BTreeSet<PathBuf> {
        let mut found: BTreeSet<_> =
            self.entries().iter().filter_map(|entry| self.checked(entry)).collect();
        // A bare repository has no main worktree.
        if let Some(main) = self.common.parent().filter(|_| self.common.ends_with(".git"))
            && is_own(main)
        {
            found.insert(main.to_owned());
        }
        found
    }

    /// Watches the list of worktrees, and the folder `within` in each: with `named`, which needs
    /// [`Self::WATCHED`] and the names in `within`, and with `all`, which watches every name. Folders that
    /// can't be watched are left out.
    pub fn watch(&self, within: &Path, named: &mut Watch, all: &mut Watch) {
        // A folder may be gone already, and its change is seen above it.
        let _ = named.add(&self.common);
        let list = self.common.join("worktrees");
        if list.is_dir() {
            let _ = all.add(&list);
            for entry in self.entries() {
                let _ = named.add(&entry);
            }
        }
        // Git checks out the files of a worktree after it has listed the worktree.
        for worktree in self.worktrees() {
            let folder = part(&worktree, within);
            let missing = folder.ancestors().take_while(|above| !above.is_dir()).last();
            if let Some(above) = missing.and_then(Path::parent) {
                let _ = named.add(above);
            }
        }
    }

    fn entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.common.join("worktrees")).into_iter().flatten();
        entries.flatten().take(MAX_WORKTREES).map(|entry| entry.path()).collect()
    }

    /// Returns the worktree of an entry in the list, if it is one of this repository.
    fn checked(&self, entry: &Path) -> Option<PathBuf> {
        let entry = entry.canonicalize().ok().filter(|entry| is_own(entry))?;
        if entry.parent()? != self.common.join("worktrees") {
            return None;
        }
        let dot_git = read_path(&entry.join("gitdir"), "", &entry)?;
        let worktree = dot_git.parent().filter(|_| dot_git.ends_with(".git"))?;
        (is_own(worktree) && linked_entry(worktree)? == entry).then(|| worktree.to_owned())
    }
}

/// Returns the other worktrees of the repositories of `roots`, without links. Of a root within a worktree,
/// returns the same folder in the other worktrees. None of them is in a root.
pub fn sibling_worktrees(roots: &[PathBuf]) -> Vec<PathBuf> {
    let real: Vec<_> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let mut all = BTreeSet::new();
    for (repository, within) in roots.iter().filter_map(|root| Repository::around(root)) {
        let parts = repository.worktrees().into_iter().map(|worktree| part(&worktree, &within));
        // A link may lead out of the worktree.
        all.extend(
            parts
                .filter(|part| is_own(part) && part.canonicalize().is_ok_and(|real| real == *part)),
        );
    }
    let mut siblings: Vec<_> = all.into_iter().collect();
    siblings.retain(|folder| !real.iter().any(|root| folder.starts_with(root)));
    siblings.truncate(MAX_WORKTREES);
    siblings
}

/// Returns the folders that an editor has open, without links: those in the list of its companion that are
/// no `worktrees`.
pub fn opened_folders(list: &str, worktrees: &[String]) -> Vec<PathBuf> {
    let folders = list.split(Platform::CURRENT.list_separator()).filter(|one| !one.is_empty());
    let own = folders.filter(|one| !worktrees.iter().any(|other| other == one));
    own.map(|folder| real_path(Path::new(folder))).collect()
}

/// Whether a worktree belongs to an editor that has one of the folders open: the worktree, or a folder in it
/// or above it.
pub fn is_opened(worktree: &Path, opened: &[PathBuf]) -> bool {
    opened.iter().any(|folder| folder.starts_with(worktree) || worktree.starts_with(folder))
}

/// Whether two folders are the uppermost ones of worktrees of the same repository.
pub fn are_of_one_repository(one: &Path, other: &Path) -> bool {
    Repository::of(one).is_some_and(|one| Repository::of(other) == Some(one))
}

/// Returns the `.git` folder that a linked worktree shares with the main one, without links. `None` for any
/// other folder, and if `.git` does not have Git's files alone: a repository of another name, such as a
/// bare one, may be any folder, and a worktree may be within it.
pub fn shared_git_folder(worktree: &Path) -> Option<PathBuf> {
    if worktree.join(".git").is_dir() {
        return None;
    }
    let repository = Repository::of(worktree)?;
    let has_worktree = repository.worktrees().iter().any(|one| one.starts_with(&repository.common));
    (repository.common.ends_with(".git") && !has_worktree).then_some(repository.common)
}

/// The folders of Git for a worktree. A hostile repository may name any folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// The folder of the worktree alone.
    pub own: PathBuf,
    /// The folder that all worktrees of the repository share.
    pub common: PathBuf,
}

impl GitDirs {
    /// Finds the folders that the `.git` of a worktree or a submodule names. `None` if it names none.
    pub fn of(worktree: &Path) -> Option<Self> {
        let dot_git = worktree.join(".git");
        if dot_git.is_dir() {
            return Some(Self { own: dot_git.clone(), common: dot_git });
        }
        let own = read_any_path(&dot_git, "gitdir: ", worktree)?.0;
        let common = read_any_path(&own.join("commondir"), "", &own);
        let common = common.map_or_else(|| own.clone(), |(common, _)| common);
        Some(Self { own, common })
    }
}

/// The folder `within` in a worktree.
fn part(worktree: &Path, within: &Path) -> PathBuf {
    worktree.components().chain(within.components()).collect()
}

/// Returns the entry of the repository that the file `.git` of a worktree names.
fn linked_entry(worktree: &Path) -> Option<PathBuf> {
    read_path(&worktree.join(".git"), "gitdir: ", worktree)
}

/// Reads a file of the user with one path, which may be relative to `folder`. Returns the path without
/// links.
fn read_path(file: &Path, prefix: &str, folder: &Path) -> Option<PathBuf> {
    let (path, is_own) = read_any_path(file, prefix, folder)?;
    is_own.then_some(path)
}

/// Does the same for a file of anyone. Also returns whether it is one of the user.
fn read_any_path(file: &Path, prefix: &str, folder: &Path) -> Option<(PathBuf, bool)> {
    let file = open_file(file).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return None;
    }
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text).ok()?;
    let path = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    if path.is_empty() || path.contains('\n') || path.contains('\0') {
        return None;
    }
    let is_own = owner(&metadata) == current_user();
    Some((folder.join(path).canonicalize().ok()?, is_own))
}

fn is_own(dir: &Path) -> bool {
    fs::metadata(dir).is_ok_and(|found| found.is_dir() && owner(&found) == current_user())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::os::unix::fs::symlink;

    use super::*;

    struct Scene {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    impl Scene {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let scene = Self { _dir: dir, root };
            fs::create_dir_all(scene.path("main/.git/worktrees")).unwrap();
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("ROOT", self.root.to_str().unwrap())).unwrap();
        }

        /// Adds a worktree as `git worktree add` does.
        fn add(&self, name: &str) {
            let entry = format!("main/.git/worktrees/{}", name.replace('/', "-"));
            self.write(&format!("{entry}/gitdir"), &format!("ROOT/{name}/.git\n"));
            self.write(&format!("{entry}/commondir"), "../..\n");
            self.write(&format!("{name}/.git"), &format!("gitdir: ROOT/{entry}\n"));
        }

        fn siblings(&self, of: &str) -> Vec<String> {
            let found = sibling_worktrees(&[self.path(of)]);
            let name =
                |path: &PathBuf| path.strip_prefix(&self.root).unwrap().display().to_string();
            found.iter().map(name).collect()
        }
    }

    #[test]
    fn each_worktree_finds_the_others() {
        let scene = Scene::new();
        scene.add("a");
        scene.add("b");
        assert_eq!(scene.siblings("main"), ["a", "b"]);
        assert_eq!(scene.siblings("a"), ["b", "main"]);
        fs::remove_dir_all(scene.path("b")).unwrap();
        assert_eq!(scene.siblings("a"), ["main"]);
    }

    #[test]
    fn a_folder_in_a_worktree_finds_the_same_folder_in_the_others() {
        let scene = Scene::new();
        for name in ["a", "b", "c", "d"] {
            scene.add(name);
        }
        for folder in ["main/x/sub", "a/x/sub", "c/x", "home/sub"] {
            fs::create_dir_all(scene.path(folder)).unwrap();
        }
        symlink(scene.path("home"), scene.path("d/x")).unwrap();
        assert_eq!(scene.siblings("main/x/sub"), ["a/x/sub"]);
        assert_eq!(scene.siblings("a/x/sub"), ["main/x/sub"]);
        assert_eq!(scene.siblings("c/x"), ["a/x", "main/x"]);
        // A repository within the worktree, such as a submodule, is another one.
        scene.write("main/x/.git", "gitdir: ROOT/main/.git/modules/x\n");
        assert!(scene.siblings("main/x/sub").is_empty());
    }

    #[test]
    fn relative_paths_and_bare_repositories() {
        let scene = Scene::new();
        scene.add("a");
        scene.write("main/.git/worktrees/a/gitdir", "../../../../a/.git\n");
        scene.write("a/.git", "gitdir: ../main/.git/worktrees/a\n");
        assert_eq!(scene.siblings("main"), ["a"]);
        assert_eq!(scene.siblings("a"), ["main"]);
        scene.write("bare.git/worktrees/c/gitdir", "ROOT/c/.git\n");
        scene.write("bare.git/worktrees/c/commondir", "../..\n");
        scene.write("c/.git", "gitdir: ROOT/bare.git/worktrees/c\n");
        scene.write("bare.git/worktrees/d/gitdir", "ROOT/d/.git\n");
        scene.write("bare.git/worktrees/d/commondir", "../..\n");
        scene.write("d/.git", "gitdir: ROOT/bare.git/worktrees/d\n");
        assert_eq!(scene.siblings("c"), ["d"]);
    }

    #[test]
    fn worktrees_of_one_repository_know_each_other() {
        let scene = Scene::new();
        scene.add("main/a");
        fs::create_dir_all(scene.path("main/clone/.git")).unwrap();
        scene.write("main/claims/.git", "gitdir: ROOT/main/.git/worktrees/main-a\n");
        fs::create_dir_all(scene.path("main/folder")).unwrap();
        for (folder, expected) in [
            ("main/a", true),
            ("main/clone", false),
            ("main/claims", false),
            ("main/folder", false),
        ] {
            let found = are_of_one_repository(&scene.path("main"), &scene.path(folder));
            assert_eq!(found, expected, "{folder}");
        }
    }

    #[test]
    fn each_worktree_and_submodule_names_its_shared_folder() {
        let scene = Scene::new();
        scene.add("a");
        scene.write("main/sub/.git", "gitdir: ../.git/modules/sub\n");
        fs::create_dir_all(scene.path("main/.git/modules/sub")).unwrap();
        scene.write("nowhere/.git", "gitdir: ../gone\n");
        scene.write("empty/.git", "");
        for (worktree, expected) in [
            ("main", Some("main/.git")),
            ("a", Some("main/.git")),
            ("main/sub", Some("main/.git/modules/sub")),
            ("nowhere", None),
            ("empty", None),
            ("main/.git", None),
        ] {
            let expected = expected.map(|path| scene.path(path));
            let found = GitDirs::of(&scene.path(worktree)).map(|dirs| dirs.common);
            assert_eq!(found, expected, "{worktree}");
        }
    }

    #[test]
    fn only_a_linked_worktree_shares_a_git_folder() {
        let scene = Scene::new();
        scene.add("a");
        scene.write("claims/.git", "gitdir: ROOT/main/.git/worktrees/a\n");
        fs::create_dir_all(scene.path("a/sub")).unwrap();
        // Files beside the worktree must not make a folder of the user a repository.
        scene.write("worktrees/b/gitdir", "ROOT/b/.git\n");
        scene.write("worktrees/b/commondir", "../..\n");
        scene.write("b/.git", "gitdir: ../worktrees/b\n");
        assert_eq!(scene.siblings("main"), ["a"]);
        for (folder, expected) in
            [("a", true), ("main", false), ("a/sub", false), ("claims", false), ("b", false)]
        {
            let found = shared_git_folder(&scene.path(folder));
            assert_eq!(found, expected.then(|| scene.path("main/.git")), "{folder}");
        }
        scene.add("main/.git/c");
        assert_eq!(shared_git_folder(&scene.path("a")), None, "another worktree is in it");
    }

    /// A repository that was unpacked or fetched must not reach beyond itself.
    #[test]
    fn what_only_one_side_names_does_not_count() {
        let scene = Scene::new();
        scene.add("a");
        // The repository names folders that do not name it.
        for (name, text) in [
            ("home", "ROOT/home/.git\n"),
            ("root", "/.git\n"),
            ("etc", "/etc/.git\n"),
            ("up", "../../../../..\n"),
            ("lines", "ROOT/a/.git\nROOT/home/.git\n"),
            ("long", &"x/".repeat(4000)),
            ("empty", ""),
        ] {
            scene.write(&format!("main/.git/worktrees/{name}/gitdir"), text);
        }
        fs::create_dir_all(scene.path("home/.git")).unwrap();
        scene.write("other/.git", "gitdir: ROOT/main/.git/worktrees/a\n");
        scene.write("main/.git/worktrees/other/gitdir", "ROOT/other/.git\n");
        symlink(scene.path("main/.git/worktrees/a"), scene.path("main/.git/worktrees/link"))
            .unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            scene.path("main/.git/worktrees/pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        fs::create_dir_all(scene.path("main/.git/worktrees/fifo")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            scene.path("main/.git/worktrees/fifo/gitdir"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(scene.siblings("main"), ["a"]);

        // A folder names a repository that does not name it.
        scene.write("claims/.git", "gitdir: ROOT/main/.git/worktrees/a\n");
        assert!(scene.siblings("claims").is_empty());
        scene.write("module/.git", "gitdir: ROOT/main/.git/modules/m\n");
        fs::create_dir_all(scene.path("main/.git/modules/m")).unwrap();
        assert!(scene.siblings("module").is_empty());
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(scene.path("a"), Some(4321), None).unwrap();
            assert!(scene.siblings("main").is_empty(), "a worktree of another user");
            std::os::unix::fs::chown(scene.path("a"), Some(0), None).unwrap();
            std::os::unix::fs::chown(scene.path("main/.git"), Some(4321), None).unwrap();
            assert!(scene.siblings("main").is_empty(), "a repository of another user");
            std::os::unix::fs::chown(scene.path("main/.git"), Some(0), None).unwrap();
        }
        // A repository within the folder stays within it.
        scene.write("evil/in/.git/worktrees/x/gitdir", "ROOT/evil/.git\n");
        scene.write("evil/in/.git/worktrees/x/commondir", "../..\n");
        scene.write("evil/.git", "gitdir: in/.git/worktrees/x\n");
        assert!(scene.siblings("evil").is_empty());
        scene.write("evil/in/.git/worktrees/x/commondir", "ROOT/main/.git\n");
        assert!(scene.siblings("evil").is_empty());
    }

    #[test]
    fn the_number_of_worktrees_is_bounded() {
        let scene = Scene::new();
        for number in 0..MAX_WORKTREES + 5 {
            scene.add(&format!("w{number}"));
        }
        assert_eq!(scene.siblings("main").len(), MAX_WORKTREES);
    }
}
