//! Tests which files a client may accept in place of the user: by name, by links, and on a dead
//! disk.

use std::fs::{create_dir, write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;

use super::{DISK_TIMED_OUT, UNKNOWN_WORKTREES, Workspace};
use crate::disk::paths::{MAX_CLOSED, Worktrees};
use crate::disk::pool::BlockingPool;
use crate::tests::{EditorCall, Rig};

/// A server and a client. The only root is `project`, next to `other` and `projectile`.
struct Scene {
    rig: Rig,
    session: String,
    base: PathBuf,
    _dir: TempDir,
}

impl Scene {
    async fn new(roots: impl FnOnce(&Path) -> Vec<PathBuf>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["project", "project/sub", "projectile", "other"] {
            create_dir(base.join(name)).unwrap();
        }
        write(base.join("project/a.txt"), "old").unwrap();
        let rig = Rig::with(|config| config.settings.workspace = roots(&base));
        let session = rig.initialize().await;
        Self { rig, session, base, _dir: dir }
    }

    async fn of_project() -> Self {
        Self::new(|base| vec![base.join("project")]).await
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.base.to_str().unwrap())
    }

    /// Opens a diff and accepts it by the tool. Returns the refusal, if there is one.
    async fn accept(&self, path: &str) -> Option<String> {
        let (rig, session) = (&self.rig, &self.session);
        let arguments = json!({ "filePath": path, "newContent": "new" });
        let calls = async {
            rig.call(session, "openDiff", &arguments).await;
            let result = rig.call(session, "acceptDiff", &arguments).await;
            // The diff may still be open. Closes it for the next case.
            rig.call(session, "closeDiff", &arguments).await;
            result
        };
        let mut accepted = false;
        let editor = async {
            loop {
                match rig.asked().await {
                    EditorCall::Accept(_responder, path) => {
                        accepted = true;
                        rig.accept(&path, "new");
                    }
                    EditorCall::Open(responder, _)
                    | EditorCall::Close(responder, _)
                    | EditorCall::Reject(responder, _) => responder.complete(Some(String::new())),
                    EditorCall::Diagnostics(..) | EditorCall::Unsaved(_) => {
                        unreachable!("nobody asks for problems or unsaved files")
                    }
                }
            }
        };
        let result = tokio::select! {
            result = calls => result,
            () = editor => unreachable!("the editor goes on"),
        };
        assert_eq!(result["isError"] == true, !accepted, "{path}: {result}");
        (!accepted).then(|| result["content"][0]["text"].as_str().unwrap().to_owned())
    }

    async fn takes(&self, names: &[&str]) {
        for name in names {
            assert_eq!(self.accept(&self.at(name)).await, None, "{name}");
        }
    }

    async fn refuses(&self, names: &[&str], why: &str) {
        for name in names {
            let said = self.accept(&self.at(name)).await;
            let wanted = format!("acceptDiff: {why}; accept it in the editor");
            assert_eq!(said, Some(wanted), "{name}");
        }
    }
}

const OUTSIDE: &str = "the file lies outside of the workspace";

