//! Installs the parts that connect editors and clients.

use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use companion_client::diagnose::{Diagnosis, Problem, installed, user_settings};
use companion_client::discover::Environment;
use companion_protocol::dialect::{self, ClientProfile};
use companion_server::remove_left;
use companion_setup::{
    Client, Ide, Machine, Neovim, Outcome, Package, PackageError, Report, Setup, Step,
};
use serde::Serialize;

use crate::doctor;

/// Connect the editors of this machine with Gemini CLI.
///
/// It installs the plugin into all JetBrains IDEs from 2024.2 and into Neovim from 0.10, and this
/// program into the PATH. It turns on the IDE mode in the CLI's settings and installs the extension:
/// hooks, and the editor's diagnostics for the model. It shows the plan and asks first. It changes only
/// your own folders and keeps your files, and --remove undoes it. It is safe to run again.
///
/// Exit code: 0 if all is set up, 1 if a step failed, 3 if there is no editor.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct SetupArgs {
    /// Install into this editor only, by its folder or the start of its name (`neovim`); repeatable.
    #[arg(value_name = "EDITOR")]
    editors: Vec<String>,

    /// Zip file of the plugin [default: the one that comes with this program].
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    /// Print all changes and paths without making them.
    #[arg(long)]
    dry_run: bool,

    /// Don't ask.
    #[arg(long, short)]
    yes: bool,

    /// Remove everything that setup installed, and the resume files of killed companions.
    #[arg(long, conflicts_with_all = ["editors", "plugin"])]
    remove: bool,

    /// Print JSON; implies --yes.
    #[arg(long)]
    json: bool,
}

const NEXT_STEPS: &str = "\
Next steps
  1. Open your project in the editor. Restart an IDE that is already open.
  2. In the editor's terminal, in the folder of the project, run gemini (or qwen).
  3. If /ide status does not show a connection, type /ide enable. gemini-companion doctor explains why.
";

/// The JSON output.
#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    doctor: Vec<Diagnosis>,
}

/// Runs setup. Exits with 0 if all is set up, with 1 if a step failed, and with 3 if there is no
/// editor to install into.
pub(crate) fn setup(args: &SetupArgs) -> Result<ExitCode, Box<dyn Error>> {
    let machine = Machine::current().ok_or("no home folder; set HOME")?;
    machine.check_home()?;
    let environment = Environment::current(dialect::ALL[0], std::env::current_dir()?);
    let run = Run { args, installed: installed(&environment), environment };
    if args.remove {
        return run.finish(|| remove(&machine, true), |_| remove(&machine, false));
    }
    let program = std::env::current_exe()?;
    let program = program.canonicalize().unwrap_or(program);
    let ides = args.ides(&machine);
    let neovim = args.neovim(&machine);
    let package = args.package(&program)?;
    let setup = Setup {
        machine: &machine,
        ides: &ides,
        package: package.as_ref().map(Option::as_ref).map_err(String::as_str),
        program: Some(&program),
        neovim: neovim.as_ref(),
        clients: &run.clients(),
    };
    let carry_out = |with_neovim: bool| {
        let neovim = setup.neovim.filter(|_| with_neovim);
        Setup { neovim, ..setup }.carry_out()
    };
    let code = run.finish(|| setup.plan(), carry_out)?;
    if ides.is_empty() && neovim.is_none() {
        let which = if args.editors.is_empty() { "" } else { " of that name" };
        eprintln!(
            "Neither a JetBrains IDE{which} nor Neovim was found. Name an IDE's folder: \
             gemini-companion setup DIR"
        );
        return Ok(ExitCode::from(3));
    }
    Ok(code)
}

impl SetupArgs {
    /// Returns the selected IDEs.
    fn ides(&self, machine: &Machine) -> Vec<Ide> {
        let mut ides = Ide::find(machine);
        if self.editors.is_empty() {
            return ides;
        }
        let dirs: Vec<_> =
            self.editors.iter().filter_map(|name| Path::new(name).canonicalize().ok()).collect();
        for ide in dirs.iter().filter_map(|dir| Ide::at(machine, dir)) {
            if !ides.iter().any(|known| known.home == ide.home) {
                ides.push(ide);
            }
        }
        ides.retain(|ide| {
            self.names(&ide.title()) || dirs.iter().any(|dir| ide.home.starts_with(dir))
        });
        ides
    }

    /// Returns Neovim, if it is selected.
    fn neovim(&self, machine: &Machine) -> Option<Neovim> {
        let is_meant = self.editors.is_empty() || self.names(Neovim::NAME) || self.names("nvim");
        Neovim::find(machine).filter(|_| is_meant)
    }

