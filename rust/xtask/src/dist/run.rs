//! What was built is run: the program with the real client, the library in a JVM of its system.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::Output;
use super::compile::Compiler;
use super::machine::Machine;
use super::system::System;
use crate::{Result, e2e, kotlin};

/// Whether the program serves the client.
pub(super) fn program(sh: &Shell, out: &Output, machine: &Machine, system: System) -> Result {
    println!("{system}: the program, with the real client");
    let program = machine.script(sh, &out.program(system), &scripts(sh, system))?;
    match machine {
        Machine::Wine(drive_c) => {
            let host = System::host().ok_or("Wine is for a system that there is a program for")?;
            e2e::test_windows(sh, &out.program(host), &program, drive_c)
        }
        Machine::Native | Machine::Qemu => e2e::test_released(sh, &program),
    }
}

/// Whether the library passes the tests of the boundary, and lets no panic into the JVM.
pub(super) fn library(sh: &Shell, out: &Output, machine: &Machine, system: System) -> Result {
    println!("{system}: the library, in a JVM");
    let scripts = scripts(sh, system);
    let java = machine.java(sh, &scripts)?;
    // As it is released, it has nothing that panics.
    boundary(sh, machine, &java, &out.library(system), system, "--exclude-methodname")?;
    let panicking = scripts.join(system.library());
    Compiler::find(sh)?.build_library(sh, system, &panicking, &["--features", "test-entry"])?;
    boundary(sh, machine, &java, &panicking, system, "--include-methodname")
}

/// Where the scripts are that run programs of another system.
fn scripts(sh: &Shell, system: System) -> PathBuf {
    sh.current_dir().join("target/dist-run").join(system.to_string())
}

/// Runs the tests of the boundary, with those that panic or without.
fn boundary(
    sh: &Shell,
    machine: &Machine,
    java: &Path,
    library: &Path,
    system: System,
    panicking: &str,
) -> Result {
    let plugin = sh.current_dir().join("target/dist-run/plugin");
    sh.remove_path(&plugin)?;
    let folder = plugin.join("native").join(system.to_string());
    sh.create_dir(&folder)?;
    sh.copy_file(library, &folder)?;
    let class_path = kotlin::boundary_tests(sh)?;
    let class_path: Vec<_> = class_path.iter().map(|path| machine.path(path)).collect();
    let class_path = class_path.join(machine.separator());
    let home = format!("-Dcompanion.plugin.home={}", machine.path(&plugin));
    // An emulated processor is fast enough for the quick compiler only.
    let options = ["-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"];
    let launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner"];
    let tests = cmd!(sh, "{java} {options...} {home} -cp {class_path} {launcher...}")
        .args(["--details=summary", "--disable-ansi-colors", "--include-engine=junit-jupiter"])
        .args(["--select-package=dev.companion.gemini.core", panicking, ".*panic.*"])
        .env("RUST_BACKTRACE", "0");
    let output = tests.quiet().ignore_status().output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let summary = text.lines().filter(|line| line.contains(" tests ") && !line.contains("[ 0 "));
    println!("{}", summary.collect::<Vec<_>>().join("\n"));
    if !output.status.success() || text.contains("WARNING") || !text.contains(" tests successful") {
        return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}
