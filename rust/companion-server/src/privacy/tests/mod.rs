//! Tests which files stay private in real folders, and that changes take effect.

mod bounds;
mod context;

use std::fs::{self, create_dir_all, remove_file, write};
use std::path::PathBuf;

use tempfile::TempDir;
use tokio::time::advance;

use super::*;

/// Folders with the root `project`.
struct Scene {
    privacy: Privacy,
    base: PathBuf,
    _dir: TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let scene = Self { privacy: Privacy::new(Roots::default()), base: base.clone(), _dir: dir };
        scene.roots(&["project"]);
        create_dir_all(base.join("project")).unwrap();
        for (path, text) in files {
            scene.write(path, text);
        }
        scene
    }

    fn roots(&self, names: &[&str]) {
        *self.privacy.roots.lock() = names.iter().map(|name| self.base.join(name)).collect();
    }

    fn at(&self, path: &str) -> String {
        format!("{}/{path}", self.base.to_str().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.base.join(path);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }

    fn is_private(&self, path: &str) -> bool {
        self.privacy.look().is_private(&self.at(path)).unwrap()
    }

    fn check(&self, private: &[&str], told: &[&str]) {
        for path in private {
            assert!(self.is_private(path), "{path} is to be private");
        }
        for path in told {
            assert!(!self.is_private(path), "{path} may be told");
        }
    }
}

#[test]
fn each_ignore_file_counts_from_the_root_down() {
    let scene = Scene::new(&[
        ("project/.geminiignore", "*.key\n/top\nlogs/"),
        ("project/a/.aiexclude", "/deep"),
        ("project/a/b/.aiignore", "*.txt\n!*.key"),
        (".geminiignore", "*"),
        ("other/.aiignore", "*"),
    ]);
    scene.check(
        &[
            "project/x.key",
            "project/a/b/x.key",
            "project/top",
            "project/logs/a/b",
            "project/a/deep",
        ],
        &["project/x", "project/a/top", "project/deep", "project/a/b/deep", "project/a/x.txt"],
    );
    scene
        .check(&["project/a/b/c/x.txt", "project/a/../x.key", "project/a/b/../deep"], &["project"]);
    // Paths outside all roots have no rules.
    scene.check(&[], &["other/x.key", "x.key", "projectile/x.key", "project/../other/x.key"]);
}

#[test]
fn a_root_within_another_has_the_rules_of_both() {
    let scene = Scene::new(&[
        ("project/.geminiignore", "*.key\nvendor/"),
        ("project/sub/.geminiignore", "!my.key\n*.txt"),
        ("project/vendor/.geminiignore", "!*"),
    ]);
    for roots in [["project", "project/sub"], ["project/sub", "project"]] {
        scene.roots(&roots);
        scene.check(&["project/sub/x.key", "project/sub/a.txt"], &["project/sub/my.key"]);
    }
    scene.roots(&["project/sub", "project/vendor"]);
    scene
        .check(&["project/sub/a.txt"], &["project/sub/x.key", "project/vendor/a", "project/x.key"]);
    scene.roots(&["project", "project/vendor"]);
    scene.check(&["project/vendor/a"], &[]);
    scene.roots(&[]);
    scene.check(&[], &["project/x.key"]);
}

#[cfg(unix)]
#[test]
fn a_link_hides_nothing_and_reveals_nothing() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new(&[
        ("project/.geminiignore", "secret/\n*.key\nhidden-link"),
        ("project/secret/a.txt", ""),
        ("project/x.key", ""),
        ("project/open.txt", ""),
        ("other/.geminiignore", "b.txt"),
        ("other/b.txt", ""),
    ]);
    for (to, link) in [
        ("project/secret", "project/link"),
        ("project/secret/a.txt", "project/a.txt"),
        ("project/x.key", "other/x.txt"),
        ("project", "alias"),
        ("other", "project/to-other"),
        ("project/open.txt", "project/hidden-link"),
        ("project/loop", "project/loop"),
    ] {
        symlink(scene.at(to), scene.at(link)).unwrap();
    }
    let private = ["project/link/a.txt", "project/a.txt", "other/x.txt", "alias/x.key"];
    scene.check(&private, &["alias/open.txt", "other/b.txt"]);
    // The folder's name in the project counts, and so do the rules there.
    scene.check(&["project/hidden-link", "project/to-other/b.txt"], &["project/to-other/c"]);
    assert!(scene.privacy.look().is_private(&scene.at("project/loop")).is_err());
    scene.roots(&["alias"]);
    scene.check(&["alias/x.key", "project/x.key", "project/secret/new.txt"], &["project/open.txt"]);
}

