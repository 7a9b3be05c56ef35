//! Reads the client's settings: the files of all levels, and its IDE mode.

use std::io;
use std::path::{Path, PathBuf};

use companion_platform::read_plain_file;
use companion_protocol::profile::{Base, ClientProfile, Installation};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

use super::trust::Trust;
use crate::discover::Environment;

/// The name of a settings file.
const FILE: &str = "settings.json";

/// The value of a switch.
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
    /// The value in this file.
    Set(OnOff, PathBuf),
    /// No file sets it, so it is off.
    Unset,
    /// This file is not a JSON object, or can't be read. Any such file prevents the client from
    /// starting.
    Unreadable(PathBuf),
    /// The setting with this name, in this file, runs the client's tools in a sandbox. The client
    /// then has no IDE integration.
    Sandboxed(&'static str, PathBuf),
}

impl IdeMode {
    /// Reads `ide.enabled` of the client's settings.
    pub(super) fn of(environment: &Environment, settings: &Result<Settings, PathBuf>) -> Self {
        let settings = match settings {
            Ok(settings) => settings,
            Err(file) => return Self::Unreadable(file.clone()),
        };
        let Installation { tool_sandbox, .. } = environment.profile.installation;
        if let Some(setting) = tool_sandbox
            && let Some((_, file)) = settings.of_operators(setting).next()
        {
            return Self::Sandboxed(setting, file.to_owned());
        }
        match settings.all("ide.enabled").find_map(|(value, file)| Some((value.as_bool()?, file))) {
            Some((true, file)) => Self::Set(OnOff::On, file.to_owned()),
            Some((false, file)) => Self::Set(OnOff::Off, file.to_owned()),
            None => Self::Unset,
        }
    }
}

/// The client's settings: one file per level.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The existing files, by priority, including those of a project that is not trusted.
    files: Vec<(PathBuf, Value)>,
    /// The project's file.
    project: PathBuf,
    trust: Trust,
}

impl Settings {
    /// Reads the settings of the system, the folder, the user and the system's defaults, which have
    /// priority in this order (`settings.ts`). A folder without the user's trust has no settings.
    ///
    /// # Errors
    /// The first file that is not a JSON object or can't be read. It prevents the client from
    /// starting.
    pub fn read(environment: &Environment) -> Result<Self, PathBuf> {
        let system = system_settings(environment);
        let defaults = system_defaults(environment, &system);
        let project = environment.cwd.join(environment.profile.installation.settings).join(FILE);
        let mut settings = Self { files: Vec::new(), project, trust: Trust::Trusted };
        for file in [system, settings.project.clone(), user_settings(environment), defaults] {
            match read(&file) {
                Some(Ok(content)) if content.is_object() => settings.files.push((file, content)),
                Some(_) => return Err(file),
                None => {}
            }
        }
        settings.trust = Trust::of(environment, &settings)?;
        Ok(settings)
    }

    /// Whether the client trusts the folder.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The values of a setting such as `ide.enabled`, by priority, each with its file.
    pub(super) fn all(&self, setting: &str) -> Values<'_> {
        match self.trust {
            Trust::Trusted => self.with_project(setting),
            Trust::Denied(_) | Trust::Undecided => self.of_operators(setting),
        }
    }

    /// The same without the project's settings.
    pub(super) fn of_operators(&self, setting: &str) -> Values<'_> {
        Box::new(self.with_project(setting).filter(|(_, file)| *file != self.project))
    }

    /// The same with the project's settings, even if the client does not trust the folder.
    fn with_project(&self, setting: &str) -> Values<'_> {
        let pointer = format!("/{}", setting.replace('.', "/"));
        Box::new(
            self.files
                .iter()
                .filter_map(move |(file, all)| Some((all.pointer(&pointer)?, &**file))),
        )
    }
}

/// The values of a setting, each with its file.
type Values<'a> = Box<dyn Iterator<Item = (&'a Value, &'a Path)> + 'a>;

/// A file of settings that can't be read, or is not JSON.
pub(super) struct Unreadable;

/// Reads a file of settings; `None` if it does not exist.
pub(super) fn read(file: &Path) -> Option<Result<Value, Unreadable>> {
    match read_plain_file(file, u64::MAX).map_err(|error| error.kind()) {
        Ok(text) => Some(parse(&String::from_utf8_lossy(&text)).ok_or(Unreadable)),
        Err(io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => Some(Err(Unreadable)),
        Err(_) => None,
    }
}

/// Whether the client's settings let a model correct an edit that does not fit, by the setting
/// [`Installation::no_correction`]. Settings that can't be read count as such.
pub fn corrects_edits(environment: &Environment) -> bool {
    let Some(setting) = environment.profile.installation.no_correction else { return false };
    let Ok(settings) = Settings::read(environment) else { return true };
    // The CLI may come to trust the folder while it runs, so both answers count.
    let first = |mut values: Values<'_>| values.find_map(|(value, _)| value.as_bool());
    [first(settings.with_project(setting)), first(settings.of_operators(setting))]
        .contains(&Some(false))
}

fn system_settings(environment: &Environment) -> PathBuf {
    let Installation { system_settings, system_folders, .. } = environment.profile.installation;
    if let Some(path) = environment.set(system_settings) {
        return path.into();
    }
    let [others, macos, windows] = system_folders;
    let folder = if cfg!(target_os = "macos") {
        macos
    } else if cfg!(windows) {
        windows
    } else {
        others
    };
    Path::new(folder).join(FILE)
}

fn system_defaults(environment: &Environment, system_settings: &Path) -> PathBuf {
    match environment.set(environment.profile.installation.system_defaults) {
        Some(path) => path.into(),
        None => system_settings.with_file_name("system-defaults.json"),
    }
}

/// Whether settings in this file have priority over the user's.
pub(super) fn outweighs_user(environment: &Environment, file: &Path) -> bool {
    let defaults = system_defaults(environment, &system_settings(environment));
    file != defaults && file != user_settings(environment)
}

/// Returns the file of the user's settings.
pub fn user_settings(environment: &Environment) -> PathBuf {
    let ClientProfile { folder, installation, .. } = environment.profile;
    let folder = match folder.base {
        own @ Base::Own { .. } => environment.folder(own),
        Base::Temp => {
            let home = installation.home.and_then(|name| environment.set(name));
            let home = home.map(str::to_owned).or_else(|| environment.home());
            PathBuf::from(home.unwrap_or_default()).join(installation.settings)
        }
    };
    folder.join(FILE)
}

/// Parses JSON with comments and without other extensions, as the client's `strip-json-comments`
/// and `JSON.parse` do.
pub(super) fn parse(text: &str) -> Option<Value> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    parse_to_serde_value(text, &options).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use serde_json::json;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn settings_that_are_a_pipe_do_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(matches!(read(&file), Some(Err(Unreadable))));
    }

    #[test]
    fn comments_are_the_only_extension() {
        assert_eq!(parse("/* { */{\"a\": \"// \\\" /*\"}"), Some(json!({"a": "// \" /*"})));
        assert_eq!(parse("{\"é\\\\\"/**/:1}//"), Some(json!({"é\\": 1})));
        assert_eq!(parse("[1, 2] // x\n"), Some(json!([1, 2])));
        for text in ["{a: 1}", "{\"a\": 1,}", "{'a': 1}", "{\"a\" 1}", "{\"a\": 0x1}", "{\"a\": 1"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
