//! Runs a container command with the options that the CLI in it needs.

mod command;
mod prepare;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use companion_client::discover::Environment;
use companion_platform::{listens_on_loopback_only, quote, run_instead};
use companion_protocol::profile::{self, ClientProfile};

use crate::clients;
use crate::output;
use crate::running::{Running, Variables};
use crate::serve::folder;
use command::Invocation;
use prepare::{ContainerOptions, Prepared, prepare};

/// Start a container that connects Gemini CLI with the companion.
///
/// Write it in front of your own command:
///
///   gemini-companion container -- docker run --rm -it IMAGE gemini
///
/// It adds only missing options: variables, the host's name, mounts of the editor's folders, of the .git
/// folder of a linked worktree and, for Qwen Code, of its discovery file, and the working folder. The
/// token is not on the command line. Your own options stay. It supports docker, podman and nerdctl with
/// run and create, on Windows only in WSL. With exec and compose run it adds the variables alone. It exits
/// with the command's code.
///
/// The companion must listen on an address that the container can reach: see serve --listen.
#[derive(Debug, clap::Args)]
pub(crate) struct ContainerArgs {
    /// Project folder of the companion, and working folder in the container.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// Connect through a bridge in the container.
    ///
    /// The bridge translates paths if your command mounts the project at another path. PROGRAM is a
    /// gemini-companion that runs in the image; the default is this program.
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "an option with an optional value")]
    pub(crate) bridge: Option<Option<PathBuf>>,

    /// CLI to connect [default: the one in your command, else all that find a companion].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients::parser())]
    pub(crate) client: Vec<&'static ClientProfile>,

    /// Run the command unchanged, without the editor.
    #[arg(long, conflicts_with = "bridge")]
    pub(crate) no_ide: bool,

    /// Print the command without running it; the token is shown as ***.
    #[arg(long)]
    pub(crate) print: bool,

    /// Container command, after --.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Starts the command, or prints it. Returns the command's exit code.
pub(crate) fn container(args: &ContainerArgs) -> Result<ExitCode, Box<dyn Error>> {
    let prepared = if args.no_ide {
        Prepared { words: args.command.clone(), variables: Variables::new(), notes: Vec::new() }
    } else {
        with_companion(args)?
    };
    for note in &prepared.notes {
        output::print_error(&format!("gemini-companion: {note}"));
    }
    if args.print {
        output::print(&shown(&prepared))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = Command::new(&prepared.words[0]);
    command.args(&prepared.words[1..]);
    // Removes the terminal's own variables, unless the container needs them. Otherwise the user's
    // `--env` could pass them on.
    for name in profile::ALL.iter().flat_map(|profile| profile.variables.names()) {
        command.env_remove(name);
    }
    // The command line has only the names, because every user of this machine can read it.
    command.envs(&prepared.variables);
    crate::logging::flush();
    run_instead(command).map_err(|error| {
        format!("can't start {}: {error}", prepared.words[0].to_string_lossy()).into()
    })
}

fn with_companion(args: &ContainerArgs) -> Result<Prepared, Box<dyn Error>> {
    let invocation = Invocation::parse(&args.command)?;
    let clients = clients(args);
    let environment = Environment::current(clients[0], folder(&args.workspace)?);
    let running = Running::find_all(&environment, &clients)?;
    let bridge = match &args.bridge {
        Some(Some(program)) => Some(std::path::absolute(program)?),
        Some(None) if !cfg!(target_os = "linux") => {
            return Err("this program can't run in a Linux container; pass a Linux build with \
                        --bridge=PROGRAM"
                .into());
        }
        Some(None) => Some(std::env::current_exe()?),
        None => None,
    };
    let options = ContainerOptions {
        folder: environment.cwd,
        bridge,
        loopback_only: listens_on_loopback_only(running[0].endpoint.port).unwrap_or(false),
        needs_labels: is_selinux_enforced(),
    };
    Ok(prepare(&invocation, &running, &options)?)
}

/// Returns the selected clients, or else the one that the command starts, or else all.
fn clients(args: &ContainerArgs) -> Vec<&'static ClientProfile> {
    let is_named = |profile: &&ClientProfile| args.command.iter().any(|word| word == profile.id);
    let named: Vec<_> = profile::ALL.into_iter().filter(is_named).collect();
    clients::or_all(if args.client.is_empty() { &named } else { &args.client })
}

fn is_selinux_enforced() -> bool {
    std::fs::read_to_string("/sys/fs/selinux/enforce").is_ok_and(|mode| mode.trim() == "1")
}

fn is_token(name: &str) -> bool {
    profile::ALL.iter().any(|profile| profile.variables.auth_token == Some(name))
}

/// Returns the command as a user would type it, without the token.
fn shown(prepared: &Prepared) -> String {
    let variables = prepared.variables.iter().map(|(name, value)| match *name {
        name if is_token(name) => format!("{name}=***"),
        name => format!("{name}={}", quote::word(value)),
    });
    let words = prepared.words.iter().map(|word| quote::word(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ") + "\n"
}
