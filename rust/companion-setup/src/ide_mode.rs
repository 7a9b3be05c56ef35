//! Turns on IDE mode in a client, and restores the earlier settings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client::{self, Before, Client};
use crate::files::{behind_link, check_changeable, check_own, replace};
use crate::record::{InstallManifest, InstalledItem, What};
use crate::report::Outcome;

/// Turns on IDE mode, unless the user has turned it off since setup turned it on.
pub(crate) fn turn_on(client: &Client, record: &mut InstallManifest) -> (Outcome, String) {
    let file = &*client.settings;
    let (before, text) = match client::plan(client) {
        Err(error) => return (Outcome::Failed, error.to_string()),
        Ok(None) => return (Outcome::Unchanged, "IDE mode is on".to_owned()),
        Ok(Some(change)) => change,
    };
    let known = record.known(file);
    if before == Before::Off && known.is_some_and(|known| !known.pending) {
        let why = "you turned IDE mode off; to turn it on again, type /ide enable in the CLI";
        return (Outcome::Skipped, why.to_owned());
    }
    let turned_on = backup(file, before, known).and_then(|backup| {
        let kept = kept(backup.as_ref());
        let what = What::Setting { before, backup: backup.clone() };
        let write = || client::write(file, &text, backup.as_deref());
        let outcome = record.install(&client.name, file, what, write)?;
        Ok((outcome, format!("{} on IDE mode{kept}", outcome.of("turn", "turned"))))
    });
    turned_on.unwrap_or_else(|error| (Outcome::Failed, error.to_string()))
}

/// Returns the place of the copy of the settings as they are, unless there are none. An earlier copy
/// stays if the user has replaced the settings since, because it may be the last one.
fn backup(
    file: &Path,
    before: Before,
    known: Option<&InstalledItem>,
) -> io::Result<Option<PathBuf>> {
    if before == Before::NoFile {
        return Ok(None);
    }
    match known.map(|known| &known.what) {
        Some(What::Setting { backup: Some(backup), .. }) if is_copy(backup, file) => {
            Ok(Some(backup.clone()))
        }
        _ => client::free_backup(file).map(Some),
    }
}

/// Returns whether a backup equals the file.
fn is_copy(backup: &Path, file: &Path) -> bool {
    matches!((fs::read(backup), fs::read(file)), (Ok(kept), Ok(there)) if kept == there)
}

/// Names the backups that stay, for the report.
fn kept<'a>(backups: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let names = backups.into_iter().filter_map(|backup| backup.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("; the earlier settings are kept in {}", names.join(" and "))
}

/// Restores the earlier settings, or only IDE mode if the user has changed other settings since.
pub(crate) fn turn_off(
    file: &Path,
    before: Before,
    backup: Option<&Path>,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let backup = backup.filter(|backup| backup.exists());
    // The user may have replaced settings of which there is a backup.
    let mut backups: Vec<_> = client::backups(file).filter(|backup| backup.exists()).collect();
    let text = match client::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("the settings are gone{}", kept(&backups));
            return Ok((Outcome::Unchanged, message));
        }
        text => text?,
    };
    let original =
        backup.and_then(|backup| check_own(backup).and_then(|()| client::read(backup)).ok());
    let unchanged = original.as_ref().filter(|original| client::becomes(original, &text));
    let undone = match unchanged {
        Some(original) => Some(original.clone()),
        None => client::undone(&text, before)?,
    };
    if undone.is_some() {
        check_own(file)?;
        check_changeable(file)?;
    }
    // Otherwise the backup may be the last copy of its content.
    let is_needless = original.as_ref() == Some(undone.as_ref().unwrap_or(&text));
    backups.retain(|one| !is_needless || Some(&**one) != backup);
    let kept = kept(&backups);
    let outcome = match (&undone, dry_run) {
        (None, _) => (Outcome::Unchanged, format!("you changed IDE mode, so it stays{kept}")),
        (Some(_), true) => (Outcome::Planned, format!("restore IDE mode{kept}")),
        (Some(_), false) => (Outcome::Done, format!("restored IDE mode{kept}")),
    };
    if dry_run {
        return Ok(outcome);
    }
    let is_ours = |undone: &str| {
        before == Before::NoFile && undone.split_whitespace().collect::<String>() == "{}"
    };
    match (undone, backup.filter(|_| is_needless)) {
        // A rename needs no space on a full disk.
        (Some(undone), Some(backup)) => {
            fs::set_permissions(backup, fs::metadata(file)?.permissions())?;
            let real = behind_link(file)?;
            // A link may lead to another disk.
            fs::rename(backup, &real).or_else(|_| {
                replace(&real, &undone)?;
                fs::remove_file(backup)
            })?;
        }
        (None, Some(backup)) => fs::remove_file(backup)?,
        (Some(undone), None) if is_ours(&undone) => fs::remove_file(file)?,
        (Some(undone), None) => replace(file, &undone)?,
        (None, None) => {}
    }
    Ok(outcome)
}
