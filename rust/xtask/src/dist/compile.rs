//! Compiles and links the program and the library for any system, on Debian.
//!
//! The compiler builds its own standard library for each system (`-Zbuild-std`), so it needs the
//! sources of the library. rustup installs them by `rustup component add rust-src`. Without access
//! to rustup's server, Debian's packages of another Rust contain them. Zig links, and contains the
//! C library of each system. For Windows on x64, Debian's gcc links, because Debian's Rust needs a
//! library that Zig lacks.

use std::env::{home_dir, var_os};
use std::path::{Path, PathBuf};

use xshell::{Cmd, Shell, cmd};

use super::system::System;
use crate::{Result, tools};

pub(super) const TOOLS: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];

/// The oldest glibc that the library runs with. Debian 10, RHEL 8 and Ubuntu 18.10 have 2.28.
pub(super) const GLIBC: (u32, u32) = (2, 28);

/// The oldest macOS that Rust supports for both processors.
const MACOS: &str = "11.0";

pub(super) struct Compiler {
    /// The folder of cargo and rustc.
    bin: PathBuf,
    /// The folder of Zig and cargo-zigbuild.
    zig: PathBuf,
    /// The time in files that are linked for Windows.
    date: String,
}

impl Compiler {
    pub(super) fn find(sh: &Shell) -> Result<Self> {
        let bin = with_sources(sh).ok_or("no compiler has the sources of its library")?;
        Ok(Self { bin, zig: tools::wheels(sh, &TOOLS)?, date: super::source_date(sh)? })
    }

    pub(super) fn build_program(&self, sh: &Shell, system: System, to: &Path) -> Result {
        self.build(sh, system, "companion-cli", &[], to)
    }

    pub(super) fn build_library(
        &self,
        sh: &Shell,
        system: System,
        to: &Path,
        options: &[&str],
    ) -> Result {
        self.build(sh, system, "companion-jni", options, to)
    }

    fn build(
        &self,
        sh: &Shell,
        system: System,
        package: &str,
        options: &[&str],
        to: &Path,
    ) -> Result {
        let folder = self.compile(sh, system, package, options)?;
        sh.create_dir(to.parent().ok_or("a file is in a folder")?)?;
        // Removed first: a process that has loaded the old file keeps it.
        sh.remove_path(to)?;
        sh.copy_file(folder.join(to.file_name().unwrap_or_default()), to)?;
        if system.is_macos() {
            // It renews the signature, without which macOS ends the program when it starts.
            cmd!(sh, "llvm-strip -x {to}").quiet().run()?;
        }
        Ok(())
    }

    /// Compiles a package, and returns its output folder. Linker options follow `--`, so that
    /// packages of the same target share everything below them.
    fn compile(
        &self,
        sh: &Shell,
        system: System,
        package: &str,
        options: &[&str],
    ) -> Result<PathBuf> {
        let built = sh.current_dir().join("target/dist-build");
        let is_library = package == "companion-jni";
        let target = if is_library { system.library_target() } else { system.program_target() };
        let (mut linker, mut link) = (target.to_owned(), Vec::new());
        if system.is_linux() && is_library {
            linker = format!("{target}.{}.{}", GLIBC.0, GLIBC.1);
        } else if system.is_linux() {
            // Zig contains the C library, but not Rust's own, and needs an option for
            // position-independent static programs.
            link = ["-Clink-self-contained=no", "-Clink-arg=-pie"].map(String::from).to_vec();
        } else if system.is_macos() {
            let stubs = sh.current_dir().join("tools/macos-stubs");
            let stubs = stubs.display();
            link = vec![format!("-Lframework={stubs}"), format!("-Lnative={stubs}/lib")];
            if is_library {
                // Otherwise it would be the path on this machine.
                let name = format!("@rpath/{}", system.library());
                link.push(format!("-Clink-arg=-Wl,-install_name,{name}"));
            }
        }
        let cargo = if system == System::WindowsX64 { "cargo" } else { "cargo-zigbuild" };
        let trim = r#"profile.release.trim-paths="all""#;
        let always = ["--quiet", "--locked", "--release", "-Zbuild-std", "-Ztrim-paths"];
        let compile = cmd!(sh, "{cargo} rustc {always...} {options...} --config {trim}")
            .args(["--target", &linker, "--package", package, "--"])
            .args(link)
            // For macOS, cargo would strip with a program that only rustup installs.
            .env("CARGO_PROFILE_RELEASE_STRIP", (!system.is_macos()).to_string())
            .env("CARGO_TARGET_DIR", &built);
        self.environment(compile)?.run()?;
        Ok(built.join(target).join("release"))
    }

    /// Removes the variables of the cargo that runs this, because the compiling cargo may be
    /// another one.
    fn environment<'a>(&self, compile: Cmd<'a>) -> Result<Cmd<'a>> {
        let path = var_os("PATH").unwrap_or_default();
        let path =
            [self.zig.clone(), self.bin.clone()].into_iter().chain(std::env::split_paths(&path));
        let cache = tools::cache_dir()?;
        Ok(compile
            .env("PATH", std::env::join_paths(path)?)
            .env("CARGO", self.bin.join("cargo"))
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("RUSTFLAGS")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("MACOSX_DEPLOYMENT_TARGET", MACOS)
            .env("SOURCE_DATE_EPOCH", &self.date)
            .env("ZIG_GLOBAL_CACHE_DIR", cache.join("zig"))
            .env("CARGO_ZIGBUILD_CACHE_DIR", cache.join("zigbuild")))
    }
}

/// Returns the folder of a compiler with the sources of its standard library.
pub(crate) fn with_sources(sh: &Shell) -> Option<PathBuf> {
    let cargo_home = var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(home_dir()?.join(".cargo")))?;
    [cargo_home.join("bin/rustc"), "/usr/bin/rustc".into()].into_iter().find_map(|rustc| {
        let sysroot = cmd!(sh, "{rustc} --print sysroot").quiet().ignore_stderr().read().ok()?;
        let sysroot = Path::new(&sysroot);
        let sources = sysroot.join("lib/rustlib/src/rust/library/Cargo.lock");
        sources.exists().then(|| sysroot.join("bin"))
    })
}
