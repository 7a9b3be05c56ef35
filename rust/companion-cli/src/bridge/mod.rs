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
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_client::discover::{Environment, resolve_to_real_path};
use companion_protocol::dialect::{self, GEMINI};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::timeout;

use diffs::RelayedDiffs;
use find::{Finder, Place, TokenSource};
use keeper::Keeper;
use link::Link;
use mapping::Mapping;
use mapping::Rule;

const BRIDGE_HELP: &str = "\
Gemini CLI uses it with these variables, here for a project that is /work where the CLI runs:

  GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=gemini-companion
  GEMINI_CLI_IDE_SERVER_STDIO_ARGS='[\"bridge\", \"--map\", \"/work=/home/me/project\"]'
  GEMINI_CLI_IDE_WORKSPACE_PATH=/work
  TERMINAL_EMULATOR=JetBrains-JediTerm

With the last one Gemini CLI takes the terminal for an editor's; TERM_PROGRAM=vscode does as well,
but not within tmux. Of its own variables Gemini CLI passes on to the bridge only HOME,
PATH and their like, so whatever the bridge is to know has to stand among the arguments.";

/// Be a companion that runs somewhere else, on stdin and stdout.
///
/// Gemini CLI starts this itself where it can't reach the companion: in a container, in WSL,
/// on another machine. The companion may start later, restart or go away: the bridge finds
/// it, by the same rules as Gemini CLI, and finds it again. It ends when its stdin does.
#[derive(Debug, clap::Args)]
#[command(after_long_help = BRIDGE_HELP)]
pub(crate) struct BridgeArgs {
    /// The client's folder; a companion that has it open is looked for [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// A folder as the client sees it, and as the companion does; may be given several times.
    ///
    /// Both are absolute, each as its own system writes paths: /work=/home/me/project,
    /// /mnt/c=C:\, /=\\wsl$\Debian. Of several that fit a path, the longest counts.
    #[arg(long, value_name = "FROM=TO")]
    pub(crate) map: Vec<Rule>,

    /// The folder in which the companion's side has its temporary files, as seen from here.
    ///
    /// Companions are found by their files in gemini/ide there. The default is this side's own,
    /// which is a wrong guess if that is another machine's, or if the editor has TMPDIR set.
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,

    /// The companion's port; it is not looked for then.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,

    /// A file with the companion's token, for --port.
    ///
    /// Without it, the token is that of the variable `GEMINI_CLI_IDE_AUTH_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "port")]
    pub(crate) token_file: Option<PathBuf>,

    /// The companion's host [default: 127.0.0.1; in a container host.docker.internal comes first].
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,

    /// How long to wait for a companion that is not there, in seconds.
    ///
    /// After that, requests fail with the reason, open diffs count as rejected, and further ones
    /// are reviewed in the terminal alone. The default is 3 when Gemini CLI starts, since it takes
    /// no prompt meanwhile, and 10 later.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
}

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
        diffs: Mutex::new(RelayedDiffs::default()),
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
