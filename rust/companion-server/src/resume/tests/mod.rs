//! Processes one after the other and side by side.

mod clients;
mod processes;

use std::fs;
use std::path::{Path, PathBuf};

/// The files in the state directory `dir` that end so.
fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("companion-for-gemini-cli/resume")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files.filter(|file| file.to_str().unwrap().ends_with(ending)).collect()
}
