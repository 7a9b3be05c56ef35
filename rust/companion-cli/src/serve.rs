//! `gemini-companion serve`: a server whose editor is at the other end of stdin and stdout.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use companion_platform::parent_process;
use companion_protocol::editor::Ready;
use companion_protocol::jsonrpc::Notification;
use companion_protocol::settings::{Settings, WrongSetting};
use companion_server::{Config, Runtime, Server};

use crate::args::ServeArgs;
use crate::editor::{self, Editor};

/// Runs until the editor closes stdin or a signal comes.
pub(crate) fn serve(args: ServeArgs) -> Result<(), Box<dyn Error>> {
    let (end, ended) = mpsc::channel();
    end_by_signal(end.clone())?;

    let runtime = Runtime::start()?;
    let config = Config::new(settings(args)?);
    let (editor, outgoing) = Editor::new();
    let editor = Arc::new(editor);
    let host = Arc::clone(&editor);
    let server = Server::open(&runtime, config, host)?;

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

fn settings(args: ServeArgs) -> Result<Settings, Box<dyn Error>> {
    let settings = Settings {
        workspace: args.workspace.iter().map(|dir| folder(dir)).collect::<Result<_, _>>()?,
        ide_name: args.ide_name,
        ide_display_name: args.ide_display_name,
        ide_pid: match args.ide_pid {
            Some(pid) => pid,
            None => parent_process().ok_or("can't tell the editor's process id; give --ide-pid")?,
        },
        trusted: match (args.trusted, args.untrusted) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        },
        diffs: !args.context_only,
        resume: args.resume,
        port: args.port,
        listen: args.listen,
        listen_on_all_addresses: args.listen_on_all_addresses,
        // A container would look in vain for it.
        listen_or_fail: true,
        allowed_hosts: args.allow_host,
        clients: args.clients,
        body_limit: args.body_limit,
        keep_alive: args.keep_alive,
        log_level: log::max_level(),
    };
    // Each flag has been checked by itself, but for this one, which depends on another.
    let all = |wrong: WrongSetting| {
        format!("--listen {}, or add --listen-on-all-addresses", wrong.problem)
    };
    settings.check().map_err(all)?;
    Ok(settings)
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
    let status = server.status();
    let port = status.port;
    Notification::new(
        "companion/ready",
        Ready {
            port,
            url: format!("http://127.0.0.1:{port}/mcp"),
            listening: status.listening.iter().map(SocketAddr::to_string).collect(),
            auth_token: server.token(),
            discovery_files: status
                .discovery_files
                .into_iter()
                .filter(|file| file.in_place)
                .map(|file| (file.client.id, file.path))
                .collect(),
            env: server.terminal_environment(),
        },
    )
}
