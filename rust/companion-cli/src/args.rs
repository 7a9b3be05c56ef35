//! The command line: what is common to all subcommands. Each owns its own arguments.

use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use companion_protocol::settings::Settings;
use log::LevelFilter;

use crate::bridge::BridgeArgs;
use crate::container::ContainerArgs;
use crate::doctor::DoctorArgs;
use crate::env::EnvArgs;
use crate::hook::HookArgs;
use crate::mcp::McpArgs;
use crate::serve::ServeArgs;
use crate::setup::SetupArgs;

/// Lets Gemini CLI see your editor and review its edits there.
///
/// Run `gemini-companion serve --help` to see how an editor starts it.
#[derive(Debug, Parser)]
#[command(name = "gemini-companion", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// How much is written to stderr; never file contents, selections or the token.
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
    Env(EnvArgs),
    Container(ContainerArgs),
    Bridge(BridgeArgs),
    Mcp(McpArgs),
    Hook(HookArgs),
}

/// The usual one, as users write it.
static LEVEL: LazyLock<String> =
    LazyLock::new(|| Settings::default().log_level.as_str().to_ascii_lowercase());

fn levels() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug", "trace"])
        .map(|level| level.parse().expect("all of these are levels"))
}
