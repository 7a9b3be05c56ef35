//! Tests that the server keeps the file in place while it runs, and no longer after it has stopped.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use super::*;

/// Longer than a busy machine needs, shorter than the interval of the regular check.
const WAIT_TIMEOUT: Duration = Duration::from_secs(25);

/// A file that is kept in place, in a separate temporary folder.
pub(super) struct Kept {
    tmp: TempDir,
    profile: &'static ClientProfile,
    pub(super) discovery: Discovery,
    runtime: Runtime,
}

impl Kept {
    /// Starts to keep the file of a client that is used here.
    pub(super) fn start(profile: &'static ClientProfile) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir_all(place_below(profile, tmp.path()).1.path()).unwrap();
        Self::start_in(tmp, profile)
    }

    pub(super) fn start_in(tmp: TempDir, profile: &'static ClientProfile) -> Self {
        let runtime = Runtime::start().unwrap();
        let place = place_below(profile, tmp.path());
        let discovery = Discovery::publish_in(runtime.alive(), [place], 7, None, &content(4000));
        Self { tmp, profile, discovery, runtime }
    }

    /// Waits until no thread keeps the file any more.
    fn ended(self) -> TempDir {
        assert!(self.runtime.end(Duration::from_mins(1)));
        self.tmp
    }

    /// Returns a path below the temporary folder.
    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.tmp.path().join(path)
    }

    /// Returns the folder of the file.
    fn folder(&self) -> PathBuf {
        place_below(self.profile, self.tmp.path()).1.path()
    }

    /// Returns the path of the file.
    pub(super) fn file(&self) -> PathBuf {
        self.folder().join(self.profile.naming.file_name(7, 4000))
    }

    /// Returns its expected content.
    pub(super) fn wanted(&self) -> Vec<u8> {
        let (profile, place) = place_below(self.profile, self.tmp.path());
        let ppid = Entry::new(profile, place, 7, 4000).published_process();
        json(&DiscoveryFile { ppid, ..content(4000) })
    }

    /// Waits until the file exists with its expected content.
    pub(super) async fn in_place(&self) {
        let wanted = self.wanted();
        until("the file is in place", || {
            let is_file = self.file().symlink_metadata().is_ok_and(|found| found.is_file());
            is_file && fs::read(self.file()).is_ok_and(|found| found == wanted)
        })
        .await;
    }

    /// Attacks the file twice, and waits for its return. Only the watch can notice the second
    /// attack.
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
    timeout(WAIT_TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("in vain until {what}"));
}

#[tokio::test]
async fn a_file_that_is_edited_is_written_anew() {
    for profile in profile::ALL {
        let kept = Kept::start(profile);
        let edited = String::from_utf8(kept.wanted()).unwrap().replace("secret", "SECRET");
        kept.survives(|| fs::write(kept.file(), &edited).unwrap()).await;
        kept.survives(|| fs::write(kept.file(), "").unwrap()).await;
        let other = kept.at("other");
        let replace = || {
            fs::write(&other, &edited).unwrap();
            fs::rename(&other, kept.file()).unwrap();
        };
        kept.survives(replace).await;
    }
}

/// Removes a folder, also if the server writes its file again meanwhile.
fn remove_folder(folder: &Path) {
    while let Err(error) = fs::remove_dir_all(folder) {
        assert_eq!(error.kind(), io::ErrorKind::DirectoryNotEmpty);
    }
}

#[tokio::test]
async fn a_folder_that_is_removed_is_made_again() {
    let kept = Kept::start(&GEMINI);
    for folder in ["gemini/ide", "gemini", ""] {
        kept.survives(|| remove_folder(&kept.at(folder))).await;
    }
    let kept = Kept::start(&QWEN);
    kept.survives(|| remove_folder(&kept.at(".qwen/ide"))).await;
}

#[tokio::test]
async fn a_folder_that_is_moved_away_is_made_again() {
    for (profile, folder) in [(&GEMINI, "gemini/ide"), (&GEMINI, "gemini"), (&QWEN, ".qwen/ide")] {
        let kept = Kept::start(profile);
        let away = kept.at("away");
        let move_away = || {
            let _ = fs::remove_dir_all(&away);
            fs::rename(kept.at(folder), &away).unwrap();
        };
        kept.survives(move_away).await;
    }
}

