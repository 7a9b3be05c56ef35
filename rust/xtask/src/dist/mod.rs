//! Builds all released files, for all systems, on one machine (`cargo xtask dist`).
//!
//! - [`system`]: the systems, and the names of their artefacts.
//! - [`compile`]: the program and the library of a system.
//! - [`inspect`]: the checks that do not run the files.
//! - [`signature`]: the signature of a file for macOS.
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
mod signature;
mod system;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use xshell::{Shell, cmd};

use crate::needs::Work;
use crate::{Result, e2e, plugin};
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

    /// The work that building will do.
    pub(crate) fn works(&self, gradle: bool) -> Vec<Work> {
        let plugin = if gradle { Work::Gradle } else { Work::Plugin };
        let all = [Work::Dist, plugin, Work::Client];
        if self.targets.is_empty() { all.to_vec() } else { vec![Work::Dist] }
    }

    /// The work that testing will do.
    pub(crate) fn works_of_tests(&self, program_only: bool) -> Vec<Work> {
        let is_foreign = |system: &System| Some(*system) != System::host();
        let mut works = vec![Work::Client];
        if self.systems().iter().any(is_foreign) {
            works.extend([Work::Dist, Work::DistTest]);
        }
        if !program_only {
            works.extend([Work::Dist, Work::Plugin, Work::Display, Work::Robot]);
        }
        works
    }
}

/// Builds for the named systems, or for all. For all, it also builds the artefacts that contain all
/// systems.
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
        let plugin =
            plugin::release_zip(sh, gradle, &out.libraries(), &out.plugin(), &out.release())?;
        let programs: Vec<_> =
            args.systems().iter().map(|&system| (system, out.program(system))).collect();
        // Users of npm can't use the plugin for 2018.3.
        let plugin = gradle.then_some(&*plugin);
        npm::pack(sh, &programs, plugin, &out.documents(), &out.home.join("npm"))?;
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
            let plugin = out.plugin();
            if matches!(machine, Machine::Native) && plugin.exists() {
                println!("{system}: the plugin, in a window");
                e2e::test_released_plugin(sh, &plugin)?;
            }
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

    /// Returns the folder of the plugin for 2018.3, which its zip contains.
    fn plugin(&self) -> PathBuf {
        self.home.join("plugin").join(plugin::NAME)
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
    let mut files = sh.read_dir(".")?;
    let is_sum =
        |file: &Path| file.extension() == Some("sha256".as_ref()) || file.ends_with("SHA256SUMS");
    files.retain(|file| !is_sum(file));
    let names = files.iter().filter_map(|file| file.file_name());
    let sums = cmd!(sh, "sha256sum").args(names).quiet().read()?;
    // Also writes one file per hash, for users who download only one file.
    for line in sums.lines() {
        let (_, name) = line.split_once("  ").ok_or("sha256sum has said something else")?;
        sh.write_file(format!("{name}.sha256"), format!("{line}\n"))?;
    }
    Ok(sh.write_file("SHA256SUMS", sums + "\n")?)
}

#[cfg(test)]
mod tests {
    use xshell::{Shell, cmd};

    #[test]
    fn sums_are_right_for_all_files_and_for_each() {
        let folder = tempfile::tempdir().expect("there is space");
        let sh = Shell::new().expect("there is a current folder");
        sh.change_dir(folder.path());
        for name in ["a.zip", "b.tar.gz"] {
            sh.write_file(name, name).expect("there is space");
        }
        super::sums(&sh, folder.path()).expect("there is sha256sum");
        let check = |sums: &str| cmd!(sh, "sha256sum --check --quiet {sums}").quiet().run().is_ok();
        assert!(check("SHA256SUMS") && check("a.zip.sha256") && check("b.tar.gz.sha256"));
        sh.write_file("a.zip", "another").expect("there is space");
        assert!(!check("SHA256SUMS") && !check("a.zip.sha256") && check("b.tar.gz.sha256"));
        super::sums(&sh, folder.path()).expect("there is sha256sum");
        assert!(check("SHA256SUMS") && check("a.zip.sha256"));
        assert_eq!(sh.read_dir(".").expect("it can be read").len(), 5, "no sum of a sum");
    }
}
