//! Finds an IDE's folder of plugins, by the rules of the platform's `PathManager`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::installed_ide::Ide;
use crate::machine::{Machine, Os};

/// Finds the folder for the user's plugins of an IDE.
pub(crate) fn plugins_dir(machine: &Machine, ide: &Ide) -> PathBuf {
    let files = property_files(machine, ide);
    let named = |name: &str| {
        let value = files.iter().find_map(|text| property(text, name))?;
        Some(absolute(machine, ide, value))
    };
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

/// Reads the files whose properties set the IDE's folders. The first one with a property counts.
fn property_files(machine: &Machine, ide: &Ide) -> Vec<String> {
    let variable = ide.variables.as_ref().map(|prefix| format!("{prefix}_PROPERTIES"));
    let named = variable.and_then(|name| machine.var(&name).map(PathBuf::from));
    let config = user_dir(machine, ide, "XDG_CONFIG_HOME", ".config");
    let dirs = [config, machine.home.clone(), ide.home.join("bin")];
    let files = named.into_iter().chain(dirs.map(|dir| dir.join("idea.properties")));
    files.filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// Returns the value of a property in the text of a file.
fn property<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(['=', ':'])?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// Converts a property to a path. In the names of folders only the backslash is escaped.
fn absolute(machine: &Machine, ide: &Ide, value: &str) -> PathBuf {
    let home = machine.home.to_string_lossy();
    let ide_home = ide.home.to_string_lossy();
    let value = value.replace(r"\\", r"\").replace(r"\:", ":");
    let value = value.replace("${user.home}", &home).replace("${idea.home.path}", &ide_home);
    match value.strip_prefix('~').and_then(|rest| rest.strip_prefix(['/', '\\'])) {
        Some(below_home) => machine.home.join(below_home),
        None if value.starts_with("..") => ide.home.join("bin").join(value),
        None => Path::new(&value).to_owned(),
    }
}
