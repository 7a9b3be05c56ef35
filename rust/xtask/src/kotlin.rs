//! Builds the Kotlin part and its library with Maven, for the platform of 2018.3.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xshell::{Shell, cmd};

use crate::{Result, platform, tools};

const POM: &str = "plugin-kotlin/pom.xml";

const DEPENDENCY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";

/// Options of a JVM that runs for some minutes: the quick compiler alone and one thread that collects
/// garbage take half the processor's time. By default, the quick compiler alone stops after 48 MiB.
pub(crate) const SHORT_RUN: [&str; 3] =
    ["-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:+UseSerialGC"];

/// Maven's output folder. The file [`POM`] contains it, too.
const MAVEN: &str = "target/maven";

/// The plugin in [`MAVEN`].
const JAR: &str = "companion-for-gemini-cli.jar";

/// The plugin that plays the user in a window, in [`MAVEN`].
const ROBOT: &str = "robot.jar";

/// Checks the format, compiles, and runs the tests without an IDE and in the platform.
pub(crate) fn test(sh: &Shell) -> Result {
    // The library in the same folder as in an installed plugin.
    let library_home = sh.current_dir().join("target/library-for-tests");
    copy_library(sh, &test_library(sh)?, &library_home)?;
    let library_home = format!("-Dlibrary.home={}", library_home.display());
    build(sh, &[&library_home, "verify"], &[JAR, ROBOT])?;
    check_stubs(sh, &Path::new(MAVEN).join("classes"))
}

/// Fails if classes have stubs of default members: the verifier reports the internal members that a
/// stub overrides.
pub(crate) fn check_stubs(sh: &Shell, classes: &Path) -> Result {
    let stubs = cmd!(sh, "find {classes} -name *$DefaultImpls.class").quiet().read()?;
    if stubs.is_empty() { Ok(()) } else { Err(format!("stubs of default members: {stubs}").into()) }
}

/// Returns the class path of the tests without an IDE, including a launcher, for JVMs that Maven
/// can't start.
pub(crate) fn boundary_tests(sh: &Shell) -> Result<Vec<PathBuf>> {
    let made = sh.current_dir().join(MAVEN);
    let jars = made.join("boundary");
    let to = format!("-DoutputDirectory={}", jars.display());
    let copy = format!("{DEPENDENCY}:copy-dependencies");
    let wanted = "-DincludeArtifactIds=kotlin-stdlib,gson";
    maven(sh, POM, &[ANY_FORMAT, "-DskipUTs", "process-test-classes", &copy, wanted, &to])?;
    let launcher = "org.junit.platform:junit-platform-console-standalone:1.13.4";
    let (copy, launcher) = (format!("{DEPENDENCY}:copy"), format!("-Dartifact={launcher}"));
    maven(sh, POM, &[&copy, &launcher, &to])?;
    let classes = ["test-classes", "classes"].map(|folder| made.join(folder));
    Ok(classes.into_iter().chain(sh.read_dir(jars)?).collect())
}

/// Skips the check of the format, which only [`test`] needs.
const ANY_FORMAT: &str = "-Dexec.skip";

/// Builds the plugin's jar, without tests.
pub(crate) fn jar(sh: &Shell) -> Result<PathBuf> {
    if !is_up_to_date(sh, JAR)? {
        build(sh, &[ANY_FORMAT, "-Dmaven.test.skip", "-DskipUTs", "package"], &[JAR])?;
    }
    Ok(sh.current_dir().join(MAVEN).join(JAR))
}

/// Builds the plugin's jar, and the jar of the robot plugin, which simulates the user in a window.
pub(crate) fn jar_and_robot(sh: &Shell) -> Result<(PathBuf, PathBuf)> {
    if !(is_up_to_date(sh, JAR)? && is_up_to_date(sh, ROBOT)?) {
        println!("compiling the plugin: about a minute");
        build(sh, &[ANY_FORMAT, "-DskipUTs", "package"], &[JAR, ROBOT])?;
    }
    let made = sh.current_dir().join(MAVEN);
    Ok((made.join(JAR), made.join(ROBOT)))
}

/// Runs Maven. If it succeeds, each of `jars` gets a stamp from its start: a source that changes
/// meanwhile is newer.
fn build(sh: &Shell, arguments: &[&str], jars: &[&str]) -> Result {
    for jar in jars {
        sh.remove_path(stamp(jar))?;
    }
    let begun = SystemTime::now();
    maven(sh, POM, arguments)?;
    for jar in jars {
        File::create(sh.current_dir().join(stamp(jar)))?.set_modified(begun)?;
    }
    Ok(())
}

