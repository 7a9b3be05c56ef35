//! Installs the program where terminals find it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{is_executable, real_path};

use crate::content;
use crate::files::{check_place, replace_with};
use crate::machine::{Machine, Os};
use crate::record::{InstallManifest, InstalledItem, VERSION, What, is_newer};
use crate::report::Outcome;
use crate::staging::Staging;

/// The name of the program, in terminals and in the report.
pub(crate) const NAME: &str = "gemini-companion";

/// The program after setup.
pub(crate) struct InstalledProgram {
    /// Its path, also if it could not be installed.
    pub(crate) path: PathBuf,
    /// Whether hooks and editors can start it.
    pub(crate) is_usable: bool,
    pub(crate) outcome: (Outcome, String),
}

/// Copies `program` to a folder where terminals find it, unless they find one that works. A newer
/// version replaces an earlier copy. Any other program belongs to the user and stays. If that one
/// does not work, or is older, hooks and editors start the copy.
pub(crate) fn install(
    machine: &Machine,
    program: &Path,
    record: &mut InstallManifest,
) -> InstalledProgram {
    let target = dir(machine).join(match machine.os {
        Os::Windows => "gemini-companion.exe",
        Os::Linux | Os::MacOs => NAME,
    });
    let mut there = None;
    let mut passed_over = String::new();
    let own = target.exists().then(|| target.clone());
    for found in machine.find_program(NAME).into_iter().chain(own) {
        let found = record.known(&found).map_or(found, |item| item.path.clone());
        let Some(why) = unfit(machine, program, &found, record) else {
            there = Some(found);
            break;
        };
        if found == target {
            let path = found.display();
            let message =
                format!("{path} {why}. It is not from setup. Delete it, and run setup again");
            let outcome = (Outcome::Failed, message);
            return InstalledProgram { path: target, is_usable: false, outcome };
        }
        passed_over = format!("; terminals find {}, which {why}", found.display());
    }
    let path = there.clone().unwrap_or(target);
    let is_found = path.parent().is_some_and(|dir| machine.is_on_path(dir));
    let note = match machine.os {
        _ if is_found => "",
        Os::Linux => ". Not on PATH yet: open a new terminal, or add the folder to PATH",
        Os::MacOs => {
            ". Not on PATH yet: add a line such as export PATH=\"$HOME/.local/bin:$PATH\" to ~/.zprofile"
        }
        Os::Windows => ". Not on Path yet: add the folder in the settings of environment variables",
    };
    let note = format!("{passed_over}{note}");
    let dir = path.parent().unwrap_or(&path).display();
    let failed = |error: io::Error| (Outcome::Failed, format!("it could not be copied: {error}"));
    let outcome = match new_content(program, there.as_deref(), record) {
        Err(error) => failed(error),
        Ok(Err((outcome, message))) => (outcome, message + &note),
        Ok(Ok(content)) => {
            let what = What::Program { hash: content::hash(&content) };
            let copy = || {
                let permissions = fs::metadata(program)?.permissions();
                let write = || replace_with(&path, &content, Some(permissions));
                if machine.os == Os::Windows && path.exists() {
                    replace_running(&path, write)
                } else {
                    write()
                }
            };
            match check_place(&path).and_then(|()| record.install(NAME, &path, what, copy)) {
                Ok(outcome) => {
                    (outcome, format!("{} to {dir}{note}", outcome.of("copy", "copied")))
                }
                Err(error) => failed(error),
            }
        }
    };
    let is_usable = outcome.0 != Outcome::Failed || path.is_file();
    InstalledProgram { path, is_usable, outcome }
}

/// Returns why hooks can't start a program of the user, or must not: it does not work, as one of
/// another system in the PATH of WSL, or it is older. Setup's own copy is replaced in its place.
fn unfit(
    machine: &Machine,
    program: &Path,
    found: &Path,
    record: &InstallManifest,
) -> Option<String> {
    let content = || fs::read(found).map(|content| content::hash(&content));
    let is_ours = record.known(found).is_some_and(|item| content().is_ok_and(|it| item.has(&it)));
    let real = |path: &Path| path.canonicalize().ok();
    if is_ours || real(found) == real(program) {
        return None;
    }
    match (machine.version_of)(found) {
        Ok(version) if is_newer(VERSION, &version) => Some(format!("is {version}, an older one")),
        Ok(_) => None,
        Err(why) => Some(format!("does not work: {why}")),
    }
}