#[test]
fn what_can_not_be_read_hides_everything_below_its_folder() {
    let scene = Scene::new(&[("project/b/x", ""), ("project/a/c/x", "")]);
    let told = ["project/a/x", "project/a/c/x", "project/b/x"];
    scene.check(&[], &told);
    let file = "project/a/.aiignore";
    let large = "# a comment\n".repeat(1 << 20);
    let many = "/a-rule\n".repeat(100_000);
    for text in [large.as_str(), many.as_str(), "\u{0}\u{1}", "\u{ff}\u{0}"] {
        scene.write(file, text);
        scene.check(&told[..2], &told[2..]);
    }
    remove_file(scene.base.join(file)).unwrap();
    fs::create_dir(scene.base.join(file)).unwrap();
    scene.check(&told[..2], &told[2..]);
    fs::remove_dir(scene.base.join(file)).unwrap();
    #[cfg(unix)]
    {
        let fifo = || {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, scene.base.join(file), mode).unwrap();
        };
        let to_nowhere = || {
            std::os::unix::fs::symlink(scene.at("nowhere"), scene.base.join(file)).unwrap();
        };
        for make in [&fifo as &dyn Fn(), &to_nowhere] {
            make();
            scene.check(&told[..2], &told[2..]);
            remove_file(scene.base.join(file)).unwrap();
        }
    }
    // No file alone is too large, but all together are.
    let rules = "folder/file*.txt\n".repeat(1400);
    for folder in ["project", "project/b", "project/b/c"] {
        scene.write(&format!("{folder}/.geminiignore"), &rules);
    }
    scene.check(&["project/b/c/x"], &["project/b/x"]);
    let deep = format!("project/{}x", "d/".repeat(300));
    scene.check(&[&deep], &[]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_go_hold_until_things_have_settled() {
    let scene = Scene::new(&[("project/.geminiignore", "*.key"), ("project/a/.aiignore", "")]);
    scene.check(&["project/x.key"], &["project/x"]);
    // Some programs empty or remove the file before they write it.
    for empty in [Some(""), None] {
        match empty {
            Some(text) => scene.write("project/.geminiignore", text),
            None => remove_file(scene.base.join("project/.geminiignore")).unwrap(),
        }
        let mut look = scene.privacy.look();
        assert!(look.is_private(&scene.at("project/x.key")).unwrap());
        assert!(look.again().is_some());
    }
    // A new file takes effect at once.
    scene.write("project/.geminiignore", "*.txt");
    scene.check(&["project/x.key", "project/x.txt"], &["project/x"]);
    advance(files::SETTLE_TIME).await;
    scene.check(&["project/x.txt"], &["project/x.key"]);
    let mut look = scene.privacy.look();
    look.is_private(&scene.at("project/x.key")).unwrap();
    assert_eq!(look.again(), None);
}

#[tokio::test(start_paused = true)]
async fn rules_that_go_hold_for_as_long_as_something_happens() {
    let scene = Scene::new(&[("project/.geminiignore", "*.key")]);
    scene.check(&["project/x.key"], &[]);
    scene.write("project/.geminiignore", "");
    scene.check(&["project/x.key"], &[]);
    for _ in 0..4 {
        advance(files::SETTLE_TIME / 2).await;
        scene.privacy.invalidate();
        scene.check(&["project/x.key"], &[]);
    }
    advance(files::SETTLE_TIME).await;
    scene.check(&[], &["project/x.key"]);
}

/// Checking out another branch replaces the files like this.
#[tokio::test(start_paused = true)]
async fn the_rules_of_all_files_that_go_at_the_same_time_hold_until_things_have_settled() {
    let files = ["project/.geminiignore", "project/a/.geminiignore", "project/b/.geminiignore"];
    let scene = Scene::new(&files.map(|file| (file, "*.key")));
    let private = ["project/x.key", "project/a/x.key", "project/b/x.key"];
    scene.check(&private, &[]);
    for file in files {
        scene.write(file, "");
        scene.check(&private, &[]);
    }
}
