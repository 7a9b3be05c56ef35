//! Checks the released form of the plugin as far as possible on machines that can't build it.
//!
//! `tools/current-api/README.md` describes the checks.

use std::fs::File;
use std::path::Path;

use xshell::{Shell, cmd};
use zip::ZipArchive;

use crate::dist::archive;
use crate::installed::Installed;
use crate::{Result, e2e, kotlin, platform, plugin, test_ide};

const TOOL: &str = "tools/current-api";
const OUTPUT: &str = "target/current-api";
const MEMBERS: &str = "plugin-kotlin/platform-members.txt";
const ROBOT_MEMBERS: &str = "plugin-kotlin/robot-members.txt";

/// Compiles plugin and robot, and checks their references to the platform. Installs the zip that is
/// released, after a check of its form. With `long` it also compiles both like `cargo xtask test-ide`.
pub(crate) fn test(sh: &Shell, long: bool) -> Result {
    let home = platform::platform(sh)?;
    let zip = plugin::release(sh, &kotlin::test_library(sh)?)?;
    kotlin::check_stubs(sh, &Path::new(OUTPUT).join("classes/dev"))?;
    cmd!(sh, "python3 {TOOL}/members.py {OUTPUT}/classes {home} {MEMBERS}").run()?;
    cmd!(sh, "python3 {TOOL}/members.py {OUTPUT}/classes {home} {ROBOT_MEMBERS} --robot {MEMBERS}")
        .run()?;
    if long {
        compile_for_an_installed_ide(sh, &home)?;
    }
    e2e::test_zip(sh, &zip)
}

/// Compiles plugin and robot, and copies the plugin's classes to a folder.
pub(crate) fn compile(sh: &Shell, to: &Path) -> Result {
    sh.remove_path(OUTPUT)?;
    kotlin::maven(sh, &format!("{TOOL}/pom.xml"), &["compile"])?;
    let parent = to.join("dev/companion");
    sh.create_dir(&parent)?;
    cmd!(sh, "cp --recursive {OUTPUT}/classes/dev/companion/gemini {parent}").quiet().run()?;
    Ok(sh.remove_path(parent.join("gemini/robot"))?)
}

/// Compiles plugin and robot like `cargo xtask test-ide`, for a made-up home. Its jars are the
/// signatures of today, followed by the jars of 2018.3.
fn compile_for_an_installed_ide(sh: &Shell, platform: &Path) -> Result {
    let home = sh.current_dir().join(OUTPUT).join("home");
    let library = home.join("lib");
    sh.create_dir(&library)?;
    for jar in sh.read_dir(platform.join("lib"))? {
        cmd!(sh, "ln --symbolic {jar} {library}").quiet().run()?;
    }
    let signatures = sh.current_dir().join(OUTPUT).join("signatures");
    sh.create_dir(&signatures)?;
    // META-INF lists Kotlin's functions that belong to no class.
    for package in ["com", "org", "META-INF"].map(|name| format!("{OUTPUT}/classes/{name}")) {
        cmd!(sh, "cp --recursive {package} {signatures}").quiet().run()?;
    }
    archive::jar(sh, &signatures, &library.join("app-client.jar"))?;
    let info = r#"{ "name": "Made up", "version": "2024.2", "buildNumber": "242.1",
        "launch": [{ "launcherPath": "bin/idea" }] }"#;
    sh.write_file(home.join("product-info.json"), info)?;
    let (plugin, robot) = test_ide::compile(sh, &Installed::read(sh, &home)?)?;
    let jar = plugin.join("lib").join(format!("{}.jar", plugin::NAME));
    for (jar, class) in [(jar, "project/CompanionService"), (robot, "robot/Robot")] {
        let class = format!("dev/companion/gemini/{class}.class");
        ZipArchive::new(File::open(&jar)?)?
            .by_name(&class)
            .map_err(|error| format!("{} has no {class}: {error}", jar.display()))?;
    }
    Ok(())
}
