//! Finds the editors that the user names on the command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use companion_setup::{Ide, Installed, Machine, Neovim};

/// The editors to install into.
pub(super) struct Editors {
    pub(super) ides: Vec<Ide>,
    pub(super) neovim: Option<Neovim>,
}

impl Editors {
    /// Returns the editors with these names, or else all. Fails if a name fits no editor.
    pub(super) fn find(machine: &Machine, names: &[OsString]) -> Result<Self, String> {
        let mut all = Self { ides: Ide::find(machine), neovim: Neovim::find(machine) };
        if names.is_empty() {
            return Ok(all);
        }
        let names: Vec<_> = names.iter().map(Name::new).collect();
        for ide in names.iter().filter_map(|name| Ide::at(machine, name.dir.as_deref()?)) {
            if !all.ides.iter().any(|known| known.home == ide.home) {
                all.ides.push(ide);
            }
        }
        for name in &names {
            let is_ide = all.ides.iter().any(|ide| name.means(&ide.title(), Some(&ide.home)));
            let is_neovim = all.neovim.is_some() && name.means(Neovim::NAME, None);
            if !is_ide && !is_neovim {
                return Err(all.lacks(name));
            }
        }
        all.ides.retain(|ide| names.iter().any(|name| name.means(&ide.title(), Some(&ide.home))));
        let neovim = all.neovim.filter(|_| names.iter().any(|name| name.means(Neovim::NAME, None)));
        Ok(Self { neovim, ..all })
    }

    /// Returns why a name fits no editor.
    fn lacks(&self, name: &Name) -> String {
        if Path::new(&name.text).extension() == Some("zip".as_ref()) {
            return format!("{} is not an editor. Name one zip: --plugin FILE", name.text);
        }
        if name.means(Neovim::NAME, None) {
            return "Neovim is not on the PATH".to_owned();
        }
        if name.dir.is_some() {
            return format!("no JetBrains IDE is in {}", name.text);
        }
        let neovim = self.neovim.iter().map(|_| Neovim::NAME.to_owned());
        let names: Vec<_> = self.ides.iter().map(Ide::title).chain(neovim).collect();
        let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("no editor is called {:?}. Editors on this machine: {found}", name.text)
    }
}

/// The name of an editor on the command line: the start of its title, or its folder.
pub(super) struct Name {
    text: String,
    dir: Option<PathBuf>,
}

impl Name {
    pub(super) fn new(name: &OsString) -> Self {
        let text = name.to_string_lossy().into_owned();
        Self { text, dir: Path::new(name).canonicalize().ok() }
    }

    /// Returns whether it means the editor with that title, or in that folder.
    fn means(&self, title: &str, home: Option<&Path>) -> bool {
        let name = self.text.to_lowercase();
        let is_in = home.zip(self.dir.as_deref()).is_some_and(|(home, dir)| home.starts_with(dir));
        title.to_lowercase().starts_with(&name)
            || (title == Neovim::NAME && name == "nvim")
            || is_in
    }

    /// Returns whether it means the editor of that installed item.
    pub(super) fn is(&self, item: &Installed) -> bool {
        let is_editor = item.home.is_some() || item.subject == Neovim::NAME;
        is_editor && self.means(&item.subject, item.home.as_deref())
    }
}
