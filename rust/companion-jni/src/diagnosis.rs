//! Diagnoses whether CLIs in the IDE's terminal can connect, like `gemini-companion doctor` there.

use std::path::PathBuf;

use companion_client::diagnose::{Facts, diagnose, installed};
use companion_client::discover::Environment;
use companion_server::Server;

/// The environment of the IDE's terminal.
const TERMINAL: (&str, &str) = ("TERMINAL_EMULATOR", "JetBrains-JediTerm");

/// Makes the report for CLIs in the first folder of the workspace. Blocks for up to a few seconds.
pub(crate) fn text(server: &Server) -> String {
    let clients = server.clients();
    let own = server.terminal_environment();
    let roots = clients.first().map(|client| &own[client.variables.workspace_path]);
    // Without a folder, the working folder is irrelevant: the client asks the user to open one.
    let folder = roots.and_then(|roots| std::env::split_paths(roots).next());
    let folder = folder.unwrap_or_else(|| PathBuf::from("/"));
    let vars = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .chain([(TERMINAL.0.to_owned(), TERMINAL.1.to_owned())])
        .chain(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let vars: std::collections::BTreeMap<_, _> = vars.collect();
    let Some(first) = clients.first() else { return String::new() };
    let environment = Environment::with_vars(first, vars, folder);
    let chosen = installed(&environment).into_iter().filter(|client| clients.contains(client));
    let texts =
        chosen.map(|client| diagnose(&Facts::gather(environment.with_profile(client))).to_string());
    texts.collect::<Vec<_>>().join("\n\n")
}
