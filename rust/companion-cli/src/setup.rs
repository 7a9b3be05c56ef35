//! Installs the parts that connect editors and clients.

mod editors;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ArgGroup;
use clap::builder::{OsStringValueParser, TypedValueParser};
use companion_client::diagnose::{
    Diagnosis, HookObstacle, Problem, Settings, hook_switches, installed, user_settings,
};
use companion_client::discover::Environment;
use companion_platform::real_path;
use companion_protocol::profile::{self, ClientProfile};
use companion_server::remove_left;
use companion_setup::{Client, Installed, Machine, Neovim, Outcome, Package, Report, Setup, Step};
use serde::Serialize;

use crate::doctor;
use crate::documents::documents;
use crate::output::{self, print_to_reader};
use crate::serve::current_folder;
use editors::{Editors, Name};

/// Connect the editors of this machine with Gemini CLI.
///
/// It installs the plugin into JetBrains IDEs from 2024.2 (not Flatpaks) and into Neovim from 0.10, and this
/// program into your folder for programs, such as ~/.local/bin. On Linux and macOS it adds completions for
/// bash and fish and a man page, where the system reads them. It turns on IDE mode in the CLI's settings
/// and installs the extension: hooks, and a tool that gives the model the editor's diagnostics. It shows the
/// plan and asks first. It changes only your own folders and keeps your files. --remove undoes it. It is
/// safe to run again: your later changes stay.
///
/// Exit code: 0 if no step failed, also if an editor was skipped, such as one that is too old; 1 if a step
/// failed, you cancelled or setup could not begin; 2 for wrong arguments; 3 if no editor was found, none of
/// that name, or no JetBrains IDE for --plugin.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("consent").args(["yes", "dry_run"]).multiple(true))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct SetupArgs {
    /// Only this editor, by its folder or the start of its name (`neovim`); repeatable.
    #[arg(value_name = "EDITOR", value_parser = OsStringValueParser::new().try_map(not_empty))]
    editors: Vec<OsString>,

    /// Zip file of the plugin [default: the newest that came with this program].
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    /// Print all changes and paths without making them.
    #[arg(long)]
    dry_run: bool,

    /// Don't ask.
    #[arg(long, short)]
    yes: bool,

    /// Remove everything that setup installed, except files that you have changed.
    ///
    /// It also removes the files that ended companions have left. With EDITOR, it removes only that editor's
    /// plugin.
    #[arg(long, conflicts_with = "plugin")]
    remove: bool,

    /// Print JSON; needs --yes or --dry-run.
    #[arg(long, requires = "consent")]
    json: bool,
}

const NEXT_STEPS: &str = "\
Next steps
  1. Open your project in the editor. Restart an editor that is already open.
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

/// Runs setup. Exits with 0 if all is set up, with 1 if a step failed or the user cancels, and with 3
/// if there is no editor to install into.
pub(crate) fn setup(args: &SetupArgs) -> Result<ExitCode, Box<dyn Error>> {
    let machine = Machine::current().ok_or("no home folder; set HOME")?;
    machine.check_home()?;
    let environment = Environment::current(profile::ALL[0], current_folder()?);
    let run = Run { args, installed: installed(&environment), environment };
    if args.remove {
        if let Err(why) = args.check_removal(&machine)? {
            return Ok(no_editor(&why));
        }
        return run.finish(|| args.remove(&machine, true), |_| args.remove(&machine, false));
    }
    let editors = match Editors::find(&machine, &args.editors) {
        Ok(editors) => editors,
        Err(why) => return Ok(no_editor(&why)),
    };
    let program = real_path(&std::env::current_exe()?);
    let package = args.package(&program)?;
    let documents = documents()?;
    let setup = Setup {
        machine: &machine,
        ides: &editors.ides,
        package: package.as_ref().map(Option::as_ref).map_err(String::as_str),
        program: Some(&program),
        documents: Some(&documents),
        neovim: editors.neovim.as_ref(),
        is_named: !args.editors.is_empty(),
        clients: &run.clients(),
    };
    let carry_out = |with_neovim: bool| {
        let neovim = setup.neovim.filter(|_| with_neovim);
        Setup { neovim, ..setup }.carry_out()
    };
    let code = run.finish(|| setup.plan(), carry_out)?;
    if code == ExitCode::SUCCESS
        && let Some(missing) = args.missing_editor(&editors)
    {
        output::print_error(&format!(
            "{missing}. To name an IDE's folder: gemini-companion setup DIR"
        ));
        return Ok(ExitCode::from(NO_EDITOR));
    }
    Ok(code)
}

