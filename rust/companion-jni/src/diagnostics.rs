//! Whether a CLI in a terminal of the IDE would connect: what `gemini-companion doctor` says there.

use std::path::PathBuf;

use companion_client::diagnose::{Facts, diagnose};
use companion_client::discover::Environment;
use companion_protocol::dialect::GEMINI;
use companion_server::Server;

/// The text for a CLI in the first folder of the workspace. It takes a few seconds at most.
pub(crate) fn text(server: &Server) -> String {
    let own = server.terminal_environment();
    let roots = std::env::split_paths(&own[GEMINI.variables.workspace_path]);
    // Without a folder the place does not matter: the client asks the user to open one.
    let folder = roots.into_iter().next().unwrap_or_else(|| PathBuf::from("/"));
    let vars = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .chain([(GEMINI.terminal.0.to_owned(), GEMINI.terminal.1.to_owned())])
        .chain(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let environment = Environment::with_vars(&GEMINI, vars.collect(), folder);
    diagnose(&Facts::gather(environment)).to_string()
}
