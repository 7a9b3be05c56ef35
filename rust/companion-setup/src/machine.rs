//! Describes a machine to `setup`: its system, folders and variables.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{
    Platform, current_user, is_executable, owner, program_version, real_path, vars,
};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// An operating system, which determines the folders of its IDEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and similar systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The system that this program was built for.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// The machine's system, folders and variables.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its system.
    pub os: Os,
    /// The root of absolute folders such as `/opt`.
    pub root: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The environment variables.
    pub env: BTreeMap<String, String>,
    /// The running programs.
    pub programs: Vec<PathBuf>,
    /// Starts a gemini-companion, and returns its version, or why it does not work.
    pub version_of: fn(&Path) -> Result<String, String>,
}

impl Machine {
    /// Returns this machine, or `None` if the environment names no home folder.
    pub fn current() -> Option<Self> {
        let env = vars();
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let home = env.get(home).filter(|home| !home.is_empty())?.into();
        Some(Self {
            os: Os::CURRENT,
            root: PathBuf::from("/"),
            home,
            env,
            programs: programs(),
            version_of: program_version,
        })
    }

    /// Refuses the home folder of another user. With `sudo` it may be the calling user's. That
    /// user's programs could then not write into folders that belong to root.
    pub fn check_home(&self) -> io::Result<()> {
        if self.home.exists() && !self.home.is_dir() {
            let home = self.home.display();
            return Err(io::Error::other(format!(
                "the home folder {home} is not a folder; set HOME"
            )));
        }
        let owner = fs::metadata(&self.home).ok().as_ref().and_then(owner);
        match (owner, current_user()) {
            (Some(owner), Some(user)) if owner != user => {
                let home = self.home.display();
                Err(io::Error::other(format!(
                    "the home folder {home} belongs to another user ({owner}) than the one who runs \
                     setup ({user}). That user could not change the installed files. Run setup as \
                     that user, without sudo, or set HOME to your own home folder"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns an environment variable that is not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        let value = match self.os {
            Os::Windows => self.env.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1,
            Os::Linux | Os::MacOs => self.env.get(name)?,
        };
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the folders where terminals search for programs, without those that npm adds.
    fn path(&self) -> impl Iterator<Item = &Path> {
        let platform = match self.os {
            Os::Windows => Platform::Windows,
            Os::Linux | Os::MacOs => Platform::Unix,
        };
        let dirs = self.var("PATH").unwrap_or_default().split(platform.list_separator());
        let is_npms = |dir: &Path| dir.components().any(|part| part.as_os_str() == "node_modules");
        dirs.map(Path::new).filter(move |dir| dir.is_absolute() && !is_npms(dir))
    }

    /// Returns whether terminals search for programs in `dir`.
    pub(crate) fn is_on_path(&self, dir: &Path) -> bool {
        let real = dir.canonicalize().ok();
        self.path().any(|on| on == dir || (real.is_some() && on.canonicalize().ok() == real))
    }

    /// Returns the program that a terminal starts by this name.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = if self.os == Os::Windows { &[".exe", ".cmd"] } else { &[""] };
        let files = self
            .path()
            .flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))));
        files.into_iter().find(|file| is_executable(file))
    }

    /// Returns the folder that a variable names, or else a folder in the home folder.
    pub(crate) fn dir(&self, variable: &str, in_home: &str) -> PathBuf {
        self.var(variable).map_or_else(|| self.home.join(in_home), PathBuf::from)
    }

    /// Returns whether a program in that folder is running.
    pub(crate) fn runs_from(&self, dir: &Path) -> bool {
        // On Windows a canonical path looks different from the path of a process.
        let dir = real_path(dir);
        self.programs.iter().any(|program| real_path(program).starts_with(&dir))
    }
}

fn programs() -> Vec<PathBuf> {
    // If the processes can't be listed, no IDE counts as running.
    let Ok(mut system) = System::new() else { return Vec::new() };
    let kind = ProcessRefreshKind::nothing().with_exe(UpdateKind::Always).without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, false, kind);
    let programs = system.processes().values().filter_map(|process| process.exe());
    programs.map(Path::to_owned).collect()
}
