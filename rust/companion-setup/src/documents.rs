//! Installs the completions of shells and the man page, if the system searches for them in a folder of
//! the user.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::content;
use crate::files::{check_place, replace};
use crate::install::{CHANGED, not_installed, stays};
use crate::machine::{Machine, Os};
use crate::record::{InstallManifest, What};
use crate::report::Outcome;

/// The texts, which the program generates from its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    /// The completions for bash.
    pub bash: String,
    /// The completions for fish.
    pub fish: String,
    /// The man page.
    pub man: String,
}

/// A text, and the file where the system searches for it.
pub(crate) struct Document<'a> {
    /// The name in the report.
    pub(crate) subject: &'static str,
    pub(crate) path: PathBuf,
    text: &'a str,
}

impl Documents {
    /// Returns the texts for which the system has a place. zsh and PowerShell search no folder of the
    /// user by default.
    pub(crate) fn of<'a>(&'a self, machine: &Machine) -> Vec<Document<'a>> {
        let data = machine.dir("XDG_DATA_HOME", ".local/share");
        let mut documents = Vec::new();
        if machine.os == Os::Windows {
            return documents;
        }
        if machine.find_program("bash").is_some() && has_bash_completion(machine) {
            let path = data.join("bash-completion/completions/gemini-companion");
            documents.push(Document { subject: "Completions for bash", path, text: &self.bash });
        }
        if machine.find_program("fish").is_some() {
            let path = data.join("fish/vendor_completions.d/gemini-companion.fish");
            documents.push(Document { subject: "Completions for fish", path, text: &self.fish });
        }
        // man derives its folders from those for programs.
        let is_searched = machine.is_on_path(&machine.home.join(".local/bin"));
        if machine.find_program("man").is_some() && is_searched {
            let path = machine.home.join(".local/share/man/man1/gemini-companion.1");
            documents.push(Document { subject: "Man page", path, text: &self.man });
        }
        documents
    }
}

/// Returns whether bash loads completions on demand. The package is optional.
fn has_bash_completion(machine: &Machine) -> bool {
    let shares = ["usr/share", "usr/local/share", "opt/homebrew/share"];
    shares.iter().any(|share| machine.root.join(share).join("bash-completion").is_dir())
}

impl Document<'_> {
    /// Installs the text, unless the user has put another file there, or has removed this one.
    pub(crate) fn install(
        &self,
        program: Result<Option<&Path>, &str>,
        record: &mut InstallManifest,
    ) -> (Outcome, String) {
        let hash = content::hash(self.text.as_bytes());
        match self.stays(&hash, record) {
            Ok(Some(stays)) => return stays,
            Ok(None) => {}
            Err(error) => return not_installed(&error),
        }
        if let Err(why) = program {
            return (Outcome::Failed, why.to_owned());
        }
        let write = || replace(&self.path, self.text);
        let installed = check_place(&self.path).and_then(|()| {
            record.install(self.subject, &self.path, What::Document { hash }, write)
        });
        match installed {
            Ok(outcome) => (outcome, format!("{} the file", outcome.of("install", "installed"))),
            Err(error) => not_installed(&error),
        }
    }

    /// Returns the outcome if the file stays as it is.
    fn stays(&self, hash: &str, record: &InstallManifest) -> io::Result<Option<(Outcome, String)>> {
        let known = record.known(&self.path);
        let there = match fs::read(&self.path) {
            Ok(there) => content::hash(&there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_removed = known.is_some_and(|known| !known.pending);
                let why = "you removed it; to install it again, run setup --remove, then setup";
                return Ok(is_removed.then(|| (Outcome::Skipped, why.to_owned())));
            }
            Err(error) => return Err(error),
        };
        Ok(match known {
            None => Some((Outcome::Unchanged, "you installed it".to_owned())),
            Some(known) => stays(known, &there, hash, CHANGED.to_owned()),
        })
    }
}