/// The exit code if there is no such editor.
const NO_EDITOR: u8 = 3;

/// Reports a name that fits no editor, and returns the exit code.
fn no_editor(why: &str) -> ExitCode {
    output::print_error(&format!("error: {why}. Nothing was changed"));
    ExitCode::from(NO_EDITOR)
}

fn not_empty(name: OsString) -> Result<OsString, &'static str> {
    if name.is_empty() { Err("name an editor or a folder") } else { Ok(name) }
}

impl SetupArgs {
    /// Returns the plugin's zip, if there is one, or why it can't be used. Fails only for a zip
    /// that the user named.
    fn package(&self, program: &Path) -> Result<Result<Option<Package>, String>, String> {
        if let Some(named) = &self.plugin {
            return Package::open(named)
                .map(|package| Ok(Some(package)))
                .map_err(|error| error.to_string());
        }
        // The npm package has the program and the zip in two folders.
        let dir = std::env::var_os("GEMINI_COMPANION_PACKAGE");
        Ok(Package::find(dir.as_deref().map(Path::new), program).map_err(|error| error.to_string()))
    }

    /// Reports an editor that the user expects here, and that was not found.
    fn missing_editor(&self, found: &Editors) -> Option<&'static str> {
        if !found.ides.is_empty() {
            None
        } else if found.neovim.is_none() {
            Some("Neither a JetBrains IDE nor Neovim was found")
        } else if self.plugin.is_some() && self.editors.is_empty() {
            Some("No JetBrains IDE was found, so its plugin was not installed")
        } else {
            None
        }
    }

    /// Returns why nothing can be removed, if a name fits neither an installed item nor an editor.
    fn check_removal(&self, machine: &Machine) -> io::Result<Result<(), String>> {
        let installed = Setup::installed(machine)?;
        for name in &self.editors {
            let is_installed = installed.iter().any(|item| Name::new(name).is(item));
            if !is_installed && let Err(why) = Editors::find(machine, std::slice::from_ref(name)) {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Removes what setup installed, and the files of companions that have ended.
    fn remove(&self, machine: &Machine, dry_run: bool) -> io::Result<Report> {
        let names: Vec<_> = self.editors.iter().map(Name::new).collect();
        if !names.is_empty() {
            let is_meant = |item: &Installed| names.iter().any(|name| name.is(item));
            return Setup::remove(machine, is_meant, dry_run);
        }
        // First, because setup removes the folder above, if it created that.
        let left = remove_left(dry_run);
        let mut report = Setup::remove(machine, |_| true, dry_run)?;
        for (path, removed) in left {
            let (outcome, message) = match removed {
                Ok(()) if dry_run => (
                    Outcome::Planned,
                    "remove their files, with any tokens and waiting comments".to_owned(),
                ),
                Ok(()) => (Outcome::Done, "removed their files".to_owned()),
                Err(error) => (Outcome::Failed, format!("their files can't be removed: {error}")),
            };
            let subject = "Ended companions".to_owned();
            report.steps.push(Step { subject, outcome, message, path });
        }
        Ok(report)
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
        let client = |profile: &&'static ClientProfile| {
            let environment = self.environment.with_profile(profile);
            let settings = user_settings(&environment);
            let extensions = settings.parent().map(|folder| folder.join("extensions"));
            let obstacles = hook_switches(&environment, Settings::read(&environment).ok().as_ref());
            let refuses_copies = obstacles.iter().find_map(|obstacle| match obstacle {
                HookObstacle::SourceNotAllowed(setting, file, _) => Some(format!(
                    "{} would not start with it: {setting} in {} allows only extensions with a known \
                     source",
                    profile.name,
                    file.display()
                )),
                _ => None,
            });
            let hooks_off = obstacles.first().map(|obstacle| obstacle.reason(profile));
            let name = profile.name.to_owned();
            let allows_bom = profile.installation.allows_bom;
            Client { name, settings, allows_bom, extensions, hooks_off, refuses_copies }
        };
        self.installed.iter().map(client).collect()
    }

    /// Shows the plan, asks the user, and carries it out, with or without the Neovim plugin.
    fn finish(
        &self,
        plan: impl FnOnce() -> io::Result<Report>,
        carry_out: impl FnOnce(bool) -> io::Result<Report>,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let mut with_neovim = true;
        if !self.args.yes || self.args.dry_run {
            let plan = plan()?;
            if self.args.dry_run {
                self.print(&plan, None)?;
                return Ok(code(&plan));
            }
            if plan.has(Outcome::Planned) {
                self.print(&plan, None)?;
                let Some(answer) = self.ask(&plan)? else {
                    print_to_reader("Cancelled. Nothing was changed.\n")?;
                    return Ok(ExitCode::FAILURE);
                };
                with_neovim = answer;
            }
        }
        let report = carry_out(with_neovim)?;
        let clients = if self.args.remove { Vec::new() } else { self.installed.clone() };
        self.print(&report, Some(doctor::diagnoses(&self.environment, clients)))?;
        Ok(code(&report))
    }

    /// Returns whether the user wants the Neovim plugin, or `None` if the user cancels setup.
    fn ask(&self, plan: &Report) -> Result<Option<bool>, Box<dyn Error>> {
        if !io::stdin().is_terminal() {
            return Err(
                "stdin is not a terminal, so setup can't ask. Nothing was changed. Pass --yes \
                        or --dry-run"
                    .into(),
            );
        }
        if answer("Continue?")? != Some(true) {
            return Ok(None);
        }
        let planned = plan.steps.iter().filter(|step| step.outcome == Outcome::Planned);
        let (neovim, others): (Vec<_>, Vec<_>) =
            planned.partition(|step| step.subject == Neovim::NAME);
        let is_chosen = self.args.remove || !self.args.editors.is_empty();
        if is_chosen || neovim.is_empty() || others.is_empty() {
            return Ok(Some(true));
        }
        Ok(answer("Install the Neovim plugin, too?")?)
    }

    /// Prints a plan, or the report of a run with the diagnoses after it.
    fn print(&self, report: &Report, diagnoses: Option<Vec<Diagnosis>>) -> io::Result<()> {
        if self.args.json {
            let report = JsonReport { report, doctor: diagnoses.unwrap_or_default() };
            return print_to_reader(&output::json(&report)?);
        }
        if self.args.remove && report.steps.is_empty() {
            return print_to_reader("Nothing to remove.\n");
        }
        let end = match diagnoses {
            None => String::new(),
            Some(_) if report.has(Outcome::Failed) => {
                "\nSome steps failed. Correct the causes, and run this again.\n".to_owned()
            }
            Some(diagnoses)
                if diagnoses.iter().any(|one| one.problem.is_some_and(Problem::needs_editor)) =>
            {
                if report.has_editor {
                    format!("\n{NEXT_STEPS}")
                } else {
                    "\nNo editor has the plugin yet.\n".to_owned()
                }
            }
            Some(diagnoses) if diagnoses.is_empty() => String::new(),
            Some(diagnoses) => format!("\n{}", doctor::text(&diagnoses)),
        };
        // The name of an editor must not control the user's terminal.
        print_to_reader(&output::escaped(&format!("{report}{end}")))
    }
}

fn code(report: &Report) -> ExitCode {
    if report.has(Outcome::Failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Asks a question. Returns `None` if stdin ends.
fn answer(question: &str) -> io::Result<Option<bool>> {
    print_to_reader(&format!("{question} [Y/n] "))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        print_to_reader("\n")?;
        return Ok(None);
    }
    Ok(Some(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")))
}
