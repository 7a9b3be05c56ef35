//! Tests the artefacts: the program with the real client, the library in a JVM of its system.

use std::path::PathBuf;

use xshell::{Shell, cmd};

use super::Output;
use super::compile::Compiler;
use super::machine::Machine;
use super::system::System;
use crate::{Result, e2e, kotlin};

/// Tests that the program serves the client.
pub(super) fn program(sh: &Shell, out: &Output, machine: &Machine, system: System) -> Result {
    println!("{system}: the program, with the real client");
    let program = machine.script(sh, &out.program(system), "", &scripts(sh, system))?;
    match machine {
        Machine::Wine(drive_c) => {
            let host = System::host().ok_or("Wine is for a system that there is a program for")?;
            e2e::test_windows(sh, &out.program(host), &program, drive_c)
        }
        Machine::Native | Machine::Qemu => e2e::test_released(sh, &program),
    }
}

/// Tests that the library passes the tests of the boundary, and lets no panic into the JVM.
pub(super) fn library(sh: &Shell, out: &Output, machine: &Machine, system: System) -> Result {
    println!("{system}: the library, in a JVM");
    let scripts = scripts(sh, system);
    let panicking = scripts.join(system.library());
    Compiler::find(sh)?.build_library(sh, system, &panicking, &["--features", "test-entry"])?;
    let java = machine.java(sh, &scripts)?;
    let tests = kotlin::boundary_tests(sh)?;
    let class_path: Vec<_> = tests.iter().map(|path| machine.path(path)).collect();
    let class_path = class_path.join(machine.separator());
    let plugin = sh.current_dir().join("target/dist-run/plugin");
    let folder = plugin.join("native").join(system.to_string());
    let home = format!("-Dcompanion.plugin.home={}", machine.path(&plugin));
    // On an emulated processor only the quick compiler is fast enough.
    let options = ["-Xcheck:jni", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"];
    // QEMU does not release the memory of ended threads.
    let emulated = ["--exclude-methodname", ".*thousand servers leave no.*"];
    let left_out = if matches!(machine, Machine::Qemu) { &emulated[..] } else { &[] };
    let launcher = "org.junit.platform.console.ConsoleLauncher";
    // Maven runs them in this folder, too.
    let _dir = sh.push_dir("plugin-kotlin");
    // The released library has no functions that panic.
    let libraries =
        [(out.library(system), "--exclude-methodname"), (panicking, "--include-methodname")];
    for (library, choice) in libraries {
        sh.remove_path(&plugin)?;
        sh.create_dir(&folder)?;
        sh.copy_file(library, &folder)?;
        // Without any test it fails.
        let tests = cmd!(sh, "{java} {options...} {home} -cp {class_path} {launcher} execute")
            .args(["--disable-banner", "--disable-ansi-colors", "--details=summary"])
            .args(["--include-engine=junit-jupiter", "--select-package=dev.companion.gemini.core"])
            .args(["--fail-if-no-tests", choice, ".*panic.*"])
            .args(left_out)
            .env("RUST_BACKTRACE", "0");
        let output = tests.quiet().ignore_status().output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let counts = text.lines().filter(|line| line.contains(" tests ") && !line.contains(" 0 "));
        println!("{}", counts.collect::<Vec<_>>().join("\n"));
        if !output.status.success() || text.contains("WARNING in native method") {
            return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    Ok(())
}

/// Returns the folder of the scripts that run programs of another system.
fn scripts(sh: &Shell, system: System) -> PathBuf {
    sh.current_dir().join("target/dist-run").join(system.to_string())
}
