//! Packs archives whose bytes are always the same: sorted, without times and owners.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use xshell::Shell;
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipArchive, ZipWriter};

use super::VERSION;
use super::system::System;
use crate::Result;

/// Packs the program with its licence and its `documents`, in the usual form of the system.
pub(super) fn program(
    sh: &Shell,
    program: &Path,
    documents: &Path,
    system: System,
    to: &Path,
) -> Result {
    let (root, name) = names(system, VERSION);
    let mut files = files_below(sh, documents, documents)?;
    for file in [sh.current_dir().join("LICENSE"), program.to_owned()] {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((name, file));
    }
    for (name, _) in &mut files {
        *name = format!("{root}/{name}");
    }
    sh.create_dir(to)?;
    let archive = to.join(name);
    if system.is_windows() {
        return zip(&files, &archive);
    }
    let archive = File::create(archive)?;
    // Zero means no time. By default the builder would write the present time.
    let gzip = GzBuilder::new().mtime(0).write(archive, Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for (name, file) in files {
        let content = sh.read_binary_file(&file)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if file == program { 0o755 } else { 0o644 });
        tar.append_data(&mut header, name, &*content)?;
    }
    Ok(tar.into_inner()?.finish()?.flush()?)
}

/// The names and the checksums of the files in a zip.
pub(super) fn zip_content(zip: &Path) -> Result<Vec<(String, u32)>> {
    let mut zip = ZipArchive::new(File::open(zip)?)?;
    let mut content = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index(index)?;
        content.push((entry.name()?.into_owned(), entry.crc32()));
    }
    Ok(content)
}

/// The one folder in the archive of a system, and the archive's name.
fn names(system: System, version: &str) -> (String, String) {
    let root = format!("gemini-companion-{version}-{system}");
    let ending = if system.is_windows() { "zip" } else { "tar.gz" };
    let name = format!("{root}.{ending}");
    (root, name)
}

/// Packs all files below `folder`. All names begin with the folder's name.
pub(crate) fn zip_folder(sh: &Shell, folder: &Path, to: &Path) -> Result {
    let parent = folder.parent().ok_or("a folder with a name is in another")?;
    zip(&files_below(sh, folder, parent)?, to)
}

/// Packs all files below `folder` into a jar.
pub(crate) fn jar(sh: &Shell, folder: &Path, to: &Path) -> Result {
    zip(&files_below(sh, folder, folder)?, to)
}

/// Returns the files below `folder`, sorted, with their names relative to `parent`.
fn files_below(sh: &Shell, folder: &Path, parent: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in sh.read_dir(next)? {
            if path.is_dir() {
                folders.push(path);
            } else {
                let parts = path.strip_prefix(parent)?.iter().map(|part| part.to_string_lossy());
                files.push((parts.collect::<Vec<_>>().join("/"), path));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn zip(files: &[(String, PathBuf)], to: &Path) -> Result {
    let mut zip = ZipWriter::new(File::create(to)?);
    // 1980 is the first year of times in zips.
    let options = SimpleFileOptions::default()
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, file) in files {
        zip.start_file(name, options)?;
        io::copy(&mut File::open(file)?, &mut zip)?;
    }
    zip.finish()?.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::ValueEnum;
    use xshell::Shell;

    use super::super::system::System;
    use super::{names, zip_content, zip_folder};

    /// cargo-binstall finds the archive for the user's system through the manifest.
    #[test]
    fn binstall_finds_the_archive_of_each_system() {
        let manifest: toml::Table =
            include_str!("../../../companion-cli/Cargo.toml").parse().expect("it is a manifest");
        let overrides = &manifest["package"]["metadata"]["binstall"]["overrides"];
        for &system in System::value_variants() {
            let (root, archive) = names(system, "{ version }");
            let of_windows = system.program_target().rsplit_once("-gnu").map(|(of, _)| of);
            let targets = match of_windows {
                Some(windows) => vec![format!("{windows}-msvc")],
                None => vec![system.program_target().into(), system.library_target().into()],
            };
            for target in targets {
                let this = &overrides[&target];
                let url = this["pkg-url"].as_str().expect("it is a text");
                assert!(url.ends_with(&format!("/releases/download/v{{ version }}/{archive}")));
                let bin = format!("{root}/{{ bin }}{{ binary-ext }}");
                assert_eq!(this["bin-dir"].as_str(), Some(&*bin), "{target}");
            }
        }
    }

    #[test]
    fn an_archive_has_the_licence_the_program_and_its_documents() {
        let sh = Shell::new().expect("there is a current folder");
        sh.change_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let home = tempfile::tempdir().expect("there is space");
        let (program, documents) = (home.path().join("program"), home.path().join("documents"));
        sh.write_file(&program, "program").expect("there is space");
        sh.write_file(documents.join("man/x.1"), "man").expect("there is space");
        let system = System::LinuxX64;
        super::program(&sh, &program, &documents, system, home.path()).expect("it is packed");
        let (root, name) = names(system, super::VERSION);
        let archive = fs::File::open(home.path().join(name)).expect("it is there");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
        let mut found = Vec::new();
        for entry in archive.entries().expect("it is a tar") {
            let entry = entry.expect("it is a tar");
            let path = entry.path().expect("it has a name").display().to_string();
            found.push((path, entry.header().mode().expect("it has a mode")));
        }
        let expected = [("man/x.1", 0o644), ("LICENSE", 0o644), ("program", 0o755)];
        assert_eq!(found, expected.map(|(name, mode)| (format!("{root}/{name}"), mode)));
    }

    #[test]
    fn the_same_files_make_the_same_zip_in_another_folder_and_at_another_time() {
        let sh = Shell::new().expect("there is a current folder");
        let zips = [0, 1 << 30].map(|seconds| {
            let home = tempfile::tempdir().expect("there is space");
            let folder = home.path().join("plugin");
            for (name, text) in [("b/c.txt", "c".repeat(9000)), ("a.txt", "a".to_owned())] {
                let file = folder.join(name);
                sh.write_file(&file, text).expect("there is space");
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
                let file = fs::File::options().write(true).open(file).expect("it is there");
                file.set_modified(time).expect("it is ours");
            }
            let zip = home.path().join("plugin.zip");
            zip_folder(&sh, &folder, &zip).expect("it is packed");
            let content = zip_content(&zip).expect("it is a zip");
            assert!(content.iter().map(|(name, _)| name).eq(["plugin/a.txt", "plugin/b/c.txt"]));
            fs::read(zip).expect("it is there")
        });
        assert!(zips[0] == zips[1]);
    }
}
