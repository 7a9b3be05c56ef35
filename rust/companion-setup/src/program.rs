//! The program, put where terminals find it.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files::replace_with;
use crate::machine::{Machine, Os};
use crate::record::{Record, What};
use crate::report::Outcome;

/// What it is called, in terminals and in the report.
pub(crate) const NAME: &str = "gemini-companion";

/// Copies `program` to where terminals find it, unless they find one. One that was copied there is
/// replaced by a newer one; any other is the user's.
pub(crate) fn bring(
    machine: &Machine,
    program: &Path,
    record: &mut Record,
    dry_run: bool,
) -> (PathBuf, (Outcome, String)) {
    let target = dir(machine).join(match machine.os {
        Os::Windows => "gemini-companion.exe",
        Os::Linux | Os::MacOs => NAME,
    });
    let there = machine.find_program(NAME).or_else(|| target.exists().then(|| target.clone()));
    let path = there.clone().unwrap_or(target);
    let is_found = path.parent().is_some_and(|dir| machine.is_on_path(dir));
    let note = if is_found {
        ""
    } else {
        "; a new terminal may find it, else add its folder to your PATH"
    };
    let failed = |error: io::Error| (Outcome::Failed, format!("it could not be copied: {error}"));
    let outcome = match change(program, there.as_deref(), record) {
        Err(error) => failed(error),
        Ok(None) if is_found => (Outcome::Unchanged, "terminals find it".to_owned()),
        Ok(None) => (Outcome::Unchanged, format!("it is there{note}")),
        Ok(Some(_)) if dry_run => {
            (Outcome::Planned, format!("put it where terminals find it{note}"))
        }
        Ok(Some(content)) => {
            let what = What::Program { hash: hash(&content) };
            let copy = || {
                let permissions = fs::metadata(program)?.permissions();
                replace_with(&path, &content, Some(permissions))
            };
            match record.bring(NAME, &path, what, copy) {
                Ok(()) => (Outcome::Done, format!("it is where terminals find it{note}")),
                Err(error) => failed(error),
            }
        }
    };
    (path, outcome)
}

/// What is to be written in place of what is `there`, if anything.
fn change(program: &Path, there: Option<&Path>, record: &Record) -> io::Result<Option<Vec<u8>>> {
    let content = || fs::read(program).map(Some);
    let Some(there) = there else { return content() };
    let is_brought = match record.known(there) {
        Some(What::Program { hash }) => is_same(there, hash)?,
        _ => false,
    };
    if !is_brought || there.canonicalize()? == program.canonicalize()? {
        return Ok(None);
    }
    Ok(content()?.filter(|content| fs::read(there).is_ok_and(|there| there != *content)))
}

/// Takes the program away that has that hash.
pub(crate) fn take(path: &Path, hash: &str, dry_run: bool) -> io::Result<(Outcome, String)> {
    let unchanged = |why: &str| Ok((Outcome::Unchanged, why.to_owned()));
    if fs::symlink_metadata(path).is_err() {
        return unchanged("it is gone already");
    }
    if path.is_symlink() || !is_same(path, hash)? {
        return unchanged("it was replaced since, and stays");
    }
    if dry_run {
        return Ok((Outcome::Planned, "remove it".to_owned()));
    }
    fs::remove_file(path)?;
    Ok((Outcome::Done, "it is removed".to_owned()))
}

/// The user's folder for programs: one in which terminals look, or else the one in which most do
/// once it is there.
fn dir(machine: &Machine) -> PathBuf {
    let usual = machine.home.join(".local/bin");
    let other = match machine.os {
        Os::Windows => {
            machine.dir("LOCALAPPDATA", "AppData/Local").join("Microsoft").join("WindowsApps")
        }
        Os::Linux | Os::MacOs => machine.home.join("bin"),
    };
    let use_other = !machine.is_on_path(&usual) && other.is_dir() && machine.is_on_path(&other);
    if use_other { other } else { usual }
}

fn is_same(file: &Path, hash: &str) -> io::Result<bool> {
    Ok(self::hash(&fs::read(file)?) == hash)
}

fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
