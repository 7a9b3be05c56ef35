//! The packages for npm: one name, with the program of each system as a version of its own.
//!
//! npm installs of the optional dependencies those that are for its system. Nothing is run while
//! it does, and nothing fetched beside them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use xshell::{Shell, cmd};

use super::system::System;
use super::{VERSION, archive};
use crate::{Result, e2e, plugin};

const NAME: &str = "gemini-companion";

/// Packs the launcher, the programs, and `plugin` if there is one, into the folder `to`.
pub(crate) fn pack(
    sh: &Shell,
    programs: &[(System, PathBuf)],
    plugin: Option<&Path>,
    to: &Path,
) -> Result {
    sh.remove_path(to)?;
    let mut optional = Map::new();
    for (system, program) in programs {
        let version = format!("{VERSION}-{system}");
        let mut manifest = manifest(&version);
        let (os, cpu) = names_in_npm(*system);
        manifest["os"] = json!([os]);
        manifest["cpu"] = json!([cpu]);
        let folder = to.join(system.to_string());
        sh.create_dir(&folder)?;
        sh.copy_file(program, folder.join(system.program()))?;
        pack_folder(sh, &folder, &manifest, to)?;
        optional.insert(format!("{NAME}-{system}"), format!("npm:{NAME}@{version}").into());
    }
    let folder = to.join("launcher");
    sh.create_dir(&folder)?;
    for file in ["npm/gemini-companion.js", "npm/README.md"] {
        sh.copy_file(file, &folder)?;
    }
    if let Some(plugin) = plugin {
        sh.copy_file(plugin, &folder)?;
    }
    let mut manifest = manifest(VERSION);
    manifest["bin"] = json!({ NAME: "gemini-companion.js" });
    manifest["engines"] = json!({ "node": ">=20" });
    manifest["optionalDependencies"] = optional.into();
    pack_folder(sh, &folder, &manifest, to)
}

/// Packs the program of this machine alone, and the plugin in the folder `plugin`.
pub(crate) fn pack_for_tests(
    sh: &Shell,
    program: PathBuf,
    plugin: Option<&Path>,
    to: &Path,
) -> Result {
    let host = System::host().ok_or("there is no package for this system")?;
    let zip = to.with_file_name(format!("{}.zip", plugin::NAME));
    if let Some(plugin) = plugin {
        archive::zip_folder(sh, plugin, &zip)?;
    }
    pack(sh, &[(host, program)], plugin.map(|_| &*zip), to)
}

/// Installs and starts what is packed of the program as it is tested, as users do.
pub(crate) fn test(sh: &Shell) -> Result {
    let packages = sh.current_dir().join("target/npm");
    pack_for_tests(sh, e2e::build(sh)?, None, &packages)?;
    let _dir = sh.push_dir("e2e");
    let test = cmd!(sh, "node --test --test-reporter=spec npm-tests/install.test.mjs");
    Ok(test.env("COMPANION_NPM", packages).run()?)
}

/// Publishes what `dist` has packed: the launcher at last, because it needs the others.
pub(crate) fn publish(sh: &Shell, dry_run: bool) -> Result {
    let packages = sh.current_dir().join("target/dist/npm");
    let npm = e2e::NPM;
    let dry_run = if dry_run { &["--dry-run"][..] } else { &[] };
    let programs = System::value_variants().iter().map(|system| format!("-{system}"));
    for suffix in programs.chain([String::new()]) {
        let package = packages.join(format!("{NAME}-{VERSION}{suffix}.tgz"));
        // Whoever asks for no version is to get the launcher's.
        let tag = if suffix.is_empty() { "latest" } else { &suffix[1..] };
        cmd!(sh, "{npm} publish --tag {tag} {dry_run...} {package}").run()?;
    }
    Ok(())
}

/// What all of them say. The repository is what npm compares its provenance with.
fn manifest(version: &str) -> Value {
    let mut manifest = json!({
        "name": NAME,
        "version": version,
        "description": "A companion for Gemini CLI: it sees your editor, where you review its edits",
        "license": env!("CARGO_PKG_LICENSE"),
    });
    if !env!("CARGO_PKG_REPOSITORY").is_empty() {
        manifest["repository"] = env!("CARGO_PKG_REPOSITORY").into();
    }
    manifest
}

/// `process.platform` and `process.arch` in Node.
pub(super) fn names_in_npm(system: System) -> (&'static str, &'static str) {
    match system {
        System::LinuxX64 => ("linux", "x64"),
        System::LinuxArm64 => ("linux", "arm64"),
        System::MacosX64 => ("darwin", "x64"),
        System::MacosArm64 => ("darwin", "arm64"),
        System::WindowsX64 => ("win32", "x64"),
        System::WindowsArm64 => ("win32", "arm64"),
    }
}

fn pack_folder(sh: &Shell, folder: &Path, manifest: &Value, to: &Path) -> Result {
    sh.copy_file("LICENSE", folder)?;
    sh.write_file(folder.join("package.json"), serde_json::to_string_pretty(manifest)?)?;
    let npm = e2e::NPM;
    let pack = cmd!(sh, "{npm} pack --silent --pack-destination {to} {folder}");
    Ok(pack.quiet().ignore_stdout().run()?)
}
