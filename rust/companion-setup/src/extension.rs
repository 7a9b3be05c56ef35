//! Installs the client's extension: hooks, and diagnostics for the model. The program contains its
//! files.

use std::path::{Path, PathBuf};

use companion_platform::quote;
use companion_protocol::profile;

use crate::client::Client;
use crate::content::Files;
use crate::install::Bundle;
use crate::machine::Os;
use crate::record::{InstallManifest, What};
use crate::report::Outcome;

/// The files of the extension, each with its name. `build.rs` lists them.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/extension.rs"));

/// The name of the extension and of its folder.
const NAME: &str = "gemini-companion";

/// The commands that install an extension again after the user has removed it.
const AGAIN: &str = "setup --remove, then setup";

/// Returns the name of the extension in the report.
pub(crate) fn subject(client: &Client) -> String {
    format!("Extension for {}", client.name)
}

/// Returns its folder among those extensions.
pub(crate) fn target(extensions: &Path) -> PathBuf {
    extensions.join(NAME)
}

/// Installs the extension, unless the user has installed it. It runs `program`, or else the program
/// that the CLI finds.
pub(crate) fn install(
    client: &Client,
    extensions: &Path,
    os: Os,
    program: Result<Option<&Path>, &str>,
    record: &mut InstallManifest,
) -> (Outcome, String) {
    let target = target(extensions);
    let known = record.known(&target);
    let is_installed = known.is_some() && is_ours(&target);
    let note = match &client.hooks_off {
        Some(why) => format!(", but {} does not run all hooks: {why}", client.name),
        None => String::new(),
    };
    if is_extension(&target) && !is_installed {
        return (Outcome::Unchanged, format!("you installed it{note}"));
    }
    if record.is_installed(&target) && !target.exists() && extensions.is_dir() {
        return (Outcome::Skipped, format!("you removed it; to install it again, run {AGAIN}"));
    }
    if let Some(why) = client.refuses_copies.as_ref().filter(|_| !target.exists()) {
        return (Outcome::Skipped, why.clone());
    }
    let program = match program {
        Ok(program) => program,
        Err(why) => return (Outcome::Failed, why.to_owned()),
    };
    let bundle = Bundle {
        subject: &subject(client),
        content: "hooks, which pass prompts, answers and tool calls to the companion, and a tool",
        target: &target,
        files: files(os, program),
        what: |hash| What::Extension { hash },
        note: &note,
        again: AGAIN,
    };
    bundle.install(is_installed, record)
}

fn files(os: Os, program: Option<&Path>) -> Files {
    let text = |&(name, text): &(&str, &str)| {
        let text = match program {
            Some(program) => with_program(name, text, os, &program.to_string_lossy()),
            None => text.to_owned(),
        };
        (name.to_owned(), text.into_bytes())
    };
    FILES.iter().map(text).collect()
}

/// Returns a file of the extension with the program's path in it.
fn with_program(name: &str, text: &str, os: Os, program: &str) -> String {
    // A hook's command is for bash, on Windows for PowerShell.
    let word = match (os, name) {
        // On Windows Qwen Code may use one of three shells, which have no quotes in common.
        (Os::Windows, "hooks/qwen-code.json") => return text.to_owned(),
        (Os::Windows, _) => format!("& {}", quote::powershell(program)),
        (Os::Linux | Os::MacOs, _) => quote::sh(program),
    };
    let escaped = |text: &str| serde_json::Value::from(text).to_string();
    let word = escaped(&word);
    let hook = format!("\"command\": {} hook ", &word[..word.len() - 1]);
    text.replace("\"command\": \"gemini-companion hook ", &hook)
        .replace("\"command\": \"gemini-companion\"", &format!("\"command\": {}", escaped(program)))
}

/// Whether there is an extension. One that the user has linked has no file but the client's.
fn is_extension(dir: &Path) -> bool {
    dir.join("gemini-extension.json").is_file() || is_from_client(dir)
}

/// Returns whether a folder that setup has installed is still there, and not one from a client.
pub(crate) fn is_ours(dir: &Path) -> bool {
    dir.is_dir() && !is_from_client(dir)
}

/// Whether a client has added its file, as to each extension that the user installs.
fn is_from_client(dir: &Path) -> bool {
    profile::ALL.iter().any(|client| dir.join(client.hooks.switches.install_metadata).exists())
}
