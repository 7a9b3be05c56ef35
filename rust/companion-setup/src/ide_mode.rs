//! Turns on IDE mode in a client, and restores the earlier settings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client::{self, Before, Change, Client};
use crate::files::{behind_link, check_changeable, check_own, replace};
use crate::record::{InstallManifest, InstalledItem, What};
use crate::report::Outcome;

/// Turns on IDE mode, unless the user has turned it off since setup turned it on.
pub(crate) fn turn_on(
    client: &Client,
    record: &mut InstallManifest,
    dry_run: bool,
) -> (Outcome, String) {
    let file = &*client.settings;
    let (before, text) = match client::plan(client) {
        Err(error) => return (Outcome::Failed, error.to_string()),
        Ok(Change::None) => return (Outcome::Unchanged, "IDE mode is on".to_owned()),
        Ok(Change::Write { before, text }) => (before, text),
    };
    let known = record.known(file);
    if before == Before::Off && known.is_some_and(|known| !known.pending) {
        let why = "you turned IDE mode off; to turn it on again, type /ide enable in the CLI";
        return (Outcome::Skipped, why.to_owned());
    }
    let turned_on = Backups::new(file, before, known).and_then(|backups| {
        let kept = kept(backups.newest.as_deref());
        if dry_run {
            return Ok((Outcome::Planned, format!("turn on IDE mode{kept}")));
        }
        let Backups { newest, older } = backups;
        let what = What::Setting { before, backup: newest.clone(), older_backups: older };
        let write = || client::write(file, &text, newest.as_deref());
        record.install(&client.name, file, what, write)?;
        Ok((Outcome::Done, format!("turned on IDE mode{kept}")))
    });
    turned_on.unwrap_or_else(|error| (Outcome::Failed, error.to_string()))
}

/// The copies of earlier settings.
struct Backups {
    /// The copy of the settings as they are, unless there are none.
    newest: Option<PathBuf>,
    /// Copies of settings that the user has replaced since. They may be the last ones.
    older: Vec<PathBuf>,
}

impl Backups {
    fn new(file: &Path, before: Before, known: Option<&InstalledItem>) -> io::Result<Self> {
        let (known, mut older) = match known.map(|known| &known.what) {
            Some(What::Setting { backup, older_backups, .. }) => {
                (backup.clone(), older_backups.clone())
            }
            _ => (None, Vec::new()),
        };
        if before != Before::NoFile && known.as_deref().is_some_and(|known| is_copy(known, file)) {
            return Ok(Self { newest: known, older });
        }
        older.extend(known);
        // The user may have moved a copy back, and the next copy gets its name.
        older.retain(|backup| backup.exists());
        let newest = match before {
            Before::NoFile => None,
            _ => Some(client::free_backup(file)?),
        };
        Ok(Self { newest, older })
    }
}

/// Returns whether a backup equals the file.
fn is_copy(backup: &Path, file: &Path) -> bool {
    matches!((fs::read(backup), fs::read(file)), (Ok(kept), Ok(there)) if kept == there)
}

/// Names the backups that stay, for the report.
fn kept<'a>(backups: impl IntoIterator<Item = &'a Path>) -> String {
    let names = backups.into_iter().filter_map(Path::file_name);
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
    older_backups: &[PathBuf],
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let exists = |backup: &&Path| backup.exists();
    let backup = backup.filter(exists);
    let older = older_backups.iter().map(PathBuf::as_path).filter(exists);
    let text = match client::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("the settings are gone{}", kept(older.chain(backup)));
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
    let kept = kept(older.chain(backup.filter(|_| !is_needless)));
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
