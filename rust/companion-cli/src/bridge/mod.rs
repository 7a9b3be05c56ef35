//! `gemini-companion bridge`: an MCP server on stdin and stdout that is a companion somewhere
//! else, for clients that can start a program but can't reach the companion themselves.

mod diffs;
mod find;
mod keeper;
mod link;
mod mapping;
mod message;
mod relay;
mod stdio;

use std::error::Error;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use companion_client::discover::{Environment, resolve_to_real_path};
use companion_protocol::dialect::{self, GEMINI};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::args::BridgeArgs;
use diffs::Diffs;
use find::{Finder, Place, TokenSource};
use keeper::Keeper;
use link::Link;
use mapping::Mapping;
pub(crate) use mapping::Rule;
use relay::{Bridge, Requests};
use stdio::Output;

/// How long a companion may be away. The CLI takes no prompt while it waits for its first answer,
/// so that one comes sooner.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(10));

/// How long the end of the session may take. The client waits for two seconds.
const FAREWELL: Duration = Duration::from_secs(1);

/// Runs until the client closes stdin or a signal comes.
pub(crate) fn bridge(args: BridgeArgs) -> Result<(), Box<dyn Error>> {
    let (end, ended) = mpsc::unbounded_channel();
    ctrlc::set_handler(move || {
        let _ = end.send(());
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(run(args, ended));
    runtime.shutdown_background();
    result
}

async fn run(
    args: BridgeArgs,
    mut ended: mpsc::UnboundedReceiver<()>,
) -> Result<(), Box<dyn Error>> {
    let wait = args.wait.map(Duration::from_secs);
    let mapping = Mapping(args.map.clone());
    let finder = Arc::new(finder(args, &mapping)?);
    let output = Output::start()?;
    let mut input = stdio::input()?;
    let bridge = Arc::new(Bridge {
        mapping,
        diffs: Mutex::new(Diffs::default()),
        link: Link::new(),
        output: output.clone(),
        patience: wait.unwrap_or(PATIENCE.1),
    });

    let (begin, hellos) = mpsc::channel(4);
    let session = Arc::default();
    let keeper = Keeper {
        bridge: Arc::clone(&bridge),
        finder,
        first_patience: wait.unwrap_or(PATIENCE.0),
        session: Arc::clone(&session),
    };
    let mut requests = Requests::new(bridge, begin);
    let reading = async {
        while let Some(line) = input.recv().await {
            requests.take(line).await;
        }
    };
    tokio::select! {
        () = reading => {}
        () = keeper.run(hellos) => {}
        () = output.closed() => {}
        _ = ended.recv() => {}
    }

    let session: Option<companion_client::http::Session> = session.lock().take();
    if let Some(session) = session {
        match timeout(FAREWELL, session.end()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::debug!("the session could not be ended: {error}"),
            Err(_) => log::debug!("the session could not be ended in time"),
        }
    }
    Ok(())
}

fn finder(args: BridgeArgs, mapping: &Mapping) -> Result<Finder, Box<dyn Error>> {
    let here = std::env::current_dir()?;
    let folder = match &args.workspace {
        Some(dir) if !dir.is_dir() => {
            return Err(format!("--workspace {}: there is no such folder", dir.display()).into());
        }
        Some(dir) => resolve_to_real_path(&dir.to_string_lossy(), &here),
        None => here,
    };
    let environment = if args.port.is_some() || args.temp_dir.is_some() {
        // The editor's process need not be known, and it takes time to find.
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Environment::with_vars(&GEMINI, std::env::vars_os().filter_map(text).collect(), folder)
    } else {
        Environment::current(&GEMINI, folder)
    };
    let hosts = args.host.map_or_else(|| hosts(&environment), |host| vec![host]);
    let Some(port) = args.port else {
        let environments = dialect::ALL.map(|dialect| {
            let environment = environment.with_dialect(dialect);
            match &args.temp_dir {
                Some(dir) => environment.with_files_of_another_machine(dir.clone()),
                None => environment,
            }
        });
        return Ok(Finder::discovery(hosts, environments.to_vec(), mapping));
    };
    let variable = GEMINI.variables.auth_token.expect("its token has a variable");
    let token = match args.token_file {
        Some(file) => TokenSource::File(file),
        None if environment.set(variable).is_some() => TokenSource::Variable(variable),
        None => {
            return Err(format!("--port needs --token-file, or the variable {variable}").into());
        }
    };
    Ok(Finder { hosts, place: Place::Port(port, token) })
}

/// The client's own choice; in a container also the other one, because the client does not pass
/// on the variables that say which it is.
fn hosts(environment: &Environment) -> Vec<String> {
    let mut hosts = vec![environment.hosts()[0].to_owned()];
    if hosts[0] != "127.0.0.1" {
        hosts.push("127.0.0.1".to_owned());
    }
    hosts
}
