//! Packs the extension for a release, as Gemini CLI and Qwen Code expect it.
//!
//! From a release with several files they take the one whose name begins with Node's name for their
//! system. The extension is the same for all systems.

use std::path::Path;

use clap::ValueEnum;
use xshell::Shell;

use super::archive;
use super::npm::names_in_npm;
use super::system::System;
use crate::Result;

/// Packs the extension into the folder `to`, once for each system.
pub(crate) fn pack(sh: &Shell, to: &Path) -> Result {
    sh.create_dir(to)?;
    let extension = sh.current_dir().join("extension");
    for &system in System::value_variants() {
        let (os, _) = names_in_npm(system);
        archive::zip_folder(sh, &extension, &to.join(format!("{os}.gemini-companion.zip")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use xshell::Shell;

    #[test]
    fn there_is_one_for_each_name_that_clients_look_for() {
        let sh = Shell::new().expect("there is a current folder");
        sh.change_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let to = tempfile::tempdir().expect("there is space");
        super::pack(&sh, to.path()).expect("it is packed");
        let archives = ["darwin", "linux", "win32"].map(|system| {
            let zip = to.path().join(format!("{system}.gemini-companion.zip"));
            sh.read_binary_file(zip).expect("it is there")
        });
        assert!(archives[0] == archives[1] && archives[1] == archives[2]);
        let files = sh.read_dir(to.path()).expect("it is there");
        assert_eq!(files.len(), 3);
        let manifest = b"extension/gemini-extension.json";
        assert!(archives[0].windows(manifest.len()).any(|name| name == manifest));
    }
}
