//! `cargo xtask plugin`: the plugin for the platform of 2018.3, as a folder and as a zip.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::{Result, kotlin, natives, platform};

/// The name of its folder.
pub(crate) const NAME: &str = "companion-for-gemini-cli";

/// Makes the zip.
pub(crate) fn zip(sh: &Shell) -> Result {
    let plugins = folder(sh, &kotlin::jar(sh)?)?;
    let version = env!("CARGO_PKG_VERSION");
    // Beside the folder of plugins, not in it: the platform takes a zip there for a plugin.
    let zip = plugins.with_file_name(format!("{NAME}-{version}-2018.3-{}.zip", kotlin::system()));
    let jar = platform::platform(sh)?.join("jdk/bin/jar");
    sh.remove_path(&zip)?;
    cmd!(sh, "{jar} --create --no-manifest --file {zip} -C {plugins} {NAME}").run()?;
    println!("{}", zip.display());
    Ok(())
}

/// Puts the plugin together, with the jar that Maven made, and returns the folder of plugins that
/// has it.
pub(crate) fn folder(sh: &Shell, jar: &Path) -> Result<PathBuf> {
    let plugins = sh.current_dir().join("target/plugin");
    let plugin = plugins.join(NAME);
    let library = kotlin::release_library(sh)?;
    sh.remove_path(&plugin)?;
    sh.create_dir(plugin.join("lib"))?;
    sh.copy_file(jar, plugin.join("lib"))?;
    kotlin::copy_library(sh, &library, &plugin)?;
    // This machine's is enough here.
    natives::check(&plugin.join("native"))?;
    Ok(plugins)
}
