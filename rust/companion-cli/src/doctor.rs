//! `gemini-companion doctor`: why Gemini CLI does or does not connect.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use companion_client::diagnose::{Facts, diagnose};
use companion_client::discover::Environment;
use companion_protocol::dialect::GEMINI;

use crate::args::DoctorArgs;
use crate::serve::folder;

/// Prints the diagnosis. It succeeds if the client would connect.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Box<dyn Error>> {
    let cwd = folder(&args.workspace)?;
    let diagnosis = diagnose(&Facts::gather(Environment::current(&GEMINI, cwd)));
    let text = if args.json {
        serde_json::to_string_pretty(&diagnosis)? + "\n"
    } else {
        diagnosis.to_string()
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(if diagnosis.connects { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
