//! Parses the command line and the options of all subcommands.

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

/// Connect Gemini CLI with your editor and review its edits there.
///
/// See `gemini-companion serve --help` for how an editor starts the companion.
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
    Env(EnvArgs),
    Container(ContainerArgs),
    Bridge(BridgeArgs),
    Mcp(McpArgs),
    Hook(HookArgs),
}

/// Default log level, in lower case.
static LEVEL: LazyLock<String> =
    LazyLock::new(|| Settings::default().log_level.as_str().to_ascii_lowercase());

fn levels() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug", "trace"])
        .map(|level| level.parse().expect("all of these are levels"))
}
