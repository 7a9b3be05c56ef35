//! Collects the client's environment: variables, folders, processes and container marks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use companion_platform::{
    Platform, container_mark, current_user, home_dir, is_process_alive, temp_dir,
};

use companion_protocol::dialect::{Base, ClientProfile, Folder, Naming, Surroundings};

use super::ide_process::ide_process;
use super::{Stdio, Token};

/// The input of the client's decisions. All can be set, for tests and for an environment that
/// is not that of this process.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Which client it is.
    pub dialect: &'static ClientProfile,
    /// The environment variables. Values that are not Unicode are left out.
    pub vars: BTreeMap<String, String>,
    /// Where the client was started.
    pub cwd: PathBuf,
    /// The value of Node's `os.tmpdir()`.
    pub temp_dir: PathBuf,
    /// To whom discovery files must belong; `None` where the client does not ask.
    pub uid: Option<u32>,
    /// The process that the client takes for the editor.
    pub ide_pid: u32,
    /// Whether a process runs.
    pub is_alive: fn(u32) -> bool,
    /// The file by whose existence the client detects a container.
    pub container: Option<&'static str>,
}

/// This machine, or this container.
const HERE: &str = "127.0.0.1";

/// The machine that runs this container.
const HOST: &str = "host.docker.internal";

impl Environment {
    /// That of a client which is started now, in `cwd`, where this process was.
    pub fn current(dialect: &'static ClientProfile, cwd: PathBuf) -> Self {
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut environment = Self::with_vars(dialect, vars, cwd);
        environment.ide_pid = environment.named_ide_process().unwrap_or_else(ide_process);
        environment
    }

    /// That of a client of this user with these variables. The editor's process is the one that
    /// they name, or none.
    pub fn with_vars(
        dialect: &'static ClientProfile,
        vars: BTreeMap<String, String>,
        cwd: PathBuf,
    ) -> Self {
        let temp_dir = temp_dir(Platform::CURRENT, |name| vars.get(name).cloned()).into();
        let mut environment = Self {
            dialect,
            vars,
            cwd,
            temp_dir,
            uid: current_user().filter(|_| dialect.asks_owner),
            ide_pid: 0,
            // On Windows a client that has processes in names takes each of them for alive.
            is_alive: match dialect.naming {
                Naming::Process { .. } if cfg!(windows) => |pid| pid > 0,
                _ => is_process_alive,
            },
            container: container_mark(),
        };
        environment.ide_pid = environment.named_ide_process().unwrap_or(0);
        environment
    }

    /// That of another client at the same place.
    #[must_use]
    pub fn with_dialect(&self, dialect: &'static ClientProfile) -> Self {
        let other = Self::with_vars(dialect, self.vars.clone(), self.cwd.clone());
        let ide_pid = if other.ide_pid == 0 { self.ide_pid } else { other.ide_pid };
        Self { temp_dir: self.temp_dir.clone(), container: self.container, ide_pid, ..other }
    }

    /// The same with the files of another machine, whose folder for temporary files is seen at
    /// `temp_dir`: neither its processes nor its users can be asked for here, and a client's own
    /// folder is where it is without a home folder.
    #[must_use]
    pub fn with_files_of_another_machine(mut self, temp_dir: PathBuf) -> Self {
        if let Base::Own { variable, .. } = self.dialect.folder.base {
            self.vars.remove(variable);
        }
        for home in ["HOME", "USERPROFILE"] {
            self.vars.remove(home);
        }
        Self { temp_dir, uid: None, is_alive: |_| true, ..self }
    }

    /// The value of a variable, which may be empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// The value of a variable that is not empty; an empty one is none for the client.
    pub fn set(&self, name: &str) -> Option<&str> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// The token of the variable for it, if the client reads one.
    pub fn token(&self) -> Option<Token> {
        Some(self.var(self.dialect.variables.auth_token?)?.to_owned().into())
    }

    /// The program that variables name as a companion.
    pub fn stdio(&self) -> Option<Stdio> {
        let names = &self.dialect.variables;
        let command = self.set(names.stdio_command)?.to_owned();
        let args = self.set(names.stdio_args);
        let args = args.and_then(|args| serde_json::from_str(args).ok()).unwrap_or_default();
        Some(Stdio { command, args })
    }

    /// Returns the folder that the client searches for discovery files.
    pub fn discovery_dir(&self) -> PathBuf {
        let Folder { base, names } = self.dialect.folder;
        names.iter().fold(self.folder(base), |dir, name| dir.join(name))
    }

    /// Where a folder of the client's begins.
    pub(crate) fn folder(&self, base: Base) -> PathBuf {
        let home = self.home();
        let around = Surroundings {
            temp_dir: &self.temp_dir,
            home: home.as_deref().map(Path::new),
            cwd: &self.cwd,
        };
        base.path(around, |name| self.vars.get(name).cloned())
    }

    /// The user's home folder.
    pub(crate) fn home(&self) -> Option<String> {
        home_dir(Platform::CURRENT, |name| self.vars.get(name).cloned())
    }

    /// The editor's process if the variable for it names one.
    pub fn named_ide_process(&self) -> Option<u32> {
        super::leading_number(self.set(self.dialect.variables.pid?)?)
    }

    /// Returns the variable that makes a client in a container stay on 127.0.0.1.
    pub fn stays_local(&self) -> Option<&'static str> {
        let stay_local = self.dialect.variables.stay_local?;
        ["SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", stay_local]
            .into_iter()
            .find(|name| self.set(name).is_some())
    }

    /// The companion's possible hosts, in the client's order (`getIdeServerHost`).
    pub fn hosts(&self) -> &'static [&'static str] {
        match (self.container, self.dialect.variables.stay_local) {
            (None, _) => &[HERE],
            (Some(_), None) => &[HERE, HOST],
            (Some(_), Some(_)) if self.stays_local().is_some() => &[HERE],
            (Some(_), Some(_)) => &[HOST],
        }
    }
}
