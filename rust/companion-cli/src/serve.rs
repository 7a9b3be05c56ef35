//! Runs a server whose editor is connected by stdin and stdout (`gemini-companion serve`).

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;

use companion_protocol::editor::Ready;
use companion_protocol::jsonrpc::Notification;
use companion_protocol::profile::ClientProfile;
use companion_protocol::settings::{AllowedHost, ListenAddress, Settings, WrongSetting};
use companion_server::{Config, Runtime, Server};

use crate::clients;
use crate::editor_connection::{self, Editor};
use crate::programs::starter;

/// Run the companion server for one editor window.
///
/// An editor starts this and keeps its stdin open. Each line on stdin and stdout is one
/// JSON-RPC 2.0 message. The first line out is `companion/ready`, with the port, the token
/// and the environment variables for the editor's terminals. The editor then reports
/// its open files (`editor/focused`, `editor/cursor`, ...), and the companion asks it to show
/// proposals (`diff/open`). The companion ends when stdin closes, or on SIGTERM or SIGINT. It
/// rejects open proposals, unless the editor restarts it, and exits with 0 within 2 seconds.
///
/// Try it by hand: gemini-companion serve --workspace .
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct ServeArgs {
    /// Folder that is open in the editor; repeatable.
    ///
    /// Gemini CLI connects if it runs in one of these folders or below.
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) workspace: Vec<PathBuf>,

    /// Editor name for programs, such as neovim.
    #[arg(long, value_name = "NAME", default_value_t = Settings::default().ide_name, value_parser = one_line)]
    pub(crate) ide_name: String,

    /// Editor name for users, as `/ide status` shows it.
    #[arg(long, value_name = "NAME", default_value_t = Settings::default().ide_display_name, value_parser = one_line)]
    pub(crate) ide_display_name: String,

    /// Process ID of the editor; a CLI in its terminal finds the companion by it.
    ///
    /// The default is the parent process.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ide_pid: Option<u32>,

    /// CLIs that find the companion, separated by commas [default: all].
    ///
    /// Only these CLIs get a discovery file and variables. Another CLI that has the token can connect,
    /// too. Qwen Code needs its folder ~/.qwen.
    #[arg(long, value_name = "CLIENTS", default_values_t = Settings::default().clients, hide_default_value = true, value_delimiter = ',', value_parser = clients::parser())]
    pub(crate) clients: Vec<&'static ClientProfile>,

    /// Port on 127.0.0.1; 0 picks a free port.
    #[arg(long, value_name = "PORT", default_value_t = Settings::default().port)]
    pub(crate) port: u16,

    /// Also listen on this address, such as 172.17.0.1 for Docker's bridge; repeatable.
    ///
    /// The port is the same, and clients need the token. They can use this address,
    /// host.docker.internal, or a host from --allow-host.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Vec<ListenAddress>,

    /// Allow 0.0.0.0 and :: in --listen, so that other machines can try to connect.
    ///
    /// The connection is not encrypted: anybody who can read the network's traffic gets the token.
    #[arg(long, requires = "listen")]
    pub(crate) listen_on_all_addresses: bool,

    /// Accept this host besides localhost and host.docker.internal; repeatable.
    ///
    /// The companion compares it with the Host header, to keep web pages out. NAME:PORT accepts
    /// only that port.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<AllowedHost>,

    /// Resume the sessions of the last companion for this folder, even if it crashed.
    ///
    /// An idle Gemini CLI stays connected over a restart within 20 seconds: port and token stay the same. On
    /// Windows it does not after a crash, and nowhere if only the new companion has --no-review. Open
    /// proposals are rejected, unless the editor keeps them. If another companion with the same folders has
    /// ended, this one goes on with its CLIs, unless only one of them has --no-review, or one has --port.
    /// The companion keeps its state in a file that only you can read, on Linux below ~/.local/state.
    #[arg(long)]
    pub(crate) resume: bool,

    /// Take up the proposals that the editor still shows after a restart.
    ///
    /// The editor names them by `diff/resume` within 10 seconds. The companion rejects the others.
    #[arg(long, requires = "resume")]
    pub(crate) keep_proposals: bool,

    /// Report the workspace as trusted. Use it only if the editor has asked the user.
    ///
    /// Gemini CLI then asks nothing about a folder that it does not know, but stays restricted there.
    /// Without --trusted and --untrusted, it decides by itself until the editor sends
    /// `workspace/trust`.
    #[arg(long)]
    pub(crate) trusted: bool,

    /// Report the workspace as not trusted.
    #[arg(long, conflicts_with = "trusted")]
    pub(crate) untrusted: bool,

    /// Don't review edits in the editor. All else stays, such as context, diagnostics and comments.
    #[arg(long)]
    pub(crate) no_review: bool,

    /// Leave other worktrees of the project's Git repository out of the workspace.
    ///
    /// Without it, a CLI that runs in one of them connects, too, unless another editor has that
    /// worktree open.
    #[arg(long)]
    pub(crate) no_worktrees: bool,

    /// Keep the files private that Git ignores, as well as those that may contain secrets.
    ///
    /// A rule of a .gitignore, of .git/info/exclude or of the user's core.excludesFile counts, also for a
    /// file that Git tracks. A line with ! in a .geminiignore shares a file again.
    #[arg(long)]
    pub(crate) git_ignored_private: bool,

    /// Don't share diagnostics.
    #[arg(long)]
    pub(crate) no_diagnostics: bool,

    /// Share no context and no diagnostics until the editor sends `workspace/shareContext`.
    ///
    /// CLIs get no open files, no selection, no reasons and no comments. Edits are still reviewed.
    #[arg(long)]
    pub(crate) no_context: bool,

    /// Review each edit in the editor, even if Gemini CLI would make it without asking.
    ///
    /// In auto-edit and YOLO mode, too, until the editor sends `workspace/review`. It needs the
    /// companion's extension, which `gemini-companion setup` installs. Qwen Code can't be asked to.
    #[arg(long, conflicts_with = "no_review")]
    pub(crate) review_all: bool,

    /// Maximum request size in megabytes; limits the size of a proposed file.
    #[arg(long, value_name = "MB", default_value_t = Settings::default().body_limit, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) body_limit: u16,
}

