//! Finds programs in the PATH: the clients, and the one that hooks run.

use std::fs;
use std::path::{Path, PathBuf};

use companion_platform::{is_executable, real_path};
use companion_protocol::profile::{self, ClientProfile, Installation};
use companion_protocol::text::parse_with_comments;

use super::settings::user_settings;
use crate::discover::Environment;

/// The client that the shell would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientProgram {
    /// It is not in the PATH.
    Missing,
    /// It is there, but not in its npm package, so it may be a starter such as one of Volta.
    UnknownVersion(PathBuf),
    /// Its version.
    Version(String),
}

impl ClientProgram {
    /// Reads the version from the package, without starting the client.
    pub(super) fn of(environment: &Environment) -> Self {
        let Installation { package, .. } = environment.profile.installation;
        let Some(program) = find_program(environment, environment.profile.id) else {
            return Self::Missing;
        };
        let real = real_path(&program);
        let version = real.ancestors().skip(1).take(4).find_map(|dir| {
            // On Windows npm's starter is next to the folder of its packages.
            [dir.join("package.json"), dir.join("node_modules").join(package).join("package.json")]
                .iter()
                .find_map(|file| package_version(file, package))
        });
        version.map_or(Self::UnknownVersion(program), Self::Version)
    }
}

fn package_version(file: &Path, name: &str) -> Option<String> {
    let package = parse_with_comments(&fs::read_to_string(file).ok()?).ok()?;
    (package["name"] == name).then(|| package["version"].as_str().map(str::to_owned))?
}

/// Returns the installed clients. A client is installed if its program is in the PATH, or if the
/// folder of its settings exists, as with npx. If none is installed, returns the first client.
pub fn installed(environment: &Environment) -> Vec<&'static ClientProfile> {
    let is_installed = |profile: &&'static ClientProfile| {
        let there = environment.with_profile(profile);
        let has_settings = || user_settings(&there).parent().is_some_and(Path::is_dir);
        find_program(&there, profile.id).is_some() || has_settings()
    };
    let found: Vec<_> = profile::ALL.into_iter().filter(is_installed).collect();
    if found.is_empty() { profile::ALL[..1].to_vec() } else { found }
}

/// Returns the program of that name that the shell would start.
pub(super) fn find_program(environment: &Environment, name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".cmd", ".exe"] } else { &[""] };
    let dirs = std::env::split_paths(environment.set("PATH")?);
    let mut files =
        dirs.flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))));
    files.find(|file| is_executable(file))
}
