//! Generates the files that come with the program: completions for shells, and the man page.

use std::path::Path;

use xshell::{Shell, cmd};

use crate::Result;

/// The man page's name in packages.
pub(super) const MAN: &str = "man/gemini-companion.1";

/// The names of the files in packages, and the arguments with which the program prints them.
const FILES: [(&str, &[&str]); 5] = [
    ("completions/gemini-companion.bash", &["completions", "bash"]),
    ("completions/gemini-companion.fish", &["completions", "fish"]),
    ("completions/_gemini-companion", &["completions", "zsh"]),
    ("completions/_gemini-companion.ps1", &["completions", "powershell"]),
    (MAN, &["man"]),
];

/// Writes the files of `program`, which this machine can run, into the folder `to`.
pub(super) fn generate(sh: &Shell, program: &Path, to: &Path) -> Result {
    sh.remove_path(to)?;
    for (name, args) in FILES {
        let text = cmd!(sh, "{program} {args...}").quiet().output()?.stdout;
        sh.write_file(to.join(name), text)?;
    }
    Ok(())
}

/// Copies the files into a folder of a package.
pub(super) fn copy(sh: &Shell, documents: &Path, to: &Path) -> Result {
    for (name, _) in FILES {
        let copy = to.join(name);
        sh.create_dir(copy.parent().ok_or("a file is in a folder")?)?;
        sh.copy_file(documents.join(name), copy)?;
    }
    Ok(())
}
