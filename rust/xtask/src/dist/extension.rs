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
