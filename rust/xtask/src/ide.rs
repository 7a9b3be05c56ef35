//! `cargo xtask run`: an IDE with the plugin and settings of its own, which are kept below `target`.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};
use zip::ZipArchive;

use crate::display::Display;
use crate::{Result, kotlin, platform, plugin};

/// Opens `project` in the platform of 2018.3, or in the IDE that is installed in `ide`.
pub(crate) fn run(sh: &Shell, project: &Path, ide: Option<&Path>) -> Result {
    let project = &existing(project)?;
    match ide {
        None => {
            let plugins = plugin::folder(sh, &kotlin::jar(sh)?)?;
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

/// A path from the command line, whole.
fn existing(path: &Path) -> Result<PathBuf> {
    path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(std::path::absolute(path)?)
}

/// Today's IDEs take the plugin that Gradle builds.
fn run_installed(sh: &Shell, project: &Path, home: &Path) -> Result {
    let launcher = Launcher::of(sh, home)?;
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
    // Backslashes, which Windows has in paths, mean something else in this file.
    sh.write_file(&properties, folders.replace('\\', "/"))?;
    println!("opening {}; the IDE's log is in {}/log", project.display(), sandbox.display());
    let display = Display::open()?;
    let (program, variable) = (launcher.program, launcher.properties_variable);
    let run = cmd!(sh, "{program} {project}").env(variable, properties);
    Ok(run.env("DISPLAY", &display.name).run()?)
}

/// How an installed IDE is started, by its product-info.json.
struct Launcher {
    program: PathBuf,
    /// The environment variable with the file of properties.
    properties_variable: String,
}

impl Launcher {
    fn of(sh: &Shell, home: &Path) -> Result<Self> {
        let mac = home.join("Contents/Resources");
        let folder = if mac.exists() { mac } else { home.to_path_buf() };
        let file = folder.join("product-info.json");
        let text = sh.read_file(&file).map_err(|error| format!("no IDE: {error}"))?;
        let info: Value = serde_json::from_str(&text)?;
        let program = info["launch"][0]["launcherPath"].as_str();
        let program = program.ok_or("product-info.json has no launcherPath")?;
        let base = info["envVarBaseName"].as_str().unwrap_or("IDEA");
        Ok(Self {
            program: folder.join(program),
            properties_variable: format!("{base}_PROPERTIES"),
        })
    }
}
