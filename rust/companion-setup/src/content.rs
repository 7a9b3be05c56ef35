//! Hashes a file or all files of a folder, to recognize installed items.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The content of each file, by its name below the folder, with `/` on every system.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Returns the SHA-256 of a file's content, in hexadecimal.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Returns the SHA-256 of a list of all files, in the format of `sha256sum`.
pub(crate) fn hash_files(files: &Files) -> String {
    let lines = files.iter().map(|(name, content)| format!("{}  {name}\n", hash(content)));
    hash(lines.collect::<String>().as_bytes())
}

/// Returns the hash of the files in a folder. A link counts as other content.
pub(crate) fn hash_dir(dir: &Path) -> io::Result<String> {
    let mut files = Files::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                dirs.push(path);
                continue;
            }
            let content = if kind.is_file() { fs::read(&path)? } else { Vec::new() };
            files.insert(name_in(dir, &path), content);
        }
    }
    Ok(hash_files(&files))
}

/// Returns the name of a file below `dir`.
pub(crate) fn name_in(dir: impl AsRef<Path>, path: &Path) -> String {
    let parts = path.strip_prefix(dir).unwrap_or(path).iter();
    let parts: Vec<_> = parts.map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
