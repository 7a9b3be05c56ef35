//! Plans and carries out the steps of setup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client::{self, Before, Change, Client};
use crate::extension;
use crate::files::{behind_link, check_changeable, check_own, remove_empty, replace};
use crate::install::{self, Installed};
use crate::installed_ide::Ide;
use crate::machine::Machine;
use crate::neovim::{self, Neovim};
use crate::package::{PLUGIN_ID, Package, Plugin};
use crate::plugins_dir::plugins_dir;
use crate::program;
use crate::record::{InstallManifest, InstalledItem, What, is_newer};
use crate::report::{Outcome, Report};

/// The items to install, and the machine.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The IDEs that get the plugin if it fits.
    pub ides: &'a [Ide],
    /// The plugin's zip, if there is one, or why it can't be used.
    pub package: Result<Option<&'a Package>, &'a str>,
    /// The program that terminals must find.
    pub program: Option<&'a Path>,
    /// Neovim, if it gets its plugin.
    pub neovim: Option<&'a Neovim>,
    /// The clients whose IDE mode setup turns on.
    pub clients: &'a [Client],
}

/// The reason to skip a Flatpak. It has separate processes and a separate folder for temporary
/// files, and clients need both to find the companion.
const FLATPAK: &str = "as a Flatpak it is hidden from Gemini CLI; install it by another way";
const NO_ZIP: &str = "the plugin's zip did not come with this program; name it: --plugin FILE";
const RESTART: &str = "it is loaded when the IDE starts next";

impl Setup<'_> {
    /// Plans the steps of [`Setup::carry_out`]. Changes nothing.
    pub fn plan(&self) -> io::Result<Report> {
        self.run(true)
    }

    /// Carries out all steps.
    ///
    /// A failure is a step of the report and does not stop the others. Returns an error if the
    /// manifest fails; then nothing was begun.
    pub fn carry_out(&self) -> io::Result<Report> {
        self.run(false)
    }

    fn run(&self, dry_run: bool) -> io::Result<Report> {
        let _lock = if dry_run { None } else { Some(InstallManifest::lock(self.machine)?) };
        let mut record = InstallManifest::read(self.machine)?;
        let mut report = Report::default();
        let ides = with_plugins(self.machine, self.ides);
        for (number, (ide, plugins)) in ides.iter().enumerate() {
            let package = match self.package {
                Ok(Some(package)) => package,
                Ok(None) => {
                    let (path, outcome) = without_package(plugins);
                    report.add(&ide.title(), path, outcome);
                    continue;
                }
                Err(why) => {
                    report.add(&ide.title(), plugins.clone(), (Outcome::Failed, why.to_owned()));
                    continue;
                }
            };
            // Two installations of one version share their plugins.
            let outcome = if ides[..number].iter().any(|(_, above)| above == plugins) {
                (Outcome::Skipped, "it has the same plugins as the one above".to_owned())
            } else {
                let is_running = is_loaded(&ides, plugins);
                bring_plugin(package, ide, is_running, plugins, &mut record, dry_run)
            };
            report.add(&ide.title(), plugins.join(&package.root), outcome);
        }
        let program = self.program.map(|program| {
            let (path, outcome) = program::bring(self.machine, program, &mut record, dry_run);
            report.add(program::NAME, path.clone(), outcome);
            program::behind_launcher(path, program)
        });
        let program = program.as_deref();
        if let Some(neovim) = self.neovim {
            let (path, outcome) = neovim.bring(program, &mut record, dry_run);
            report.add(Neovim::NAME, path, outcome);
        }
        for client in self.clients {
            let outcome = turn_on(client, &mut record, dry_run);
            report.add(&client.name, client.settings.clone(), outcome);
            if let Some(extensions) = &client.extensions {
                let os = self.machine.os;
                let outcome =
                    extension::bring(client, extensions, os, program, &mut record, dry_run);
                report.add(&extension::subject(client), extension::target(extensions), outcome);
            }
        }
        if report.has(Outcome::Planned) || report.has(Outcome::Done) {
            report.record = Some(record.file().to_owned());
        }
        Ok(report)
    }

    /// Removes the installed items only; `dry_run` reports them without changes.
    pub fn remove(machine: &Machine, dry_run: bool) -> io::Result<Report> {
        let _lock = if dry_run { None } else { Some(InstallManifest::lock(machine)?) };
        let mut record = InstallManifest::read(machine)?;
        let mut report = Report::default();
        let take = |brought: &InstalledItem| {
            let taken = take(machine, brought, dry_run);
            let outcome = taken.unwrap_or_else(|error| (Outcome::Failed, error.to_string()));
            let is_over = !matches!(outcome.0, Outcome::Failed | Outcome::Planned);
            if is_over && !dry_run {
                remove_empty(&brought.dirs);
            }
            report.add(&brought.subject, brought.path.clone(), outcome);
            is_over && !dry_run
        };
        record.take(take)?;
        Ok(report)
    }
}

