//! Runs `gemini-companion`, a companion for Gemini CLI, for any editor that can start a program.

mod args;
mod bridge;
mod changes;
mod clients;
mod container;
mod doctor;
mod documents;
mod editor_connection;
mod env;
mod find;
mod hook;
mod logging;
mod mcp;
mod output;
mod programs;
mod raw;
mod running;
mod serve;
mod setup;
mod stdio;

use std::error::Error;
use std::io;
use std::process::ExitCode;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = match Args::parse_or_exit_code() {
        Ok(args) => args,
        Err(code) => return code,
    };
    if let Err(error) = logging::start(args.log_level) {
        output::print_error(&format!("error: can't start the log: {error}"));
        return ExitCode::FAILURE;
    }
    let result = match args.command {
        Command::Serve(args) => serve::serve(args).map(|()| ExitCode::SUCCESS),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Changes(args) => changes::changes(&args),
        Command::Env(args) => env::env(&args).map(|()| ExitCode::SUCCESS),
        Command::Container(args) => container::container(&args),
        Command::Setup(args) => setup::setup(&args),
        Command::Bridge(args) => bridge::bridge(args).map(|()| ExitCode::SUCCESS),
        Command::Mcp(args) => mcp::mcp(args).map(|()| ExitCode::SUCCESS),
        Command::Hook(args) => Ok(hook::hook(args)),
        Command::Completions(args) => print(documents::completions(args.shell)),
        Command::Man => print(documents::man_page()),
    };
    logging::flush();
    match result {
        Ok(code) => code,
        Err(error) => {
            output::print_error(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn print(text: io::Result<String>) -> Result<ExitCode, Box<dyn Error>> {
    output::print(&text?)?;
    Ok(ExitCode::SUCCESS)
}