/// Returns the program that hooks and editors start in place of `found`, which terminals find.
/// Npm's launcher runs in Node, which takes ten times as long to start as `program`.
pub(crate) fn behind_launcher(found: PathBuf, program: &Path) -> PathBuf {
    let real = real_path(&found);
    let dir = real.parent();
    let modules = match real.extension().and_then(OsStr::to_str) {
        Some("js") => dir.and_then(Path::parent),
        Some("cmd") => dir,
        _ => None,
    };
    match modules {
        // Shells of Windows do not accept the canonical form of paths.
        Some(modules) if program.starts_with(modules) => {
            program.to_string_lossy().trim_start_matches(r"\\?\").into()
        }
        _ => without_shell(found),
    }
}

/// Returns a path that is valid in each shell. The folder that fnm adds to the PATH is a link of
/// one shell to the folder of a version of Node.
fn without_shell(found: PathBuf) -> PathBuf {
    let is_of_fnm = found.components().any(|part| part.as_os_str() == "fnm_multishells");
    match (found.parent().map(Path::canonicalize), found.file_name()) {
        (Some(Ok(dir)), Some(name)) if is_of_fnm => dir.join(name),
        _ => found,
    }
}

/// Returns the new content of the program, or the outcome if the file `there` stays as it is.
fn new_content(
    program: &Path,
    there: Option<&Path>,
    record: &InstallManifest,
) -> io::Result<Result<Vec<u8>, (Outcome, String)>> {
    let stays = (Outcome::Unchanged, "it is installed".to_owned());
    let Some(there) = there else { return fs::read(program).map(Ok) };
    let Some(item) = record.known(there) else { return Ok(Err(stays)) };
    let old = fs::read(there)?;
    if !item.has(&content::hash(&old)) || there.canonicalize()? == program.canonicalize()? {
        return Ok(Err(stays));
    }
    let new = fs::read(program)?;
    if new == old && is_executable(there) {
        return Ok(Err(stays));
    }
    Ok(match item.newer() {
        Some(newer) => Err((Outcome::Skipped, format!("{newer} is installed, which is newer"))),
        None => Ok(new),
    })
}

/// Replaces a program that may be running. On Windows a running program can be renamed, but not
/// replaced. A later run deletes the old one.
fn replace_running(path: &Path, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut staged = Staging::in_dir(dir)?;
    staged.take_away(&[path.to_owned()])?;
    write().or_else(|error| staged.roll_back(&error))?;
    Ok(())
}

/// Removes a program. On Windows a running program can only be moved away.
fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| {
        let away = format!("{NAME}-{}.exe", std::process::id());
        let is_moved = cfg!(windows) && fs::rename(path, std::env::temp_dir().join(away)).is_ok();
        if is_moved { Ok(()) } else { Err(error) }
    })
}

/// Removes the program if it is unchanged since setup installed it.
pub(crate) fn uninstall(item: &InstalledItem, dry_run: bool) -> io::Result<(Outcome, String)> {
    let unchanged = |why: &str| Ok((Outcome::Unchanged, why.to_owned()));
    let path = &item.path;
    if fs::symlink_metadata(path).is_err() {
        return unchanged("it is gone already");
    }
    if path.is_symlink() || !item.has(&content::hash(&fs::read(path)?)) {
        return unchanged("you replaced it, so it stays");
    }
    if dry_run {
        return Ok((Outcome::Planned, "remove it".to_owned()));
    }
    remove(path)?;
    Ok((Outcome::Done, "removed it".to_owned()))
}

/// Returns the user's folder for programs: one in the PATH, or else the one that most systems add
/// to the PATH once it exists.
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
