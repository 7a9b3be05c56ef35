//! Builds the plugin as a folder and as a zip, for the platform of 2018.3 or as it is released (`cargo
//! xtask plugin`).

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::dist::archive;
use crate::{Result, current_api, kotlin, natives};

/// The name of its folder.
pub(crate) const NAME: &str = "companion-for-gemini-cli";

/// The plugin's id in IDEs.
const ID: &str = "dev.companion.gemini";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// JetBrains' reader of plugins, and the program that reads a zip with it.
const READER: &str = "tools/plugin-zip";

/// Builds the zip for 2024.2 and newer, without Gradle, with a library of this machine. Checks the
/// zip as the Marketplace does on an upload.
pub(crate) fn release(sh: &Shell, library: &Path) -> Result<PathBuf> {
    let output = sh.current_dir().join("target/plugin-release");
    sh.remove_path(&output)?;
    let classes = output.join("classes");
    current_api::compile(sh, &classes)?;
    let jar = output.join(format!("{NAME}.jar"));
    release_jar(sh, &classes, &jar)?;
    let plugins = folder_in(sh, &output.join("plugins"), &jar, library)?;
    let zip = output.join(format!("{NAME}-{VERSION}-{}.zip", kotlin::system()));
    archive::zip_folder(sh, &plugins.join(NAME), &zip)?;
    let reader = output.join("reader");
    kotlin::copy_dependencies(sh, &format!("{READER}/pom.xml"), &[&to_folder(&reader)])?;
    let (java, jars) = (kotlin::SHORT_RUN, reader.join("*"));
    cmd!(sh, "java {java...} -cp {jars} {READER}/Check.java {zip}").quiet().run()?;
    println!("{}", zip.display());
    Ok(zip)
}

/// Returns the argument that makes Maven copy dependencies to a folder.
pub(crate) fn to_folder(folder: &Path) -> String {
    format!("-DoutputDirectory={}", folder.display())
}

/// Packs the plugin's compiled classes with its resources. The descriptor gets what Gradle adds to a
/// release, except the change notes.
pub(crate) fn release_jar(sh: &Shell, classes: &Path, jar: &Path) -> Result {
    for resources in ["main", "current"].map(|set| format!("plugin-kotlin/src/{set}/resources/.")) {
        cmd!(sh, "cp --recursive {resources} {classes}").quiet().run()?;
    }
    let descriptor = classes.join("META-INF/plugin.xml");
    let added =
        format!("<version>{VERSION}</version>\n  <idea-version since-build=\"242\"/>\n  <vendor");
    let text = sh.read_file(&descriptor)?.replacen("<vendor", &added, 1);
    sh.write_file(&descriptor, text)?;
    archive::jar(sh, classes, jar)
}

/// Builds the zip for 2018.3.
pub(crate) fn zip(sh: &Shell) -> Result {
    let plugins = folder(sh, &kotlin::jar(sh)?, &kotlin::release_library(sh)?)?;
    // Next to the folder of plugins, not in it: the platform would load a zip there as a plugin.
    let zip = plugins.with_file_name(format!("{NAME}-{VERSION}-2018.3-{}.zip", kotlin::system()));
    archive::zip_folder(sh, &plugins.join(NAME), &zip)?;
    println!("{}", zip.display());
    Ok(())
}

/// Makes the zip for 2024.2 and newer with the libraries of all systems, which are in `libraries`, by
/// Gradle into the folder `to`. It is not signed.
pub(crate) fn gradle_zip(sh: &Shell, libraries: &Path, to: &Path) -> Result<PathBuf> {
    let name = format!("{NAME}-{VERSION}.zip");
    let natives = format!("-Pcompanion.natives={}", libraries.display());
    cmd!(sh, "./gradlew --no-daemon :plugin-kotlin:checkAllLibraries {natives}").run()?;
    sh.copy_file(format!("target/gradle/distributions/{name}"), to.join(&name))?;
    // An IDE resolves the address of the zip relative to the address of this file.
    let updates = format!(
        "<plugins>\n  <plugin id=\"{ID}\" url=\"{name}\" version=\"{VERSION}\">\n    \
         <idea-version since-build=\"242\"/>\n  </plugin>\n</plugins>\n"
    );
    sh.write_file(to.join("updatePlugins.xml"), updates)?;
    Ok(to.join(name))
}

/// Builds the plugin from the jar that Maven made. Returns the folder of plugins that contains it.
pub(crate) fn folder(sh: &Shell, jar: &Path, library: &Path) -> Result<PathBuf> {
    folder_in(sh, "target/plugin".as_ref(), jar, library)
}

/// Builds the plugin from a jar and a library into a folder of plugins, and returns that folder.
pub(crate) fn folder_in(sh: &Shell, plugins: &Path, jar: &Path, library: &Path) -> Result<PathBuf> {
    let plugins = sh.current_dir().join(plugins);
    let plugin = plugins.join(NAME);
    sh.remove_path(&plugin)?;
    sh.create_dir(plugin.join("lib"))?;
    sh.copy_file(jar, plugin.join("lib"))?;
    kotlin::copy_library(sh, library, &plugin)?;
    // Only this machine's library is needed here.
    natives::check(&plugin.join("native"))?;
    Ok(plugins)
}
