//! Finds out whether the client starts in a sandbox that hides the companion (`sandboxConfig.ts`,
//! `sandbox.ts`).

use serde_json::Value;

use super::settings::Settings;
use crate::discover::Environment;

/// Returns the variable or the setting that starts the client in a sandbox, if it finds no companion
/// there. A sandbox has another folder for temporary files, so only variables lead to the companion.
/// Seatbelt keeps them; a container gets the token only by a flag.
pub(super) fn hiding_sandbox(environment: &Environment, settings: &Settings) -> Option<String> {
    let (variable, setting) = environment.profile.installation.sandbox?;
    if environment.set("SANDBOX").is_some() {
        return None; // this is the sandbox
    }
    let (kind, by) = match environment.var(variable).map(str::trim) {
        Some(kind) if !kind.is_empty() => (kind.to_lowercase(), variable.to_owned()),
        _ => {
            let (value, file) = settings.all(setting).next()?;
            (kind(value), format!("{setting} in {}", file.display()))
        }
    };
    let is_default = ["1", "true"].contains(&&*kind);
    let is_seatbelt = kind == "sandbox-exec" || (is_default && cfg!(target_os = "macos"));
    let token = environment.profile.variables.auth_token?;
    let passes = |name: &str| environment.set(name).is_some_and(|value| value.contains(token));
    let knows_companion = environment.address().is_some()
        && if is_seatbelt {
            environment.is_editor_terminal()
        } else {
            passes("SANDBOX_ENV") || (kind != "lxc" && passes("SANDBOX_FLAGS"))
        };
    let is_none = ["", "0", "false", "windows-native"].contains(&&*kind);
    (!is_none && !knows_companion).then_some(by)
}

/// Returns the command of the sandbox, or `true` or `false`.
fn kind(setting: &Value) -> String {
    match setting {
        Value::String(kind) => kind.clone(),
        Value::Object(all) if all.get("enabled") == Some(&Value::Bool(true)) => {
            all.get("command").and_then(Value::as_str).unwrap_or("true").to_owned()
        }
        Value::Bool(true) => "true".to_owned(),
        _ => "false".to_owned(),
    }
}
