//! Finds variables that the client reads from a file `.env` when it starts (`findEnvFile` in `settings.ts`).

use std::path::{Path, PathBuf};

use companion_platform::read_plain_file;
use serde_json::Value;

use super::settings::{Settings, user_settings};
use super::trust::Trust;
use crate::discover::Environment;

/// The name of such a file.
const FILE: &str = ".env";

/// The largest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// The nearest file `.env`, and the variables of this client's connection that it sets and the terminal
/// does not.
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
    /// Reads the nearest file, if it sets such a variable and the client trusts the folder.
    pub(super) fn of(environment: &Environment, settings: &Settings) -> Option<Self> {
        if *settings.trust() != Trust::Trusted {
            return None;
        }
        let own = environment.profile.installation.settings;
        let in_dir = |dir: &Path| [dir.join(own).join(FILE), dir.join(FILE)];
        let of_user = user_settings(environment).with_file_name(FILE);
        let at_home = environment.home().map(|home| Path::new(&home).join(FILE));
        let in_dirs = environment.cwd.ancestors().flat_map(in_dir);
        let mut files = in_dirs.chain([of_user]).chain(at_home);
        let path = files.find(|file| file.exists())?;
        let content = read_plain_file(&path, MAX_FILE).ok()?;
        let content = String::from_utf8_lossy(&content);
        let names: Vec<_> = content.lines().filter_map(name).collect();
        let mut variables: Vec<_> = environment.profile.variables.names().collect();
        variables.retain(|name| names.contains(name) && environment.var(name).is_none());
        let mut ignored = Vec::new();
        // The client searches for the name of its folder anywhere in the path.
        if !path.to_string_lossy().contains(own) {
            let names = names_to_ignore(environment, settings);
            (ignored, variables) = variables.into_iter().partition(|name| names.contains(name));
        }
        let is_empty = variables.is_empty() && ignored.is_empty();
        (!is_empty).then_some(Self { path, variables, ignored })
    }
}

/// The variables that the client ignores in a file outside of its own folders.
fn names_to_ignore<'a>(environment: &Environment, settings: &'a Settings) -> Vec<&'a str> {
    let mut lists = settings.all("advanced.excludedEnvVars").peekable();
    if lists.peek().is_none() {
        return environment.profile.installation.ignored_in_env_file.to_vec();
    }
    let mut names = Vec::new();
    for (list, _) in lists {
        names.extend(list.as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    names
}

/// The name of the variable that a line sets.
fn name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.split_once(['=', ':']).map(|(name, _)| name.trim())
}
