//! Reads the files of the repository.

use std::path::{Path, PathBuf};

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
