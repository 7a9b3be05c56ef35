//! Implements processes and private files on Unix.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::{Pid, getuid, test_kill_process};

use super::ProcessInfo;

/// Whether a process with this id runs, under any user.
pub fn is_process_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(Errno::SRCH))
}

/// Returns the id of this process's parent.
pub fn parent_process() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Returns the id of this process's user.
pub fn current_user() -> Option<u32> {
    Some(getuid().as_raw())
}

/// Returns the id of a file's owner.
pub fn owner(file: &std::fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(file))
}

/// Opens a file for reading. A pipe does not block, and its metadata identifies it.
///
/// # Errors
/// The system's.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Checks that this process can create files in a folder. On Windows it always succeeds.
///
/// # Errors
/// If it cannot.
pub fn check_writable(dir: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Whether a path leads to a file that this process can run. On Windows any file counts.
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Whether a file, each folder above it, and each link among them belong to root, and nobody else can
/// write to them. On Windows this is not known, so it is true.
pub fn only_root_can_change(file: &Path) -> bool {
    let real = file.canonicalize().unwrap_or_default();
    file.ancestors().chain(real.ancestors()).all(|path| {
        let (Ok(entry), Ok(target)) = (rustix::fs::lstat(path), rustix::fs::stat(path)) else {
            return false;
        };
        let mode = Mode::from_raw_mode(target.st_mode);
        entry.st_uid == 0 && target.st_uid == 0 && !mode.intersects(Mode::WGRP | Mode::WOTH)
    })
}

/// Returns the parent and the command line of a process. Runs `ps` and blocks, as the client does.
pub fn process_info(pid: u32) -> Option<ProcessInfo> {
    let output =
        Command::new("ps").args(["-o", "ppid=,command=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (parent, command) = text.trim().split_once(char::is_whitespace)?;
    Some(ProcessInfo { parent: parent.parse().ok()?, command: command.trim().to_owned() })
}

/// Opens a plain file for reading. A pipe or a device in its place does not block.
///
/// # Errors
/// If it can't be opened, or is not a plain file.
pub fn open_plain_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"))
    }
}

/// Replaces this process by another program, which then gets the signals and the terminal.
///
/// # Errors
/// Returns only if the program cannot start.
pub fn run_instead(mut command: Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Whether other users may rename files in `dir`: everybody may write there, and the folder has no
/// sticky bit, which would protect files of others.
pub fn others_can_rename_in(dir: &Path) -> io::Result<bool> {
    let mode = Mode::from_raw_mode(rustix::fs::stat(dir)?.st_mode);
    Ok(mode.contains(Mode::WOTH) && !mode.contains(Mode::SVTX))
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A directory that only this process's user can enter.
///
/// All its methods use its file descriptor, so that nobody can replace the directory in between.
/// They block on the disk, and return the system's errors.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    fd: OwnedFd,
}

impl PrivateDir {
    /// Opens `parent/names[0]/names[1]/…` and creates missing directories. An administrator may share
    /// a directory among the users, as [`foreign_owner`] explains.
    ///
    /// # Errors
    /// If a directory belongs to another user, or if it is a symbolic link.
    pub fn open(parent: &Path, names: &[&str]) -> io::Result<Self> {
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700)
            .create(parent)?;
        let fd = rustix::fs::open(parent, DIRECTORY, Mode::empty())?;
        Self { path: parent.to_owned(), fd }.descend(names)
    }

    /// Opens directories like [`Self::open`] below `existing`, which it does not create or change.
    /// `None` if `existing` does not exist.
    ///
    /// # Errors
    /// If a directory, including `existing`, belongs to another user, or if it is a symbolic link.
    pub fn open_below(existing: &Path, names: &[&str]) -> io::Result<Option<Self>> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let fd = match rustix::fs::open(existing, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(refuse(existing, error)),
        };
        let existing = Self { path: existing.to_owned(), fd };
        existing.own_mode()?;
        existing.descend(names).map(Some)
    }

    fn descend(mut self, names: &[&str]) -> io::Result<Self> {
        for name in names {
            self.path.push(name);
            match rustix::fs::mkdirat(&self.fd, *name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            self.fd =
                rustix::fs::openat(&self.fd, *name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
                    .map_err(|error| match foreign_owner(&self.path) {
                        Some(owner) if error == Errno::ACCESS => belongs_to(&self.path, &owner),
                        _ => refuse(&self.path, error),
                    })?;
            if is_shared(&rustix::fs::fstat(&self.fd)?) {
                continue;
            }
            if self.own_mode()? != Mode::RWXU {
                rustix::fs::fchmod(&self.fd, Mode::RWXU)?;
            }
        }
        Ok(self)
    }

    /// Returns the permissions, unless the directory belongs to another user.
    fn own_mode(&self) -> io::Result<Mode> {
        let stat = rustix::fs::fstat(&self.fd)?;
        if stat.st_uid != getuid().as_raw() {
            return Err(belongs_to(&self.path, &user_name(stat.st_uid)));
        }
        Ok(Mode::from_raw_mode(stat.st_mode))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces a file atomically. From the first byte, only its owner can read it.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = super::temporary_name(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        self.remove(&temporary)?;
        let private = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(rustix::fs::openat(&self.fd, &temporary, flags, private)?);
        file.write_all(content)
            .and_then(|()| Ok(rustix::fs::renameat(&self.fd, &temporary, &self.fd, name)?))
            .inspect_err(|_| drop(self.remove(&temporary)))
    }

    /// Opens an existing file for writing at any position.
    pub fn open_to_write(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, Mode::empty())?))
    }

    /// The time of a file's last write.
    pub fn written(&self, name: &str) -> io::Result<SystemTime> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let written = u64::try_from(stat.st_mtime).unwrap_or_default();
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(written))
    }

    /// Reads a file's content and the time of its last write; `None` if the file does not exist.
    ///
    /// # Errors
    /// If it is not a regular file, belongs to another user, gives others access, or has more than
    /// `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<(Vec<u8>, SystemTime)>> {
        // A pipe must not block the open.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = self.path.join(name);
        let file = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(refuse(&path, error)),
        };
        let metadata = file.metadata()?;
        let wrong = if !metadata.is_file() {
            "is not a regular file"
        } else if metadata.uid() != getuid().as_raw() {
            "belongs to another user"
        } else if metadata.mode() & 0o077 != 0 {
            "lets other users in"
        } else if metadata.len() > limit {
            "is too large"
        } else {
            let mut content = Vec::new();
            file.take(limit).read_to_end(&mut content)?;
            return Ok(Some((content, metadata.modified()?)));
        };
        let message = format!("{} {wrong}", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }

    /// Locks a file, and creates it if it does not exist. The lock ends when the value is dropped
    /// or the process ends, even by a kill. `None` if another process holds the lock.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<File>> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| refuse(&self.path.join(name), error))?;
        super::try_lock(File::from(fd))
    }

    /// Removes a file. Succeeds if the file does not exist.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Truncates a file that [`Self::write`] wrote.
    pub fn empty(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        Ok(())
    }

    /// The names of the files in the directory that belong to this process's user.
    pub fn own_files(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let stat = rustix::fs::statat(&self.fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            let is_file = |stat: &Stat| FileType::from_raw_mode(stat.st_mode).is_file();
            if stat.is_ok_and(|stat| stat.st_uid == getuid().as_raw() && is_file(&stat)) {
                names.extend(entry.file_name().to_str().map(str::to_owned));
            }
        }
        Ok(names)
    }
}

