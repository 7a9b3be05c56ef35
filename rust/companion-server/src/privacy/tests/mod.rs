//! Tests which files stay private in real folders, and that changes take effect.

mod bounds;
mod context;
mod git;

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
        let scene = Self {
            privacy: Privacy::new(SharedFolders::default(), false),
            base: base.clone(),
            _dir: dir,
        };
        scene.roots(&["project"]);
        create_dir_all(base.join("project")).unwrap();
        for (path, text) in files {
            scene.write(path, text);
        }
        scene
    }

    fn roots(&self, names: &[&str]) {
        self.privacy.folders.lock().open = names.iter().map(|name| self.base.join(name)).collect();
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
        self.privacy.scan().is_private(&self.at(path)).unwrap()
    }

    fn check(&self, private: &[&str], shared: &[&str]) {
        for path in private {
            assert!(self.is_private(path), "{path} is to be private");
        }
        for path in shared {
            assert!(!self.is_private(path), "{path} may be shared");
        }
    }
}

#[test]
fn each_ignore_file_counts_from_the_root_down() {
    let scene = Scene::new(&[
        ("project/.geminiignore", "*.hid\n/top\nlogs/"),
        ("project/a/.aiexclude", "/deep"),
        ("project/a/b/.aiignore", "*.txt\n!*.hid"),
        (".geminiignore", "*"),
        ("other/.aiignore", "*"),
    ]);
    scene.check(
        &[
            "project/x.hid",
            "project/a/b/x.hid",
            "project/top",
            "project/logs/a/b",
            "project/a/deep",
        ],
        &["project/x", "project/a/top", "project/deep", "project/a/b/deep", "project/a/x.txt"],
    );
    scene
        .check(&["project/a/b/c/x.txt", "project/a/../x.hid", "project/a/b/../deep"], &["project"]);
    // Paths outside all roots have no rules.
    scene.check(&[], &["other/x.hid", "x.hid", "projectile/x.hid", "project/../other/x.hid"]);
}

#[test]
fn a_root_within_another_has_the_rules_of_both() {
    let scene = Scene::new(&[
        ("project/.geminiignore", "*.hid\nvendor/"),
        ("project/sub/.geminiignore", "!my.hid\n*.txt"),
        ("project/vendor/.geminiignore", "!*"),
    ]);
    for roots in [["project", "project/sub"], ["project/sub", "project"]] {
        scene.roots(&roots);
        scene.check(&["project/sub/x.hid", "project/sub/a.txt"], &["project/sub/my.hid"]);
    }
    scene.roots(&["project/sub", "project/vendor"]);
    scene
        .check(&["project/sub/a.txt"], &["project/sub/x.hid", "project/vendor/a", "project/x.hid"]);
    scene.roots(&["project", "project/vendor"]);
    scene.check(&["project/vendor/a"], &[]);
    scene.roots(&[]);
    scene.check(&[], &["project/x.hid"]);
}

#[cfg(unix)]
#[test]
fn a_link_hides_nothing_and_reveals_nothing() {
    use std::os::unix::fs::symlink;

    let scene = Scene::new(&[
        ("project/.geminiignore", "secret/\n*.hid\nhidden-link"),
        ("project/secret/a.txt", ""),
        ("project/x.hid", ""),
        ("project/open.txt", ""),
        ("other/.geminiignore", "b.txt"),
        ("other/b.txt", ""),
    ]);
    for (to, link) in [
        ("project/secret", "project/link"),
        ("project/secret/a.txt", "project/a.txt"),
        ("project/x.hid", "other/x.txt"),
        ("project", "alias"),
        ("other", "project/to-other"),
        ("project/open.txt", "project/hidden-link"),
        ("project/loop", "project/loop"),
    ] {
        symlink(scene.at(to), scene.at(link)).unwrap();
    }
    let private = ["project/link/a.txt", "project/a.txt", "other/x.txt", "alias/x.hid"];
    scene.check(&private, &["alias/open.txt", "other/b.txt"]);
    // The folder's name in the project counts, and so do the rules there.
    scene.check(&["project/hidden-link", "project/to-other/b.txt"], &["project/to-other/c"]);
    assert!(scene.privacy.scan().is_private(&scene.at("project/loop")).is_err());
    scene.roots(&["alias"]);
    scene.check(&["alias/x.hid", "project/x.hid", "project/secret/new.txt"], &["project/open.txt"]);
}

