//! Collects the client's environment: variables, folders, processes and container marks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use companion_platform::{
    Platform, container_mark, current_user, home_dir, is_process_alive, temp_dir, vars,
};

use companion_protocol::profile::{Base, ClientProfile, Folder, Naming, Surroundings};

use super::ide_process::ide_process;
use super::{Stdio, Token, port, validate};

/// The inputs of the client's decisions. Tests and callers can set each of them, for an environment
/// other than this process's.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The client.
    pub profile: &'static ClientProfile,
    /// The environment variables, except values that are not Unicode.
    pub vars: BTreeMap<String, String>,
    /// The folder in which the client was started.
    pub cwd: PathBuf,
    /// The value of Node's `os.tmpdir()`.
    pub temp_dir: PathBuf,
    /// The required owner of discovery files; `None` if the client does not check the owner.
    pub uid: Option<u32>,
    /// The process that the client takes for the editor.
    pub ide_pid: u32,
    /// Whether a process runs.
    pub is_alive: fn(u32) -> bool,
    /// The file that shows the client that it runs in a container.
    pub container: Option<&'static str>,
}

/// The address of this machine, or of this container.
pub const HERE: &str = "127.0.0.1";

/// The machine that runs this container.
const HOST: &str = "host.docker.internal";

impl Environment {
    /// Returns the environment of a client that is started in `cwd`, in place of this process.
    pub fn current(profile: &'static ClientProfile, cwd: PathBuf) -> Self {
        let mut environment = Self::with_vars(profile, vars(), cwd);
        environment.ide_pid = environment.named_ide_process().unwrap_or_else(ide_process);
        environment
    }

    /// Returns the environment of a client of this user with these variables. The editor's process
    /// is the one that they name, or none.
    pub fn with_vars(
        profile: &'static ClientProfile,
        vars: BTreeMap<String, String>,
        cwd: PathBuf,
    ) -> Self {
        let temp_dir = temp_dir(Platform::CURRENT, |name| vars.get(name).cloned()).into();
        let mut environment = Self {
            profile,
            vars,
            cwd,
            temp_dir,
            uid: current_user().filter(|_| profile.asks_owner),
            ide_pid: 0,
            // On Windows a client with processes in file names considers each process alive.
            is_alive: match profile.naming {
                Naming::Process { .. } if cfg!(windows) => |pid| pid > 0,
                _ => is_process_alive,
            },
            container: container_mark(),
        };
        environment.ide_pid = environment.named_ide_process().unwrap_or(0);
        environment
    }

    /// Returns the environment of another client in the same place.
    #[must_use]
    pub fn with_profile(&self, profile: &'static ClientProfile) -> Self {
        let other = Self::with_vars(profile, self.vars.clone(), self.cwd.clone());
        let ide_pid = if other.ide_pid == 0 { self.ide_pid } else { other.ide_pid };
        Self { temp_dir: self.temp_dir.clone(), container: self.container, ide_pid, ..other }
    }

    /// Returns the same environment with the discovery files of another machine. `temp_dir` is that
    /// machine's folder for temporary files, as seen from here. Its processes and users can't be
    /// checked here, so every process counts as alive. A client's own folder is looked up in
    /// `temp_dir`, as without a home folder.
    #[must_use]
    pub fn with_files_of_another_machine(mut self, temp_dir: PathBuf) -> Self {
        if let Some((variable, _)) = self.profile.folder.base.own() {
            self.vars.remove(variable);
        }
        for home in ["HOME", "USERPROFILE"] {
            self.vars.remove(home);
        }
        Self { temp_dir, uid: None, is_alive: |_| true, ..self }
    }

    /// Returns the value of a variable, which may be empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// Returns the value of a variable. The client ignores empty values.
    pub fn set(&self, name: &str) -> Option<&str> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// Returns the token from its variable, if the client reads one.
    pub fn token(&self) -> Option<Token> {
        Some(self.var(self.profile.variables.auth_token?)?.to_owned().into())
    }

    /// Returns the workspace that the variable names, if the client's folder is in it. Otherwise the
    /// other variables are for another project, as after a change of folder in an editor's terminal.
    pub fn workspace(&self) -> Option<&str> {
        let workspace = self.set(self.profile.variables.workspace_path)?;
        validate(self.profile.roots, Some(workspace), &self.cwd).is_ok().then_some(workspace)
    }

    /// Returns the port and the token of the companion that the variables name for the client's
    /// folder.
    pub fn address(&self) -> Option<(u16, Token)> {
        self.workspace()?;
        Some((port(self.set(self.profile.variables.port)?)?, self.token()?))
    }

    /// Returns the program that the variables name as a companion.
    pub fn stdio(&self) -> Option<Stdio> {
        let names = &self.profile.variables;
        let command = self.set(names.stdio_command)?.to_owned();
        let args = self.set(names.stdio_args);
        let args = args.and_then(|args| serde_json::from_str(args).ok()).unwrap_or_default();
        Some(Stdio { command, args })
    }

    /// Returns the folder that the client searches for discovery files.
    pub fn discovery_dir(&self) -> PathBuf {
        let Folder { base, names } = self.profile.folder;
        names.iter().fold(self.folder(base), |dir, name| dir.join(name))
    }

    /// Returns the folder above the client's discovery folder.
    pub(crate) fn folder(&self, base: Base) -> PathBuf {
        let home = self.home();
        let around = Surroundings {
            temp_dir: &self.temp_dir,
            home: home.as_deref().map(Path::new),
            cwd: &self.cwd,
        };
        base.path(around, |name| self.vars.get(name).cloned())
    }

    /// Returns the user's home folder.
    pub(crate) fn home(&self) -> Option<String> {
        home_dir(Platform::CURRENT, |name| self.vars.get(name).cloned())
    }

    /// Returns the editor's process, if its variable names one.
    pub fn named_ide_process(&self) -> Option<u32> {
        super::leading_number(self.set(self.profile.variables.pid?)?)
    }

    /// Whether the client takes the terminal for that of an editor.
    pub fn is_editor_terminal(&self) -> bool {
        self.profile.terminals.iter().any(|mark| mark.holds(|name| self.var(name)))
    }

    /// Returns the variable that makes a client in a container stay on 127.0.0.1.
    pub fn stays_local(&self) -> Option<&'static str> {
        let stay_local = self.profile.variables.stay_local?;
        ["SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", stay_local]
            .into_iter()
            .find(|name| self.set(name).is_some())
    }

    /// Whether the client is in a container and also looks outside of it. If it stays in it, as in a dev
    /// container, the editor is in it, too.
    pub fn looks_on_host(&self) -> bool {
        self.container.is_some() && self.stays_local().is_none()
    }

    /// Returns the possible hosts of the companion, in the client's order (`getIdeServerHost`).
    pub fn hosts(&self) -> &'static [&'static str] {
        match self.profile.variables.stay_local {
            _ if !self.looks_on_host() => &[HERE],
            None => &[HERE, HOST],
            Some(_) => &[HOST],
        }
    }
}
