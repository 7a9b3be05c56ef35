//! What a machine looks like to `setup`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// A system, with the places that its IDEs use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux, and what is like it.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The one that this program was built for.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// What a machine looks like to `setup`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its system.
    pub os: Os,
    /// Where absolute places such as `/opt` begin.
    pub root: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The environment variables.
    pub env: HashMap<String, String>,
    /// The programs that run.
    pub programs: Vec<PathBuf>,
}

impl Machine {
    /// This machine; `None` if the environment names no home folder.
    pub fn current() -> Option<Self> {
        let env: HashMap<_, _> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let home = env.get(home).filter(|home| !home.is_empty())?.into();
        Some(Self { os: Os::CURRENT, root: PathBuf::from("/"), home, env, programs: programs() })
    }

    /// An environment variable that is not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The folder that a variable names, or else one in the home folder.
    pub(crate) fn dir(&self, variable: &str, in_home: &str) -> PathBuf {
        self.var(variable).map_or_else(|| self.home.join(in_home), PathBuf::from)
    }

    /// Whether a program of that folder runs.
    pub(crate) fn runs_from(&self, dir: &Path) -> bool {
        let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        self.programs.iter().any(|program| program.starts_with(&real))
    }
}

fn programs() -> Vec<PathBuf> {
    // Without them an IDE that runs is not known to run.
    let Ok(mut system) = System::new() else { return Vec::new() };
    let kind = ProcessRefreshKind::nothing().with_exe(UpdateKind::Always).without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, false, kind);
    let programs = system.processes().values().filter_map(|process| process.exe());
    programs.map(Path::to_owned).collect()
}