fn stamp(jar: &str) -> PathBuf {
    Path::new(MAVEN).join(format!("{jar}.built"))
}

/// Whether a jar is newer than its sources and the platform.
fn is_up_to_date(sh: &Shell, jar: &str) -> Result<bool> {
    let stamp = stamp(jar);
    if !sh.path_exists(&stamp) || !sh.path_exists(Path::new(MAVEN).join(jar)) {
        return Ok(false);
    }
    let platform = platform::platform(sh)?.join("build.txt");
    let sources = ["plugin-kotlin", "tools/platform183"];
    let newer = cmd!(sh, "find {sources...} {platform} -newer {stamp} -print -quit");
    Ok(newer.quiet().read()?.is_empty())
}

/// Builds the library for tests. Its debug build shares almost all with the other tests.
pub(crate) fn test_library(sh: &Shell) -> Result<PathBuf> {
    tools::build_for_tests(sh)?;
    Ok(tools::target_dir(sh).join("debug").join(library_name()))
}

/// Builds the library in its released form.
pub(crate) fn release_library(sh: &Shell) -> Result<PathBuf> {
    let library = tools::target_dir(sh).join("release").join(library_name());
    if !library.exists() {
        println!("building the library: about a minute");
    }
    cmd!(sh, "cargo build --quiet --locked --package companion-jni --release").run()?;
    Ok(library)
}

/// Copies a library to the folder where the plugin in `home` expects it, without the data for
/// debuggers, which is most of a debug build.
pub(crate) fn copy_library(sh: &Shell, library: &Path, home: &Path) -> Result {
    let folder = home.join("native").join(system());
    sh.create_dir(&folder)?;
    // Removed first: a process that has loaded the old file keeps it.
    let target = folder.join(library_name());
    sh.remove_path(&target)?;
    Ok(cmd!(sh, "strip -o {target} {library}").quiet().run()?)
}

/// Returns `<os>-<arch>`, as in Kotlin's `NativeLibrary`.
pub(crate) fn system() -> String {
    let arch = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{OS}-{arch}")
}

fn library_name() -> String {
    format!("{DLL_PREFIX}companion_jni{DLL_SUFFIX}")
}

const MAVEN_OPTIONS: [&str; 2] = ["--batch-mode", "--no-transfer-progress"];

/// The lowest level of Maven's messages.
const LOG_LEVEL: &str = "-Dorg.slf4j.simpleLogger.defaultLogLevel";

/// Downloads the plugins that Maven compiles with. This needs no platform.
pub(crate) fn fetch_plugins(sh: &Shell) -> Result {
    let fetch = format!("{DEPENDENCY}:resolve-plugins");
    // Otherwise it would warn that the platform is missing.
    let options = [format!("{LOG_LEVEL}=error"), "-Dplatform.home=/no-platform".to_owned()];
    Ok(cmd!(sh, "mvn {MAVEN_OPTIONS...} {options...} --file {POM} {fetch}").quiet().run()?)
}

/// Copies the dependencies of a pom into the folder that `to` names. Needs no platform.
pub(crate) fn copy_dependencies(sh: &Shell, pom: &str, to: &[&str]) -> Result {
    let copy = format!("{DEPENDENCY}:copy-dependencies");
    let options = [format!("{LOG_LEVEL}=error")];
    Ok(cmd!(sh, "mvn {MAVEN_OPTIONS...} {options...} --file {pom} {copy} {to...}").quiet().run()?)
}

/// Runs Maven. It needs only the platform, which contains its JDK.
pub(crate) fn maven(sh: &Shell, pom: &str, arguments: &[&str]) -> Result {
    let platform = platform::platform(sh)?;
    let home = format!("-Dplatform.home={}", platform.display());
    // Warnings fail the compilation, but `--quiet` would hide them.
    let options = [format!("{LOG_LEVEL}=warn"), home];
    let maven = cmd!(sh, "mvn {MAVEN_OPTIONS...} {options...} --file {pom} {arguments...}");
    // The developer's own options may not go with ours.
    let own = std::env::var("MAVEN_OPTS").unwrap_or_else(|_| SHORT_RUN.join(" "));
    let maven = maven.env("MAVEN_OPTS", own);
    Ok(maven.env("JAVA_HOME", platform.join("jdk")).run()?)
}