fn take(
    machine: &Machine,
    brought: &InstalledItem,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let path = &*brought.path;
    match &brought.what {
        What::Plugin { home, id } => take_plugin(machine, path, home, id, dry_run),
        What::Program { .. } => program::take(brought, dry_run),
        What::NeovimPlugin { .. } => neovim::take(brought, dry_run),
        What::Extension { .. } => extension::take(brought, dry_run),
        What::Setting { before, backup } => turn_off(path, *before, backup.as_deref(), dry_run),
    }
}

/// Returns IDEs, each with its folder of plugins.
fn with_plugins<'a>(machine: &Machine, ides: &'a [Ide]) -> Vec<(&'a Ide, PathBuf)> {
    ides.iter().map(|ide| (ide, plugins_dir(machine, ide))).collect()
}

/// Returns whether an IDE that loads its plugins from that folder is running.
fn is_loaded(ides: &[(&Ide, PathBuf)], plugins: &Path) -> bool {
    ides.iter().any(|(ide, dir)| ide.is_running && dir == plugins)
}

/// Reports an IDE for which there is no zip of the plugin.
fn without_package(plugins: &Path) -> (PathBuf, (Outcome, String)) {
    let (copies, version) = install::copies(plugins, PLUGIN_ID);
    match copies.into_iter().next().zip(version) {
        Some((copy, version)) => (copy, (Outcome::Unchanged, format!("{version} is installed"))),
        None => (plugins.to_owned(), (Outcome::Failed, NO_ZIP.to_owned())),
    }
}

fn bring_plugin(
    package: &Package,
    ide: &Ide,
    is_running: bool,
    plugins: &Path,
    record: &mut InstallManifest,
    dry_run: bool,
) -> (Outcome, String) {
    if ide.flatpak.is_some() {
        return (Outcome::Skipped, FLATPAK.to_owned());
    }
    if !package.fits(&ide.build) {
        return (Outcome::Skipped, "the plugin is not for this version".to_owned());
    }
    let Installed { copies, version, is_same } = install::installed(plugins, package);
    let new = package.version();
    if is_same {
        return (Outcome::Unchanged, format!("{new} is installed"));
    }
    if let Some(newer) = version.as_ref().filter(|old| is_newer(old, new)) {
        return (Outcome::Skipped, format!("{newer} is installed, which is newer"));
    }
    if is_running && !copies.is_empty() {
        let old = version.unwrap_or_default();
        let why = format!("it runs with {old} of the plugin; end it, and run this again");
        return (Outcome::Failed, why);
    }
    let what = match version {
        Some(old) if old != new => format!("{new} in place of {old}"),
        Some(_) => format!("{new} again"),
        None => new.to_owned(),
    };
    let note = if is_running { format!("; {RESTART}") } else { String::new() };
    let target = plugins.join(&package.root);
    let failed =
        |error: io::Error| (Outcome::Failed, format!("{what} could not be installed: {error}"));
    if let Err(error) = install::check(&target, &copies, plugins) {
        return failed(error);
    }
    if dry_run {
        return (Outcome::Planned, format!("install {what}{note}"));
    }
    let known = What::Plugin { home: ide.home.clone(), id: package.plugin.id.clone() };
    let install = || install::install(plugins, package, &copies);
    match record.bring(&ide.title(), &target, known, install) {
        Ok(()) => (Outcome::Done, format!("installed {what}{note}")),
        Err(error) => failed(error),
    }
}

