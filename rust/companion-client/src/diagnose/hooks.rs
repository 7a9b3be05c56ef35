//! Reads all that can keep a client from running the companion's hooks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use companion_protocol::hook::{HookEventKind, HookSwitches};
use companion_protocol::text::parse_with_comments;
use serde_json::Value;

use super::enablement::disabling_rule;
use super::hook_program::{RunnerProblem, problem};
use super::settings::{Settings, is_on, read, user_settings};
use super::trust::Trust;
use crate::discover::Environment;

/// The name of the extension, of its folder and of its MCP server.
const NAME: &str = "gemini-companion";

/// The beginning of the names of its hooks. A setting may turn off hooks of others.
const PREFIX: &str = "companion-";

/// A reason why a client does not run all hooks of the companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookObstacle {
    /// The extension is not installed.
    NotInstalled,
    /// A file of the extension is missing or invalid.
    Broken {
        /// The file.
        file: PathBuf,
        /// Whether the user has linked the extension, so that setup leaves it alone.
        is_linked: bool,
    },
    /// This variable turns all hooks and extensions off.
    SafeMode(&'static str),
    /// The client does not start, because this setting in this file requires a known source of each
    /// extension, and the one in this folder has none.
    SourceNotAllowed(&'static str, PathBuf, PathBuf),
    /// This rule disables the extension in the folder.
    Disabled(String, PathBuf),
    /// This setting turns all hooks off.
    SwitchedOff(&'static str, PathBuf),
    /// This setting turns off the hooks with these names.
    NamesOff(&'static str, PathBuf, Vec<String>),
    /// The program that the hooks run does not work.
    Program(PathBuf, RunnerProblem),
    /// The extension has no hook for some events, so it is of an earlier version.
    Incomplete {
        /// The file with its hooks.
        file: PathBuf,
        /// As of [`HookObstacle::Broken`].
        is_linked: bool,
    },
}

/// The companion's hooks in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// What keeps them from running. The first one is the most important.
    pub obstacles: Vec<HookObstacle>,
    /// The events at which the client runs a hook.
    pub events: Vec<HookEventKind>,
    /// The program that they run, if they have one.
    pub program: Option<String>,
    /// Why the client does not start the extension's MCP server, if it runs the hooks.
    pub server_off: Option<String>,
}

/// A hook in the extension's file.
struct Hook {
    /// The client's name of the event.
    event: String,
    event_kind: HookEventKind,
    name: String,
    command: String,
}

impl Hooks {
    /// Reads the extension and the enablement. Starts the program of the hooks, unless it is this one.
    /// Without `settings` the client does not start.
    pub(super) fn of(environment: &Environment, settings: Option<&Settings>) -> Self {
        let switches = &environment.profile.hooks.switches;
        let folder = installed_folder(environment);
        let manifest = folder.join(switches.manifest);
        let own_folder = extension_folder(environment);
        if !own_folder.exists() {
            return Self::stopped_by(HookObstacle::NotInstalled);
        }
        let is_linked = folder != own_folder;
        let Some(content) = json(&manifest) else {
            return Self::stopped_by(HookObstacle::Broken { file: manifest, is_linked });
        };
        let file = folder.join(switches.file);
        let Some(hooks) = json(&file).and_then(|content| of_file(environment, &content)) else {
            return Self::stopped_by(HookObstacle::Broken { file, is_linked });
        };
        let mut obstacles = hook_switches(environment, settings);
        let mut events: Vec<_> = hooks.iter().map(|hook| hook.event_kind).collect();
        let mut expected = environment.profile.hooks.events.iter();
        let complete = expected.all(|(_, event)| hooks.iter().any(|hook| hook.event == *event));
        match obstacles.last_mut() {
            Some(HookObstacle::NamesOff(_, _, names)) => {
                names.retain(|name| hooks.iter().any(|hook| hook.name == *name));
                let is_on = |hook: &&Hook| !names.contains(&hook.name);
                events = hooks.iter().filter(is_on).map(|hook| hook.event_kind).collect();
                if names.is_empty() {
                    obstacles.pop();
                }
            }
            Some(_) => events.clear(),
            None => {}
        }
        let mut programs: BTreeSet<_> =
            hooks.iter().map(|hook| first_word(&hook.command)).collect();
        programs.extend(content["mcpServers"][NAME]["command"].as_str().map(str::to_owned));
        let failing = programs.iter().find_map(|it| Some((it, problem(environment, it)?)));
        if let Some((program, problem)) = failing {
            if problem != RunnerProblem::ProgramOfOtherVersion {
                events.clear();
            }
            obstacles.push(HookObstacle::Program(program.into(), problem));
        }
        if !complete {
            obstacles.push(HookObstacle::Incomplete { file, is_linked });
        }
        let program = programs.pop_first();
        Self {
            obstacles,
            events,
            program,
            server_off: settings.and_then(|all| server_off(environment, all)),
        }
    }

    fn stopped_by(obstacle: HookObstacle) -> Self {
        Self { obstacles: vec![obstacle], events: Vec::new(), program: None, server_off: None }
    }
}

/// Reads the enablement of the client: whether it would run the companion's hooks in its folder with
/// these settings. The extension need not be installed. The client runs none of them, unless the
/// result is empty or [`HookObstacle::NamesOff`].
pub fn hook_switches(environment: &Environment, settings: Option<&Settings>) -> Vec<HookObstacle> {
    let switches = &environment.profile.hooks.switches;
    let mut obstacles = Vec::new();
    let is_true = |value: &str| matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true");
    if let Some(name) = switches.safe_mode
        && environment.set(name).is_some_and(is_true)
    {
        obstacles.push(HookObstacle::SafeMode(name));
    }
    let Some(settings) = settings else { return obstacles };
    let folder = extension_folder(environment);
    let is_copied = !folder.join(switches.install_metadata).exists();
    if let Some(setting) = switches.allowed_sources.filter(|_| is_copied)
        && let Some((_, file)) = settings
            .all(setting)
            .find(|(value, _)| value.as_array().is_some_and(|all| !all.is_empty()))
    {
        obstacles.push(HookObstacle::SourceNotAllowed(setting, file.to_owned(), folder));
    }
    let enablement =
        user_settings(environment).with_file_name("extensions").join("extension-enablement.json");
    if let Some(Ok(rules)) = read(&enablement, false)
        && let Some(rule) = disabling_rule(&rules, NAME, &environment.cwd)
    {
        obstacles.push(HookObstacle::Disabled(rule, enablement));
    }
    let (setting, off) = switches.all;
    if let Some((value, file)) = settings.all(setting).next()
        // A value of another kind is true for JavaScript, except null.
        && is_on(value).unwrap_or(!value.is_null()) == off
    {
        obstacles.push(HookObstacle::SwitchedOff(setting, file.to_owned()));
    }
    if let Some(setting) = switches.names.filter(|_| obstacles.is_empty()) {
        let mut off = Vec::new();
        for (value, file) in settings.all(setting) {
            let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            off.extend(names.filter(|name| name.starts_with(PREFIX)).map(|name| (name, file)));
        }
        if let Some((_, file)) = off.first() {
            let names = off.iter().map(|(name, _)| (*name).to_owned()).collect();
            obstacles.push(HookObstacle::NamesOff(setting, (*file).to_owned(), names));
        }
    }
    obstacles
}

/// The folder of the extension among those of the user.
fn extension_folder(environment: &Environment) -> PathBuf {
    user_settings(environment).with_file_name("extensions").join(NAME)
}

/// The folder with the extension's files, which may be linked.
fn installed_folder(environment: &Environment) -> PathBuf {
    let folder = extension_folder(environment);
    let metadata = json(&folder.join(environment.profile.hooks.switches.install_metadata));
    match metadata {
        Some(metadata) if metadata["type"] == "link" => {
            metadata["source"].as_str().map_or(folder, PathBuf::from)
        }
        _ => folder,
    }
}

fn json(file: &Path) -> Option<Value> {
    parse_with_comments(&fs::read_to_string(file).ok()?).ok()
}

/// The hooks of a file that run the companion's program.
fn of_file(environment: &Environment, content: &Value) -> Option<Vec<Hook>> {
    let mut found = Vec::new();
    for (event, definitions) in content["hooks"].as_object()? {
        let Some(event_kind) = environment.profile.hooks.event_kind(event) else { continue };
        let hooks = definitions.as_array().into_iter().flatten();
        for hook in hooks.flat_map(|one| one["hooks"].as_array().into_iter().flatten()) {
            let Some(command) = hook["command"].as_str().filter(|text| text.contains(" hook "))
            else {
                continue;
            };
            let name = hook["name"].as_str().unwrap_or(command).to_owned();
            let (event, command) = (event.clone(), command.to_owned());
            found.push(Hook { event, event_kind, name, command });
        }
    }
    Some(found)
}

/// The program of a hook's command, as setup writes it: a word, or a path in quotes of a shell.
fn first_word(command: &str) -> String {
    let command = command.rsplit_once(" hook ").map_or(command, |(program, _)| program);
    let is_powershell = command.starts_with("& ");
    let word = command.trim_start_matches("& ");
    match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(quoted) if is_powershell => quoted.replace("''", "'"),
        Some(quoted) => quoted.replace(r"'\''", "'"),
        None => word.to_owned(),
    }
}

/// Why the client does not start the extension's MCP server.
fn server_off(environment: &Environment, settings: &Settings) -> Option<String> {
    let name = environment.profile.name;
    let lists =
        |value: &Value| value.as_array().is_some_and(|names| names.iter().any(|one| one == NAME));
    match settings.trust() {
        Trust::Trusted => {}
        Trust::Denied(by) => return Some(format!("{name} does not trust this folder, by {by}")),
        Trust::Undecided => {
            return Some(format!("{name} asks whether you trust this folder when it starts"));
        }
    }
    if let Some((_, file)) = settings.all("mcp.excluded").find(|(value, _)| lists(value)) {
        return Some(format!("mcp.excluded in {} lists {NAME}", file.display()));
    }
    let HookSwitches { servers, all_lists_allow, .. } = environment.profile.hooks.switches;
    if let Some(file) = servers.map(|name| user_settings(environment).with_file_name(name))
        && let Some(Ok(servers)) = read(&file, false)
        && servers[NAME]["enabled"] == false
    {
        return Some(format!("{} disables it", file.display()));
    }
    let all: Vec<_> = settings.all("mcp.allowed").filter(|(list, _)| list.is_array()).collect();
    let (_, file) = all.iter().find(|(list, _)| !lists(list))?;
    let is_off = if all_lists_allow {
        let is_in_each =
            |name| all.iter().all(|(list, _)| list.as_array().is_some_and(|it| it.contains(name)));
        // Lists without a common name do not count.
        all[0].0.as_array().is_some_and(|names| names.iter().any(is_in_each))
    } else {
        !all.iter().any(|(list, _)| lists(list))
    };
    is_off.then(|| format!("mcp.allowed in {} does not list {NAME}", file.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use companion_platform::quote;
    use companion_protocol::profile::GEMINI;
    use serde_json::json;

    use super::*;

    /// Setup would leave it alone.
    #[test]
    fn an_extension_that_is_linked_to_a_folder_that_is_gone_or_old_is_linked_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap().to_owned();
        let vars = ["HOME", "USERPROFILE"].map(|name| (name.to_owned(), home.clone()));
        let environment = Environment::with_vars(&GEMINI, vars.into(), dir.path().into());
        assert_eq!(Hooks::of(&environment, None).obstacles, [HookObstacle::NotInstalled]);
        let folder = extension_folder(&environment);
        fs::create_dir_all(&folder).unwrap();
        let gone = dir.path().join("gone");
        let link = json!({ "type": "link", "source": gone }).to_string();
        fs::write(folder.join(".gemini-extension-install.json"), link).unwrap();
        let obstacle = || {
            let [obstacle] = &Hooks::of(&environment, None).obstacles[..] else { panic!() };
            obstacle.clone()
        };
        let (manifest, file) = (gone.join("gemini-extension.json"), gone.join("hooks/hooks.json"));
        let fix = "Link or install your own extension again.";
        for (content, missing) in [(None, &manifest), (Some(json!({ "hooks": {} })), &file)] {
            if let Some(content) = content {
                fs::create_dir_all(gone.join("hooks")).unwrap();
                fs::write(&manifest, "{}").unwrap();
                fs::write(&file, content.to_string()).unwrap();
            }
            let obstacle = obstacle();
            assert!(obstacle.reason(&GEMINI).contains(missing.to_str().unwrap()), "{obstacle:?}");
            assert_eq!(obstacle.fix(&GEMINI), fix);
        }
    }

    #[test]
    fn the_program_of_a_command_is_the_one_that_setup_has_written() {
        for path in ["gemini-companion", "/home/me/.local/bin/gemini-companion", "/a hook b/it's"] {
            let sh = format!("{} hook before-tool 2>$null; exit 0", quote::sh(path));
            assert_eq!(first_word(&sh), path);
            let powershell = format!("& {} hook before-tool; exit 0", quote::powershell(path));
            assert_eq!(first_word(&powershell), path);
        }
        assert_eq!(first_word("gemini-companion hook notification || exit 0"), "gemini-companion");
    }
}
