//! Finds out whether the client starts in a sandbox where it may not connect (`sandboxConfig.ts`,
//! `sandbox.ts`).

use std::path::Path;

use serde_json::Value;

use super::settings::Settings;
use crate::discover::Environment;

/// Why the client may not connect in its sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// It finds no companion there. This variable or setting starts the sandbox.
    HidesCompanion(String),
    /// The sandbox has a network of its own, which may not reach the companion.
    HasOwnNetwork,
}

impl Sandbox {
    /// A sandbox has another folder for temporary files, so only variables lead to the companion.
    /// Seatbelt keeps them; a container gets the token only by a flag. A client with a folder of its
    /// own has its files there, too, but without variables it removes those of processes that it does
    /// not see in a container.
    pub(super) fn of(environment: &Environment, settings: &Settings) -> Option<Self> {
        let (variable, setting) = environment.profile.installation.sandbox;
        if environment.set("SANDBOX").is_some() {
            return None; // this is the sandbox
        }
        let (kind, by) = match environment.var(variable).map(str::trim) {
            Some(kind) if !kind.is_empty() => (kind.to_lowercase(), variable.to_owned()),
            _ => {
                let (kind, file) = of_settings(settings, setting)?;
                (kind.to_owned(), format!("{setting} in {}", file.display()))
            }
        };
        if ["", "0", "false", "windows-native"].contains(&&*kind) {
            return None;
        }
        let is_default = ["1", "true"].contains(&&*kind);
        let is_seatbelt = kind == "sandbox-exec" || (is_default && cfg!(target_os = "macos"));
        let names = &environment.profile.variables;
        let list = environment.set("SANDBOX_ENV").unwrap_or_default();
        let flags = environment.set("SANDBOX_FLAGS").filter(|_| kind != "lxc").unwrap_or_default();
        let knows_companion = if let Some(token) = names.auth_token {
            environment.address().is_some()
                && if is_seatbelt {
                    environment.is_editor_terminal()
                } else {
                    list.contains(token) || flags.contains(token)
                }
        } else {
            let has_port = environment.set(names.port).is_some();
            is_seatbelt || (has_port && environment.workspace().is_some())
        };
        if !knows_companion {
            return Some(Self::HidesCompanion(by));
        }
        let stays_local = names.stay_local.is_none_or(|name| list.contains(name));
        let has_host_network = flags.replace('=', " ").contains("--network host");
        // Docker Desktop and Seatbelt reach 127.0.0.1 of this machine.
        let is_apart = cfg!(target_os = "linux") && !(stays_local && has_host_network);
        is_apart.then_some(Self::HasOwnNetwork)
    }
}

/// Returns the command of the sandbox, or `true` or `false`, and the file that turns it on or off.
fn of_settings<'a>(settings: &'a Settings, setting: &str) -> Option<(&'a str, &'a Path)> {
    let of = |field: &str| settings.all(&format!("{setting}{field}")).next();
    let (mut value, mut file) = of("")?;
    if value.is_object() {
        // The client merges the fields of all files.
        (value, file) = of(".enabled").filter(|(value, _)| **value == true)?;
        value = of(".command").map(|(value, _)| value).filter(|it| it.is_string()).unwrap_or(value);
    }
    match value {
        Value::String(kind) => Some((kind, file)),
        Value::Bool(true) => Some(("true", file)),
        _ => None,
    }
}