#[tokio::test]
async fn a_client_accepts_only_files_within_the_workspace() {
    let scene = Scene::of_project().await;
    let within = ["project/a.txt", "project/new", "project/new/deep/b.txt", "project//a.txt"];
    scene.takes(&within).await;
    scene.takes(&["project/sub/../a.txt", "project/../project/a.txt", "project/new/../b"]).await;
    let outside = ["a.txt", "other/a.txt", "projectile/a.txt", "other/new/b.txt", ".."];
    scene.refuses(&outside, OUTSIDE).await;
    let by_parents = ["project/../other/a.txt", "project/new/../../x", "project/sub/../../x"];
    scene.refuses(&by_parents, OUTSIDE).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_in_the_project_helps_nobody_out_of_it() {
    use std::os::unix::fs::symlink;

    let scene = Scene::of_project().await;
    for (to, link) in [
        ("other", "project/to-other"),
        ("project/sub", "project/to-sub"),
        ("project/sub", "other/to-sub"),
        ("other/new", "project/to-new"),
        ("project/loop", "project/loop"),
        ("project", "alias"),
    ] {
        symlink(scene.at(to), scene.at(link)).unwrap();
    }
    write(scene.at("other/a.txt"), "old").unwrap();
    symlink("../other/a.txt", scene.at("project/to-file")).unwrap();

    scene.takes(&["project/to-sub/a.txt", "alias/a.txt", "alias/new", "other/to-sub/b"]).await;
    scene.refuses(&["project/to-other/a.txt", "project/to-other/new/b"], OUTSIDE).await;
    scene
        .refuses(&["project/to-file", "alias/to-file", "project/to-sub/../to-file"], OUTSIDE)
        .await;
    scene.refuses(&["project/new/../to-other/a.txt"], OUTSIDE).await;
    // Some editors follow the link first, others remove `..` by name. Neither may lead out.
    scene.refuses(&["project/to-other/../x", "other/to-sub/../x"], OUTSIDE).await;
    // A write to a link without target creates the target.
    let nowhere = "the path leads nowhere, or can't be followed";
    scene.refuses(&["project/to-new", "project/to-new/x", "project/loop"], nowhere).await;
    scene.refuses(&["project/a.txt/x"], nowhere).await;

    let scene = Scene::new(|base| {
        symlink(base.join("project"), base.join("root")).unwrap();
        vec![base.join("gone"), base.join("root")]
    });
    let scene = scene.await;
    scene.takes(&["root/a.txt", "project/a.txt"]).await;
    scene.refuses(&["other/a.txt", "gone/a.txt"], OUTSIDE).await;
}

#[tokio::test]
async fn the_roots_of_the_moment_count() {
    let scene = Scene::of_project().await;
    scene.rig.parts.workspace.change(vec![scene.base.join("other")]);
    scene.takes(&["other/a.txt"]).await;
    scene.refuses(&["project/a.txt"], OUTSIDE).await;
    scene.rig.parts.workspace.change(Vec::new());
    scene.refuses(&["project/a.txt", "other/a.txt"], "no folder is open in the editor").await;
}

/// A repository `main` with the worktrees `free` and `taken`, of which nobody knows yet.
async fn assert_worktrees(case: impl AsyncFnOnce(&Workspace, &Path, &dyn Fn())) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for name in ["main", "free", "taken"] {
        create_dir(base.join(name)).unwrap();
        write(base.join(name).join(".geminiignore"), "secret.txt").unwrap();
    }
    let open = vec![base.join("main")];
    let pool = Arc::new(BlockingPool::of_test());
    let workspace = Workspace::new(open.clone(), false, true, pool);
    let found = Worktrees { free: vec![base.join("free")], taken: vec![base.join("taken")] };
    let look = || assert!(workspace.set_worktrees(&open, &found));
    case(&workspace, &base, &look).await;
}

#[tokio::test]
async fn a_model_gets_the_path_from_the_folder_of_its_cli() {
    let open = vec!["/front".into(), "/back".into()];
    let pool = Arc::new(BlockingPool::of_test());
    let workspace = Workspace::new(open, false, false, Arc::clone(&pool));
    for (folder, path, expected) in [
        (None, "/back/src/a.ts", "src/a.ts"),
        (Some("/front"), "/front/src/a.ts", "src/a.ts"),
        (Some("/front"), "/back/src/a.ts", "/back/src/a.ts"),
        (Some("/front/app/web"), "/front/src/a.ts", "../../src/a.ts"),
        (Some("/front/app/web"), "/front/app/a.ts", "../a.ts"),
        (Some("/front"), "/elsewhere/a.ts", "/elsewhere/a.ts"),
        (Some("/real"), "/back/src/a.ts", "/back/src/a.ts"),
    ] {
        assert_eq!(workspace.name_for(folder, path), expected, "{folder:?} {path}");
    }
    let by_link = Workspace::new(vec!["/link".into()], false, false, pool);
    assert_eq!(by_link.name_for(Some("/real"), "/link/src/a.ts"), "src/a.ts");
}

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn a_file_is_not_outside_before_the_worktrees_are_known() {
    assert_worktrees(async |workspace, base, look| {
        let path = base.join("free/a.txt");
        let check = |limit| workspace.check_shared(path.to_str().unwrap(), limit);
        assert_eq!(check(Duration::from_millis(50)).await, Err(UNKNOWN_WORKTREES));
        let ((), checked) = tokio::join!(async { look() }, check(LONG));
        assert_eq!(checked, Ok(()));
        workspace.change(vec![base.join("main"), base.join("other")]);
        assert_eq!(check(LONG).await, Ok(()), "the known ones stay");
        workspace.change(vec![base.join("taken")]);
        assert_eq!(check(Duration::from_millis(50)).await, Err(UNKNOWN_WORKTREES));
    })
    .await;
}

