//! Packs the npm packages: one name, with the program of each system as a separate version.
//!
//! Of the optional dependencies, npm installs only the one for its system. The installation runs no
//! scripts and downloads nothing else.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use xshell::{Cmd, Shell, cmd};

use super::system::System;
use super::{VERSION, archive, documents};
use crate::e2e::NPM;
use crate::{Result, e2e, plugin, tools};

const NAME: &str = "gemini-companion";

/// Packs the launcher with `documents`, the programs, and `plugin`, if there is one, into the folder
/// `to`.
pub(crate) fn pack(
    sh: &Shell,
    programs: &[(System, PathBuf)],
    plugin: Option<&Path>,
    documents: &Path,
    to: &Path,
) -> Result {
    sh.remove_path(to)?;
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
    }
    let systems: Vec<_> = programs.iter().map(|(system, _)| *system).collect();
    pack_launcher(sh, &systems, plugin, documents, to)
}

/// Packs the launcher of the programs for `systems` with `documents`, and `plugin` if there is one,
/// into the folder `to`.
pub(super) fn pack_launcher(
    sh: &Shell,
    systems: &[System],
    plugin: Option<&Path>,
    documents: &Path,
    to: &Path,
) -> Result {
    let folder = to.join("launcher");
    sh.create_dir(&folder)?;
    for file in ["npm/gemini-companion.js", "npm/README.md"] {
        sh.copy_file(file, &folder)?;
    }
    if let Some(plugin) = plugin {
        sh.copy_file(plugin, &folder)?;
    }
    documents::copy(sh, documents, &folder)?;
    let mut manifest = manifest(VERSION);
    manifest["bin"] = json!({ NAME: "gemini-companion.js" });
    manifest["man"] = json!(format!("./{}", documents::MAN));
    manifest["engines"] = json!({ "node": ">=20" });
    let program = |system| {
        (format!("{NAME}-{system}"), Value::from(format!("npm:{NAME}@{VERSION}-{system}")))
    };
    manifest["optionalDependencies"] = systems.iter().map(program).collect::<Map<_, _>>().into();
    pack_folder(sh, &folder, &manifest, to)
}

/// Packs only the program of this machine, and the plugin in the folder `plugin`.
pub(crate) fn pack_for_tests(
    sh: &Shell,
    program: &Path,
    plugin: Option<&Path>,
    to: &Path,
) -> Result {
    let host = System::host().ok_or("there is no package for this system")?;
    let zip = to.with_file_name(format!("{}.zip", plugin::NAME));
    if let Some(plugin) = plugin {
        archive::zip_folder(sh, plugin, &zip)?;
    }
    let documents = to.with_file_name("documents");
    documents::generate(sh, program, &documents)?;
    // Most of a debug build is data for debuggers, which each installation would unpack.
    let stripped = to.with_file_name(format!("stripped-{NAME}"));
    cmd!(sh, "strip -o {stripped} {program}").quiet().run()?;
    pack(sh, &[(host, stripped)], plugin.map(|_| &*zip), &documents, to)
}

/// Publishes the packages of the tested program to a registry on this machine, installs them from
/// there and starts the program, like a user.
pub(crate) fn test(sh: &Shell) -> Result {
    let packages = sh.current_dir().join("target/npm");
    pack_for_tests(sh, &e2e::build(sh)?, None, &packages)?;
    e2e::install(sh)?;
    let tests = cmd!(sh, "node --test --test-reporter=spec npm-tests/install.test.mjs");
    let tests = with_registry(sh, tests, &packages)?;
    let _dir = sh.push_dir("e2e");
    Ok(tests.run()?)
}

/// Passes the packages to `tests`, with the command that publishes them to the tests' own registry.
pub(crate) fn with_registry<'a>(sh: &Shell, tests: Cmd<'a>, packages: &Path) -> Result<Cmd<'a>> {
    e2e::install_in(sh, "e2e/npm-tests")?;
    Ok(tests.env("COMPANION_NPM", packages).env("COMPANION_XTASK", tools::xtask(sh)))
}

