//! What other users, and programs of the same user, may have put where the file goes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::Command;

use companion_platform::others_can_rename_in;

use super::keeping::{Kept, until};
use super::*;

fn refusal(parent: &Path) -> String {
    Place::below(parent).open().unwrap_err().to_string()
}

#[test]
fn only_its_owner_may_read_it() {
    let tmp = tempfile::tempdir().unwrap();
    let gemini = tmp.path().join("gemini");
    fs::create_dir(&gemini).unwrap();
    fs::set_permissions(&gemini, Permissions::from_mode(0o777)).unwrap();
    let runtime = Runtime::start().unwrap();
    let discovery =
        Discovery::publish_in(runtime.alive(), Place::below(tmp.path()), 7, content(4000));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&gemini), 0o700, "one that was open to others is closed");
    assert_eq!(mode(&gemini.join("ide")), 0o700);
    assert_eq!(mode(&discovery.path().unwrap()), 0o600);
}

#[test]
fn a_symbolic_link_is_refused_at_each_level() {
    let elsewhere = tempfile::tempdir().unwrap();
    for link in ["gemini", "gemini/ide"] {
        let tmp = tempfile::tempdir().unwrap();
        let link = tmp.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let error = refusal(tmp.path());
        assert!(error.contains("is a symbolic link or no directory"), "{error}");
    }
    assert!(names(elsewhere.path()).is_empty());
}

/// As `/tmp` is on macOS.
#[test]
fn the_folder_for_temporary_files_may_be_a_link() {
    let tmp = tempfile::tempdir().unwrap();
    let link = tmp.path().join("link");
    symlink(tmp.path(), &link).unwrap();
    let runtime = Runtime::start().unwrap();
    let discovery = Discovery::publish_in(runtime.alive(), Place::below(&link), 7, content(4000));
    assert!(discovery.path().is_some());
    assert_eq!(names(&tmp.path().join("gemini/ide")), [GEMINI.file_name(7, 4000)]);
}

#[test]
fn a_file_in_the_way_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    fs::write(tmp.path().join("gemini"), "").unwrap();
    let error = refusal(tmp.path());
    assert!(error.contains("is a symbolic link or no directory"), "{error}");
}

#[test]
fn another_users_directory_is_refused() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    for theirs in ["gemini", "gemini/ide"] {
        let tmp = tempfile::tempdir().unwrap();
        let theirs = tmp.path().join(theirs);
        fs::create_dir_all(&theirs).unwrap();
        chown(&theirs, Some(12345), None).unwrap();
        let error = refusal(tmp.path());
        assert!(error.contains("belongs to another user"), "{error}");
        let runtime = Runtime::start().unwrap();
        let discovery =
            Discovery::publish_in(runtime.alive(), Place::below(tmp.path()), 7, content(4000));
        assert_eq!(discovery.path(), None);
        let mode = fs::metadata(&theirs).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o755, "what is theirs stays as it is");
    }
}

#[test]
fn a_symbolic_link_in_the_place_of_the_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = tempfile::NamedTempFile::new().unwrap();
    for name in ["gemini-ide-server-7-4000.json", "gemini-ide-server-7-4000.json.tmp"] {
        symlink(victim.path(), dir.path().join(name)).unwrap();
    }
    let runtime = Runtime::start().unwrap();
    let discovery = Discovery::publish(runtime.alive(), Some(dir.path()), 7, content(4000));
    assert!(discovery.path().unwrap().symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_to_string(victim.path()).unwrap(), "");
}

#[tokio::test]
async fn whatever_is_put_in_the_place_of_the_file_is_replaced() {
    let kept = Kept::start();
    let victim = kept.at("victim");
    let copy = json(&content(4000));
    fs::write(&victim, &copy).unwrap();
    let link = || {
        fs::remove_file(kept.file()).unwrap();
        symlink(&victim, kept.file()).unwrap();
    };
    kept.survives(link).await;
    assert_eq!(fs::read(&victim).unwrap(), copy);
    let pipe = || {
        fs::remove_file(kept.file()).unwrap();
        assert!(Command::new("mkfifo").arg(kept.file()).status().unwrap().success());
    };
    kept.survives(pipe).await;
}

#[tokio::test]
async fn a_link_in_the_place_of_the_folder_is_not_followed() {
    let kept = Kept::start();
    kept.in_place().await;
    let (away, trap) = (kept.at("away"), kept.at("trap"));
    fs::create_dir_all(trap.join("ide")).unwrap();
    fs::rename(kept.at("gemini"), &away).unwrap();
    symlink(&trap, kept.at("gemini")).unwrap();
    until("it is noticed", || kept.discovery.path().is_none()).await;
    assert!(names(&trap.join("ide")).is_empty());
    fs::remove_file(kept.at("gemini")).unwrap();
    kept.in_place().await;
}

/// In a folder where everybody may rename everything the file can be hidden, but is safe.
#[test]
fn a_folder_without_a_sticky_bit_is_used_and_warned_of() {
    let tmp = tempfile::tempdir().unwrap();
    for (mode, exposed) in [(0o777, true), (0o1777, false), (0o775, false), (0o700, false)] {
        fs::set_permissions(tmp.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(others_can_rename_in(tmp.path()).unwrap(), exposed, "{mode:o}");
        let runtime = Runtime::start().unwrap();
        let discovery =
            Discovery::publish_in(runtime.alive(), Place::below(tmp.path()), 7, content(4000));
        assert!(discovery.path().is_some());
    }
}
