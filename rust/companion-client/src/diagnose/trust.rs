//! Decides whether the client trusts a folder (`trust.js`, `trustedFolders.ts`).

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::settings::{self, Settings, user_settings};
use crate::discover::Environment;

/// The setting that turns the trust in folders on or off.
const SWITCH: &str = "security.folderTrust.enabled";

/// Whether the client trusts the folder. An editor may decide otherwise once the client is connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The client trusts it.
    Trusted,
    /// The client does not trust it, because of this variable or file.
    Denied(String),
    /// The client asks the user when it starts.
    Undecided,
}

impl Trust {
    /// Reads variables and the file of the user's decisions. `settings` need no trust yet.
    ///
    /// # Errors
    /// The file of decisions, if it is invalid. It prevents the client from starting.
    pub(super) fn of(environment: &Environment, settings: &Settings) -> Result<Self, PathBuf> {
        let profile = &environment.profile.hooks.switches.trust;
        let is = |name: Option<&'static str>, value| {
            name.filter(|name| environment.var(name) == Some(value))
        };
        if let Some(name) = is(profile.denies, "true").or(is(profile.decides, "false")) {
            return Ok(Self::Denied(name.to_owned()));
        }
        if is(profile.decides, "true").is_some() {
            return Ok(Self::Trusted);
        }
        let switch = settings.of_operators(SWITCH).find_map(|(value, _)| value.as_bool());
        if !switch.unwrap_or(profile.is_enabled) {
            return Ok(Self::Trusted);
        }
        let file = match environment.set(profile.file) {
            Some(file) => PathBuf::from(file),
            None => user_settings(environment).with_file_name("trustedFolders.json"),
        };
        let decisions = match settings::read(&file) {
            None => return Ok(Self::Undecided),
            Some(Ok(Value::Object(decisions))) => decisions,
            Some(_) => return Err(file),
        };
        let mut nearest = None;
        for (rule, level) in &decisions {
            let folder = match level.as_str() {
                Some("TRUST_FOLDER" | "DO_NOT_TRUST") => Path::new(rule),
                Some("TRUST_PARENT") => Path::new(rule).parent().unwrap_or(Path::new(rule)),
                _ => return Err(file),
            };
            let folder = real(folder);
            let denies = level == "DO_NOT_TRUST";
            if real(&environment.cwd).starts_with(&folder) {
                // Of two rules for one folder, the one that denies counts.
                nearest = nearest.max(Some((folder.components().count(), denies)));
            }
        }
        Ok(match nearest {
            None => Self::Undecided,
            Some((_, false)) => Self::Trusted,
            Some((_, true)) => Self::Denied(file.display().to_string()),
        })
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
