//! Decides whether the client trusts a folder (`trust.js`, `trustedFolders.ts`).

use std::path::{Path, PathBuf};

use companion_platform::real_path;
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
        let switch = settings.of_operators(SWITCH).find_map(|(value, _)| settings::is_on(value));
        if !switch.unwrap_or(profile.is_enabled) {
            return Ok(Self::Trusted);
        }
        let file = match environment.set(profile.file) {
            Some(file) => PathBuf::from(file),
            None => user_settings(environment).with_file_name("trustedFolders.json"),
        };
        let decisions = match settings::read(&file, false) {
            None => return Ok(Self::Undecided),
            Some(Ok(Value::Object(decisions))) => decisions,
            Some(_) => return Err(file),
        };
        let here = real_path(&environment.cwd);
        let mut strongest = None;
        for (rule, level) in &decisions {
            let folder = match level.as_str() {
                Some("TRUST_FOLDER" | "DO_NOT_TRUST") => Path::new(rule),
                Some("TRUST_PARENT") => Path::new(rule).parent().unwrap_or(Path::new(rule)),
                _ if profile.skips_unknown_rules => continue,
                _ => return Err(file),
            };
            let folder = real_path(folder);
            if !here.starts_with(&folder) {
                continue;
            }
            let length = if profile.longest_rule_counts {
                rule.encode_utf16().count()
            } else {
                folder.components().count()
            };
            // Of two rules for one folder, the one that denies counts.
            strongest = strongest.max(Some((length, level == "DO_NOT_TRUST")));
        }
        Ok(match strongest {
            None => Self::Undecided,
            Some((_, false)) => Self::Trusted,
            Some((_, true)) => Self::Denied(file.display().to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use companion_protocol::profile::{ClientProfile, GEMINI, QWEN};
    use serde_json::json;

    use super::*;

    /// Returns whether the client trusts the folder `/h/p` by these decisions. `None` if it asks.
    fn trusts(client: &'static ClientProfile, decisions: &Value) -> Result<Option<bool>, PathBuf> {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path().join("settings.json");
        let folders = dir.path().join("folders.json");
        std::fs::write(&settings, r#"{"security": {"folderTrust": {"enabled": true}}}"#).unwrap();
        std::fs::write(&folders, decisions.to_string()).unwrap();
        let trust = &client.hooks.switches.trust;
        let vars = [(client.installation.system_settings, &settings), (trust.file, &folders)];
        let vars = vars.map(|(name, file)| (name.to_owned(), file.to_str().unwrap().to_owned()));
        let environment = Environment::with_vars(client, vars.into(), "/h/p".into());
        Ok(match Settings::read(&environment)?.trust() {
            Trust::Trusted => Some(true),
            Trust::Denied(_) => Some(false),
            Trust::Undecided => None,
        })
    }

    #[test]
    fn each_client_has_its_own_precedence() {
        let (deny, folder, parent) = ("DO_NOT_TRUST", "TRUST_FOLDER", "TRUST_PARENT");
        for (decisions, gemini, qwen) in [
            (json!({}), None, None),
            (json!({"/h": folder}), Some(true), Some(true)),
            (json!({"/h": folder, "/h/p": deny}), Some(false), Some(false)),
            (json!({"/h": deny, "/h/p": folder}), Some(true), Some(true)),
            (json!({"/h": deny, "/h/other": parent}), Some(true), Some(false)),
            (json!({"/h/p": deny, "/h/another": parent}), Some(true), Some(false)),
            (json!({"/elsewhere/p": deny}), None, None),
        ] {
            assert_eq!(trusts(&GEMINI, &decisions), Ok(gemini), "{decisions}");
            assert_eq!(trusts(&QWEN, &decisions), Ok(qwen), "{decisions}");
        }
        let unknown = json!({"/h/p": "TRUST_ALL", "/h": folder});
        assert!(trusts(&GEMINI, &unknown).is_err(), "it does not start");
        assert_eq!(trusts(&QWEN, &unknown), Ok(Some(true)));
    }
}
