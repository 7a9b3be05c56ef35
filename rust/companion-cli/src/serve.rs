//! `gemini-companion serve`: a server whose editor is at the other end of stdin and stdout.

use std::error::Error;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use clap::builder::TypedValueParser;
use companion_platform::parent_process;
use companion_protocol::dialect::ClientProfile;
use companion_protocol::editor::Ready;
use companion_protocol::jsonrpc::Notification;
use companion_protocol::settings::{AllowedHost, ListenAddress, Settings, WrongSetting};
use companion_server::{Config, Runtime, Server};

use crate::clients;
use crate::editor::{self, Editor};

/// Be the companion of one editor window.
///
/// An editor starts this and keeps its stdin open. Each line on stdin and stdout is one
/// JSON-RPC 2.0 message. The first line out is `companion/ready`, with the port, the token
/// and the environment variables for the editor's terminals. The editor then tells which
/// files are open (`editor/focused`, `editor/cursor`, ...) and is asked to show proposed
/// edits (`diff/open`). It ends when stdin does, or by SIGTERM or SIGINT: open diffs are
/// rejected, and it exits with 0 within 2 seconds.
///
/// Try it by hand: gemini-companion serve --workspace .
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct ServeArgs {
    /// A folder that is open in the editor; may be given several times.
    ///
    /// Gemini CLI connects if it was started in one of them or below.
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) workspace: Vec<PathBuf>,

    /// The editor's name for programs, such as neovim.
    #[arg(long, value_name = "NAME", default_value_t = Settings::default().ide_name)]
    pub(crate) ide_name: String,

    /// The editor's name for people; `/ide status` in Gemini CLI shows it.
    #[arg(long, value_name = "NAME", default_value_t = Settings::default().ide_display_name)]
    pub(crate) ide_display_name: String,

    /// The editor's process id, by which a CLI in its terminal finds this companion.
    ///
    /// The default is the process that started this one.
    #[arg(long, value_name = "PID")]
    pub(crate) ide_pid: Option<u32>,

    /// The clients that are to find this companion, with commas between [default: all].
    ///
    /// Qwen Code has a folder of its own, ~/.qwen. Without one it is not told.
    #[arg(long, value_name = "CLIENTS", default_values_t = Settings::default().clients, hide_default_value = true, value_delimiter = ',', value_parser = clients::parser())]
    pub(crate) clients: Vec<&'static ClientProfile>,

    /// The port to listen on, on 127.0.0.1; 0 lets the system pick one.
    #[arg(long, value_name = "PORT", default_value_t = Settings::default().port)]
    pub(crate) port: u16,

    /// Listen on this address of the machine, too, such as a Docker bridge's, 172.17.0.1; may be
    /// given several times.
    ///
    /// The port is the same. Clients there need the token as well. They may call the companion by
    /// that address, by host.docker.internal, or as --allow-host says.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Vec<ListenAddress>,

    /// Take 0.0.0.0 or :: for an answer to --listen: every machine that reaches this one may try.
    ///
    /// The connection is not encrypted. Whoever can read along in such a network gets the token.
    #[arg(long, requires = "listen")]
    pub(crate) listen_on_all_addresses: bool,

    /// Let clients call the companion by this host, besides localhost and host.docker.internal;
    /// may be given several times.
    ///
    /// It is compared with the Host header, which keeps web pages out. With a port, NAME:PORT, only
    /// that port will do.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<AllowedHost>,

    /// Continue what the last companion of this folder has left when it ended, however it did.
    ///
    /// If it is back within 20 seconds, on the same port and with the same token, Gemini CLI does
    /// not notice. A private file in the state directory (~/.local/state) keeps what that takes.
    #[arg(long)]
    pub(crate) resume: bool,

    /// Tell Gemini CLI that the user trusts the workspace, whatever its own folder trust says.
    ///
    /// Without this and --untrusted nothing is told, and Gemini CLI decides as without an editor,
    /// until the editor says `workspace/trust`. So this is for editors that ask their users.
    #[arg(long)]
    pub(crate) trusted: bool,

    /// Tell Gemini CLI that the user does not trust the workspace.
    #[arg(long, conflicts_with = "trusted")]
    pub(crate) untrusted: bool,

    /// Tell Gemini CLI the editor's context only; edits are reviewed in the terminal.
    #[arg(long)]
    pub(crate) context_only: bool,

    /// Do not let clients ask for the problems that the editor knows.
    #[arg(long)]
    pub(crate) no_diagnostics: bool,

    /// Tell clients nothing of files and problems until the editor says `workspace/silent`. Edits are
    /// still reviewed.
    #[arg(long)]
    pub(crate) silent: bool,

    /// The largest request, in megabytes. It limits how large a proposed file can be.
    #[arg(long, value_name = "MB", default_value_t = Settings::default().body_limit, value_parser = within(&Settings::BODY_LIMITS))]
    pub(crate) body_limit: u16,

    /// How often a quiet connection gets a sign of life, in seconds. Gemini CLI gives up after 300 s
    /// of silence, so at most half of that.
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::default().keep_alive, value_parser = within(&Settings::KEEP_ALIVES))]
    pub(crate) keep_alive: u16,
}

/// Runs until the editor closes stdin or a signal comes.
pub(crate) fn serve(args: ServeArgs) -> Result<(), Box<dyn Error>> {
    // The folders' disk may not answer; until it does, a signal ends the process by itself.
    let config = Config::new(settings(args)?);
    let (end, ended) = mpsc::channel();
    end_by_signal(end.clone())?;

    let runtime = Runtime::start()?;
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

fn within(range: &RangeInclusive<u16>) -> impl TypedValueParser<Value = u16> + use<> {
    clap::value_parser!(u16).range(i64::from(*range.start())..=i64::from(*range.end()))
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
        diagnostics: !args.no_diagnostics,
        silent: args.silent,
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
