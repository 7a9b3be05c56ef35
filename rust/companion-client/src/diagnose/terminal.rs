//! Diagnoses whether CLIs in an editor's terminal can connect, like `gemini-companion doctor` there.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use companion_platform::vars;
use companion_protocol::profile::ClientProfile;

use super::{Facts, diagnose, installed};
use crate::discover::Environment;

/// Reports on those of `clients` that are installed, in the first folder of the workspace. The
/// terminal has the variables of this process, and `variables`. Blocks for up to a few seconds.
pub fn diagnose_terminal(
    clients: &[&'static ClientProfile],
    variables: BTreeMap<&'static str, String>,
) -> String {
    let Some(first) = clients.first() else { return String::new() };
    let roots = variables.get(first.variables.workspace_path);
    // Without a folder, the working folder is irrelevant: the client asks the user to open one.
    let folder = roots.and_then(|roots| env::split_paths(roots).next());
    let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
    let mut all = vars();
    all.extend(variables.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let environment = Environment::with_vars(first, all, folder);
    let mut reports = Vec::new();
    for client in installed(&environment) {
        if clients.contains(&client) {
            let facts = Facts::gather(environment.with_profile(client));
            reports.push(diagnose(&facts).to_string());
        }
    }
    reports.join("\n\n")
}
