//! Plans and carries out the steps of setup.

use std::io;
use std::path::{Path, PathBuf};

use companion_platform::quote;

use crate::client::Client;
use crate::content::{hash_dir, hash_files};
use crate::documents::Documents;
use crate::install;
use crate::installed_ide::Ide;
use crate::machine::Machine;
use crate::neovim::{self, Neovim};
use crate::package::{PLUGIN_ID, Package, Plugin};
use crate::plugins_dir::plugins_dir;
use crate::program::InstalledProgram;
use crate::record::{InstallManifest, InstalledItem, What, is_newer};
use crate::report::{Outcome, Report};
use crate::{extension, ide_mode, program, staging};

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
    /// The program's completions and its man page.
    pub documents: Option<&'a Documents>,
    /// Neovim, if it gets its plugin.
    pub neovim: Option<&'a Neovim>,
    /// Whether the user named the editors. Otherwise a plugin that the user removed stays removed.
    pub is_named: bool,
    /// The clients whose IDE mode setup turns on.
    pub clients: &'a [Client],
}

const NO_ZIP: &str = "this program came without the plugin's zip; name the zip: --plugin FILE";
const RESTART: &str = "restart the IDE to load it";

impl Setup<'_> {
    /// Plans the steps of [`Setup::carry_out`]. Changes nothing.
    pub fn plan(&self) -> io::Result<Report> {
        Ok(self.run(InstallManifest::read(self.machine)?))
    }

    /// Carries out all steps.
    ///
    /// A failure is a step of the report. It stops only the steps that need this one. Returns an error
    /// if the manifest fails; then nothing was begun.
    pub fn carry_out(&self) -> io::Result<Report> {
        Ok(self.run(InstallManifest::open(self.machine)?))
    }

    fn run(&self, mut record: InstallManifest) -> Report {
        let record = &mut record;
        let mut report = Report::default();
        self.install_plugins(record, &mut report);
        let program = self.install_program(record, &mut report);
        let program = program.as_ref().map(Option::as_deref).map_err(String::as_str);
        if let Some(neovim) = self.neovim {
            let (path, outcome) = neovim.install(program, self.is_named, record);
            report.add(Neovim::NAME, path, outcome);
            report.has_editor |= neovim.has_plugin() && neovim.too_old().is_none();
        }
        for client in self.clients {
            let outcome = ide_mode::turn_on(client, record);
            report.add(&client.name, client.settings.clone(), outcome);
            if let Some(extensions) = &client.extensions {
                let os = self.machine.os;
                let outcome = extension::install(client, extensions, os, program, record);
                report.add(&extension::subject(client), extension::target(extensions), outcome);
            }
        }
        if let Some(documents) = self.documents {
            for document in documents.of(self.machine) {
                let outcome = document.install(program, record);
                report.add(document.subject, document.path.clone(), outcome);
            }
        }
        if !record.is_plan() {
            sweep(record, &report);
        }
        if report.has(Outcome::Done) {
            report.record = Some(record.file().to_owned());
        }
        report
    }

    fn install_plugins(&self, record: &mut InstallManifest, report: &mut Report) {
        let ides = with_plugins(self.machine, self.ides);
        for (number, (ide, plugins)) in ides.iter().enumerate() {
            let package = match self.package {
                Ok(Some(package)) => package,
                Ok(None) => {
                    let (path, outcome) = without_package(plugins);
                    report.has_editor |= outcome.0 == Outcome::Unchanged;
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
                (Outcome::Skipped, "it shares its plugins with the one above".to_owned())
            } else {
                let is_running = is_loaded(&ides, plugins);
                self.install_plugin(package, ide, is_running, plugins, record)
            };
            report.add(&ide.title(), plugins.join(&package.root), outcome);
            report.has_editor |=
                package.fits(&ide.build) && !install::copies(plugins, PLUGIN_ID).0.is_empty();
        }
    }

    fn install_plugin(
        &self,
        package: &Package,
        ide: &Ide,
        is_running: bool,
        plugins: &Path,
        record: &mut InstallManifest,
    ) -> (Outcome, String) {
        if !package.fits(&ide.build) {
            let why =
                ide.too_old().unwrap_or_else(|| "the plugin does not support it yet".to_owned());
            return (not_done(self.is_named), why);
        }
        let files = package.files();
        let hash = files.as_ref().map(hash_files);
        let target = plugins.join(&package.root);
        let (copies, version) = install::copies(plugins, PLUGIN_ID);
        let is_same = copies == [target.clone()]
            && hash.as_ref().is_ok_and(|hash| hash_dir(&target).is_ok_and(|there| there == *hash));
        let new = package.version();
        if is_same {
            return (Outcome::Unchanged, format!("{new} is installed"));
        }
        if let Some(newer) = version.as_ref().filter(|old| is_newer(old, new)) {
            return (Outcome::Skipped, format!("{newer} is installed, which is newer"));
        }
        if is_running && !copies.is_empty() {
            let old = version.unwrap_or_default();
            let why = format!("the IDE runs with version {old}; quit it, and run setup again");
            return (Outcome::Failed, why);
        }
        let what = match version {
            Some(old) if old != new => format!("{new} in place of {old}"),
            Some(_) => format!("{new} again"),
            None => new.to_owned(),
        };
        let note = if is_running { format!("; {RESTART}") } else { String::new() };
        let is_removed = copies.is_empty() && plugins.is_dir() && record.is_installed(&target);
        if is_removed && !self.is_named {
            return (Outcome::Skipped, removed(&ide.name));
        }
        let installed = files.and_then(|files| {
            install::check(&target, &copies, plugins)?;
            let (home, id) = (ide.home.clone(), package.plugin.id.clone());
            let plugin = What::Plugin { home, id, hash: hash_files(&files) };
            // An IDE that starts now does not load the staged files, because they have no `lib` at
            // their top.
            let place = || install::place(&target, &copies, plugins, &files);
            record.install(&ide.title(), &target, plugin, place)
        });
        match installed {
            Ok(outcome) => {
                (outcome, format!("{} {what}{note}", outcome.of("install", "installed")))
            }
            Err(error) => (Outcome::Failed, format!("{what} could not be installed: {error}")),
        }
    }

    /// Installs the program. Returns what hooks and editors start.
    fn install_program(
        &self,
        record: &mut InstallManifest,
        report: &mut Report,
    ) -> Result<Option<PathBuf>, String> {
        let Some(program) = self.program else { return Ok(None) };
        let InstalledProgram { path, is_usable, outcome } =
            program::install(self.machine, program, record);
        report.add(program::NAME, path.clone(), outcome);
        if !is_usable {
            return Err(format!("it needs {}, which could not be installed", program::NAME));
        }
        Ok(Some(program::behind_launcher(path, program)))
    }

    /// Returns the installed items, as their names and the folders of IDEs.
    pub fn installed(machine: &Machine) -> io::Result<Vec<Installed>> {
        Ok(InstallManifest::read(machine)?.items().iter().map(Installed::of).collect())
    }

    /// Removes those installed items that `is_meant` selects; `dry_run` reports them without changes.
    pub fn remove(
        machine: &Machine,
        is_meant: impl Fn(&Installed) -> bool,
        dry_run: bool,
    ) -> io::Result<Report> {
        let mut record =
            if dry_run { InstallManifest::read(machine)? } else { InstallManifest::open(machine)? };
        let mut report = Report::default();
        let recorded: Vec<_> = record.items().iter().map(|item| item.path.clone()).collect();
        record.uninstall(|item| {
            if !is_meant(&Installed::of(item)) {
                return false;
            }
            let outcome = uninstall(machine, item, dry_run)
                .unwrap_or_else(|error| (Outcome::Failed, error.to_string()));
            let mut is_over = !dry_run && outcome.0 != Outcome::Failed;
            if is_over {
                staging::sweep_around(&item.path);
            }
            report.add(&item.subject, item.path.clone(), outcome);
            is_over &= uninstall_copies(machine, item, &recorded, dry_run, &mut report);
            is_over
        })?;
        Ok(report)
    }
}