    /// Returns the plugin's zip, if there is one, or why it can't be used. Fails only for a zip
    /// that the user named.
    fn package(&self, program: &Path) -> Result<Result<Option<Package>, String>, PackageError> {
        if let Some(named) = &self.plugin {
            return Package::open(named).map(|package| Ok(Some(package)));
        }
        // The npm package has the program and the zip in two folders.
        let dir = std::env::var_os("GEMINI_COMPANION_PACKAGE");
        let found = Package::find(dir.as_deref().map(Path::new), program);
        let package = found.map(|file| Package::open(&file)).transpose();
        Ok(package.map_err(|error| error.to_string()))
    }

    /// Returns whether the user named an editor with that title.
    fn names(&self, title: &str) -> bool {
        let title = title.to_lowercase();
        self.editors.iter().any(|name| title.starts_with(&name.to_lowercase()))
    }
}

/// The options of setup, and the environment.
struct Run<'a> {
    args: &'a SetupArgs,
    environment: Environment,
    installed: Vec<&'static ClientProfile>,
}

impl Run<'_> {
    fn clients(&self) -> Vec<Client> {
        let client = |dialect: &&'static ClientProfile| {
            let settings = user_settings(&self.environment.with_dialect(dialect));
            let extensions = settings.parent().map(|folder| folder.join("extensions"));
            Client { name: dialect.name.to_owned(), settings, extensions }
        };
        self.installed.iter().map(client).collect()
    }

    /// Shows the plan, asks the user, and carries it out, with or without the Neovim plugin.
    fn finish(
        &self,
        plan: impl FnOnce() -> io::Result<Report>,
        carry_out: impl FnOnce(bool) -> io::Result<Report>,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let SetupArgs { dry_run, yes, json, .. } = *self.args;
        let mut with_neovim = true;
        if dry_run || !(yes || json) {
            let plan = plan()?;
            if dry_run {
                self.tell(&plan)?;
                return Ok(code(&plan));
            }
            if plan.has(Outcome::Planned) {
                self.tell(&plan)?;
                match self.ask(&plan)? {
                    Some(answer) => with_neovim = answer,
                    None => return Ok(ExitCode::FAILURE),
                }
            }
        }
        let report = carry_out(with_neovim)?;
        self.tell(&report)?;
        Ok(code(&report))
    }

    /// Returns whether the user wants the Neovim plugin, or `None` if the user cancels setup.
    fn ask(&self, plan: &Report) -> Result<Option<bool>, Box<dyn Error>> {
        if !io::stdin().is_terminal() {
            return Err("stdin is not a terminal; pass --yes or --dry-run".into());
        }
        let planned = plan.steps.iter().filter(|step| step.outcome == Outcome::Planned);
        let (neovim, others): (Vec<_>, Vec<_>) =
            planned.partition(|step| !self.args.remove && step.subject == Neovim::NAME);
        let with_neovim = neovim.is_empty() || agrees("Neovim, too?")?;
        let is_wanted = others.is_empty() || agrees("Do this?")?;
        Ok(is_wanted.then_some(with_neovim))
    }

    /// Prints a report, followed by doctor's result.
    fn tell(&self, report: &Report) -> Result<(), Box<dyn Error>> {
        let is_over = !self.args.remove && !report.has(Outcome::Planned);
        let clients = if is_over { self.installed.clone() } else { Vec::new() };
        let doctor = doctor::diagnoses(&self.environment, clients);
        let text = if self.args.json {
            serde_json::to_string_pretty(&JsonReport { report, doctor })? + "\n"
        } else {
            let end = match &*doctor {
                [] => String::new(),
                diagnoses if diagnoses.iter().any(is_for_later) => "\n".to_owned() + NEXT_STEPS,
                diagnoses => "\n".to_owned() + &doctor::text(diagnoses),
            };
            format!("{report}{end}")
        };
        io::stdout().write_all(text.as_bytes())?;
        Ok(())
    }
}

/// Removes everything that setup installed, and the resume files of killed companions.
fn remove(machine: &Machine, dry_run: bool) -> io::Result<Report> {
    let mut report = Setup::remove(machine, dry_run)?;
    if let Some(path) = remove_left(dry_run)? {
        let (outcome, message) = if dry_run {
            (Outcome::Planned, "remove their files, which contain tokens")
        } else {
            (Outcome::Done, "their files are removed")
        };
        let subject = "Killed companions".to_owned();
        report.steps.push(Step { subject, outcome, message: message.to_owned(), path });
    }
    Ok(report)
}

/// Returns whether a client fails to connect only because no editor has its folder open yet.
fn is_for_later(diagnosis: &Diagnosis) -> bool {
    let problem = diagnosis.problem;
    problem.is_some_and(|problem| {
        matches!(
            problem,
            Problem::UnknownTerminal
                | Problem::NoCompanion
                | Problem::NoFolder
                | Problem::OtherFolder
        )
    })
}

fn code(report: &Report) -> ExitCode {
    if report.has(Outcome::Failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn agrees(question: &str) -> io::Result<bool> {
    let mut out = io::stdout();
    write!(out, "{question} [Y/n] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes") && answer.ends_with('\n'))
}