/// Users who don't use a client must not find a folder for it.
#[tokio::test]
async fn a_clients_own_folder_is_not_made_and_is_not_missed() {
    let kept = Kept::start_in(tempfile::tempdir().unwrap(), &QWEN);
    assert!(kept.discovery.files().is_empty());
    kept.discovery.set_workspace(&["/work".to_owned()], Vec::new()).unwrap();
    for _ in 0..2 {
        assert!(names(&kept.at("")).is_empty());
        fs::create_dir(kept.at(".qwen")).unwrap();
        kept.in_place().await;
        kept.survives(|| fs::remove_file(kept.file()).unwrap()).await;
        fs::remove_dir_all(kept.at(".qwen")).unwrap();
        until("it is noticed", || kept.discovery.files().is_empty()).await;
    }
}

/// A variable may name the folder, and any folder above it may be created later.
#[tokio::test]
async fn a_clients_own_folder_may_come_bit_by_bit() {
    let tmp = tempfile::tempdir().unwrap();
    let base = tmp.path().join("a/b/home");
    let runtime = Runtime::start().unwrap();
    let place = (&QWEN, DiscoveryDir::below(&QWEN.folder, base.clone()));
    let discovery = Discovery::publish_in(runtime.alive(), [place], 7, None, &content(4000));
    for folder in ["a", "a/b", "a/b/home"] {
        assert!(discovery.files().is_empty());
        fs::create_dir(tmp.path().join(folder)).unwrap();
    }
    until("it is there", || in_place(&discovery) == Some(base.join("ide/4000.lock"))).await;
}

#[tokio::test]
async fn what_could_not_be_written_is_tried_again() {
    for (profile, in_the_way) in [(&GEMINI, "gemini"), (&QWEN, ".qwen")] {
        let tmp = tempfile::tempdir().unwrap();
        let in_the_way = tmp.path().join(in_the_way);
        fs::write(&in_the_way, "").unwrap();
        let kept = Kept::start_in(tmp, profile);
        assert_eq!(in_place(&kept.discovery), None);
        assert!(kept.discovery.set_workspace(&["/work".to_owned()], Vec::new()).is_err());
        fs::remove_file(&in_the_way).unwrap();
        fs::create_dir_all(&in_the_way).unwrap();
        kept.in_place().await;
        until("it says where it is", || in_place(&kept.discovery) == Some(kept.file())).await;
    }
}

/// A problem with one client's folder does not affect another client's.
#[tokio::test]
async fn each_file_is_kept_whatever_becomes_of_the_others() {
    let tmp = tempfile::tempdir().unwrap();
    fs::write(tmp.path().join(".qwen"), "").unwrap();
    let runtime = Runtime::start().unwrap();
    let places = profile::ALL.map(|profile| place_below(profile, tmp.path()));
    let discovery = Discovery::publish_in(runtime.alive(), places, 7, None, &content(4000));
    let status = || discovery.files().into_iter().map(|file| (file.client.id, file.in_place));
    assert_eq!(status().collect::<Vec<_>>(), [("gemini", true), ("qwen", false)]);
    discovery.set_workspace(&["/other".to_owned()], Vec::new()).unwrap();
    let file = in_place(&discovery).unwrap();
    let written = fs::read(&file).unwrap();
    for _ in 0..2 {
        fs::remove_file(&file).unwrap();
        until("it is back", || fs::read(&file).is_ok_and(|found| found == written)).await;
    }
    drop(discovery.remove());
    until("it is gone", || !file.exists()).await;
}

#[tokio::test]
async fn nothing_brings_the_file_back_after_the_end() {
    for profile in [profile::ALL; 10].as_flattened() {
        let kept = Kept::start(profile);
        kept.in_place().await;
        // The watch and the keeper are about to notice that the file is gone.
        fs::remove_file(kept.file()).unwrap();
        drop(kept.discovery.remove());
        kept.discovery.set_workspace(&["/late".to_owned()], Vec::new()).unwrap();
        let folder = kept.folder();
        let _tmp = kept.ended();
        assert!(names(&folder).is_empty());
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
        // Larger than all process ids of the system.
        let pid = 2_000_000_000 + u32::try_from(pid).unwrap();
        let file = folder.join(GEMINI.naming.file_name(pid, port));
        fs::write(&file, "{}").unwrap();
        set_age(&file, sweep::MIN_AGE);
    }
    let kept = Kept::start_in(tmp, &GEMINI);
    assert!(in_place(&kept.discovery).is_some(), "they go later");
    let ours = GEMINI.naming.file_name(7, 4000);
    until("they are gone", || names(&folder) == [&*ours]).await;
    drop(kept.discovery.remove());
    kept.ended();
}
