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
        e2e::Window {
            platform: ide.home.clone(),
            ..e2e::Window::prepare(sh, kotlin::test_library)?
        }
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
    kotlin::copy_dependencies(sh, COMPILER, &[&plugin::to_folder(&compiler)])?;
    let compiler = Compiler { jars: sh.read_dir(&compiler)?, ide: ide.jars(sh)? };

    let classes = output.join("plugin-classes");
    compiler.compile(sh, &["main", "current"], &classes)?;
    let jar = output.join(format!("{}.jar", plugin::NAME));
    plugin::release_jar(sh, &classes, &jar)?;

    let robot_classes = output.join("robot-classes");
    compiler.compile(sh, &["robot", "robotCurrent"], &robot_classes)?;
    cmd!(sh, "cp --recursive plugin-kotlin/src/robot/resources/. {robot_classes}").quiet().run()?;
    let robot = output.join("robot.jar");
    archive::jar(sh, &robot_classes, &robot)?;
    let library = kotlin::test_library(sh)?;
    let plugins = plugin::folder_in(sh, &output.join("plugin"), &jar, &library)?;
    Ok((plugins.join(plugin::NAME), robot))
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
        let as_released = ["-Xassertions=jvm", "-jvm-default=no-compatibility"];
        let quiet = ["-nowarn", "-Xsuppress-version-warnings"];
        // An IDE may be compiled by a newer Kotlin, or by one that is not released.
        let any_kotlin = ["-Xskip-metadata-version-check", "-Xskip-prerelease-check"];
        let main = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";
        let java = kotlin::SHORT_RUN;
        let compile = cmd!(sh, "java {java...} -cp {compiler} {main} {options...} {quiet...}");
        let compile = compile.args(as_released).args(any_kotlin);
        let compile = compile.arg("-classpath").arg(class_path).arg("-d").arg(to).args(sources);
        println!("compiling {}", sets.join(" and "));
        Ok(compile.quiet().run()?)
    }
}
