//! What is done, step by step.

use std::fs;
use std::io;
use std::path::Path;

use crate::client::{self, Change, Client};
use crate::files::{create_dir, remove_empty, replace};
use crate::ide::Ide;
use crate::install::{self, Installed};
use crate::machine::Machine;
use crate::package::{Package, Plugin};
use crate::plugins_dir::plugins_dir;
use crate::record::{BroughtPlugin, BroughtSetting, Record};
use crate::report::{Outcome, Report};

/// What is to be set up, and where.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The clients whose IDE mode is turned on.
    pub clients: &'a [Client],
}

const RESTART: &str = "it is loaded when the IDE starts next";

impl Setup<'_> {
    /// What [`Setup::carry_out`] would do. Changes nothing.
    pub fn plan(&self, package: &Package, ides: &[Ide]) -> Report {
        self.run(package, ides, None)
    }

    /// Installs the plugin into all `ides` that it fits, and turns the IDE mode on.
    ///
    /// Whatever fails is a step of the report and does not hinder the others. An error is one of
    /// the file that says what was brought; without it nothing is begun.
    pub fn carry_out(&self, package: &Package, ides: &[Ide]) -> io::Result<Report> {
        let file = Record::file(self.machine)?;
        let mut record = Record::read(&file)?;
        let report = self.run(package, ides, Some(&mut record));
        record.write(&file)?;
        Ok(report)
    }

    fn run(&self, package: &Package, ides: &[Ide], mut record: Option<&mut Record>) -> Report {
        let mut report = Report::default();
        let mut seen = Vec::new();
        for ide in ides {
            let subject = format!("{} {}", ide.name, ide.version);
            let plugins = plugins_dir(self.machine, ide);
            // Two installations of one version share their plugins.
            let outcome = if seen.contains(&plugins) {
                (Outcome::Skipped, "it has the same plugins as the one above".to_owned())
            } else {
                bring_plugin(package, ide, &plugins, record.as_deref_mut())
            };
            report.add(&subject, Some(plugins.join(&package.root)), outcome);
            seen.push(plugins);
        }
        for client in self.clients {
            let outcome = turn_on(client, record.as_deref_mut());
            report.add(&client.name, Some(client.settings.clone()), outcome);
        }
        report
    }

    /// Takes away what was brought, and no more; with `dry_run` only says what that is.
    pub fn remove(&self, dry_run: bool) -> io::Result<Report> {
        let file = Record::file(self.machine)?;
        let mut record = Record::read(&file)?;
        let mut report = Report::default();
        let mut done = |subject: &str, path: &Path, result: io::Result<(Outcome, String)>| {
            let outcome = result.unwrap_or_else(|error| (Outcome::Failed, error.to_string()));
            let stays = matches!(outcome.0, Outcome::Failed | Outcome::Planned);
            report.add(subject, Some(path.to_owned()), outcome);
            stays
        };
        record.plugins.retain(|brought| {
            done(&brought.ide, &brought.path, take_plugin(self.machine, brought, dry_run))
        });
        record
            .settings
            .retain(|brought| done(&brought.client, &brought.file, turn_off(brought, dry_run)));
        if !dry_run {
            record.write(&file)?;
        }
        Ok(report)
    }
}

fn bring_plugin(
    package: &Package,
    ide: &Ide,
    plugins: &Path,
    record: Option<&mut Record>,
) -> (Outcome, String) {
    if !package.fits(&ide.build) {
        return (Outcome::Skipped, "the plugin is not for this version".to_owned());
    }
    let Installed { copies, version, is_same } = install::installed(plugins, package);
    let new = package.version();
    if is_same {
        return (Outcome::Unchanged, format!("{new} is installed"));
    }
    if ide.is_running && !copies.is_empty() {
        let old = version.unwrap_or_default();
        let why = format!("it runs with {old} of the plugin; end it, and run this again");
        return (Outcome::Failed, why);
    }
    let what = match version {
        Some(old) if old != new => format!("{new} in place of {old}"),
        Some(_) => format!("{new} again"),
        None => new.to_owned(),
    };
    let note = if ide.is_running { format!("; {RESTART}") } else { String::new() };
    let Some(record) = record else {
        return (Outcome::Planned, format!("install {what}{note}"));
    };
    let brought = create_dir(plugins).and_then(|dirs| {
        let installed = install::install(plugins, package, &copies);
        if installed.is_err() {
            remove_empty(&dirs);
        }
        Ok((installed?, dirs))
    });
    match brought {
        Ok((path, dirs)) => {
            let known = record.plugins.iter().any(|brought| brought.path == path);
            if !known {
                let ide_name = format!("{} {}", ide.name, ide.version);
                let (home, id) = (ide.home.clone(), package.plugin.id.clone());
                record.plugins.push(BroughtPlugin { ide: ide_name, home, id, path, dirs });
            }
            (Outcome::Done, format!("installed {what}{note}"))
        }
        Err(error) => (Outcome::Failed, format!("{what} could not be installed: {error}")),
    }
}

