//! What happens to the file while the server runs, and what does not happen once it has stopped.

use std::fs;
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::*;

/// Above what a busy machine needs, below the time after which the file is looked at unasked.
const PATIENCE: Duration = Duration::from_secs(25);

/// A file that is kept, in a folder for temporary files of its own.
pub(super) struct Kept {
    tmp: TempDir,
    pub(super) discovery: Discovery,
    runtime: Runtime,
}

impl Kept {
    pub(super) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    pub(super) fn start_in(tmp: TempDir) -> Self {
        let runtime = Runtime::start().unwrap();
        let place = Place::below(tmp.path());
        let discovery = Discovery::publish_in(runtime.alive(), place, 7, content(4000));
        Self { tmp, discovery, runtime }
    }

    /// Waits until nobody looks after the file any more.
    fn ended(self) -> TempDir {
        if let Some(remaining) = self.runtime.end() {
            remaining.wait();
        }
        self.tmp
    }

    /// A path below the folder for temporary files.
    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.tmp.path().join(path)
    }

    /// The file.
    pub(super) fn file(&self) -> PathBuf {
        self.at("gemini/ide/gemini-ide-server-7-4000.json")
    }

    /// Waits until the file is there and as it should be.
    pub(super) async fn in_place(&self) {
        let wanted = json(&content(4000));
        until("the file is in place", || {
            let is_file = self.file().symlink_metadata().is_ok_and(|found| found.is_file());
            is_file && fs::read(self.file()).is_ok_and(|found| found == wanted)
        })
        .await;
    }

    /// Does something to the file, twice: of the second time only the watch can know.
    pub(super) async fn survives(&self, attack: impl Fn()) {
        for _ in 0..2 {
            self.in_place().await;
            attack();
        }
        self.in_place().await;
    }
}

pub(super) async fn until(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("in vain until {what}"));
}

#[tokio::test]
async fn a_file_that_is_removed_comes_back() {
    let kept = Kept::start();
    kept.survives(|| fs::remove_file(kept.file()).unwrap()).await;
}

#[tokio::test]
async fn a_file_that_is_edited_is_written_anew() {
    let kept = Kept::start();
    let edited = String::from_utf8(json(&content(4000))).unwrap().replace("secret", "SECRET");
    kept.survives(|| fs::write(kept.file(), &edited).unwrap()).await;
    kept.survives(|| fs::write(kept.file(), "").unwrap()).await;
    let other = kept.at("other");
    let replace = || {
        fs::write(&other, &edited).unwrap();
        fs::rename(&other, kept.file()).unwrap();
    };
    kept.survives(replace).await;
}

#[tokio::test]
async fn a_folder_that_is_removed_is_made_again() {
    let kept = Kept::start();
    for folder in ["gemini/ide", "gemini", ""] {
        kept.survives(|| fs::remove_dir_all(kept.at(folder)).unwrap()).await;
    }
}

#[tokio::test]
async fn a_folder_that_is_moved_away_is_made_again() {
    let kept = Kept::start();
    for folder in ["gemini/ide", "gemini"] {
        let away = kept.at("away");
        let move_away = || {
            let _ = fs::remove_dir_all(&away);
            fs::rename(kept.at(folder), &away).unwrap();
        };
        kept.survives(move_away).await;
    }
}

#[tokio::test]
async fn what_could_not_be_written_is_tried_again() {
    let tmp = tempfile::tempdir().unwrap();
    let in_the_way = tmp.path().join("gemini");
    fs::write(&in_the_way, "").unwrap();
    let kept = Kept::start_in(tmp);
    assert_eq!(kept.discovery.path(), None);
    assert!(kept.discovery.set_workspace_path("/work".to_owned()).is_err());
    fs::remove_file(&in_the_way).unwrap();
    kept.in_place().await;
    until("it says where it is", || kept.discovery.path() == Some(kept.file())).await;
}

#[tokio::test]
async fn nothing_brings_the_file_back_after_the_end() {
    for _ in 0..20 {
        let kept = Kept::start();
        kept.in_place().await;
        // The watch is about to notice that the file is gone, and so is the folder's owner.
        fs::remove_file(kept.file()).unwrap();
        drop(kept.discovery.remove());
        kept.discovery.set_workspace_path("/late".to_owned()).unwrap();
        let tmp = kept.ended();
        assert!(names(&tmp.path().join("gemini/ide")).is_empty());
    }
}

#[tokio::test]
async fn thousands_of_stale_files_hold_up_nothing() {
    const STALE: usize = 3_000;
    let tmp = tempfile::tempdir().unwrap();
    let folder = tmp.path().join("gemini/ide");
    fs::create_dir_all(&folder).unwrap();
    let port = closed_port();
    for pid in 0..STALE {
        // Above all that are given to processes.
        let pid = 2_000_000_000 + u32::try_from(pid).unwrap();
        fs::write(folder.join(GEMINI.file_name(pid, port)), "{}").unwrap();
    }
    let kept = Kept::start_in(tmp);
    assert!(kept.discovery.path().is_some(), "they go later");
    until("they are gone", || names(&folder) == [GEMINI.file_name(7, 4000)]).await;
    drop(kept.discovery.remove());
    kept.ended();
}
