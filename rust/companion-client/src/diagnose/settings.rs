//! What the client's own files say: whether the IDE integration is on, and which version it is.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::discover::Environment;

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOff {
    /// On.
    On,
    /// Off.
    Off,
}

/// Whether the client's IDE integration is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdeMode {
    /// This file says so.
    Set(OnOff, PathBuf),
    /// No file says anything, which is off.
    Unset,
    /// This file is there, but can't be read as JSON.
    Unreadable(PathBuf),
}

impl IdeMode {
    /// `ide.enabled` of the client's settings, of which the system's count more than the
    /// folder's, and those more than the user's (`settings.js`).
    pub(super) fn of(environment: &Environment) -> Self {
        let of_folder = |dir: PathBuf| dir.join(".gemini").join("settings.json");
        let files = [
            Some(system_settings(environment)),
            Some(of_folder(environment.cwd.clone())),
            home(environment).map(of_folder),
        ];
        for file in files.into_iter().flatten() {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let Some(settings) = parse(&text) else { return Self::Unreadable(file) };
            if let Some(enabled) = settings["ide"]["enabled"].as_bool() {
                return Self::Set(if enabled { OnOff::On } else { OnOff::Off }, file);
            }
        }
        Self::Unset
    }

    /// Whether the client connects when it starts.
    pub fn is_on(&self) -> bool {
        matches!(self, Self::Set(OnOff::On, _))
    }
}

fn system_settings(environment: &Environment) -> PathBuf {
    if let Some(path) = environment.set("GEMINI_CLI_SYSTEM_SETTINGS_PATH") {
        return path.into();
    }
    let path = if cfg!(target_os = "macos") {
        "/Library/Application Support/GeminiCli/settings.json"
    } else if cfg!(windows) {
        "C:\\ProgramData\\gemini-cli\\settings.json"
    } else {
        "/etc/gemini-cli/settings.json"
    };
    path.into()
}

fn home(environment: &Environment) -> Option<PathBuf> {
    let system = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    environment.set("GEMINI_CLI_HOME").or_else(|| environment.set(system)).map(PathBuf::from)
}

/// JSON in which comments are allowed, as the client's `strip-json-comments`.
fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(&without_comments(text)).ok()
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '"' => {
                let mut escaped = false;
                let close = rest[1..].find(|c| {
                    let closes = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    closes
                });
                let end = close.map_or(rest.len(), |at| at + 2);
                out.push_str(&rest[..end]);
                end
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[end..];
    }
    out
}

/// The version of the `gemini` that the shell would start, from its package; it is not started.
pub(super) fn client_version(environment: &Environment) -> Option<String> {
    let program = if cfg!(windows) { "gemini.cmd" } else { "gemini" };
    let path = environment.set("PATH")?;
    let program = std::env::split_paths(path).map(|dir| dir.join(program)).find(|p| p.is_file())?;
    let real = program.canonicalize().ok()?;
    real.ancestors().skip(1).take(4).find_map(|dir| {
        // npm's starter on Windows lies beside the folder of its packages.
        [dir.join("package.json"), dir.join("node_modules/@google/gemini-cli/package.json")]
            .iter()
            .find_map(|file| package_version(file))
    })
}

fn package_version(file: &Path) -> Option<String> {
    let package = parse(&fs::read_to_string(file).ok()?)?;
    let is_client = package["name"] == "@google/gemini-cli";
    is_client.then(|| package["version"].as_str().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_go_and_texts_stay() {
        for (text, expected) in [
            ("{} // x\n", "{} \n"),
            ("/* { */{\"a\": \"// \\\" /*\"}", "{\"a\": \"// \\\" /*\"}"),
            ("{\"é\\\\\"/**/:1}//", "{\"é\\\\\":1}"),
            ("1 / 2", "1 / 2"),
            ("\"open", "\"open"),
            ("/* open", ""),
        ] {
            assert_eq!(without_comments(text), expected, "{text}");
        }
    }
}
