//! Asks the probe about files on a disk that answers, and on one that does not.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use companion_protocol::editor::ProposalKind::{Change, Create};

use super::TargetProbe;
use crate::disk::pool::BlockingPool;
use crate::runtime::Runtime;
use crate::workspace::Workspace;

fn probe(runtime: &Runtime) -> TargetProbe {
    let pool = Arc::new(BlockingPool::new(runtime.alive().clone()).unwrap());
    let workspace = Workspace::new(Vec::new(), false, false, Arc::clone(&pool));
    TargetProbe::new(Arc::clone(workspace.privacy()), pool)
}

#[test]
fn a_file_that_is_not_there_is_created() {
    let runtime = Runtime::start().unwrap();
    let probe = probe(&runtime);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    let path = path.to_str().unwrap();
    assert_eq!(probe.of(path), (Create, false));
    std::fs::write(path, "").unwrap();
    assert_eq!(probe.of(path), (Change, false));
    assert_eq!(
        probe.of(dir.path().to_str().unwrap()),
        (Change, false),
        "the editor refuses a folder"
    );
    assert_eq!(probe.of(&format!("{path}/b")), (Change, false), "no folder can be where a file is");
    assert_eq!(probe.of("/no/such/folder/a.txt"), (Create, false));
}

#[test]
fn a_dead_disk_is_waited_for_once_and_asked_again_when_it_lives() {
    static DEAD: Mutex<()> = Mutex::new(());
    fn exists(_: &Path) -> bool {
        drop(DEAD.lock().unwrap());
        false
    }
    let runtime = Runtime::start().unwrap();
    let probe = TargetProbe { exists, ..probe(&runtime) };
    let dead: MutexGuard<'_, ()> = DEAD.lock().unwrap();
    assert_eq!(probe.of("/a"), (Change, false));
    // Without another thread: otherwise all threads would wait for this disk.
    for _ in 0..100 {
        assert_eq!(probe.of("/b"), (Change, false));
    }
    drop(dead);
    while probe.of("/c") != (Create, false) {
        std::thread::yield_now();
    }
}

#[test]
fn a_private_file_is_said_to_be_one_while_the_disk_answers() {
    static DEAD: Mutex<()> = Mutex::new(());
    fn exists(_: &Path) -> bool {
        drop(DEAD.lock().unwrap());
        true
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(".aiexclude"), "*.key").unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let runtime = Runtime::start().unwrap();
    let pool = Arc::new(BlockingPool::new(runtime.alive().clone()).unwrap());
    let workspace = Workspace::new(vec![dir.path().to_owned()], false, false, Arc::clone(&pool));
    let probe = TargetProbe::new(Arc::clone(workspace.privacy()), pool);
    assert_eq!(probe.of(&at("new.key")), (Create, true));
    assert_eq!(probe.of(&at("new.txt")), (Create, false));
    let probe = TargetProbe { exists, ..probe };
    let dead = DEAD.lock().unwrap();
    assert_eq!(probe.of(&at("x.key")), (Change, false), "nothing is said of it");
    drop(dead);
    while probe.of(&at("x.key")) != (Change, true) {
        std::thread::yield_now();
    }
}
