//! Finds variables that the client reads from a file `.env` when it starts (`findEnvFile` in `settings.ts`).

use std::path::{Path, PathBuf};

use companion_platform::read_plain_file;

use super::settings::user_settings;
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
    /// The names of the variables; not empty.
    pub variables: Vec<&'static str>,
}

impl EnvFile {
    /// Reads the nearest file, if it sets such a variable. The folder has the client's trust.
    pub(super) fn of(environment: &Environment) -> Option<Self> {
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
        (!variables.is_empty()).then_some(Self { path, variables })
    }
}

/// The name of the variable that a line sets.
fn name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.split_once(['=', ':']).map(|(name, _)| name.trim())
}
