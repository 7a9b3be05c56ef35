//! Finds variables that the client reads from a file `.env` when it starts (`findEnvFile` in `settings.ts`).

use std::path::PathBuf;

use companion_platform::read_plain_file;
use companion_protocol::profile::{ClientProfile, EnvFiles, Installation};
use serde_json::Value;

use super::facts::PROXIES;
use super::settings::{Settings, client_home, is_on, user_settings};
use super::trust::Trust;
use crate::discover::Environment;

/// The name of such a file.
const FILE: &str = ".env";

/// The largest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// The first file `.env` that the client reads and that sets variables of its connection, of its sandbox or
/// of a proxy. The terminal does not set these.
#[derive(Clone, Debug)]
pub struct EnvFile {
    /// The file.
    pub path: PathBuf,
    /// The names of the variables that the client reads.
    pub variables: Vec<&'static str>,
    /// The names of those that the client ignores in this file. One of both lists is not empty.
    pub ignored: Vec<&'static str>,
}

impl EnvFile {
    /// Finds that file among those of the project and of the user.
    pub(super) fn of(environment: &Environment, settings: &Settings) -> Option<Self> {
        let Installation { settings: own, env_files, .. } = environment.profile.installation;
        let is_trusted = *settings.trust() == Trust::Trusted;
        if !is_trusted && env_files == EnvFiles::First {
            return None;
        }
        let home = PathBuf::from(client_home(environment));
        let setting = settings.all("advanced.ignoreLocalEnv").next();
        let ignores_local = setting.and_then(|(value, _)| is_on(value)).unwrap_or_default();
        let mut files = Vec::new();
        for dir in environment.cwd.ancestors().filter(|_| is_trusted) {
            files.push(dir.join(own).join(FILE));
            if !ignores_local || dir == home {
                files.push(dir.join(FILE));
            }
        }
        let nearest = files.into_iter().find(|file| file.exists());
        let of_user = [user_settings(environment).with_file_name(FILE), home.join(FILE)];
        let files = nearest.into_iter().chain(of_user.into_iter().filter(|file| file.exists()));
        let count = if env_files == EnvFiles::First { 1 } else { usize::MAX };
        files.take(count).find_map(|path| Self::read(path, environment, settings))
    }

    /// Reads a file, if it sets such a variable.
    fn read(path: PathBuf, environment: &Environment, settings: &Settings) -> Option<Self> {
        let content = read_plain_file(&path, MAX_FILE).ok()?;
        let content = String::from_utf8_lossy(&content);
        let names: Vec<_> = content.lines().filter_map(name).collect();
        let ClientProfile { variables, installation, .. } = environment.profile;
        let mut variables: Vec<_> = variables.names().chain(PROXIES).collect();
        variables.push(installation.sandbox.0);
        variables.retain(|name| names.contains(name) && environment.var(name).is_none());
        let mut ignored = Vec::new();
        // The client searches for the name of its folder anywhere in the path.
        if !path.to_string_lossy().contains(installation.settings) {
            let names = names_to_ignore(environment, settings);
            (ignored, variables) = variables.into_iter().partition(|name| names.contains(name));
        }
        let is_empty = variables.is_empty() && ignored.is_empty();
        (!is_empty).then_some(Self { path, variables, ignored })
    }
}

/// The variables that the client ignores in a file outside of its own folders.
fn names_to_ignore<'a>(environment: &Environment, settings: &'a Settings) -> Vec<&'a str> {
    let lists: Vec<_> = settings.all("advanced.excludedEnvVars").collect();
    if lists.is_empty() {
        return environment.profile.installation.ignored_in_env_file.to_vec();
    }
    let names = lists.iter().filter_map(|(list, _)| list.as_array()).flatten();
    names.filter_map(Value::as_str).collect()
}

/// The name of the variable that a line sets.
fn name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.split_once(['=', ':']).map(|(name, _)| name.trim())
}
