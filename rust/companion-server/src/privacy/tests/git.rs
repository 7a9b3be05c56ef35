//! Tests that files which Git ignores are private, if the user wants that.

use std::cell::RefCell;

use super::*;
use crate::privacy::files::SETTLE_TIME;

thread_local! {
    /// The user's ignore file for all repositories.
    static USER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// A scene with a repository in `project`.
fn scene(files: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::new(files);
    scene.write("project/.git/HEAD", "");
    scene.privacy.git =
        Some(|| Excludes { file: USER.with_borrow(Clone::clone), configs: Vec::new() });
    let user = scene.base.join("config/git/ignore");
    USER.set(Some(user));
    scene
}

/// The reason, without the folder of the test.
fn why(scene: &Scene, path: &str) -> String {
    let why = scene.privacy.scan().why_private(&scene.at(path)).unwrap();
    why.map(|why| why.to_string().replace(&scene.at(""), "")).unwrap_or_default()
}

#[test]
fn it_is_off_until_the_user_wants_it() {
    let scene = Scene::new(&[("project/.git/HEAD", ""), ("project/.gitignore", "*")]);
    scene.check(&[], &["project/x"]);
}

#[test]
fn each_ignore_file_of_git_counts() {
    let scene = scene(&[
        ("project/.gitignore", "*.hid\n/top\nbuild/\n!b.usr\n!b.exc"),
        ("project/a/.gitignore", "!my.hid\n/deep\n!build/x"),
        ("project/.git/info/exclude", "*.exc\n!c.usr"),
        ("config/git/ignore", "*.usr\na/only"),
    ]);
    scene.check(
        &[
            "project/x.hid",
            "project/a/x.hid",
            "project/top",
            "project/build/x",
            "project/a/build/x",
            "project/a/deep",
            "project/a.exc",
            "project/a/a.usr",
            "project/a/only",
        ],
        &[
            "project/x",
            "project/a/my.hid",
            "project/a/top",
            "project/deep",
            "project/b.exc",
            "project/b.usr",
            "project/c.usr",
            "project/a/a/only",
        ],
    );
}

#[test]
fn the_ignore_file_of_the_user_may_be_in_the_worktree() {
    let scene = scene(&[("project/mine", "*.usr")]);
    USER.set(Some(PathBuf::from("mine")));
    scene.check(&["project/a/x.usr"], &["project/x"]);
}

#[test]
fn the_configuration_of_a_worktree_counts_if_that_of_the_repository_says_so() {
    for (value, private, shared) in
        [("true", "project/x.own", "project/x.hid"), ("false", "project/x.hid", "project/x.own")]
    {
        let config =
            format!("[core]\nexcludesFile = .git/mine\n[extensions]\nworktreeConfig = {value}");
        let scene = scene(&[
            ("project/.git/config", &*config),
            ("project/.git/config.worktree", "[core]\nexcludesFile = .git/own"),
            ("project/.git/mine", "*.hid"),
            ("project/.git/own", "*.own"),
        ]);
        scene.check(&[private], &[shared]);
    }
}

#[test]
fn the_reason_names_the_rule_and_how_to_share_the_file() {
    let mut scene = scene(&[
        ("project/a/.gitignore", "# a comment\n*.Log\n{x,y}.gen"),
        ("project/.git/info/exclude", "*.exc"),
        ("config/git/ignore", "*.usr"),
    ]);
    let shares = |rule: &str, file: &str, line: &str| {
        format!(
            "Git ignores it by {rule} in {file}. To share it, add this line to .geminiignore: {line}"
        )
    };
    for (path, rule, file) in [
        ("a/x.LOG", "*.Log", "a/.gitignore"),
        ("a/{x,y}.gen", "{x,y}.gen", "a/.gitignore"),
        ("x.exc", "*.exc", ".git/info/exclude"),
        ("x.usr", "*.usr", "config/git/ignore"),
    ] {
        let line = format!("!/{}", path.replace('{', "\\{").replace('}', "\\}"));
        assert_eq!(why(&scene, &format!("project/{path}")), shares(rule, file, &line));
    }
    scene.write("project/b/.gitignore", "\0");
    let line = "To share it, add this line to .geminiignore: !/b/x";
    assert_eq!(
        why(&scene, "project/b/x"),
        format!("Git may ignore it, but b/.gitignore can’t be used. {line}")
    );
    scene.write("project/.gitignore", &"l".repeat(MAX_SHOWN_RULE + 1));
    let long = format!("project/{}", "l".repeat(MAX_SHOWN_RULE + 1));
    assert!(
        why(&scene, &long).starts_with(&format!(
            "Git ignores it by {} in .gitignore",
            "l".repeat(MAX_SHOWN_RULE)
        ))
    );
    scene.write("project/.gitignore", ".env");
    assert!(why(&scene, "project/.env").starts_with("It may contain"));
    scene.write("other/.git/HEAD", "");
    scene.write("other/.gitignore", "*.hid");
    let outside = "Git ignores it by *.hid in other/.gitignore, and is outside of the project.";
    assert_eq!(why(&scene, "other/x.hid"), outside);
    scene.privacy.git = None;
    assert_eq!(why(&scene, "project/x.usr"), "");
}

#[test]
fn a_rule_can_not_write_to_a_terminal() {
    let rule = Some("a\u{1b}[2J\u{9b}b".to_owned());
    let why = PrivateBy::Git { rule, file: ".gitignore".to_owned(), line: None };
    assert_eq!(
        why.to_string(),
        "Git ignores it by a[2Jb in .gitignore, and is outside of the project."
    );
}

#[test]
fn an_ignore_file_of_the_project_takes_back_what_git_ignores() {
    let git = ("project/.gitignore", "*.hid\nbuild/\n.env\n!*.pem");
    let first = scene(&[
        git,
        ("project/.geminiignore", "!/x.hid\n!build/\n!/.env\n*.txt"),
        ("project/a/.aiignore", "!*.hid"),
    ]);
    let private = ["project/y.hid", "project/build/x.hid", "project/a/.env"];
    first.check(&private, &["project/x.hid", "project/build/y", "project/.env"]);
    first.check(&["project/a.pem", "project/a.txt"], &["project/a/x.hid", "project/a/b/x.hid"]);
    // Each line that a reason names shares its file.
    for path in private {
        let reason = why(&first, path);
        let (_, line) = reason.split_once("to .geminiignore: ").unwrap();
        scene(&[git, ("project/.geminiignore", line)]).check(&[], &[path]);
    }
}

#[test]
fn a_worktree_within_another_one_has_its_own_rules() {
    let scene = scene(&[
        ("project/.gitignore", "*.hid\nvendor/\n/inner/x"),
        ("project/inner/.git", "gitdir: ../.git/modules/inner\n"),
        ("project/.git/modules/inner/HEAD", ""),
        ("project/.git/modules/inner/info/exclude", "*.exc"),
        ("project/inner/.gitignore", "*.own"),
        ("project/vendor/.git/HEAD", ""),
        ("project/vendor/.gitignore", "!*"),
    ]);
    scene.check(
        &["project/x.hid", "project/inner/x.own", "project/inner/x.exc", "project/vendor/x"],
        &["project/inner/x.hid", "project/inner/x", "project/x.own", "project/x.exc"],
    );
}

#[test]
fn a_git_that_is_no_repository_begins_no_worktree() {
    let scene = scene(&[("project/.gitignore", "*.hid"), ("project/file/.git", "")]);
    create_dir_all(scene.base.join("project/folder/.git")).unwrap();
    scene.write("project/gone/.git", "gitdir: ../gone\n");
    scene.check(&["project/file/x.hid", "project/folder/x.hid", "project/gone/x.hid"], &[]);
}

#[test]
fn a_folder_of_a_repository_has_the_rules_above_it() {
    let scene = scene(&[
        (".git/HEAD", ""),
        (".gitignore", "*"),
        ("project/.gitignore", "*.hid\n/a/b/top\n/out/"),
        ("project/.git/info/exclude", "*.exc"),
    ]);
    for roots in [vec!["project/a"], vec!["project/a", "project/a/b"], vec!["project/a/b"]] {
        scene.roots(&roots);
        scene.check(
            &["project/a/b/x.hid", "project/a/b/x.exc", "project/a/b/top"],
            &["project/a/b/x", "project/a/b/c/top"],
        );
    }
    // The user has opened a folder that Git ignores.
    scene.roots(&["project/out"]);
    scene.check(&["project/out/x"], &[]);
    scene.write("project/out/.geminiignore", "!*.md");
    scene.check(&["project/out/x"], &["project/out/x.md"]);
    // A file outside of the project belongs to its own repository.
    scene.roots(&["other"]);
    scene.check(&["project/x.hid", "x"], &["project/x", "other/../project/x"]);
}

#[test]
fn without_a_repository_gitignore_counts_from_the_root() {
    let scene =
        scene(&[(".gitignore", "*"), ("config/git/ignore", "*"), ("other/.gitignore", "*.hid")]);
    scene.roots(&["other"]);
    scene.check(&["other/x.hid", "other/a/x.hid"], &["other/x", "third/x.hid"]);
}

#[cfg(unix)]
#[test]
fn a_link_to_an_ignored_file_is_private() {
    let scene = scene(&[("project/.gitignore", "*.hid"), ("project/x.hid", ""), ("project/x", "")]);
    for (to, link) in [("project/x.hid", "project/a"), ("project/x", "project/b.hid")] {
        std::os::unix::fs::symlink(scene.at(to), scene.at(link)).unwrap();
    }
    scene.check(&["project/a", "project/b.hid"], &["project/x"]);
}

#[test]
fn what_can_not_be_used_hides_everything_below_its_folder() {
    let scene = scene(&[]);
    let file = "project/a/.gitignore";
    for text in ["# a comment\n".repeat(1 << 20), "/a-rule\n".repeat(2001), "\0".to_owned()] {
        scene.write(file, &text);
        scene.check(&["project/a/x", "project/a/b/x"], &["project/x"]);
    }
    remove_file(scene.base.join(file)).unwrap();
    fs::create_dir(scene.base.join(file)).unwrap();
    scene.check(&["project/a/x"], &["project/x"]);
    create_dir_all(scene.base.join("config/git/ignore")).unwrap();
    scene.check(&["project/x"], &["outside/x"]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_was_removed_holds_until_things_have_settled() {
    let scene = scene(&[("project/.gitignore", "*.hid"), ("project/.geminiignore", "")]);
    scene.check(&["project/x.hid"], &[]);
    remove_file(scene.base.join("project/.gitignore")).unwrap();
    scene.check(&["project/x.hid"], &[]);
    let mut scan = scene.privacy.scan();
    scan.is_private(&scene.at("project/x.hid")).unwrap();
    assert_eq!(scan.again(), Some(Instant::now() + SETTLE_TIME));
    advance(SETTLE_TIME).await;
    scene.check(&[], &["project/x.hid"]);
}

#[test]
fn a_missing_ignore_file_is_watched_where_it_would_begin() {
    let scene = scene(&[("project/a/x", "")]);
    let mut scan = scene.privacy.scan();
    scan.is_private(&scene.at("project/a/x")).unwrap();
    let watched: Vec<_> = scan.watched_paths().into_iter().map(PathBuf::from).collect();
    for path in ["config", "project/.git/info", "project/.gitignore", "project/a/.gitignore"] {
        assert!(watched.contains(&scene.base.join(path)), "{path}: {watched:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_the_configuration_no_longer_names_counts_until_things_have_settled() {
    let scene = scene(&[
        ("project/.git/config", "[core]\nexcludesFile = .git/mine"),
        ("project/.git/mine", "*.hid"),
        ("config/git/ignore", "*.usr"),
    ]);
    scene.check(&["project/x.hid"], &["project/x.usr"]);
    // Many programs empty a file before they write it.
    scene.write("project/.git/config", "");
    scene.check(&["project/x.hid", "project/x.usr"], &["project/x"]);
    let mut scan = scene.privacy.scan();
    scan.is_private(&scene.at("project/x.hid")).unwrap();
    assert_eq!(scan.again(), Some(Instant::now() + SETTLE_TIME));
    advance(SETTLE_TIME).await;
    scene.check(&["project/x.usr"], &["project/x.hid"]);
    scene.write("project/.git/config", "[core]\nexcludesFile =");
    advance(SETTLE_TIME).await;
    scene.check(&["project/x.usr"], &[]);
    advance(SETTLE_TIME).await;
    scene.check(&[], &["project/x.usr"]);
}