fn turn_on(client: &Client, record: &mut InstallManifest, dry_run: bool) -> (Outcome, String) {
    let file = &*client.settings;
    let (before, text) = match client::plan(file) {
        Err(error) => return not_turned_on(&error),
        Ok(Change::None) => return (Outcome::Unchanged, "the IDE mode is on".to_owned()),
        Ok(Change::Write { before, text }) => (before, text),
    };
    let backup = match (before, record.known(file)) {
        (Before::NoFile, _) => Ok(None),
        (_, Some(InstalledItem { what: What::Setting { backup: Some(known), .. }, .. }))
            if is_copy(known, file) =>
        {
            Ok(Some(known.clone()))
        }
        _ => client::free_backup(file).map(Some),
    };
    let turned_on = backup.and_then(|backup| {
        let kept = kept(backup.as_deref());
        if dry_run {
            return Ok((Outcome::Planned, format!("turn the IDE mode on{kept}")));
        }
        let what = What::Setting { before, backup: backup.clone() };
        let write = || client::write(file, &text, backup.as_deref());
        record.bring(&client.name, file, what, write)?;
        Ok((Outcome::Done, format!("the IDE mode is turned on{kept}")))
    });
    turned_on.unwrap_or_else(|error| not_turned_on(&error))
}

/// Returns whether a backup equals the file. Otherwise the backup may be the last copy of its
/// content.
fn is_copy(backup: &Path, file: &Path) -> bool {
    matches!((fs::read(backup), fs::read(file)), (Ok(kept), Ok(there)) if kept == there)
}

fn kept(backup: Option<&Path>) -> String {
    let name = backup.and_then(Path::file_name).map(Path::new);
    name.map(|name| format!("; what was there is kept in {}", name.display())).unwrap_or_default()
}

fn not_turned_on(error: &io::Error) -> (Outcome, String) {
    let fix = "correct that, or turn the IDE mode on yourself, by /ide enable";
    (Outcome::Failed, format!("{error}; {fix}"))
}

fn take_plugin(
    machine: &Machine,
    path: &Path,
    home: &Path,
    id: &str,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    if Plugin::installed(path).is_none_or(|plugin| plugin.id != *id) {
        return Ok((Outcome::Unchanged, "the plugin is gone already".to_owned()));
    }
    let plugins = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if machine.runs_from(home) || is_loaded(&with_plugins(machine, &Ide::find(machine)), plugins) {
        return Err(io::Error::other("it runs with the plugin; end it, and run this again"));
    }
    if dry_run {
        return Ok((Outcome::Planned, "remove the plugin".to_owned()));
    }
    install::uninstall(path, plugins)?;
    Ok((Outcome::Done, "the plugin is removed".to_owned()))
}

fn turn_off(
    file: &Path,
    before: Before,
    backup: Option<&Path>,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let backup = backup.filter(|backup| backup.exists());
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("the settings are gone{}", kept(backup));
            return Ok((Outcome::Unchanged, message));
        }
        text => text?,
    };
    let original =
        backup.and_then(|backup| check_own(backup).and_then(|()| fs::read_to_string(backup)).ok());
    let unchanged = original.as_ref().filter(|original| client::becomes(original, &text));
    let undone = match unchanged {
        Some(original) => Some(original.clone()),
        None => client::undone(&text, before)?,
    };
    if undone.is_some() {
        check_own(file)?;
        check_changeable(file)?;
    }
    // Otherwise the backup may be the last copy of its content.
    let is_needless = original.as_ref() == Some(undone.as_ref().unwrap_or(&text));
    let kept = kept(backup.filter(|_| !is_needless));
    let outcome = match (&undone, dry_run) {
        (None, _) => (Outcome::Unchanged, format!("the IDE mode was changed since{kept}")),
        (Some(_), true) => (Outcome::Planned, format!("put the IDE mode back{kept}")),
        (Some(_), false) => (Outcome::Done, format!("the IDE mode is as it was{kept}")),
    };
    if dry_run {
        return Ok(outcome);
    }
    let is_ours = |undone: &str| {
        before == Before::NoFile && undone.split_whitespace().collect::<String>() == "{}"
    };
    match (undone, backup.filter(|_| is_needless)) {
        // A rename needs no space on a full disk.
        (Some(undone), Some(backup)) => {
            fs::set_permissions(backup, fs::metadata(file)?.permissions())?;
            let real = behind_link(file)?;
            // A link may lead to another disk.
            fs::rename(backup, &real).or_else(|_| {
                replace(&real, &undone)?;
                fs::remove_file(backup)
            })?;
        }
        (None, Some(backup)) => fs::remove_file(backup)?,
        (Some(undone), None) if is_ours(&undone) => fs::remove_file(file)?,
        (Some(undone), None) => replace(file, &undone)?,
        (None, None) => {}
    }
    Ok(outcome)
}
