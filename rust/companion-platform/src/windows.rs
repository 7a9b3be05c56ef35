//! Processes and private files on Windows.
//!
//! The folder for temporary files lies in the user's profile there, whose access list lets
//! nobody else in; what is made in it inherits that.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind, get_current_pid};

use super::ProcessInfo;

/// Whether a process of this id runs. Also if that can't be told.
pub fn is_process_alive(pid: u32) -> bool {
    Processes(system_with(Pid::from_u32(pid))).has(pid)
}

/// The processes that run. To look at one of them takes as long as to look at all.
#[derive(Debug)]
pub struct Processes(Option<System>);

impl Processes {
    /// Looks at them.
    pub fn now() -> Self {
        let Ok(mut system) = System::new() else { return Self(None) };
        let nothing = ProcessRefreshKind::nothing();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, nothing);
        Self(Some(system))
    }

    /// Whether one of this id runs. Also if that can't be told.
    pub fn has(&self, pid: u32) -> bool {
        self.0.as_ref().is_none_or(|system| system.process(Pid::from_u32(pid)).is_some())
    }
}

/// The process that started this one.
pub fn parent_process() -> Option<u32> {
    let me = get_current_pid().ok()?;
    Some(system_with(me)?.process(me)?.parent()?.as_u32())
}

/// The user on whose behalf this process runs; the client does not ask on Windows.
pub fn current_user() -> Option<u32> {
    None
}

/// The user to whom a file belongs; the client does not ask on Windows.
pub fn owner(_file: &fs::Metadata) -> Option<u32> {
    None
}

/// Refuses a folder in which this process can't make files. Windows says so only once it tries.
pub fn check_writable(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// The parent of a process, and its command line.
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

/// Runs a program and ends as it does.
pub fn run_instead(mut command: Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Whether somebody else may rename what lies in `dir`: not in a folder of the user's profile.
pub fn others_can_rename_in(_dir: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A directory in the user's own folder for temporary files.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
}

impl PrivateDir {
    /// Opens `parent/names[0]/names[1]/…` and makes what is missing. Refuses a link.
    pub fn open(parent: &Path, names: &[&str]) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        Self { path: parent.to_owned() }.descend(names)
    }

    /// The same below a directory that has to be there: nothing if it is not.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a file in place at once.
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

    /// Opens an existing file to write to any part of it.
    pub fn open_to_write(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.path.join(name))
    }

    /// When a file was written.
    pub fn written(&self, name: &str) -> io::Result<SystemTime> {
        fs::symlink_metadata(self.path.join(name))?.modified()
    }

    /// The content of a file and when it was written; nothing if there is none. Refuses what is no
    /// plain file, and more than `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<(Vec<u8>, SystemTime)>> {
        let path = self.path.join(name);
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !metadata.is_file() || metadata.len() > limit {
            let message = format!("{} is no plain file or too large", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(Some((fs::read(&path)?, metadata.modified()?)))
    }

    /// Locks a file, which is made if need be, until the value is dropped or the process ends,
    /// however it ends. Nothing if another has locked it.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<File>> {
        let path = self.path.join(name);
        super::try_lock(
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?,
        )
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Leaves nothing in a file that was written here.
    pub fn empty(&self, name: &str) -> io::Result<()> {
        OpenOptions::new().write(true).truncate(true).open(self.path.join(name))?;
        Ok(())
    }

    /// The names of the files in it; all are the user's.
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
