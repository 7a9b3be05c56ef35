//! Reads the client's own files: its IDE mode, extension and version.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_protocol::dialect::{self, Base, ClientProfile, Installation};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

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
    pub(super) fn of(environment: &Environment) -> Self {
        let Installation { tool_sandbox, .. } = environment.dialect.installation;
        let [system, project, user, defaults] = by_priority(environment);
        let operators = [&system, &user, &defaults].map(PathBuf::clone);
        let read = |file: PathBuf| {
            let settings = read(&file)?.ok().filter(Value::is_object);
            Some((file, settings))
        };
        let files = [system, project, user, defaults];
        let files: Vec<_> = files.into_iter().filter_map(read).collect();
        if let Some((file, _)) = files.iter().find(|(_, settings)| settings.is_none()) {
            return Self::Unreadable(file.clone());
        }
        if let Some(setting) = tool_sandbox {
            let pointer = pointer(setting);
            let is_set = |(file, settings): &&(PathBuf, Option<Value>)| {
                operators.contains(file)
                    && settings.as_ref().is_some_and(|all| all.pointer(&pointer).is_some())
            };
            if let Some((file, _)) = files.iter().find(is_set) {
                return Self::Sandboxed(setting, file.clone());
            }
        }
        for (file, settings) in files {
            let enabled = settings.as_ref().and_then(|all| all.pointer("/ide/enabled")?.as_bool());
            if let Some(enabled) = enabled {
                return Self::Set(if enabled { OnOff::On } else { OnOff::Off }, file);
            }
        }
        Self::Unset
    }
}

/// The JSON pointer of a setting, such as `/ide/enabled` of `ide.enabled`.
fn pointer(setting: &str) -> String {
    format!("/{}", setting.replace('.', "/"))
}

/// The files of the client's settings. The system's outrank the folder's, the user's and the
/// system's defaults, in this order (`settings.js`).
fn by_priority(environment: &Environment) -> [PathBuf; 4] {
    let project = environment.cwd.join(environment.dialect.installation.settings).join(FILE);
    let system = system_settings(environment);
    let defaults = system_defaults(environment, &system);
    [system, project, user_settings(environment), defaults]
}

/// A file of settings that can't be read, or is not JSON.
struct Unreadable;

/// Reads a file of settings; `None` if it does not exist.
fn read(file: &Path) -> Option<Result<Value, Unreadable>> {
    match fs::read(file) {
        Ok(text) => Some(parse(&String::from_utf8_lossy(&text)).ok_or(Unreadable)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(Err(Unreadable)),
        Err(_) => None,
    }
}

/// Whether the client's settings let a model correct an edit that does not fit, by the setting
/// [`Installation::no_correction`]. Settings that can't be read count as such.
pub fn corrects_edits(environment: &Environment) -> bool {
    let Some(setting) = environment.dialect.installation.no_correction else { return false };
    let pointer = pointer(setting);
    for settings in by_priority(environment).iter().filter_map(|file| read(file)) {
        let Ok(settings) = settings else { return true };
        let disabled = settings.pointer(&pointer).and_then(Value::as_bool);
        if let Some(disabled) = disabled {
            return !disabled;
        }
    }
    false
}

fn system_settings(environment: &Environment) -> PathBuf {
    let Installation { system_settings, system_folders, .. } = environment.dialect.installation;
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
    match environment.set(environment.dialect.installation.system_defaults) {
        Some(path) => path.into(),
        None => system_settings.with_file_name("system-defaults.json"),
    }
}

/// Returns the file of the user's settings.
pub fn user_settings(environment: &Environment) -> PathBuf {
    let ClientProfile { folder, installation, .. } = environment.dialect;
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
fn parse(text: &str) -> Option<Value> {
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

/// Returns the installed clients. A client is installed if its program is in the PATH, or if the
/// folder of its settings exists, as with npx. If none is installed, returns the first client.
pub fn installed(environment: &Environment) -> Vec<&'static ClientProfile> {
    let is_installed = |dialect: &&'static ClientProfile| {
        let there = environment.with_dialect(dialect);
        let has_settings = || user_settings(&there).parent().is_some_and(Path::is_dir);
        program(&there).is_some() || has_settings()
    };
    let found: Vec<_> = dialect::ALL.into_iter().filter(is_installed).collect();
    if found.is_empty() { dialect::ALL[..1].to_vec() } else { found }
}

/// Returns the client's program that the shell would start.
fn program(environment: &Environment) -> Option<PathBuf> {
    find_program(environment, environment.dialect.id)
}

/// Returns the program of that name that the shell would start.
fn find_program(environment: &Environment, name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".cmd", ".exe"] } else { &[""] };
    let dirs = std::env::split_paths(environment.set("PATH")?);
    let mut files =
        dirs.flat_map(|dir| endings.iter().map(move |ending| dir.join(format!("{name}{ending}"))));
    files.find(|file| file.is_file())
}

/// The companion's extension in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The file that names its program.
    pub manifest: PathBuf,
    /// The program, as a path or a name.
    pub program: String,
    /// Whether the program exists.
    pub is_found: bool,
}

impl Extension {
    /// Reads the extension from the folder of the user's extensions.
    pub(super) fn of(environment: &Environment) -> Option<Self> {
        let name = "gemini-companion";
        let folder = user_settings(environment).with_file_name("extensions").join(name);
        let manifest = folder.join("gemini-extension.json");
        let content = parse(&fs::read_to_string(&manifest).ok()?)?;
        let program = content["mcpServers"][name]["command"].as_str()?.to_owned();
        let is_found = match Path::new(&program) {
            path if path.is_absolute() => path.is_file(),
            _ => find_program(environment, &program).is_some(),
        };
        Some(Self { manifest, program, is_found })
    }
}

/// Returns the version of the client that the shell would start. Reads it from the package, without
/// starting the client.
pub(super) fn client_version(environment: &Environment) -> Option<String> {
    let Installation { package, .. } = environment.dialect.installation;
    let real = program(environment)?.canonicalize().ok()?;
    real.ancestors().skip(1).take(4).find_map(|dir| {
        // On Windows npm's starter is next to the folder of its packages.
        [dir.join("package.json"), dir.join("node_modules").join(package).join("package.json")]
            .iter()
            .find_map(|file| package_version(file, package))
    })
}

fn package_version(file: &Path, name: &str) -> Option<String> {
    let package = parse(&fs::read_to_string(file).ok()?)?;
    (package["name"] == name).then(|| package["version"].as_str().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

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
