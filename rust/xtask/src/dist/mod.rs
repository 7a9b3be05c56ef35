//! Builds all released files, for all systems, on one machine (`cargo xtask dist`).
//!
//! - [`system`]: the systems, and the names of their artefacts.
//! - [`compile`]: the program and the library of a system.
//! - [`inspect`]: the checks that do not run the files.
//! - [`run`]: the tests with the real client and in a JVM, on a [`machine`] of the system.
//! - [`documents`]: the completions and the man page.
//! - [`archive`]: archives whose bytes are always the same.
//! - [`npm`]: the packages for npm.
//! - [`extension`]: the archives of the extension for the CLIs.
//! - [`sbom`]: the parts of the program and the library.

pub(crate) mod archive;
pub(crate) mod compile;
mod documents;
pub(crate) mod extension;
mod inspect;
mod machine;
pub(crate) mod npm;
mod run;
mod sbom;
mod system;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use xshell::{Shell, cmd};

use crate::needs::{self, Needs};
use crate::{Result, check_libraries, e2e, plugin};
use machine::Machine;
pub(crate) use system::System;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only for this system; may be given several times.
    #[arg(long = "target", value_name = "SYSTEM")]
    targets: Vec<System>,
}

impl Args {
    fn systems(&self) -> &[System] {
        if self.targets.is_empty() { System::value_variants() } else { &self.targets }
    }

    /// What building needs.
    pub(crate) fn needs(&self, gradle: bool) -> Vec<Needs> {
        match (self.targets.is_empty(), gradle) {
            (false, _) => vec![needs::DIST],
            (true, false) => vec![needs::DIST, needs::CLIENT],
            (true, true) => vec![needs::DIST, needs::CLIENT, needs::GRADLE],
        }
    }

    /// What testing needs.
    pub(crate) fn needs_of_tests(&self, program_only: bool) -> Vec<Needs> {
        let mut needs = vec![needs::CLIENT];
        if self.systems().iter().any(|system| Some(*system) != System::host()) {
            needs.extend([needs::DIST, needs::DIST_TEST]);
        }
        if !program_only {
            needs.extend([needs::DIST, needs::PLUGIN]);
        }
        needs
    }
}

/// Builds for the named systems, or for all. For all, it also builds the artefacts that contain all
/// systems. With `gradle` the plugin for 2024.2 and newer, not signed, is one of them.
pub(crate) fn dist(sh: &Shell, args: &Args, gradle: bool) -> Result {
    let all = args.targets.is_empty();
    let out = Output { home: sh.current_dir().join("target/dist") };
    if all {
        sh.remove_path(&out.home)?;
    }
    let compiler = compile::Compiler::find(sh)?;
    documents::generate(sh, &e2e::build(sh)?, &out.documents())?;
    for &system in args.systems() {
        println!("\n== {system}");
        let (program, library) = (out.program(system), out.library(system));
        compiler.build_program(sh, system, &program)?;
        compiler.build_library(sh, system, &library, &[])?;
        for file in [&program, &library] {
            inspect::inspect(sh, file, system)?;
            println!("{}: {} bytes", file.display(), sh.read_binary_file(file)?.len());
        }
        archive::program(sh, &program, &out.documents(), system, &out.release())?;
    }
    if all {
        println!("\n== the plugin, the packages, the extension, the lists");
        check_libraries(&out.libraries(), true)?;
        let make = || plugin::gradle_zip(sh, &out.libraries(), &out.release());
        let plugin = gradle.then(make).transpose()?;
        let programs: Vec<_> =
            args.systems().iter().map(|&system| (system, out.program(system))).collect();
        npm::pack(sh, &programs, plugin.as_deref(), &out.documents(), &out.home.join("npm"))?;
        extension::pack(sh, &out.release())?;
        sbom::write(sh, &out.release())?;
        for packed in [out.release(), out.home.join("npm")] {
            inspect::inspect_packed(sh, &packed)?;
        }
        sums(sh, &out.release())?;
    }
    Ok(())
}

/// Replaces the plugin in the artefacts of `dist --gradle` with `signed`, the same plugin with a
/// signature.
pub(crate) fn take_signed(sh: &Shell, signed: &Path) -> Result {
    let out = Output { home: sh.current_dir().join("target/dist") };
    let plugin = out.release().join(format!("{}-{VERSION}.zip", plugin::NAME));
    if !plugin.exists() {
        return Err(format!("{} is not there; dist --gradle makes it", plugin.display()).into());
    }
    if archive::zip_content(&plugin)? != archive::zip_content(signed)? {
        return Err(format!(
            "{} has other files than {}; sign that one",
            signed.display(),
            plugin.display()
        )
        .into());
    }
    sh.copy_file(signed, &plugin)?;
    let (systems, npm) = (System::value_variants(), out.home.join("npm"));
    npm::pack_launcher(sh, systems, Some(&plugin), &out.documents(), &npm)?;
    sums(sh, &out.release())
}

/// The time of the commit, in seconds of Unix, for all files with a time: so two builds of a commit
/// are the same.
fn source_date(sh: &Shell) -> Result<String> {
    Ok(cmd!(sh, "git log -1 --format=%ct").quiet().read()?)
}

/// Tests the artefacts of [`dist`] for the named systems, or for all.
pub(crate) fn test(sh: &Shell, args: &Args, program_only: bool) -> Result {
    let out = Output { home: sh.current_dir().join("target/dist") };
    for &system in args.systems() {
        let Some(machine) = Machine::of(sh, system)? else {
            println!("{system}: nothing here runs it");
            continue;
        };
        run::program(sh, &out, &machine, system)?;
        if !program_only {
            run::library(sh, &out, &machine, system)?;
        }
    }
    Ok(())
}

/// The folders of built files.
struct Output {
    home: PathBuf,
}

impl Output {
    fn program(&self, system: System) -> PathBuf {
        self.home.join("program").join(system.to_string()).join(system.program())
    }

    fn library(&self, system: System) -> PathBuf {
        self.libraries().join(system.to_string()).join(system.library())
    }

    /// Returns the libraries, in the structure of the plugin's folder `native`.
    fn libraries(&self) -> PathBuf {
        self.home.join("native")
    }

    /// Returns the folder of the completions and the man page.
    fn documents(&self) -> PathBuf {
        self.home.join("documents")
    }

    /// Returns the folder of the files for download.
    fn release(&self) -> PathBuf {
        self.home.join("release")
    }
}

/// Writes the hashes of all files in a folder, in the format of `sha256sum --check`.
fn sums(sh: &Shell, folder: &Path) -> Result {
    let _dir = sh.push_dir(folder);
    sh.remove_path("SHA256SUMS")?;
    let files = sh.read_dir(".")?;
    let names = files.iter().filter_map(|file| file.file_name());
    let sums = cmd!(sh, "sha256sum").args(names).quiet().read()?;
    Ok(sh.write_file("SHA256SUMS", sums + "\n")?)
}
