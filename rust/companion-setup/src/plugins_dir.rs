//! Finds an IDE's folder of plugins, by the rules of the platform's `PathManager` and of the
//! launcher (`XPlatLauncher`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::installed_ide::Ide;
use crate::machine::{Machine, Os};

/// Finds the folder for the user's plugins of an IDE.
pub(crate) fn plugins_dir(machine: &Machine, ide: &Ide) -> PathBuf {
    if let Some(name) = &ide.flatpak {
        let data = machine.home.join(".var/app").join(name).join("data");
        return data.join(&ide.vendor).join(&ide.data_directory);
    }
    let properties = properties(machine, ide);
    let named = |name: &str| Some(absolute(machine, ide, properties.get(name)?));
    if let Some(plugins) = named("idea.plugins.path") {
        return plugins;
    }
    if let Some(config) = named("idea.config.path") {
        return config.join("plugins");
    }
    let dir = user_dir(machine, ide, "XDG_DATA_HOME", ".local/share");
    if machine.os == Os::Linux { dir } else { dir.join("plugins") }
}

/// Returns the default folder of an IDE for its user. Only Linux has one folder per kind of file:
/// `variable` names it, and `in_home` is the default.
fn user_dir(machine: &Machine, ide: &Ide, variable: &str, in_home: &str) -> PathBuf {
    let base = match machine.os {
        Os::Linux => machine.dir(variable, in_home),
        Os::MacOs => machine.home.join("Library/Application Support"),
        Os::Windows => machine.dir("APPDATA", "AppData/Roaming"),
    };
    base.join(&ide.vendor).join(&ide.data_directory)
}

/// Reads the JVM's system properties that set the IDE's folders. Options override files. Among
/// options the last one applies, among files the first one.
fn properties(machine: &Machine, ide: &Ide) -> HashMap<String, String> {
    let config = user_dir(machine, ide, "XDG_CONFIG_HOME", ".config");
    let variable = |suffix: &str| {
        let name = format!("{}{suffix}", ide.variables.as_ref()?);
        machine.var(&name).map(PathBuf::from)
    };
    let mut properties = HashMap::new();
    let user_options = || {
        let beside = {
            let mut name = ide.bundle.file_name()?.to_owned();
            name.push(".vmoptions");
            ide.bundle.with_file_name(name)
        };
        let of_config = config.join(ide.vm_options.as_ref()?.file_name()?);
        [variable("_VM_OPTIONS"), Some(beside), Some(of_config)]
            .into_iter()
            .flatten()
            .find(|file| file.is_file())
    };
    for file in [ide.vm_options.clone(), user_options()].into_iter().flatten() {
        let text = fs::read_to_string(file).unwrap_or_default();
        let options =
            text.lines().filter_map(|line| line.trim().strip_prefix("-D")?.split_once('='));
        properties.extend(options.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    let bin = ide.home.join("bin");
    let of_system = bin.join(if machine.os == Os::Windows { "win" } else { "linux" });
    let files = [
        variable("_PROPERTIES"),
        Some(config.join("idea.properties")),
        Some(machine.home.join("idea.properties")),
        Some(bin.join("idea.properties")),
        Some(of_system.join("idea.properties")),
    ];
    for file in files.into_iter().flatten() {
        let text = fs::read_to_string(file).unwrap_or_default();
        for (name, value) in text.lines().filter_map(property) {
            properties.entry(name).or_insert(value);
        }
    }
    properties
}

/// Parses a line of a `.properties` file, if it has a property. In folder names only the backslash
/// is escaped.
fn property(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    if line.starts_with(['#', '!']) {
        return None;
    }
    let (name, value) = line.split_once(['=', ':'])?;
    Some((name.trim().to_owned(), value.trim().replace("\\\\", "\\").replace("\\:", ":")))
}

/// Converts a property to a path.
fn absolute(machine: &Machine, ide: &Ide, value: &str) -> PathBuf {
    let home = machine.home.to_string_lossy();
    let ide_home = ide.home.to_string_lossy();
    let mut value = value.trim_matches('"').to_owned();
    for (name, path) in [
        ("${user.home}", &home),
        ("$USER_HOME", &home),
        ("%USER_HOME%", &home),
        ("${idea.home.path}", &ide_home),
        ("${idea.home}", &ide_home),
        ("$APP_PACKAGE/Contents", &ide_home),
        ("$IDE_HOME", &ide_home),
        ("%IDE_HOME%", &ide_home),
    ] {
        value = value.replace(name, path);
    }
    match value.strip_prefix('~').and_then(|rest| rest.strip_prefix(['/', '\\'])) {
        Some(below_home) => machine.home.join(below_home),
        None if value.starts_with("..") => ide.home.join("bin").join(value),
        None => Path::new(&value).to_owned(),
    }
}
