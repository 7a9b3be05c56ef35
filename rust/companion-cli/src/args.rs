//! Parses the command line and the options of all subcommands.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, Parser, Subcommand};
use companion_protocol::settings::Settings;
use log::LevelFilter;

use crate::bridge::BridgeArgs;
use crate::changes::ChangesArgs;
use crate::container::ContainerArgs;
use crate::doctor::DoctorArgs;
use crate::documents::CompletionsArgs;
use crate::env::EnvArgs;
use crate::hook::HookArgs;
use crate::mcp::McpArgs;
use crate::output;
use crate::serve::ServeArgs;
use crate::setup::SetupArgs;

/// Connect Gemini CLI with your editor and review its edits there.
///
/// Begin with `gemini-companion setup`. If a CLI does not connect, run `gemini-companion doctor`.
#[derive(Debug, Parser)]
#[command(name = "gemini-companion", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Log level on stderr; logs never contain file contents, selections or the token.
    #[arg(long, global = true, value_name = "LEVEL", default_value = LEVEL.as_str(), value_parser = levels())]
    pub(crate) log_level: LevelFilter,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(ServeArgs),
    Setup(SetupArgs),
    Doctor(DoctorArgs),
    Changes(ChangesArgs),
    Env(EnvArgs),
    Container(ContainerArgs),
    Bridge(BridgeArgs),
    Mcp(McpArgs),
    Hook(HookArgs),
    Completions(CompletionsArgs),
    /// Print the man page.
    Man,
}

impl Args {
    /// Parses the command line. Otherwise returns the exit code, after printing the help or the error.
    pub(crate) fn parse_or_exit_code() -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| {
            let printed = error.print().and_then(|()| io::stdout().flush());
            if error.use_stderr() {
                // A CLI takes another code of a hook for a reason to block the edit.
                return if is_hook() { ExitCode::SUCCESS } else { ExitCode::from(2) };
            }
            match output::unless_closed(printed) {
                Err(error) => {
                    output::print_error(&format!("error: can't print: {error}"));
                    ExitCode::FAILURE
                }
                Ok(()) => ExitCode::SUCCESS,
            }
        })
    }
}

/// Returns whether the command line calls `hook`, though its other arguments are invalid.
fn is_hook() -> bool {
    let parsed = Args::command().ignore_errors(true).try_get_matches();
    parsed.is_ok_and(|matches| matches.subcommand_name() == Some("hook"))
}

/// Default log level, in lower case.
static LEVEL: LazyLock<String> =
    LazyLock::new(|| Settings::default().log_level.as_str().to_ascii_lowercase());

fn levels() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug", "trace"])
        .map(|level| level.parse().expect("all of these are levels"))
}
