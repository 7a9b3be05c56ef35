//! Installs the plugin for Neovim, which this program contains, as a Neovim package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use companion_platform::version_text;

use crate::content::Files;
use crate::install::Bundle;
use crate::machine::{Machine, Os};
use crate::record::{InstallManifest, What, is_newer};
use crate::report::Outcome;
use crate::setup::{not_done, removed};

const HELP: &str = "doc/gemini_companion.txt";

/// The file that contains the program's name.
const CONFIG: &str = "lua/gemini_companion/config.lua";

/// The files of the plugin, each with its name. `build.rs` lists them.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/neovim.rs"));

/// Neovim on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neovim {
    program: PathBuf,
    /// The folder of Neovim's data (`stdpath('data')`).
    data: PathBuf,
}

impl Neovim {
    /// The name in the report.
    pub const NAME: &str = "Neovim";

    /// Returns the Neovim that terminals start.
    pub fn find(machine: &Machine) -> Option<Self> {
        let program = machine.find_program("nvim")?;
        let name = machine.var("NVIM_APPNAME").unwrap_or("nvim");
        let data = match machine.os {
            Os::Windows => {
                let local = || machine.dir("LOCALAPPDATA", "AppData/Local");
                let data = machine.var("XDG_DATA_HOME").map_or_else(local, PathBuf::from);
                data.join(format!("{name}-data"))
            }
            Os::Linux | Os::MacOs => machine.dir("XDG_DATA_HOME", ".local/share").join(name),
        };
        Some(Self { program, data })
    }

    /// Installs the plugin, unless the user has installed it or Neovim is too old. If the user has
    /// removed it, it is installed again only if `is_named`. The plugin starts `program`, or else the
    /// program that Neovim finds.
    pub(crate) fn install(
        &self,
        program: Result<Option<&Path>, &str>,
        is_named: bool,
        record: &mut InstallManifest,
    ) -> (PathBuf, (Outcome, String)) {
        let target = self.data.join("site/pack/companion/start/gemini_companion");
        if let Some(why) = self.too_old() {
            return (target, (not_done(is_named), why));
        }
        let is_installed = record.known(&target).is_some() && is_plugin(&target);
        if let Some(other) = self.others().find(|other| !is_installed || *other != target) {
            return (other, (Outcome::Unchanged, "you installed the plugin".to_owned()));
        }
        let is_removed = record.is_installed(&target) && !target.exists() && self.data.is_dir();
        if is_removed && !is_named {
            return (target, (Outcome::Skipped, removed(Self::NAME)));
        }
        let program = match program {
            Ok(program) => program,
            Err(why) => return (target, (Outcome::Failed, why.to_owned())),
        };
        let lazy = self.data.join("lazy/lazy.nvim").is_dir();
        let note =
            format!("; for lazy.nvim, add {{ dir = '{}' }} to your plugins", target.display());
        let bundle = Bundle {
            subject: Self::NAME,
            content: "the plugin",
            target: &target,
            files: files(program),
            what: |hash| What::NeovimPlugin { hash },
            note: if lazy { &note } else { "" },
            again: "gemini-companion setup neovim",
        };
        let outcome = bundle.install(is_installed, record);
        (target, outcome)
    }

    /// Returns why the plugin does not support Neovim, if it is too old.
    pub fn too_old(&self) -> Option<String> {
        let mut program = Command::new(&self.program);
        // Otherwise Neovim would write a log into the home folder.
        program.env("NVIM_LOG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" });
        let version = version_text(program).ok()?;
        let old = old_version(&version)?;
        let program = self.program.display();
        Some(format!("version {old} of {program} is too old; the plugin needs 0.10 or newer"))
    }

    /// Whether the plugin is installed.
    pub fn has_plugin(&self) -> bool {
        self.others().next().is_some()
    }

    /// Returns the plugin's other folders, as a package or by lazy.nvim.
    fn others(&self) -> impl Iterator<Item = PathBuf> {
        let packs = children(&self.data.join("site/pack"));
        let kinds = packs.flat_map(|pack| ["start", "opt"].map(|kind| pack.join(kind)));
        let plugins = kinds.chain([self.data.join("lazy")]).flat_map(|dir| children(&dir));
        plugins.filter(|plugin| is_plugin(plugin))
    }
}

/// Returns the files, and the index of the help.
fn files(program: Option<&Path>) -> Files {
    let help = FILES.iter().find(|(name, _)| *name == HELP).map_or("", |(_, text)| text);
    let words = help.split_whitespace();
    let mut tags: Vec<_> =
        words.filter_map(|word| word.strip_prefix('*')?.strip_suffix('*')).collect();
    tags.sort_unstable();
    let file = &HELP["doc/".len()..];
    // The same text as from `:helptags`, so that calling it changes nothing.
    let tags =
        tags.iter().flat_map(|tag| [tag, "\t", file, "\t/*", tag, "*\n"]).collect::<String>();
    let mut files = Files::from([("doc/tags".to_owned(), tags.into_bytes())]);
    for &(name, text) in FILES {
        let text = match program.filter(|_| name == CONFIG) {
            Some(program) => with_program(text, program),
            None => text.to_owned(),
        };
        files.insert(name.to_owned(), text.into_bytes());
    }
    files
}

/// Writes the program's path into the default options.
fn with_program(config: &str, program: &Path) -> String {
    let quoted = program.to_string_lossy().replace('\\', r"\\").replace('\'', r"\'");
    config.replace("cmd = { 'gemini-companion' }", &format!("cmd = {{ '{quoted}' }}"))
}

/// Returns the version in the output of `nvim --version`, if it is older than 0.10 or a prerelease
/// of 0.10.
fn old_version(said: &str) -> Option<&str> {
    let version = said.strip_prefix("NVIM v")?.split_whitespace().next()?;
    is_newer("0.10.0-0", version).then_some(version)
}

pub(crate) fn is_plugin(dir: &Path) -> bool {
    dir.join("lua/gemini_companion").is_dir()
}

fn children(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_old_by_its_numbers() {
        for said in ["NVIM v0.7.2\nBuild type: Release\n", "NVIM v0.7.0-dev+16-g0a1c8d6 (x)"] {
            assert!(old_version(said).is_some_and(|old| old.starts_with("0.7.")), "{said}");
        }
        for said in
            ["NVIM v0.10.0-dev\n", "NVIM v0.11.4\n", "NVIM v1.0.0\n", "NVIM v\n", "usage", ""]
        {
            assert_eq!(old_version(said), None, "{said}");
        }
    }
}
