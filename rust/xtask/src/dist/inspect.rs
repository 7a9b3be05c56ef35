//! Checks built files, as far as possible without running them.

use std::env::home_dir;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;
use xshell::{Shell, cmd};
use zip::ZipArchive;

use super::compile::GLIBC;
use super::system::System;
use crate::{Result, tools};

pub(super) fn inspect(sh: &Shell, file: &Path, system: System) -> Result {
    let wrong = |what: String| Err(format!("{}: {what}", file.display()).into());
    let bytes = sh.read_binary_file(file)?;
    refuse_private(&file.display().to_string(), &bytes, &private_paths(sh)?)?;
    let needed = cmd!(sh, "llvm-readobj --needed-libs {file}").quiet().read()?;
    let list = needed.split_once("NeededLibraries [").ok_or("llvm-readobj has said nothing")?.1;
    for library in list.lines().map(str::trim).filter(|line| !matches!(*line, "" | "]")) {
        if !is_everywhere(library, file, system) {
            return wrong(format!("it needs {library}, which not every system has"));
        }
    }
    if system.is_linux() {
        let versions = cmd!(sh, "llvm-readelf --version-info {file}").quiet().read()?;
        if let Some((major, minor)) = newest_glibc(&versions).filter(|newest| *newest > GLIBC) {
            return wrong(format!("it needs glibc {major}.{minor}"));
        }
    }
    Ok(())
}

/// Checks all files in a folder, and the files that are packed in them.
pub(super) fn inspect_packed(sh: &Shell, folder: &Path) -> Result {
    let private = private_paths(sh)?;
    for file in sh.read_dir(folder)?.iter().filter(|file| file.is_file()) {
        look_into(&file.display().to_string(), &sh.read_binary_file(file)?, &private)?;
    }
    Ok(())
}

fn look_into(name: &str, bytes: &[u8], private: &[String]) -> Result {
    refuse_private(name, bytes, private)?;
    let mut content = Vec::new();
    if [".zip", ".jar"].iter().any(|ending| name.ends_with(ending)) {
        let mut archive = ZipArchive::new(Cursor::new(bytes))?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index)?;
            content.clear();
            entry.read_to_end(&mut content)?;
            look_into(&format!("{name}: {}", entry.name()?), &content, private)?;
        }
    } else if [".tgz", ".tar.gz"].iter().any(|ending| name.ends_with(ending)) {
        let mut archive = Archive::new(GzDecoder::new(bytes));
        for entry in archive.entries()? {
            let mut entry = entry?;
            content.clear();
            entry.read_to_end(&mut content)?;
            look_into(&format!("{name}: {}", entry.path()?.display()), &content, private)?;
        }
    }
    Ok(())
}

fn refuse_private(name: &str, bytes: &[u8], private: &[String]) -> Result {
    for private in private {
        if let Some(at) = find(bytes, private.as_bytes()) {
            let text = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 160)]);
            let text = text.escape_debug();
            return Err(format!("{name}: a path of this machine is in it: {text}").into());
        }
    }
    Ok(())
}

/// Returns private paths of this machine. With them, the bytes would differ from another machine's.
fn private_paths(sh: &Shell) -> Result<Vec<String>> {
    let paths = [home_dir(), Some(sh.current_dir()), Some(tools::cache_dir()?)];
    let paths = paths.into_iter().flatten().map(|path| format!("{}/", path.display()));
    // The home of a user without a home folder is `/`.
    Ok(paths.filter(|path| path.len() > 2).collect())
}

/// Returns whether each installation of the system has the library.
fn is_everywhere(library: &str, file: &Path, system: System) -> bool {
    if system.is_macos() {
        let own = format!("@rpath/{}", system.library());
        return library == own
            || ["/usr/lib/", "/System/"].iter().any(|at| library.starts_with(at));
    }
    if system.is_windows() {
        // Names of a compiler's libraries begin like this: libgcc, libssp, libwinpthread.
        return !library.starts_with("lib");
    }
    let is_program = file.file_name() == Some(system.program().as_ref());
    let glibc = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"];
    !is_program && (glibc.contains(&library) || library.starts_with("ld-linux-"))
}

/// Returns the highest version of the form `GLIBC_2.17` in a text.
fn newest_glibc(text: &str) -> Option<(u32, u32)> {
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let version = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut parts = version.split('.').map_while(|part| part.parse().ok());
        Some((parts.next()?, parts.next()?))
    });
    versions.max()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::tempdir;
    use xshell::Shell;

    use super::super::archive::zip_folder;
    use super::super::system::System;
    use super::{inspect_packed, is_everywhere, newest_glibc};

    #[test]
    fn versions_of_glibc_are_compared_as_numbers() {
        assert_eq!(newest_glibc("Name: GLIBC_2.4  Name: GLIBC_2.17, GLIBC_2.2.5"), Some((2, 17)));
        assert_eq!(newest_glibc("GLIBC_PRIVATE"), None);
    }

    #[test]
    fn a_path_is_found_in_what_is_packed() {
        let sh = Shell::new().expect("there is a current folder");
        let home = tempdir().expect("there is space");
        let (folder, release) = (home.path().join("plugin"), home.path().join("release"));
        for dir in [&folder, &release] {
            fs::create_dir(dir).expect("there is space");
        }
        fs::write(folder.join("a.txt"), "a").expect("there is space");
        let zip = release.join("plugin.zip");
        zip_folder(&sh, &folder, &zip).expect("it is packed");
        inspect_packed(&sh, &release).expect("nothing is wrong with it");

        let here = sh.current_dir().join("Main.kt");
        fs::write(folder.join("a.txt"), here.display().to_string()).expect("there is space");
        let jar = release.join("plugin.jar");
        zip_folder(&sh, &folder, &jar).expect("it is packed");
        fs::rename(&jar, folder.join("a.jar")).expect("it is ours");
        fs::remove_file(folder.join("a.txt")).expect("it is ours");
        zip_folder(&sh, &folder, &zip).expect("it is packed");
        let refusal = inspect_packed(&sh, &release).expect_err("it names the machine");
        let where_it_is = "plugin.zip: plugin/a.jar: plugin/a.txt: a path of this machine is in it";
        assert!(refusal.to_string().contains(where_it_is), "{refusal}");
    }

    #[test]
    fn only_what_every_system_has_may_be_needed() {
        let library = Path::new("libcompanion_jni.so");
        let program = Path::new("gemini-companion");
        assert!(is_everywhere("libc.so.6", library, System::LinuxArm64));
        assert!(!is_everywhere("libc.so.6", program, System::LinuxX64), "it is static");
        assert!(!is_everywhere("libgcc_s.so.1", library, System::LinuxX64));
        assert!(is_everywhere("KERNEL32.dll", program, System::WindowsX64));
        assert!(!is_everywhere("libgcc_s_seh-1.dll", program, System::WindowsX64));
        assert!(is_everywhere("/usr/lib/libSystem.B.dylib", program, System::MacosX64));
        assert!(!is_everywhere("/opt/homebrew/lib/libz.dylib", program, System::MacosArm64));
    }
}