#[test]
fn what_can_not_be_read_hides_everything_below_its_folder() {
    let scene = Scene::new(&[("project/b/x", ""), ("project/a/c/x", "")]);
    let paths = ["project/a/x", "project/a/c/x", "project/b/x"];
    scene.check(&[], &paths);
    let file = "project/a/.aiignore";
    let large = "# a comment\n".repeat(1 << 20);
    let many = "/a-rule\n".repeat(100_000);
    for text in [large.as_str(), many.as_str(), "\u{0}\u{1}", "\u{ff}\u{0}"] {
        scene.write(file, text);
        scene.check(&paths[..2], &paths[2..]);
    }
    remove_file(scene.base.join(file)).unwrap();
    fs::create_dir(scene.base.join(file)).unwrap();
    scene.check(&paths[..2], &paths[2..]);
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
            scene.check(&paths[..2], &paths[2..]);
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

#[test]
fn a_file_with_secrets_is_private_until_an_ignore_file_takes_it_back() {
    let scene = Scene::new(&[("project/a/.gitignore", "!.env")]);
    let secrets =
        ["project/.env", "project/a/.env", "project/.aws/config", "project/.aws/credentials"];
    scene.check(&secrets, &["project/.env.example", "project/a/env.ts"]);
    // Neither another line nor another root, nor a rule for a folder above, takes it back.
    for text in ["*.txt", "!a", "!a/", "!env", "!other/.env", "!.env\n.env", "!.env\n*.env"] {
        scene.write("project/.geminiignore", text);
        scene.check(&["project/a/.env"], &["project/.env.example"]);
    }
    for (file, text, shared) in [
        (".geminiignore", "!/.env", &secrets[..1]),
        (".aiexclude", "!.env", &secrets[..2]),
        ("a/.aiignore", "!.env", &secrets[1..2]),
        (".aiignore", "!.*", &secrets[..3]),
        (".aiignore", "!.aws/", &secrets[2..3]),
        (".aiignore", "!/.aws/credentials", &secrets[3..]),
        (".aiignore", "!*", &secrets),
    ] {
        let scene = Scene::new(&[(&format!("project/{file}"), text)]);
        let mut private = secrets.to_vec();
        private.retain(|path| !shared.contains(path));
        scene.check(&private, shared);
        // Another ignore file that hides it outweighs that.
        scene.write("project/.geminiignore", ".env\n.aws");
        scene.check(&secrets, &[]);
    }
}

#[test]
fn a_secret_is_private_outside_of_the_project_too() {
    let scene = Scene::new(&[("project/.geminiignore", "!*"), (".aws/.geminiignore", "!*")]);
    scene.check(&["other/.env", ".aws/config", "project/../.ssh/config"], &["other/a"]);
    scene.roots(&[]);
    scene.check(&["project/.env"], &["project/a"]);
    // The user has opened the folder of secrets.
    scene.roots(&[".aws/project"]);
    scene.check(&[".aws/config", ".aws/project/.env"], &[".aws/project/a"]);
    scene.roots(&["project", ".aws/project"]);
    scene.check(&[".aws/project/.env"], &["project/.env", ".aws/project/a"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_a_secret_is_private_and_so_is_one_with_its_name() {
    let scene =
        Scene::new(&[("project/a.txt", ""), ("home/.aws/config", ""), ("project/.env", "")]);
    for (to, link) in
        [("home/.aws/config", "project/link"), ("project/a.txt", "project/b.pem"), (".", "up")]
    {
        std::os::unix::fs::symlink(scene.at(to), scene.at(link)).unwrap();
    }
    scene.check(&["project/link", "project/b.pem", "up/project/.env"], &["project/a.txt"]);
    scene.write("project/.geminiignore", "!link\n!b.pem\n!.env");
    scene.check(&["project/link"], &["project/b.pem", "project/.env"]);
}

#[test]
fn a_private_file_says_why_and_how_it_is_shared() {
    let why = |scene: &Scene, path: &str| {
        let why = scene.privacy.scan().why_private(&scene.at(path)).unwrap();
        why.map(|why| why.to_string())
    };
    let scene = Scene::new(&[("project/.aiignore", "*.txt")]);
    assert_eq!(why(&scene, "project/a.txt").unwrap(), "An ignore file lists it.");
    assert_eq!(why(&scene, "project/a"), None);
    let outside = "It may contain keys and tokens of the user, and is outside of the project.";
    assert_eq!(why(&scene, "a/.ssh/b").unwrap(), outside);
    for (name, line) in [("a/.env", "!/a/.env"), ("[a]*/{b}?.env", r"!/\[a\]\*/\{b\}\?.env")] {
        let path = format!("project/{name}");
        let expected = format!(
            "It may contain environment variables, often passwords and tokens. To share it, add \
             this line to .geminiignore: {line}"
        );
        assert_eq!(why(&scene, &path), Some(expected));
        let shared = Scene::new(&[("project/.geminiignore", line)]);
        assert_eq!(why(&shared, &path), None, "{line}");
    }
}

#[test]
fn a_path_of_a_million_names_is_private_at_once() {
    let scene = Scene::new(&[]);
    let deep = "d/".repeat(1 << 20);
    for path in [format!("project/{deep}.env"), format!("other/{deep}x")] {
        assert!(scene.is_private(&path));
    }
    scene.check(&[&format!("other/{}.pem", "x".repeat(1 << 20))], &[]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_no_longer_taken_back_is_private_at_once() {
    let scene = Scene::new(&[("project/.geminiignore", "!.env")]);
    scene.check(&[], &["project/.env"]);
    scene.write("project/.geminiignore", "");
    scene.check(&["project/.env"], &[]);
    scene.write("project/.geminiignore", "!.env");
    scene.check(&["project/.env"], &[]);
    advance(files::SETTLE_TIME).await;
    scene.check(&[], &["project/.env"]);
}

#[tokio::test(start_paused = true)]
async fn rules_that_go_hold_until_things_have_settled() {
    let scene = Scene::new(&[("project/.geminiignore", "*.hid"), ("project/a/.aiignore", "")]);
    scene.check(&["project/x.hid"], &["project/x"]);
    // Some programs empty or remove the file before they write it.
    for empty in [Some(""), None] {
        match empty {
            Some(text) => scene.write("project/.geminiignore", text),
            None => remove_file(scene.base.join("project/.geminiignore")).unwrap(),
        }
        let mut scan = scene.privacy.scan();
        assert!(scan.is_private(&scene.at("project/x.hid")).unwrap());
        assert!(scan.again().is_some());
    }
    // A new file takes effect at once.
    scene.write("project/.geminiignore", "*.txt");
    scene.check(&["project/x.hid", "project/x.txt"], &["project/x"]);
    advance(files::SETTLE_TIME).await;
    scene.check(&["project/x.txt"], &["project/x.hid"]);
    let mut scan = scene.privacy.scan();
    scan.is_private(&scene.at("project/x.hid")).unwrap();
    assert_eq!(scan.again(), None);
}

#[tokio::test(start_paused = true)]
async fn rules_that_go_hold_for_as_long_as_something_happens() {
    let scene = Scene::new(&[("project/.geminiignore", "*.hid")]);
    scene.check(&["project/x.hid"], &[]);
    scene.write("project/.geminiignore", "");
    scene.check(&["project/x.hid"], &[]);
    for _ in 0..4 {
        advance(files::SETTLE_TIME / 2).await;
        scene.privacy.invalidate();
        scene.check(&["project/x.hid"], &[]);
    }
    advance(files::SETTLE_TIME).await;
    scene.check(&[], &["project/x.hid"]);
}

/// Checking out another branch replaces the files like this.
#[tokio::test(start_paused = true)]
async fn the_rules_of_all_files_that_go_at_the_same_time_hold_until_things_have_settled() {
    let files = ["project/.geminiignore", "project/a/.geminiignore", "project/b/.geminiignore"];
    let scene = Scene::new(&files.map(|file| (file, "*.hid")));
    let private = ["project/x.hid", "project/a/x.hid", "project/b/x.hid"];
    scene.check(&private, &[]);
    for file in files {
        scene.write(file, "");
        scene.check(&private, &[]);
    }
}
