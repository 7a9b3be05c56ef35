//! `gemini-companion container`: a container command with what the CLI in it needs, and no more.

mod command;
mod listening;
mod prepare;

use std::error::Error;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

use companion_client::discover::Environment;
use companion_platform::run_instead;
use companion_protocol::dialect::GEMINI;

use crate::args::ContainerArgs;
use crate::quote;
use crate::running::{Running, Variables};
use crate::serve::folder;
use command::Invocation;
use prepare::{Prepared, Wishes, prepare};

/// Starts the command, or prints it. It ends as the command does.
pub(crate) fn container(args: &ContainerArgs) -> Result<ExitCode, Box<dyn Error>> {
    let prepared = if args.no_ide {
        Prepared { words: args.command.clone(), variables: Variables::new(), notes: Vec::new() }
    } else {
        with_companion(args)?
    };
    for note in &prepared.notes {
        eprintln!("gemini-companion: {note}");
    }
    if args.print {
        io::stdout().write_all(shown(&prepared).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = Command::new(&prepared.words[0]);
    command.args(&prepared.words[1..]);
    // What the terminal has for itself. Unless the container gets it, too, it goes, so that not even
    // an `--env` of the user's hands it on.
    for name in GEMINI.variables.names() {
        command.env_remove(name);
    }
    // By their names only on the command line: everybody on this machine can read that.
    command.envs(&prepared.variables);
    run_instead(command)
        .map_err(|error| format!("can't start {}: {error}", prepared.words[0]).into())
}

fn with_companion(args: &ContainerArgs) -> Result<Prepared, Box<dyn Error>> {
    let invocation = Invocation::parse(&args.command)?;
    let environment = Environment::current(&GEMINI, folder(&args.workspace)?);
    let running = Running::find(&environment)?;
    let bridge = match &args.bridge {
        Some(Some(program)) => Some(std::path::absolute(program)?),
        Some(None) if !cfg!(target_os = "linux") => {
            return Err("this program does not run in a Linux container; give one that does, \
                        --bridge=PROGRAM"
                .into());
        }
        Some(None) => Some(std::env::current_exe()?),
        None => None,
    };
    let wishes = Wishes {
        folder: environment.cwd,
        bridge,
        loopback_only: listening::loopback_only(running.port).unwrap_or(false),
    };
    Ok(prepare(&invocation, &running, &wishes)?)
}

/// As one would type it; the token is left out.
fn shown(prepared: &Prepared) -> String {
    let variables = prepared.variables.iter().map(|(name, value)| match *name {
        name if name == GEMINI.variables.auth_token => format!("{name}=***"),
        name => format!("{name}={}", quote::word(value)),
    });
    let words = prepared.words.iter().map(|word| quote::word(word));
    variables.chain(words).collect::<Vec<_>>().join(" ") + "\n"
}