/// The owner of a directory that this user can't use for private files; `None` if the user owns it, or
/// if it does not exist. Root can share a directory among all users by mode 1777: with its sticky bit
/// nobody changes or removes the files of others there.
pub fn foreign_owner(dir: &Path) -> Option<String> {
    let stat = rustix::fs::lstat(dir).ok()?;
    let is_usable = stat.st_uid == getuid().as_raw() || is_shared(&stat);
    (!is_usable).then(|| user_name(stat.st_uid))
}

fn is_shared(stat: &Stat) -> bool {
    let mode = Mode::from_raw_mode(stat.st_mode);
    let is_dir = FileType::from_raw_mode(stat.st_mode).is_dir();
    is_dir && stat.st_uid == 0 && mode.contains(Mode::SVTX | Mode::WOTH | Mode::XOTH)
}

/// The name of a user, or else the number.
fn user_name(uid: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    name.map_or_else(|| uid.to_string(), str::to_owned)
}

fn belongs_to(path: &Path, owner: &str) -> io::Error {
    let message = format!("{} belongs to another user, {owner}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

fn refuse(path: &Path, error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => {
            let message = format!("{} is a symbolic link or no directory", path.display());
            io::Error::new(io::ErrorKind::NotADirectory, message)
        }
        error => error.into(),
    }
}