/// The outcome for an editor that can't have the plugin: a failure if the user wants it there.
pub(crate) fn not_done(is_named: bool) -> Outcome {
    if is_named { Outcome::Failed } else { Outcome::Skipped }
}

/// Returns why a plugin that the user removed is not installed again.
pub(crate) fn removed(editor: &str) -> String {
    format!(
        "you removed the plugin; to install it again, run gemini-companion setup {}",
        quote::word(&editor.to_lowercase())
    )
}

/// Deletes temporary files of killed runs around the items that are in place now. After a failure they
/// may have the only copy of an item.
fn sweep(record: &InstallManifest, report: &Report) {
    for step in &report.steps {
        let is_in_place = matches!(step.outcome, Outcome::Done | Outcome::Unchanged);
        if is_in_place && record.known(&step.path).is_some() {
            staging::sweep_around(&step.path);
        }
    }
}

/// An installed item, as users name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The name in the report.
    pub subject: String,
    /// The folder of the IDE, if the item is a plugin in one.
    pub home: Option<PathBuf>,
}

impl Installed {
    fn of(item: &InstalledItem) -> Self {
        let home = match &item.what {
            What::Plugin { home, .. } => Some(home.clone()),
            _ => None,
        };
        Self { subject: item.subject.clone(), home }
    }
}

