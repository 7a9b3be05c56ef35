//! Relays MCP between stdin and stdout and a companion that the client can't reach itself.

mod ask;
mod diffs;
mod keeper;
mod link;
mod message;
mod relay;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use companion_client::http::block_on;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::timeout;

use diffs::RelayedDiffs;
use keeper::Keeper;
use link::Link;
use relay::{Bridge, Requests};

use crate::find::{FindArgs, Parent};
use crate::programs::programs;
use crate::stdio::{self, Output};

const BRIDGE_HELP: &str = "\
Set these variables for Gemini CLI. In this example, the CLI sees the project as /work:

  GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=gemini-companion
  GEMINI_CLI_IDE_SERVER_STDIO_ARGS='[\"bridge\", \"--map\", \"/work=/home/me/project\"]'
  GEMINI_CLI_IDE_WORKSPACE_PATH=/work
  TERMINAL_EMULATOR=JetBrains-JediTerm

Gemini CLI needs the last variable to recognize the terminal as an editor's. TERM_PROGRAM=vscode
also works; in tmux, set it there. Gemini CLI passes only HOME, PATH and similar variables to the
bridge, so configure the bridge by its arguments.

In WSL, with the editor on Windows, if .wslconfig has networkingMode=mirrored:

  host=127.0.0.1

If not, the companion must listen on this address:

  host=$(ip route show default | head -n1 | cut -d' ' -f3)

Then, in the same terminal, with the value of %TEMP% on Windows as temp:

  temp=/mnt/c/Users/me/AppData/Local/Temp
  export GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=gemini-companion
  export GEMINI_CLI_IDE_SERVER_STDIO_ARGS='[\"bridge\", \"--map\", \"/mnt/c=C:\\\\\",
    \"--temp-dir\", \"'$temp'\", \"--host\", \"'$host'\"]'
  export GEMINI_CLI_IDE_WORKSPACE_PATH=$PWD TERMINAL_EMULATOR=JetBrains-JediTerm
  gemini";

/// Connect Gemini CLI with a companion that it can't reach itself.
///
/// Gemini CLI starts the bridge in a container, in WSL or on another machine, and connects by stdin
/// and stdout. The bridge searches for the companion by Gemini CLI's own rules, and again after the
/// companion restarts. It ends when stdin closes.
#[derive(Debug, clap::Args)]
#[command(after_long_help = BRIDGE_HELP)]
pub(crate) struct BridgeArgs {
    #[command(flatten)]
    pub(crate) find: FindArgs,

    /// Maximum time to wait for the companion, in seconds [default: 3 at the start, 10 later].
    ///
    /// After that, requests fail with the reason, and new edits are reviewed in the terminal only.
    /// Open ones can be decided in the terminal, or in the editor once the companion is back. The
    /// wait at the start is short, because Gemini CLI takes no prompt meanwhile.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) wait: Option<u64>,
}

/// The time to wait for a companion when the CLI starts. The CLI takes no prompt meanwhile.
const STARTUP_WAIT: Duration = Duration::from_secs(3);

/// The time to wait for a companion that disappears later.
const RECONNECT_WAIT: Duration = Duration::from_secs(10);

/// The time for ending the session. The client waits for two seconds.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs until the client closes stdin or a signal arrives.
pub(crate) fn bridge(args: BridgeArgs) -> Result<(), Box<dyn Error>> {
    let (end, ended) = mpsc::unbounded_channel();
    ctrlc::set_handler(move || {
        let _ = end.send(());
    })?;
    block_on(run(args, ended))
}

async fn run(
    args: BridgeArgs,
    mut ended: mpsc::UnboundedReceiver<()>,
) -> Result<(), Box<dyn Error>> {
    let wait = args.wait.map(Duration::from_secs);
    let mapping = args.find.mapping();
    let ancestors = programs().into_iter().map(|program| program.identity).collect();
    let finder = Arc::new(args.find.finder(Parent::Client)?);
    let (output, _) = Output::start()?;
    let mut input = stdio::input()?;
    let bridge = Arc::new(Bridge {
        mapping,
        diffs: Mutex::new(RelayedDiffs::default()),
        link: Link::new(),
        output: output.clone(),
        session: Mutex::default(),
        reconnect_wait: wait.unwrap_or(RECONNECT_WAIT),
    });

    let (begin, hellos) = mpsc::channel(4);
    let keeper = Keeper {
        bridge: Arc::clone(&bridge),
        finder,
        ancestors,
        startup_wait: wait.unwrap_or(STARTUP_WAIT),
    };
    let mut requests = Requests::new(Arc::clone(&bridge), begin);
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

    let session = bridge.session.lock().take();
    if let Some(session) = session {
        let ended = timeout(CLOSE_TIMEOUT, session.end()).await;
        log::debug!("the session was ended: {ended:?}");
    }
    Ok(())
}
