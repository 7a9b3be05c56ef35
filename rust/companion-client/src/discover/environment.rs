//! What the client's decisions depend on, besides the discovery files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use companion_platform::{Platform, container_mark, current_user, is_process_alive, temp_dir};

use companion_protocol::dialect::Dialect;

use super::process::ide_process;

/// What the client's decisions depend on. All can be set, for tests and for an environment that
/// is not that of this process.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Which client it is.
    pub dialect: &'static Dialect,
    /// The environment variables. Values that are not Unicode are left out.
    pub vars: BTreeMap<String, String>,
    /// Where the client was started.
    pub cwd: PathBuf,
    /// What Node calls `os.tmpdir()`.
    pub temp_dir: PathBuf,
    /// To whom discovery files must belong; `None` where the client does not ask.
    pub uid: Option<u32>,
    /// The process that the client takes for the editor.
    pub ide_pid: u32,
    /// Whether a process runs.
    pub is_alive: fn(u32) -> bool,
    /// Which of the files is there that tell the client that it is in a container.
    pub container: Option<&'static str>,
}

impl Environment {
    /// That of a client which is started now, in `cwd`, where this process was.
    pub fn current(dialect: &'static Dialect, cwd: PathBuf) -> Self {
        let vars = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut environment = Self::with_vars(dialect, vars, cwd);
        environment.ide_pid = ide_process(&environment);
        environment
    }

    /// That of a client of this user with these variables. The editor's process is the one that
    /// they name, or none.
    pub fn with_vars(
        dialect: &'static Dialect,
        vars: BTreeMap<String, String>,
        cwd: PathBuf,
    ) -> Self {
        let temp_dir = temp_dir(Platform::CURRENT, |name| vars.get(name).cloned()).into();
        let mut environment = Self {
            dialect,
            vars,
            cwd,
            temp_dir,
            uid: current_user(),
            ide_pid: 0,
            // On Windows the client takes every process for alive.
            is_alive: if cfg!(windows) { |pid| pid > 0 } else { is_process_alive },
            container: container_mark(),
        };
        environment.ide_pid = environment.named_ide_process().unwrap_or(0);
        environment
    }

    /// The value of a variable, which may be empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// The value of a variable that is not empty; an empty one is none for the client.
    pub fn set(&self, name: &str) -> Option<&str> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// The folder in which the client looks for discovery files.
    pub fn discovery_dir(&self) -> PathBuf {
        self.dialect.folders.iter().fold(self.temp_dir.clone(), |dir, name| dir.join(name))
    }

    /// The editor's process if the variable for it names one.
    pub fn named_ide_process(&self) -> Option<u32> {
        super::leading_number(self.set(self.dialect.variables.pid)?)
    }

    /// The variable because of which a client in a container stays on 127.0.0.1.
    pub fn stays_local(&self) -> Option<&'static str> {
        ["SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", self.dialect.variables.stay_local]
            .into_iter()
            .find(|name| self.set(name).is_some())
    }

    /// Where the client takes the companion to be (`getIdeServerHost`).
    pub fn server_host(&self) -> &'static str {
        if self.container.is_some() && self.stays_local().is_none() {
            "host.docker.internal"
        } else {
            "127.0.0.1"
        }
    }
}
