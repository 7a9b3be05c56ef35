//! Reads the client's settings: the files of all levels, and its IDE mode.

use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{only_root_can_change, read_plain_file};
use companion_protocol::profile::{Base, ClientProfile, Installation};
use companion_protocol::text::parse_with_comments;
use serde_json::Value;

use super::trust::Trust;
use crate::discover::Environment;

/// The name of a settings file.
const FILE: &str = "settings.json";

/// Whether the client's IDE mode is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdeMode {
    /// This file turns it on.
    On(PathBuf),
    /// This file turns it off.
    Off(PathBuf),
    /// No file sets it, so it is off.
    Unset,
    /// This file is not a JSON object, or can't be read. Any such file prevents the client from
    /// starting.
    Unreadable(PathBuf),
    /// The setting [`Installation::tool_sandbox`] in this file runs the client's tools in a sandbox.
    /// The client then has no IDE mode.
    Sandboxed(PathBuf),
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
            return Self::Sandboxed(file.to_owned());
        }
        let switch =
            settings.all("ide.enabled").find_map(|(value, file)| Some((is_on(value)?, file)));
        match switch {
            Some((true, file)) => Self::On(file.to_owned()),
            Some((false, file)) => Self::Off(file.to_owned()),
            None => Self::Unset,
        }
    }

    /// Returns the file that decides.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::On(file) | Self::Off(file) | Self::Unreadable(file) | Self::Sandboxed(file) => {
                Some(file)
            }
            Self::Unset => None,
        }
    }
}

/// The client's settings: one file per level.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The existing files, by priority, including those of a project that is not trusted.
    files: Vec<SettingsFile>,
    pub(super) unread: Vec<(PathBuf, Unread)>,
    trust: Trust,
}

/// Why a client starts, but does not read a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not JSON. The client replaces it by empty settings when it starts.
    Reset,
    /// Another user than root can change it, or a folder above it.
    Unsafe,
}

#[derive(Clone, Debug)]
struct SettingsFile {
    path: PathBuf,
    content: Value,
    is_of_project: bool,
}

impl Settings {
    /// Reads the settings of the system, the folder, the user and the system's defaults, which have
    /// priority in this order (`settings.ts`). A folder without the user's trust has no settings,
    /// and in the home folder the same file has only the user's.
    ///
    /// # Errors
    /// The first file that is not a JSON object or can't be read. It prevents the client from
    /// starting.
    pub fn read(environment: &Environment) -> Result<Self, PathBuf> {
        let system = system_settings(environment);
        let defaults = system_defaults(environment, &system);
        let project = environment.cwd.join(environment.profile.installation.settings).join(FILE);
        let project = Some(project).filter(|_| !is_home(environment));
        let mut settings = Self { files: Vec::new(), unread: Vec::new(), trust: Trust::Trusted };
        let Installation { allows_bom, resets_settings, asks_for_root, .. } =
            environment.profile.installation;
        for (path, is_of_project, is_of_system) in [
            (Some(system), false, true),
            (project, true, false),
            (Some(user_settings(environment)), false, false),
            (Some(defaults), false, true),
        ] {
            let Some(path) = path else { continue };
            if is_of_system && asks_for_root && path.exists() && !only_root_can_change(&path) {
                settings.unread.push((path, Unread::Unsafe));
                continue;
            }
            match read(&path, allows_bom) {
                Some(Ok(content)) if content.is_object() => {
                    settings.files.push(SettingsFile { path, content, is_of_project });
                }
                Some(Err(Unreadable::NotJson)) if is_of_project && resets_settings => {
                    settings.unread.push((path, Unread::Reset));
                }
                Some(_) => return Err(path),
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
        self.values(setting, self.trust == Trust::Trusted)
    }

    /// The same without the project's settings.
    pub(super) fn of_operators(&self, setting: &str) -> Values<'_> {
        self.values(setting, false)
    }

    fn values(&self, setting: &str, with_project: bool) -> Values<'_> {
        let pointer = format!("/{}", setting.replace('.', "/"));
        let files = self.files.iter().filter(move |file| with_project || !file.is_of_project);
        Box::new(files.filter_map(move |file| Some((file.content.pointer(&pointer)?, &*file.path))))
    }
}