fn turn_on(client: &Client, record: Option<&mut Record>) -> (Outcome, String) {
    let file = &*client.settings;
    let failed = |error: io::Error| {
        let why = format!("{error}; turn the IDE mode on yourself, by /ide enable");
        (Outcome::Failed, why)
    };
    let (before, text) = match client::plan(file) {
        Err(error) => return failed(error),
        Ok(Change::None) => return (Outcome::Unchanged, "the IDE mode is on".to_owned()),
        Ok(Change::Write { before, text }) => (before, text),
    };
    let Some(record) = record else {
        return (Outcome::Planned, "turn the IDE mode on".to_owned());
    };
    match client::write(file, &text) {
        Err(error) => failed(error),
        Ok((backup, dirs)) => {
            let kept = backup.as_ref().and_then(|backup| backup.file_name());
            let kept = kept.map(|name| format!("; what was there is in {}", name.display()));
            record.settings.retain(|brought| brought.file != file);
            record.settings.push(BroughtSetting {
                client: client.name.clone(),
                file: file.to_owned(),
                before,
                backup,
                dirs,
            });
            (Outcome::Done, format!("the IDE mode is turned on{}", kept.unwrap_or_default()))
        }
    }
}

fn take_plugin(
    machine: &Machine,
    brought: &BroughtPlugin,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let BroughtPlugin { home, id, path, dirs, .. } = brought;
    if Plugin::installed(path).is_none_or(|plugin| plugin.id != *id) {
        return Ok((Outcome::Unchanged, "the plugin is gone already".to_owned()));
    }
    if machine.runs_from(home) {
        return Err(io::Error::other("it runs with the plugin; end it, and run this again"));
    }
    if dry_run {
        return Ok((Outcome::Planned, "remove the plugin".to_owned()));
    }
    let plugins = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    install::uninstall(plugins, std::slice::from_ref(path))?;
    remove_empty(dirs);
    Ok((Outcome::Done, "the plugin is removed".to_owned()))
}

fn turn_off(brought: &BroughtSetting, dry_run: bool) -> io::Result<(Outcome, String)> {
    let BroughtSetting { file, before, backup, dirs, .. } = brought;
    let original = backup.as_ref().and_then(|backup| fs::read_to_string(backup).ok());
    let undone = match client::undone(file, *before) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        undone => undone?,
    };
    let outcome = match (&undone, dry_run) {
        (None, _) => (Outcome::Unchanged, "the IDE mode was changed since".to_owned()),
        (Some(_), true) => return Ok((Outcome::Planned, "put the IDE mode back".to_owned())),
        (Some(_), false) => (Outcome::Done, "the IDE mode is as it was".to_owned()),
    };
    if let Some(undone) = undone {
        if *before == client::Before::NoFile && same(&undone, "{}") {
            fs::remove_file(file)?;
        } else {
            let original = original.filter(|original| same(original, &undone));
            replace(file, original.as_ref().unwrap_or(&undone))?;
        }
    }
    if let Some(backup) = backup.as_ref().filter(|backup| !dry_run && backup.exists()) {
        fs::remove_file(backup)?;
    }
    remove_empty(dirs);
    Ok(outcome)
}

/// Whether two texts differ in blanks only, so that the user has changed nothing else since.
fn same(one: &str, other: &str) -> bool {
    let without = |text: &str| text.split_whitespace().collect::<String>();
    without(one) == without(other)
}