fn uninstall(
    machine: &Machine,
    item: &InstalledItem,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let path = &*item.path;
    match &item.what {
        What::Plugin { home, id, .. } => uninstall_plugin(machine, item, path, home, id, dry_run),
        What::Program { .. } | What::Document { .. } => program::uninstall(item, dry_run),
        What::NeovimPlugin { .. } => {
            install::uninstall_files(item, neovim::is_plugin(path), "the plugin", dry_run)
        }
        What::Extension { .. } => {
            install::uninstall_files(item, extension::is_ours(path), "it", dry_run)
        }
        What::Setting { before, backup } => {
            ide_mode::turn_off(path, *before, backup.as_deref(), dry_run)
        }
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

/// Removes the copies of an installed plugin that newer versions of its IDE have made for themselves.
/// Leaves the copies that are `recorded`, because they are items of their own. Returns whether no
/// removal failed.
fn uninstall_copies(
    machine: &Machine,
    item: &InstalledItem,
    recorded: &[PathBuf],
    dry_run: bool,
    report: &mut Report,
) -> bool {
    let What::Plugin { id, .. } = &item.what else { return true };
    let mut is_over = true;
    let mut ides = Ide::find(machine);
    ides.retain(|ide| ide.is_newer_version_of(&item.subject));
    for (ide, plugins) in with_plugins(machine, &ides) {
        let (copies, _) = install::copies(&plugins, id);
        for path in copies {
            let is_known =
                recorded.contains(&path) || report.steps.iter().any(|step| step.path == path);
            if is_known || !hash_dir(&path).is_ok_and(|hash| item.has(&hash)) {
                continue;
            }
            let outcome = uninstall_plugin(machine, item, &path, &ide.home, id, dry_run)
                .unwrap_or_else(|error| (Outcome::Failed, error.to_string()));
            is_over &= outcome.0 != Outcome::Failed;
            report.add(&ide.title(), path, outcome);
        }
    }
    is_over
}

/// Removes the plugin in `path`, unless it has changed since setup installed `item`.
fn uninstall_plugin(
    machine: &Machine,
    item: &InstalledItem,
    path: &Path,
    home: &Path,
    id: &str,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    if Plugin::installed(path).is_none_or(|plugin| plugin.id != *id) {
        return Ok((Outcome::Unchanged, "it is gone already".to_owned()));
    }
    if !item.has(&hash_dir(path)?) {
        return Ok((Outcome::Unchanged, install::CHANGED.to_owned()));
    }
    let plugins = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if machine.runs_from(home) || is_loaded(&with_plugins(machine, &Ide::find(machine)), plugins) {
        return Err(io::Error::other("the IDE runs with the plugin; quit it, and run this again"));
    }
    if dry_run {
        return Ok((Outcome::Planned, "remove the plugin".to_owned()));
    }
    install::uninstall(path, plugins)?;
    Ok((Outcome::Done, "removed the plugin".to_owned()))
}
