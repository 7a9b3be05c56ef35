//! `gemini-companion doctor`: why clients do or do not connect.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use companion_client::diagnose::{Facts, diagnose, installed};
use companion_client::discover::Environment;
use companion_protocol::dialect;

use crate::args::DoctorArgs;
use crate::serve::folder;

/// Prints a diagnosis for each client that is asked for, or else installed. It succeeds if all of
/// them would connect.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Box<dyn Error>> {
    let environment = Environment::current(dialect::ALL[0], folder(&args.workspace)?);
    let clients =
        if args.client.is_empty() { installed(&environment) } else { args.client.clone() };
    let diagnoses: Vec<_> = clients
        .into_iter()
        .map(|client| diagnose(&Facts::gather(environment.with_dialect(client))))
        .collect();
    let text = if args.json {
        serde_json::to_string_pretty(&diagnoses)? + "\n"
    } else {
        let texts: Vec<_> = diagnoses.iter().map(ToString::to_string).collect();
        texts.join("\n\n")
    };
    std::io::stdout().write_all(text.as_bytes())?;
    let all = diagnoses.iter().all(|diagnosis| diagnosis.connects);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
