//! Runs the window tests on an installed IDE, with the plugin compiled for it (`cargo xtask
//! test-ide`).

use std::env::join_paths;
use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::dist::archive;
use crate::installed::Installed;
use crate::{Result, e2e, kotlin, plugin};

const COMPILER: &str = "tools/test-ide/pom.xml";

const OUTPUT: &str = "target/test-ide";

/// Runs the window tests in the file `only`, or all, on the IDE in `home`.
pub(crate) fn run(sh: &Shell, home: &Path, only: Option<&str>) -> Result {
    let ide = Installed::read(sh, &std::path::absolute(home)?)?;
    println!("testing on {}", ide.name);
    let window = if ide.is_tested_platform() {
        e2e::Window { platform: ide.home.clone(), ..e2e::Window::prepare(sh)? }
    } else {
        let (plugin, robot) = compile(sh, &ide)?;
        e2e::install(sh)?;
        let companion = e2e::build(sh)?;
        e2e::Window { companion, platform: ide.home.clone(), plugin, robot }
    };
    let page = sh.current_dir().join(OUTPUT).join("index.html");
    let result = window.test(sh, only, Some((&ide.name, &page)));
    println!("results and pictures: {}", page.display());
    result
}

/// Compiles the plugin and the robot against the jars of a present IDE. Returns the plugin's folder
/// and the robot's jar.
pub(crate) fn compile(sh: &Shell, ide: &Installed) -> Result<(PathBuf, PathBuf)> {
    let output = sh.current_dir().join(OUTPUT);
    let compiler = output.join("compiler");
    let to = format!("-DoutputDirectory={}", compiler.display());
    kotlin::copy_dependencies(sh, COMPILER, &[&to])?;
    let compiler = Compiler { jars: sh.read_dir(&compiler)?, ide: ide.jars(sh)? };

    let classes = output.join("plugin-classes");
    compiler.compile(sh, &["main", "current"], &classes)?;
    for resources in ["main", "current"].map(|set| format!("plugin-kotlin/src/{set}/resources/.")) {
        cmd!(sh, "cp --recursive {resources} {classes}").quiet().run()?;
    }
    // Gradle adds these to a release.
    let descriptor = classes.join("META-INF/plugin.xml");
    let version = env!("CARGO_PKG_VERSION");
    let text = sh.read_file(&descriptor)?.replace(
        "<vendor>",
        &format!("<version>{version}</version>\n  <idea-version since-build=\"242\"/>\n  <vendor>"),
    );
    sh.write_file(&descriptor, text)?;
    let jar = output.join(format!("{}.jar", plugin::NAME));
    archive::jar(sh, &classes, &jar)?;

    let robot_classes = output.join("robot-classes");
    compiler.compile(sh, &["robot", "robotCurrent"], &robot_classes)?;
    cmd!(sh, "cp --recursive plugin-kotlin/src/robot/resources/. {robot_classes}").quiet().run()?;
    let robot = output.join("robot.jar");
    archive::jar(sh, &robot_classes, &robot)?;
    Ok((plugin::folder_in(sh, &output.join("plugin"), &jar)?.join(plugin::NAME), robot))
}

/// The Kotlin compiler, and the jars that it compiles against.
struct Compiler {
    jars: Vec<PathBuf>,
    ide: Vec<PathBuf>,
}

impl Compiler {
    /// Compiles source sets of the plugin into the folder `to`.
    fn compile(&self, sh: &Shell, sets: &[&str], to: &Path) -> Result {
        sh.remove_path(to)?;
        let compiler = join_paths(&self.jars)?;
        let class_path = join_paths(&self.ide)?;
        let sources = sets.iter().map(|set| format!("plugin-kotlin/src/{set}/kotlin"));
        let options = ["-no-stdlib", "-no-reflect", "-jvm-target", "17", "-api-version", "1.9"];
        let quiet = ["-nowarn", "-Xsuppress-version-warnings"];
        let main = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";
        let java = kotlin::SHORT_RUN;
        let compile = cmd!(sh, "java {java...} -cp {compiler} {main} {options...} {quiet...}");
        let compile = compile.arg("-classpath").arg(class_path).arg("-d").arg(to).args(sources);
        println!("compiling {}", sets.join(" and "));
        Ok(compile.quiet().run()?)
    }
}