/// Whether the client runs in the user's home folder, where it reads no project's settings
/// (`isWorkspaceHomeDir` and `workspaceSettingsActive` of the clients).
fn is_home(environment: &Environment) -> bool {
    let home = client_home(environment);
    let (cwd, home) = (environment.cwd.canonicalize(), Path::new(&home).canonicalize());
    cwd.is_ok_and(|cwd| home.is_ok_and(|home| cwd == home))
}

/// Returns the home folder by the client's rule.
pub(super) fn client_home(environment: &Environment) -> String {
    let home = environment.profile.installation.home.and_then(|name| environment.set(name));
    home.map(str::to_owned).or_else(|| environment.home()).unwrap_or_default()
}

/// The values of a setting, each with its file.
type Values<'a> = Box<dyn Iterator<Item = (&'a Value, &'a Path)> + 'a>;

/// Why a file of settings has no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It can't be read.
    NoText,
    /// It is not JSON.
    NotJson,
}

/// Reads a file of settings, which may begin with a byte order mark if `allows_bom`. `None` if it
/// does not exist.
pub(super) fn read(file: &Path, allows_bom: bool) -> Option<Result<Value, Unreadable>> {
    let text = match read_plain_file(file, u64::MAX).map_err(|error| error.kind()) {
        Ok(text) => text,
        Err(io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => {
            return Some(Err(Unreadable::NoText));
        }
        Err(_) => return None,
    };
    let text = String::from_utf8_lossy(&text);
    let text = text.strip_prefix(BOM).filter(|_| allows_bom).unwrap_or(&text);
    Some(parse_with_comments(text).map_err(|_| Unreadable::NotJson))
}

/// Reads a switch of the settings as the client does: a text may be in its place
/// (`buildPrimitiveSchema`).
pub(super) fn is_on(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.to_ascii_lowercase().parse().ok())
}

/// The byte order mark. Windows' Notepad and PowerShell 5 write it.
const BOM: char = '\u{feff}';

/// Whether the client's settings let a model correct an edit that does not fit, by the setting
/// [`Installation::no_correction`]. Settings that can't be read count as such.
pub fn corrects_edits(environment: &Environment) -> bool {
    let Some(setting) = environment.profile.installation.no_correction else { return false };
    let Ok(settings) = Settings::read(environment) else { return true };
    // The CLI may come to trust the folder while it runs, so both answers count.
    let first = |mut values: Values<'_>| values.find_map(|(value, _)| is_on(value));
    [first(settings.values(setting, true)), first(settings.values(setting, false))]
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
        Base::Temp => Path::new(&client_home(environment)).join(installation.settings),
    };
    folder.join(FILE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use companion_protocol::profile::{GEMINI, QWEN};
    use serde_json::json;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn settings_that_are_a_pipe_do_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert_eq!(read(&file, false), Some(Err(Unreadable::NoText)));
    }

    #[test]
    fn a_byte_order_mark_is_for_those_who_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        std::fs::write(&file, "\u{feff}{}").unwrap();
        assert_eq!(read(&file, true), Some(Ok(json!({}))));
        assert_eq!(read(&file, false), Some(Err(Unreadable::NotJson)));
    }

    #[test]
    fn in_the_home_folder_the_settings_are_the_users() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let project = home.join("project");
        for profile in [&GEMINI, &QWEN] {
            let folder = home.join(profile.installation.settings);
            std::fs::create_dir_all(&project).unwrap();
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(FILE), r#"{"a": {"b": 1}}"#).unwrap();
            let of_system = dir.path().join("none").to_str().unwrap().to_owned();
            let vars = std::collections::BTreeMap::from([
                ("HOME".to_owned(), home.to_str().unwrap().to_owned()),
                ("USERPROFILE".to_owned(), home.to_str().unwrap().to_owned()),
                (profile.installation.system_settings.to_owned(), of_system),
            ]);
            for cwd in [&project, &home] {
                let environment = Environment::with_vars(profile, vars.clone(), cwd.clone());
                let settings = Settings::read(&environment).unwrap();
                let values: Vec<_> = settings.of_operators("a.b").collect();
                assert_eq!(values, [(&json!(1), &*folder.join(FILE))], "{}", cwd.display());
                assert_eq!(settings.all("a.b").count(), 1, "{}", cwd.display());
            }
        }
    }
}
