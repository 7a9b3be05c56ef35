//! Reports why clients do or do not connect, and how to fix it.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use companion_client::diagnose::{Diagnosis, Facts, Finding, Level, Subject, diagnose, installed};
use companion_client::discover::Environment;
use companion_platform::quote;
use companion_protocol::profile::{self, ClientProfile};
use companion_setup::{Ide, Machine, Neovim};

use crate::clients;
use crate::output;
use crate::serve::folder;

/// Check why Gemini CLI does not connect, and suggest fixes.
///
/// Run it where you run gemini: in the same terminal, folder and container. It searches for
/// companions by the CLI's own rules and tries each connection. It also checks whether the CLI runs
/// the companion's hooks, and lists the features that do not work without them. The output contains
/// no token and no file contents, so you can put it into a bug report.
///
/// Exit code: 0 if each checked CLI would connect, even without hooks; 2 after wrong arguments; otherwise 1.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Folder that Gemini CLI runs in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// Print JSON: a list with one object per CLI.
    #[arg(long)]
    pub(crate) json: bool,

    /// CLI to check [default: all that are installed, or else Gemini CLI].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients::parser())]
    pub(crate) client: Vec<&'static ClientProfile>,
}

/// Prints a diagnosis for each selected client, or else for each installed one. Succeeds if all of
/// them would connect.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Box<dyn Error>> {
    let environment = Environment::current(profile::ALL[0], folder(&args.workspace)?);
    let clients =
        if args.client.is_empty() { installed(&environment) } else { args.client.clone() };
    let diagnoses = diagnoses(&environment, clients);
    let text = if args.json { output::json(&diagnoses)? } else { text(&diagnoses) };
    output::print(&text)?;
    let all = diagnoses.iter().all(|diagnosis| diagnosis.connects);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns a diagnosis for each client.
pub(crate) fn diagnoses(
    environment: &Environment,
    clients: Vec<&'static ClientProfile>,
) -> Vec<Diagnosis> {
    let diagnosis = |client| {
        let facts = Facts::gather(environment.with_profile(client));
        let mut diagnosis = diagnose(&facts);
        let has_companion = facts.plan.search.candidates.iter().any(|one| one.alive);
        diagnosis.evidence.extend(editors(has_companion));
        diagnosis
    };
    clients.into_iter().map(diagnosis).collect()
}

/// Reports the plugins of the editors on this machine.
fn editors(has_companion: bool) -> Vec<Finding> {
    let Some(machine) = Machine::current() else { return Vec::new() };
    let missing = |editor: &str| {
        let name = quote::word(&editor.to_lowercase());
        (
            Level::Note,
            format!("setup has not installed the plugin; run gemini-companion setup {name}"),
        )
    };
    let ides = Ide::find(&machine).into_iter().map(|ide| {
        let (level, text) = match (ide.plugin(&machine), ide.too_old()) {
            (None, Some(old)) => (Level::Note, old),
            (None, None) => missing(&ide.name),
            (Some(_), _) if ide.is_running && !has_companion => {
                let why = "it runs, but no companion does; restart it, and open a project";
                (Level::Note, why.to_owned())
            }
            (Some(version), _) => {
                (Level::Good, format!("the plugin is installed, version {version}"))
            }
        };
        (level, format!("{}: {text}", ide.title()))
    });
    let neovim = Neovim::find(&machine).map(|neovim| {
        let (level, text) = match neovim.too_old() {
            Some(why) => (Level::Note, why),
            None if neovim.has_plugin() => (Level::Good, "the plugin is installed".to_owned()),
            None => missing(Neovim::NAME),
        };
        (level, format!("{}: {text}", Neovim::NAME))
    });
    let finding = |(level, text)| Finding { subject: Subject::Editors, level, text };
    ides.chain(neovim).map(finding).collect()
}

/// Returns the diagnoses as text. The name of a folder or an editor must not control the user's terminal.
pub(crate) fn text(diagnoses: &[Diagnosis]) -> String {
    let texts: Vec<_> = diagnoses.iter().map(Diagnosis::to_string).collect();
    output::escaped(&texts.join("\n\n"))
}
