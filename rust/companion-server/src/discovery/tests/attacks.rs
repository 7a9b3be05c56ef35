//! Tests hostile files in the place of the discovery file, from other users and from programs of
//! the same user.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::Command;

use companion_platform::others_can_rename_in;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::keeping::{Kept, until};
use super::*;

fn refusal(profile: &'static ClientProfile, tmp: &Path) -> String {
    place_below(profile, tmp).1.open().unwrap_err().to_string()
}

/// Returns the folders below `tmp` that must be private, or at least belong to the user.
fn folders(profile: &'static ClientProfile, tmp: &Path) -> [PathBuf; 2] {
    let path = place_below(profile, tmp).1.path();
    [path.parent().unwrap().to_owned(), path]
}

fn publish(runtime: &Runtime, profile: &'static ClientProfile, tmp: &Path) -> Discovery {
    Discovery::publish_in(runtime.alive(), [place_below(profile, tmp)], 7, None, &content(4000))
}

#[test]
fn only_its_owner_may_read_it() {
    for profile in profile::ALL {
        let tmp = tempfile::tempdir().unwrap();
        let [outer, inner] = folders(profile, tmp.path());
        fs::create_dir_all(&inner).unwrap();
        for dir in [&outer, &inner] {
            fs::set_permissions(dir, Permissions::from_mode(0o777)).unwrap();
        }
        let runtime = Runtime::start().unwrap();
        let discovery = publish(&runtime, profile, tmp.path());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&in_place(&discovery).unwrap()), 0o600);
        assert_eq!(mode(&inner), 0o700, "one that was open to others is closed");
        let clients_own = profile.folder.base != Base::Temp;
        assert_eq!(mode(&outer), if clients_own { 0o777 } else { 0o700 });
    }
}

#[test]
fn a_symbolic_link_is_refused_at_each_level() {
    let elsewhere = tempfile::tempdir().unwrap();
    for profile in profile::ALL {
        for level in 0..2 {
            let tmp = tempfile::tempdir().unwrap();
            let link = &folders(profile, tmp.path())[level];
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(elsewhere.path(), link).unwrap();
            let error = refusal(profile, tmp.path());
            assert!(error.contains("is a symbolic link or no directory"), "{error}");
        }
    }
    assert!(names(elsewhere.path()).is_empty());
}

/// `/tmp` is such a link on macOS.
#[test]
fn the_folder_above_may_be_a_link() {
    for profile in profile::ALL {
        let tmp = tempfile::tempdir().unwrap();
        let link = tmp.path().join("link");
        symlink(tmp.path(), &link).unwrap();
        let [_, inner] = folders(profile, tmp.path());
        fs::create_dir_all(&inner).unwrap();
        let runtime = Runtime::start().unwrap();
        let discovery = publish(&runtime, profile, &link);
        assert!(in_place(&discovery).is_some());
        assert_eq!(names(&inner), [profile.naming.file_name(7, 4000)]);
    }
}

#[test]
fn another_users_directory_is_refused() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root can give a directory away");
        return;
    }
    for (profile, level) in profile::ALL.into_iter().flat_map(|one| [(one, 0), (one, 1)]) {
        let tmp = tempfile::tempdir().unwrap();
        let theirs = &folders(profile, tmp.path())[level];
        fs::create_dir_all(theirs).unwrap();
        chown(theirs, Some(12345), None).unwrap();
        let error = refusal(profile, tmp.path());
        assert!(error.contains("belongs to another user"), "{error}");
        let runtime = Runtime::start().unwrap();
        let discovery = publish(&runtime, profile, tmp.path());
        assert_eq!(in_place(&discovery), None);
        let mode = fs::metadata(theirs).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o755, "what is theirs stays as it is");
    }
}

#[test]
fn a_symbolic_link_in_the_place_of_a_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = tempfile::NamedTempFile::new().unwrap();
    for name in profile::ALL.map(|profile| profile.naming.file_name(7, 4000)) {
        symlink(victim.path(), dir.path().join(format!("{name}.tmp"))).unwrap();
        symlink(victim.path(), dir.path().join(name)).unwrap();
    }
    let runtime = Runtime::start().unwrap();
    let (all, at) = (&profile::ALL, Some(dir.path()));
    let discovery = Discovery::publish(runtime.alive(), all, at, 7, None, &content(4000));
    for file in discovery.files() {
        assert!(file.in_place && Path::new(&file.path).symlink_metadata().unwrap().is_file());
    }
    assert_eq!(fs::read_to_string(victim.path()).unwrap(), "");
}

#[tokio::test]
async fn whatever_is_put_in_the_place_of_a_file_is_replaced() {
    for profile in profile::ALL {
        let kept = Kept::start(profile);
        let victim = kept.at("victim");
        let copy = kept.wanted();
        fs::write(&victim, &copy).unwrap();
        // In one step, because the server restores a missing file at once.
        let other = kept.at("other");
        let replace = || fs::rename(&other, kept.file()).unwrap();
        let link = || {
            symlink(&victim, &other).unwrap();
            replace();
        };
        kept.survives(link).await;
        assert_eq!(fs::read(&victim).unwrap(), copy);
        let pipe = || {
            assert!(Command::new("mkfifo").arg(&other).status().unwrap().success());
            replace();
        };
        kept.survives(pipe).await;
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_the_folder_is_not_followed() {
    for profile in profile::ALL {
        let kept = Kept::start(profile);
        kept.in_place().await;
        let (link, trap) = (kept.at("link"), kept.at("trap"));
        fs::create_dir_all(trap.join("ide")).unwrap();
        symlink(&trap, &link).unwrap();
        let [outer, _] = folders(profile, &kept.at(""));
        // In one step, as above.
        let swap = || renameat_with(CWD, &link, CWD, &outer, RenameFlags::EXCHANGE).unwrap();
        swap();
        until("it is noticed", || in_place(&kept.discovery).is_none()).await;
        assert!(names(&trap.join("ide")).is_empty());
        swap();
        kept.in_place().await;
    }
}

/// In a folder where everybody may rename everything, others can hide the file, but not read it.
#[test]
fn a_folder_without_a_sticky_bit_is_used_and_warned_of() {
    let tmp = tempfile::tempdir().unwrap();
    for (mode, exposed) in [(0o777, true), (0o1777, false), (0o775, false), (0o700, false)] {
        fs::set_permissions(tmp.path(), Permissions::from_mode(mode)).unwrap();
        assert_eq!(others_can_rename_in(tmp.path()).unwrap(), exposed, "{mode:o}");
        let runtime = Runtime::start().unwrap();
        assert!(in_place(&publish(&runtime, &GEMINI, tmp.path())).is_some());
    }
}
