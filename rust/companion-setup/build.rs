//! Lists the files that the program contains, to install them: the Neovim plugin and the extension.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Relative to the package: a copied target folder must not lead to the files of another checkout.
    write_list(Path::new("../../editors/nvim"), &["doc", "lua", "plugin"], "neovim.rs")?;
    write_list(Path::new("../../extension"), &[""], "extension.rs")
}

/// Writes the files in these folders below `root` as a Rust array: each name, and the text.
fn write_list(root: &Path, folders: &[&str], list: &str) -> io::Result<()> {
    let mut files = Vec::new();
    for folder in folders {
        let folder = root.join(folder);
        println!("cargo:rerun-if-changed={}", folder.display());
        find(&folder, &mut files)?;
    }
    files.sort();
    let mut text = String::from("[\n");
    for file in files {
        let name = file.strip_prefix(root).map_err(io::Error::other)?;
        let name = name.to_string_lossy().replace('\\', "/");
        let file = format!("/{}", file.display());
        let _ = writeln!(
            text,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),"
        );
    }
    text.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join(list), text)
}

/// Adds all files of a folder, except those that an editor or a system leaves there. Such files have
/// another extension, or a name that begins with a dot.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            find(&path, files)?;
        } else if ending.is_some_and(|ending| ["json", "lua", "md", "txt"].contains(&ending)) {
            files.push(path);
        }
    }
    Ok(())
}
