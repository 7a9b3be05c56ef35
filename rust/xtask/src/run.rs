//! Starts an IDE with the plugin and separate settings, which are kept below `target` (`cargo xtask
//! run`).

use std::fs::File;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};
use zip::ZipArchive;

use crate::display::Display;
use crate::installed::Installed;
use crate::{Result, kotlin, platform, plugin};

/// Opens `project` in the platform of 2018.3, or in the IDE in the folder `ide`.
pub(crate) fn run(sh: &Shell, project: &Path, ide: Option<&Path>) -> Result {
    let project = &existing(project)?;
    match ide {
        None => {
            let plugins = plugin::folder(sh, &kotlin::jar(sh)?, &kotlin::release_library(sh)?)?;
            let ide = platform::platform(sh)?.join("bin/idea.sh");
            let sandbox = sh.current_dir().join("target/sandbox");
            println!(
                "opening {}; the IDE's log is {}/log/idea.log",
                project.display(),
                sandbox.display()
            );
            let display = Display::open()?;
            let run = cmd!(sh, "{ide} --plugins {plugins} --sandbox {sandbox} {project}");
            Ok(run.env("DISPLAY", &display.name).run()?)
        }
        Some(home) => run_installed(sh, project, &existing(home)?),
    }
}

/// Returns the absolute form of a path from the command line.
fn existing(path: &Path) -> Result<PathBuf> {
    path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(std::path::absolute(path)?)
}

/// Runs an installed IDE of today, with the plugin that Gradle builds.
fn run_installed(sh: &Shell, project: &Path, home: &Path) -> Result {
    let ide = Installed::read(sh, home)?;
    let launcher = ide.launcher.ok_or("leave out --ide to open the platform of 2018.3")?;
    cmd!(sh, "./gradlew --quiet :plugin-kotlin:buildPlugin").run()?;
    let zips = sh.read_dir("target/gradle/distributions")?;
    let zip = zips.iter().find(|file| file.extension() == Some("zip".as_ref()));
    let zip = zip.ok_or("Gradle has made no zip of the plugin")?;
    let sandbox = sh.current_dir().join("target/sandbox-installed");
    let plugins = sandbox.join("plugins");
    sh.remove_path(&plugins)?;
    sh.create_dir(&plugins)?;
    ZipArchive::new(File::open(zip)?)?.extract(&plugins)?;

    let folder = |name: &str| format!("idea.{name}.path={}\n", sandbox.join(name).display());
    let properties = sandbox.join("idea.properties");
    let folders = ["config", "system", "log", "plugins"].map(folder).concat();
    // In this file backslashes, which Windows has in paths, are escapes.
    sh.write_file(&properties, folders.replace('\\', "/"))?;
    println!("opening {}; the IDE's log is in {}/log", project.display(), sandbox.display());
    let display = Display::open()?;
    let variable = format!("{}_PROPERTIES", ide.variable);
    let run = cmd!(sh, "{launcher} {project}").env(variable, properties);
    Ok(run.env("DISPLAY", &display.name).run()?)
}
