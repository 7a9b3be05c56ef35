//! Reads the files of the repository.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the text of a file of the repository.
pub(crate) fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns a file as one line: a document may break a line anywhere.
pub(crate) fn words(file: &str) -> String {
    read(file).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the files that git tracks or would add, with these endings.
pub(crate) fn files(endings: &[&str]) -> Vec<(String, String)> {
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let list =
        cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read().unwrap();
    let wanted = list.lines().filter(|file| endings.iter().any(|ending| file.ends_with(ending)));
    // The list also contains files whose deletion is not committed.
    wanted
        .filter_map(|file| {
            Some((file.to_owned(), std::fs::read_to_string(root().join(file)).ok()?))
        })
        .collect()
}