/// Runs until the editor closes stdin or a signal arrives.
pub(crate) fn serve(args: ServeArgs) -> Result<(), Box<dyn Error>> {
    // The disk of these folders may not answer. Until it does, a signal ends the process by
    // default.
    let config = Config::new(settings(args)?);
    let (end, ended) = mpsc::channel();
    let by_signal = end.clone();
    ctrlc::set_handler(move || {
        let _ = by_signal.send(());
    })?;

    let runtime = Runtime::start()?;
    let (editor, outgoing) = Editor::new();
    let editor = Arc::new(editor);
    let host = Arc::clone(&editor);
    let server = Server::open(&runtime, config, host)?;

    editor_connection::write(&ready(&server), outgoing, end.clone())?;
    let reader = server.clone();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        editor_connection::read(&reader, &editor, std::io::stdin().lock());
        let _ = end.send(());
    })?;

    let _ = ended.recv();
    server.stop();
    Ok(())
}

/// Returns a name that a CLI can show in one line.
pub(crate) fn one_line(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() {
        return Err("it is empty");
    }
    if text.chars().any(char::is_control) {
        return Err("it contains a line feed or another control character");
    }
    Ok(text.to_owned())
}

fn settings(args: ServeArgs) -> Result<Settings, Box<dyn Error>> {
    let settings = Settings {
        workspace: args.workspace.iter().map(|dir| folder(dir)).collect::<Result<_, _>>()?,
        ide_name: args.ide_name,
        ide_display_name: args.ide_display_name,
        ide_pid: match args.ide_pid {
            Some(pid) => pid,
            None => starter().ok_or("cannot find the editor's process ID; pass --ide-pid")?,
        },
        trusted: match (args.trusted, args.untrusted) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        },
        review: !args.no_review,
        worktrees: !args.no_worktrees,
        git_ignored_private: args.git_ignored_private,
        diagnostics: !args.no_diagnostics,
        share_context: !args.no_context,
        review_all: args.review_all,
        resume: args.resume,
        keep_proposals: args.keep_proposals,
        port: args.port,
        listen: args.listen,
        listen_on_all_addresses: args.listen_on_all_addresses,
        // Otherwise a container would look for it in vain.
        listen_or_fail: true,
        allowed_hosts: args.allow_host,
        clients: args.clients,
        body_limit: args.body_limit,
        log_level: log::max_level(),
    };
    // Each flag was checked alone, but not those that depend on another flag.
    let all = |wrong: WrongSetting| match &*wrong.setting {
        "listen" => format!("--listen {}, or add --listen-on-all-addresses", wrong.problem),
        _ => wrong.to_string(),
    };
    settings.check().map_err(all)?;
    Ok(settings)
}

/// Returns the current folder. The error names the fix.
pub(crate) fn current_folder() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| {
        format!("can't read the current folder: {error}; change to another folder")
    })
}

/// Returns the absolute path of an existing folder, which `--workspace` names.
pub(crate) fn folder(dir: &Path) -> Result<PathBuf, String> {
    let shown = dir.display();
    if dir.is_relative() {
        current_folder()?;
    }
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
