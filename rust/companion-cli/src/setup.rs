//! `gemini-companion setup`: what connects IDEs and clients is installed.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use companion_client::diagnose::{Diagnosis, installed, user_settings};
use companion_client::discover::Environment;
use companion_protocol::dialect::{self, Dialect};
use companion_setup::{Client, Ide, Machine, Outcome, Package, Report, Setup};
use serde::Serialize;

use crate::doctor;

/// Connect the JetBrains IDEs of this machine with Gemini CLI.
///
/// It installs the plugin into all IDEs that it finds and that it fits (2024.2 and newer), turns on
/// the IDE mode in Gemini CLI's settings, and ends with what doctor says. It shows first what it
/// would do, and asks. It writes into your own folders only, keeps what was there, and can take all
/// of it away again. Run twice, it changes nothing.
///
/// It exits with 0 if all is set up, with 1 if something could not be done, and with 3 if there is
/// no IDE.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct SetupArgs {
    /// Install into this IDE only, by its folder or by what its name begins with; may be given
    /// several times.
    #[arg(value_name = "IDE")]
    ides: Vec<String>,

    /// The plugin's zip [default: the one that came with this program].
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    /// Say what would be done, with every path, and change nothing.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,

    /// Take away what setup has brought, and no more.
    #[arg(long, conflicts_with_all = ["ides", "plugin"])]
    remove: bool,

    /// Print JSON, for programs; implies --yes.
    #[arg(long)]
    json: bool,
}

/// What a program is told.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doctor: Vec<Diagnosis>,
}

/// Exits with 0 if all is set up, with 1 if something could not be done, and with 3 if there is no
/// IDE to install into.
pub(crate) fn setup(args: &SetupArgs) -> Result<ExitCode, Box<dyn Error>> {
    let machine = Machine::current().ok_or("the environment names no home folder; set HOME")?;
    let environment = Environment::current(dialect::ALL[0], std::env::current_dir()?);
    let run = Run { args, installed: installed(&environment), environment };
    let clients = run.clients();
    let setup = Setup { machine: &machine, clients: &clients };
    if args.remove {
        return run.finish(|| setup.remove(true), || setup.remove(false));
    }
    let package = package(args.plugin.as_deref())?;
    let ides = args.ides(&machine);
    let plan = || Ok(setup.plan(&package, &ides));
    let code = run.finish(plan, || setup.carry_out(&package, &ides))?;
    if ides.is_empty() {
        let which = if args.ides.is_empty() { "" } else { " of that name" };
        eprintln!("No JetBrains IDE{which} was found. Name its folder: gemini-companion setup DIR");
        return Ok(ExitCode::from(3));
    }
    Ok(code)
}

impl SetupArgs {
    /// The IDEs that are meant.
    fn ides(&self, machine: &Machine) -> Vec<Ide> {
        let mut ides = Ide::find(machine);
        if self.ides.is_empty() {
            return ides;
        }
        let dirs: Vec<_> =
            self.ides.iter().filter_map(|ide| Path::new(ide).canonicalize().ok()).collect();
        for ide in dirs.iter().filter_map(|dir| Ide::at(machine, dir)) {
            if !ides.iter().any(|known| known.home == ide.home) {
                ides.push(ide);
            }
        }
        ides.retain(|ide| {
            let title = format!("{} {}", ide.name, ide.version).to_lowercase();
            self.ides.iter().any(|name| title.starts_with(&name.to_lowercase()))
                || dirs.iter().any(|dir| ide.home.starts_with(dir))
        });
        ides
    }
}

/// The plugin's zip.
fn package(named: Option<&Path>) -> Result<Package, Box<dyn Error>> {
    if let Some(file) = named {
        return Ok(Package::open(file)?);
    }
    let program = std::env::current_exe()?;
    let program = program.canonicalize().unwrap_or(program);
    // The package for npm has the program and the zip in two folders.
    let package = std::env::var_os("GEMINI_COMPANION_PACKAGE");
    let Some(file) = Package::find(package.as_deref().map(Path::new), &program) else {
        return Err(
            "the plugin's zip did not come with this program; name it: --plugin FILE".into()
        );
    };
    Ok(Package::open(&file)?)
}

/// What is asked for, and where.
struct Run<'a> {
    args: &'a SetupArgs,
    environment: Environment,
    installed: Vec<&'static Dialect>,
}

impl Run<'_> {
    fn clients(&self) -> Vec<Client> {
        let client = |dialect: &&'static Dialect| Client {
            name: dialect.name.to_owned(),
            settings: user_settings(&self.environment.with_dialect(dialect)),
        };
        self.installed.iter().map(client).collect()
    }

    /// Shows what would be done, asks, and does it.
    fn finish(
        &self,
        plan: impl FnOnce() -> io::Result<Report>,
        carry_out: impl FnOnce() -> io::Result<Report>,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let SetupArgs { dry_run, yes, json, .. } = *self.args;
        if dry_run || !(yes || json) {
            let plan = plan()?;
            if dry_run {
                self.tell(&plan)?;
                return Ok(code(&plan));
            }
            if plan.has(Outcome::Planned) {
                self.tell(&plan)?;
                if !io::stdin().is_terminal() {
                    return Err("nobody is there to be asked; say --yes, or --dry-run".into());
                }
                if !agrees()? {
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
        let report = carry_out()?;
        self.tell(&report)?;
        Ok(code(&report))
    }

    /// Prints a report, and in the end what doctor says.
    fn tell(&self, report: &Report) -> Result<(), Box<dyn Error>> {
        let is_over = !self.args.remove && !report.has(Outcome::Planned);
        let clients = if is_over { self.installed.clone() } else { Vec::new() };
        let doctor = doctor::diagnoses(&self.environment, clients);
        let text = if self.args.json {
            serde_json::to_string_pretty(&Told { report, doctor })? + "\n"
        } else {
            let blank = if is_over { "\n" } else { "" };
            format!("{report}{blank}{}", doctor::text(&doctor))
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(())
    }
}

fn code(report: &Report) -> ExitCode {
    if report.has(Outcome::Failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn agrees() -> io::Result<bool> {
    let mut out = io::stdout();
    write!(out, "Do this? [Y/n] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes") && answer.ends_with('\n'))
}