#[tokio::test]
async fn ignore_files_of_each_worktree_count() {
    assert_worktrees(async |workspace, base, look| {
        let is_private = |name: &str| {
            let path = base.join(name);
            workspace.privacy().scan().is_private(path.to_str().unwrap()).unwrap()
        };
        assert!(is_private("free/a.txt"), "an ignore file of a worktree may list it");
        assert!(!is_private("main/a.txt"));
        look();
        for folder in ["main", "free", "taken"] {
            assert!(is_private(&format!("{folder}/secret.txt")), "{folder}");
            assert!(!is_private(&format!("{folder}/a.txt")), "{folder}");
        }
        let taken = base.join("taken/a.txt");
        assert_eq!(workspace.check(taken.to_str().unwrap(), LONG).await, Err(super::OUTSIDE));
        let open = vec![base.join("other")];
        workspace.change(open.clone());
        workspace.set_worktrees(&open, &Worktrees::default());
        for count in 0..=MAX_CLOSED {
            for folder in ["main", "free", "taken"] {
                assert!(is_private(&format!("{folder}/secret.txt")), "{folder}, {count} later");
            }
            workspace.change(vec![base.join(count.to_string())]);
        }
    })
    .await;
}

/// Runs in real time: a paused clock stands still while a thread is busy.
#[tokio::test]
#[expect(
    clippy::await_holding_lock,
    reason = "it stands for the disk, on which nothing waits here"
)]
async fn a_dead_disk_holds_up_neither_the_server_nor_more_than_one_thread() {
    static DEAD: Mutex<()> = Mutex::new(());
    static LOOKS: Mutex<usize> = Mutex::new(0);
    let workspace = Workspace {
        is_within: |_, _| {
            *LOOKS.lock() += 1;
            Ok(DEAD.try_lock_for(Duration::from_mins(1)).is_some())
        },
        ..Workspace::new(vec!["/".into()], false, false, Arc::new(BlockingPool::of_test()))
    };
    let dead = DEAD.lock();
    let soon = Duration::from_millis(50);
    for _ in 0..3 {
        let said = workspace.check("/a", soon).await;
        assert_eq!(said, Err(DISK_TIMED_OUT));
    }
    drop(dead);
    assert_eq!(workspace.check("/a", Duration::from_mins(1)).await, Ok(()));
    assert_eq!(*LOOKS.lock(), 2, "those in between have not looked");
}

#[tokio::test(start_paused = true)]
async fn problems_of_open_files_are_not_sent_while_their_disk_does_not_answer() {
    let scene = Scene::of_project().await;
    let (rig, path) = (&scene.rig, scene.at("project/a.txt"));
    rig.parts.context.update(|model| model.focused(&path, 1));
    let empty = json!({});
    let call = || rig.call(&scene.session, "getDiagnostics", &empty);
    // Stands for a check that waits for the disk.
    let wait = || rig.parts.workspace.disk.try_turn().unwrap();
    let silent = "getDiagnostics: the disk does not answer";

    let waits = wait();
    assert_eq!(call().await["content"][0]["text"], silent);
    drop(waits);
    let editor = async {
        let EditorCall::Diagnostics(responder, _) = rig.asked().await else { panic!() };
        let waits = wait();
        responder.complete_json(r#"{ "files": [] }"#);
        waits
    };
    let (answer, _waits) = tokio::join!(call(), editor);
    assert_eq!(answer["content"][0]["text"], silent);
}
