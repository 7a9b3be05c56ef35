//! `gemini-companion serve`: a server whose editor is at the other end of stdin and stdout.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use companion_platform::parent_process;
use companion_protocol::editor::Ready;
use companion_protocol::ide::IdeInfo;
use companion_protocol::jsonrpc::Notification;
use companion_server::{Config, Limits, ListenAddress, Listeners, Resume, Runtime, Server};

use crate::args::ServeArgs;
use crate::editor::{self, Editor};

/// Runs until the editor closes stdin or a signal comes.
pub(crate) fn serve(args: ServeArgs) -> Result<(), Box<dyn Error>> {
    let (end, ended) = mpsc::channel();
    end_by_signal(end.clone())?;

    let runtime = Runtime::start()?;
    let (port, listen, resume) = (args.port, listen(&args)?, args.resume);
    let config = config(args)?;
    let mut last = if resume { Resume::claim(&runtime, None, &config) } else { None };
    let listeners = match &mut last {
        Some(last) => last.bind(port, &listen),
        None => Listeners::bind(port, &listen),
    };
    let listeners = listeners.map_err(|error| format!("can't listen on port {port}: {error}"))?;
    if let Some(missing) = listeners.missing().first() {
        // A container would look in vain for it.
        return Err(missing.reason.as_str().into());
    }
    let (editor, outgoing) = Editor::new();
    let editor = Arc::new(editor);
    let host = Arc::clone(&editor);
    let server = Server::resume(&runtime, listeners, config, host, last)?;

    editor::write(&ready(&server), outgoing, end.clone())?;
    let told = server.clone();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        editor::read(&told, &editor, std::io::stdin().lock());
        let _ = end.send(());
    })?;

    let _ = ended.recv();
    server.stop();
    Ok(())
}

fn end_by_signal(end: Sender<()>) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        let _ = end.send(());
    })
}

/// Where to listen besides loopback.
fn listen(args: &ServeArgs) -> Result<Vec<ListenAddress>, String> {
    let everywhere = args.listen.iter().find(|address| address.is_everywhere());
    match everywhere {
        Some(address) if !args.listen_on_all_addresses => Err(format!(
            "--listen {address}: every machine that reaches this one could try to connect; give \
             one address, such as 172.17.0.1, or add --listen-on-all-addresses"
        )),
        _ => Ok(args.listen.clone()),
    }
}

fn config(args: ServeArgs) -> Result<Config, Box<dyn Error>> {
    let workspace = args.workspace.iter().map(|dir| folder(dir)).collect::<Result<_, _>>()?;
    let ide = IdeInfo { name: args.ide_name, display_name: args.ide_display_name };
    let ide_pid = match args.ide_pid {
        Some(pid) => pid,
        None => parent_process().ok_or("can't tell the editor's process id; give --ide-pid")?,
    };
    Ok(Config {
        trusted: match (args.trusted, args.untrusted) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        },
        diffs: !args.context_only,
        allowed_hosts: args.allow_host,
        limits: Limits {
            body: usize::from(args.body_limit) << 20,
            keep_alive: Duration::from_secs(args.keep_alive),
            ..Limits::default()
        },
        ..Config::new(workspace, ide, ide_pid)
    })
}

/// The absolute path of a folder that is there, as `--workspace` names it.
pub(crate) fn folder(dir: &Path) -> Result<PathBuf, String> {
    let shown = dir.display();
    let dir = std::path::absolute(dir).map_err(|error| format!("--workspace {shown}: {error}"))?;
    match dir {
        dir if !dir.is_dir() => Err(format!("--workspace {shown}: there is no such folder")),
        dir if dir.to_str().is_none() => {
            Err(format!("--workspace {shown}: the name is not valid Unicode"))
        }
        dir => Ok(dir),
    }
}

fn ready(server: &Server) -> Notification<Ready<'_>> {
    let port = server.port();
    let status = server.status();
    Notification::new(
        "companion/ready",
        Ready {
            port,
            url: format!("http://127.0.0.1:{port}/mcp"),
            listening: status.addresses.iter().map(SocketAddr::to_string).collect(),
            auth_token: server.token(),
            discovery_file: status.discovery_file.map(|file| file.to_string_lossy().into_owned()),
            env: server.terminal_environment(),
        },
    )
}
