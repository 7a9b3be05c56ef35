//! Processes and private files on Unix.

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

/// Whether a process of this id runs, whoever owns it.
pub fn is_process_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(Errno::SRCH))
}

/// The processes that run.
#[derive(Debug)]
pub struct Processes;

impl Processes {
    /// Looks at them.
    pub fn now() -> Self {
        Self
    }

    /// Whether one of this id runs, whoever owns it.
    pub fn has(&self, pid: u32) -> bool {
        is_process_alive(pid)
    }
}

/// The process that started this one.
pub fn parent_process() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// The user on whose behalf this process runs.
pub fn current_user() -> Option<u32> {
    Some(getuid().as_raw())
}

/// The user to whom a file belongs.
pub fn owner(file: &std::fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(file))
}

/// Refuses a folder in which this process can't make files.
pub fn check_writable(dir: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(dir, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// The parent and the command line of a process, by `ps` as the client asks it.
pub fn process_info(pid: u32) -> Option<ProcessInfo> {
    let output =
        Command::new("ps").args(["-o", "ppid=,command=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (parent, command) = text.trim().split_once(char::is_whitespace)?;
    Some(ProcessInfo { parent: parent.parse().ok()?, command: command.trim().to_owned() })
}

/// Runs a program in the place of this one, so that signals and the terminal are its own. Returns
/// only if that fails.
pub fn run_instead(mut command: Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Whether somebody else may rename what lies in `dir`: all may write there, and no sticky bit
/// keeps them from what isn't theirs.
pub fn others_can_rename_in(dir: &Path) -> io::Result<bool> {
    let mode = Mode::from_raw_mode(rustix::fs::stat(dir)?.st_mode);
    Ok(mode.contains(Mode::WOTH) && !mode.contains(Mode::SVTX))
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A directory that only its owner, who is us, can enter. All work in it goes through its file
/// descriptor, so that nobody can put another directory in its place meanwhile.
#[derive(Debug)]
pub struct PrivateDir {
    path: PathBuf,
    fd: OwnedFd,
}

impl PrivateDir {
    /// Opens `parent/names[0]/names[1]/…` and makes what is missing. Refuses what belongs to
    /// somebody else and what is a symbolic link.
    pub fn open(parent: &Path, names: &[&str]) -> io::Result<Self> {
        std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700)
            .create(parent)?;
        let fd = rustix::fs::open(parent, DIRECTORY, Mode::empty())?;
        Self { path: parent.to_owned(), fd }.descend(names)
    }

    /// The same below a directory that has to be there, and is left as it is: nothing if it is not.
    /// It must be the user's, too, and no symbolic link.
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
                    .map_err(|error| refuse(&self.path, error))?;
            if self.own_mode()? != Mode::RWXU {
                rustix::fs::fchmod(&self.fd, Mode::RWXU)?;
            }
        }
        Ok(self)
    }

    /// Who may enter it, unless it is another user's.
    fn own_mode(&self) -> io::Result<Mode> {
        let stat = rustix::fs::fstat(&self.fd)?;
        if stat.st_uid != getuid().as_raw() {
            let message = format!("{} belongs to another user", self.path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        Ok(Mode::from_raw_mode(stat.st_mode))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a file in place at once, for its owner only from its first byte.
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

    /// Opens an existing file to write to any part of it.
    pub fn open_to_write(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, Mode::empty())?))
    }

    /// When a file was written.
    pub fn written(&self, name: &str) -> io::Result<SystemTime> {
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let written = u64::try_from(stat.st_mtime).unwrap_or_default();
        Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(written))
    }

    /// The content of a file and when it was written; nothing if there is none. Refuses what is no
    /// plain file, what belongs to somebody else or lets others in, and more than `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<(Vec<u8>, SystemTime)>> {
        // A pipe must not hold us up.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let path = self.path.join(name);
        let file = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(refuse(&path, error)),
        };
        let metadata = file.metadata()?;
        let wrong = if !metadata.is_file() {
            "is no plain file"
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

    /// Locks a file, which is made if need be, until the value is dropped or the process ends,
    /// however it ends. Nothing if another has locked it.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<File>> {
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| refuse(&self.path.join(name), error))?;
        super::try_lock(File::from(fd))
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves nothing in a file that was written here.
    pub fn empty(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        Ok(())
    }

    /// The names of the files in it that belong to us.
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

fn refuse(path: &Path, error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => {
            let message = format!("{} is a symbolic link or no directory", path.display());
            io::Error::new(io::ErrorKind::NotADirectory, message)
        }
        error => error.into(),
    }
}
