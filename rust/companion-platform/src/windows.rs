//! Implements processes and private files on Windows.
//!
//! The folder for temporary files is in the user's profile. Its access list excludes other users,
//! and new files inherit that list.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind, get_current_pid};

use super::ProcessInfo;

/// Whether a process with this id runs; true if the system does not answer.
pub fn is_process_alive(pid: u32) -> bool {
    let pid = Pid::from_u32(pid);
    system_with(pid).is_none_or(|system| system.process(pid).is_some())
}

/// Returns the id of this process's parent.
pub fn parent_process() -> Option<u32> {
    let me = get_current_pid().ok()?;
    Some(system_with(me)?.process(me)?.parent()?.as_u32())
}

/// Returns `None`: the client does not check users on Windows.
pub fn current_user() -> Option<u32> {
    None
}

/// Returns `None`: the client does not check owners on Windows.
pub fn owner(_file: &fs::Metadata) -> Option<u32> {
    None
}

/// Returns `None`: on Windows each user has a folder for temporary files.
pub fn foreign_owner(_dir: &Path) -> Option<String> {
    None
}

/// Opens a file for reading. A pipe is no file of a folder on Windows.
///
/// # Errors
/// The system's.
pub fn open_file(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::open(path)
}

/// Succeeds always: Windows reports missing rights only when a file is created.
pub fn check_writable(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a path leads to a file that this process can run. On Windows any file counts.
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Opens a file for reading.
///
/// # Errors
/// If it can't be opened.
pub fn open_plain_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns true: what the lists of access to a file and its folders allow is not known.
pub fn only_root_can_change(_file: &Path) -> bool {
    true
}

/// Returns the parent and the command line of a process.
pub fn process_info(pid: u32) -> Option<ProcessInfo> {
    let pid = Pid::from_u32(pid);
    let system = system_with(pid)?;
    let process = system.process(pid)?;
    let command: Vec<_> = process.cmd().iter().map(|part| part.to_string_lossy()).collect();
    Some(ProcessInfo {
        parent: process.parent().map_or(0, Pid::as_u32),
        command: command.join(" "),
    })
}

fn system_with(pid: Pid) -> Option<System> {
    let mut system = System::new().ok()?;
    let only = ProcessesToUpdate::Some(&[pid]);
    let what = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    system.refresh_processes_specifics(only, true, what);
    Some(system)
}

/// Runs a program and returns its exit code.
///
/// # Errors
/// If the program cannot start.
pub fn run_instead(mut command: Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Whether other users may rename files in `dir`: never in the user's profile.
pub fn others_can_rename_in(_dir: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A directory in a folder of the user's own.
///
/// All its methods block on the disk, and return the system's errors.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
}

impl PrivateDir {
    /// Opens `parent/names[0]/names[1]/…` and creates missing directories.
    ///
    /// # Errors
    /// If a directory is a link.
    pub fn open(parent: &Path, names: &[&str]) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        Self { path: parent.to_owned() }.descend(names)
    }

    /// Opens directories like [`Self::open`] below `existing`. `None` if `existing` does not exist.
    pub fn open_below(existing: &Path, names: &[&str]) -> io::Result<Option<Self>> {
        match refuse_link(existing) {
            Ok(()) => Self { path: existing.to_owned() }.descend(names).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn descend(mut self, names: &[&str]) -> io::Result<Self> {
        for name in names {
            self.path.push(name);
            match fs::create_dir(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            refuse_link(&self.path)?;
        }
        Ok(self)
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces a file atomically.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = super::temporary_name(name);
        self.remove(&temporary)?;
        let path = self.path.join(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let written = file.write_all(content);
        drop(file); // an open file can't be renamed
        written
            .and_then(|()| fs::rename(&path, self.path.join(name)))
            .inspect_err(|_| drop(self.remove(&temporary)))
    }

    /// Opens an existing file for writing at any position.
    pub fn open_to_write(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join(name))
    }

    /// The time of a file's last write.
    pub fn written(&self, name: &str) -> io::Result<SystemTime> {
        fs::symlink_metadata(self.path.join(name))?.modified()
    }

    /// Reads a file's content and the time of its last write; `None` if the file does not exist.
    ///
    /// # Errors
    /// If it is not a regular file, or has more than `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<(Vec<u8>, SystemTime)>> {
        let path = self.path.join(name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !metadata.is_file() || metadata.len() > limit {
            let message = format!("{} is not a regular file, or is too large", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(Some((fs::read(&path)?, metadata.modified()?)))
    }

    /// Locks a file, and creates it if it does not exist. The lock ends when the value is dropped
    /// or the process ends, even by a kill. `None` if another process holds the lock.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<File>> {
        let path = self.path.join(name);
        super::try_lock(
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?,
        )
    }

    /// Removes a file. Succeeds if the file does not exist.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Truncates a file that [`Self::write`] wrote.
    pub fn empty(&self, name: &str) -> io::Result<()> {
        OpenOptions::new().write(true).truncate(true).open(self.path.join(name))?;
        Ok(())
    }

    /// The names of the files in the directory; all belong to the user.
    pub fn own_files(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.path)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }
}

fn refuse_link(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    let message = format!("{} is a link or no directory", path.display());
    Err(io::Error::new(io::ErrorKind::NotADirectory, message))
}