/// Publishes the packages of `dist --gradle`, or those in a folder. The launcher is last, because
/// it needs the others. Published packages stay, so this can be repeated after an error.
pub(crate) fn publish(sh: &Shell, folder: Option<&Path>, dry_run: bool) -> Result {
    let release = sh.current_dir().join("target/dist/npm");
    let launcher = format!("{NAME}-{VERSION}.tgz");
    if folder.is_none() {
        if env!("CARGO_PKG_REPOSITORY").is_empty() {
            return Err("Cargo.toml names no repository, which npm asks for".into());
        }
        let programs = System::value_variants().iter();
        for program in programs.map(|system| format!("{NAME}-{VERSION}-{system}.tgz")) {
            if !release.join(&program).exists() {
                return Err(format!("{program} is not there; dist --gradle makes it").into());
            }
        }
        let packed = cmd!(sh, "tar --list --file").arg(release.join(&launcher)).quiet().read()?;
        if !packed.contains(".zip") {
            return Err(
                format!("{launcher} has no plugin; dist --gradle makes one that has").into()
            );
        }
    }
    let packages = in_order(sh.read_dir(folder.unwrap_or(&release))?, &launcher);
    let dry_run = if dry_run { &["--dry-run"][..] } else { &[] };
    for package in packages {
        let packed = cmd!(sh, "{NPM} pack --dry-run --json {package}").quiet().read()?;
        let packed: Value = serde_json::from_str(&packed)?;
        let version = packed[0]["version"].as_str().ok_or("npm reported no version")?;
        let hash = packed[0]["integrity"].as_str().ok_or("npm reported no hash")?;
        match published(sh, version)? {
            Some(there) if there == hash => println!("{NAME}@{version} is published already"),
            Some(_) => return Err(format!("another {NAME}@{version} is published").into()),
            None => {
                let tag = tag(version, VERSION);
                cmd!(sh, "{NPM} publish --tag {tag} {dry_run...} {package}").run()?;
            }
        }
    }
    Ok(())
}

/// Returns the packages among files, with the launcher last.
fn in_order(mut files: Vec<PathBuf>, launcher: &str) -> Vec<PathBuf> {
    files.retain(|file| file.extension() == Some("tgz".as_ref()));
    files.sort_by_key(|file| file.ends_with(launcher));
    files
}

/// Returns the tag of a version. Without a tag npm uses `latest`, which must be a launcher.
fn tag<'a>(version: &'a str, of_launcher: &str) -> &'a str {
    let system = version.strip_prefix(of_launcher).and_then(|rest| rest.strip_prefix('-'));
    system.unwrap_or(if of_launcher.contains('-') { "next" } else { "latest" })
}

/// Returns npm's hash of a version.
fn published(sh: &Shell, version: &str) -> Result<Option<String>> {
    let view = cmd!(sh, "{NPM} view --json {NAME}@{version} dist.integrity");
    let output = view.quiet().ignore_status().output()?;
    let shown = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    match shown {
        Value::String(hash) => Ok(Some(hash)),
        // For a missing version of an existing package, npm prints nothing.
        Value::Null if output.status.success() => Ok(None),
        shown if shown["error"]["code"] == "E404" => Ok(None),
        // npm prints an error as JSON.
        shown => {
            Err(format!("npm view: {shown} {}", String::from_utf8_lossy(&output.stderr)).into())
        }
    }
}

/// Returns the common fields of all manifests. npm compares the repository with the provenance.
fn manifest(version: &str) -> Value {
    let mut manifest = json!({
        "name": NAME,
        "version": version,
        "description": "Review Gemini CLI's edits in Neovim or a JetBrains IDE: comment on lines, reject with a reason, revert what a prompt changed",
        "license": env!("CARGO_PKG_LICENSE"),
    });
    if !env!("CARGO_PKG_REPOSITORY").is_empty() {
        manifest["repository"] = env!("CARGO_PKG_REPOSITORY").into();
    }
    manifest
}

/// Returns `process.platform` and `process.arch` of Node.
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
    let pack = cmd!(sh, "{NPM} pack --silent --pack-destination {to} {folder}");
    Ok(pack.quiet().ignore_stdout().run()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_published_last_and_is_what_users_get() {
        let files = ["a-1.tgz", "launcher", "a-1-linux-x64.tgz", "a-1-macos-arm64.tgz"];
        let order = in_order(files.map(PathBuf::from).to_vec(), "a-1.tgz");
        let expected = ["a-1-linux-x64.tgz", "a-1-macos-arm64.tgz", "a-1.tgz"];
        assert_eq!(order, expected.map(PathBuf::from));
        assert_eq!(tag("1.0.0-rc.1-linux-x64", "1.0.0-rc.1"), "linux-x64");
        assert_eq!(tag("1.0.0-rc.1", "1.0.0-rc.1"), "next");
        assert_eq!(tag("1.0.0", "1.0.0"), "latest");
    }
}
