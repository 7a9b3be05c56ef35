//! The command line.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use companion_protocol::dialect::{self, Dialect};
use companion_protocol::settings::{AllowedHost, ListenAddress, Settings};
use log::LevelFilter;

use crate::bridge::Rule;

/// Lets Gemini CLI see your editor and review its edits there.
///
/// Run `gemini-companion serve --help` to see how an editor starts it.
#[derive(Debug, Parser)]
#[command(name = "gemini-companion", version, arg_required_else_help = true)]
pub(crate) struct Args {
    /// How much is written to stderr; never file contents, selections or the token.
    #[arg(long, global = true, value_name = "LEVEL", default_value = LEVEL.as_str(), value_parser = levels())]
    pub(crate) log_level: LevelFilter,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    Serve(ServeArgs),

    /// Say why Gemini CLI does or does not connect, and what to do.
    ///
    /// Run it where you run gemini: in the same terminal, the same folder, the same container. It
    /// finds what the CLI would find, judges it as the CLI does, and tries each connection for
    /// real. It prints no token and nothing of your files, so the output can go into a report.
    ///
    /// It exits with 0 if Gemini CLI would connect, else with 1.
    Doctor(DoctorArgs),

    /// Print the environment variables by which Gemini CLI finds the companion.
    ///
    /// In any terminal: eval "$(gemini-companion env)". It also sets what gemini --sandbox hands on
    /// to its container.
    ///
    /// One of the values is the token, with which anybody on this machine can talk to your editor.
    /// So let the output go into a shell, or into a file that only you can read; not onto a screen
    /// that you share, into a log, or onto a command line.
    Env(EnvArgs),

    /// Start a container in which Gemini CLI finds the companion.
    ///
    /// Write it in front of your own command:
    ///
    ///   gemini-companion container -- docker run --rm -it IMAGE gemini
    ///
    /// It adds what is missing and no more: variables (the token not on the command line), the
    /// host's name, the project at its own path and as the folder to start in. What your command
    /// says itself, stays. It understands docker, podman and nerdctl with run, create, exec and
    /// compose run, and ends with the command's exit code.
    ///
    /// The companion has to listen where the container gets: see serve --listen.
    Container(ContainerArgs),

    /// Be a companion that runs somewhere else, on stdin and stdout.
    ///
    /// Gemini CLI starts this itself where it can't reach the companion: in a container, in WSL,
    /// on another machine. The companion may start later, restart or go away: the bridge finds
    /// it, by the same rules as Gemini CLI, and finds it again. It ends when its stdin does.
    #[command(after_long_help = BRIDGE_HELP)]
    Bridge(BridgeArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ContainerArgs {
    /// The folder whose companion is meant, and in which the container's command starts.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// Bring a bridge into the container, and have the CLI connect through it.
    ///
    /// It translates paths, if your command mounts the project somewhere else. PROGRAM is a
    /// gemini-companion that runs in the image; the default is this one.
    #[arg(long, value_name = "PROGRAM", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "an option with an optional value")]
    pub(crate) bridge: Option<Option<PathBuf>>,

    /// The client that is meant [default: the one that your command names, else all that find a
    /// companion].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients())]
    pub(crate) client: Vec<&'static Dialect>,

    /// Pass nothing at all: the CLI in the container runs without the editor.
    #[arg(long, conflicts_with = "bridge")]
    pub(crate) no_ide: bool,

    /// Print the command and do not run it; the token is shown as ***.
    #[arg(long)]
    pub(crate) print: bool,

    /// The command, after --.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EnvArgs {
    /// How to print them: for a shell's eval, for docker run --env-file, or as a JSON object.
    ///
    /// docker is for inside of a container; all others are for a terminal.
    #[arg(long, value_name = "FORMAT", default_value = "sh")]
    pub(crate) format: EnvFormat,

    /// The folder whose companion is meant.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// The container has the network of the host (--network host): keep the CLI on 127.0.0.1.
    #[arg(long)]
    pub(crate) host_network: bool,

    /// The client that is meant [default: all that find a companion].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients())]
    pub(crate) client: Vec<&'static Dialect>,
}

/// A way to write environment variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvFormat {
    /// export NAME='value', for sh, bash and zsh.
    Sh,
    /// set -gx NAME 'value'.
    Fish,
    /// $env:NAME = 'value'.
    Powershell,
    /// NAME=value, for --env-file.
    Docker,
    /// An object.
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Where Gemini CLI runs.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// Print JSON, for programs: a list with an object for each client.
    #[arg(long)]
    pub(crate) json: bool,

    /// The client that is meant [default: all that are installed].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients())]
    pub(crate) client: Vec<&'static Dialect>,
}

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
    #[arg(long, value_name = "CLIENTS", default_values_t = Settings::default().clients, hide_default_value = true, value_delimiter = ',', value_parser = clients())]
    pub(crate) clients: Vec<&'static Dialect>,

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

    /// The largest request, in megabytes. It limits how large a proposed file can be.
    #[arg(long, value_name = "MB", default_value_t = Settings::default().body_limit, value_parser = within(&Settings::BODY_LIMITS))]
    pub(crate) body_limit: u16,

    /// How often a quiet connection gets a sign of life, in seconds. Gemini CLI gives up after 300 s
    /// of silence, so at most half of that.
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::default().keep_alive, value_parser = within(&Settings::KEEP_ALIVES))]
    pub(crate) keep_alive: u16,
}

const BRIDGE_HELP: &str = "\
Gemini CLI uses it with these variables, here for a project that is /work where the CLI runs:

  GEMINI_CLI_IDE_SERVER_STDIO_COMMAND=gemini-companion
  GEMINI_CLI_IDE_SERVER_STDIO_ARGS='[\"bridge\", \"--map\", \"/work=/home/me/project\"]'
  GEMINI_CLI_IDE_WORKSPACE_PATH=/work
  TERMINAL_EMULATOR=JetBrains-JediTerm

With the last one Gemini CLI takes the terminal for an editor's; TERM_PROGRAM=vscode does as well,
but not within tmux. Of its own variables Gemini CLI passes on to the bridge only HOME,
PATH and their like, so whatever the bridge is to know has to stand among the arguments.";

#[derive(Debug, clap::Args)]
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

fn within(range: &RangeInclusive<u16>) -> impl TypedValueParser<Value = u16> + use<> {
    clap::value_parser!(u16).range(i64::from(*range.start())..=i64::from(*range.end()))
}

/// The usual one, as users write it.
static LEVEL: LazyLock<String> =
    LazyLock::new(|| Settings::default().log_level.as_str().to_ascii_lowercase());

/// Those that are meant: all, if the user names none.
pub(crate) fn clients_or_all(named: &[&'static Dialect]) -> Vec<&'static Dialect> {
    if named.is_empty() { dialect::ALL.to_vec() } else { named.to_vec() }
}

fn clients() -> impl TypedValueParser<Value = &'static Dialect> {
    PossibleValuesParser::new(dialect::ALL.map(|dialect| dialect.id))
        .map(|id| dialect::named(&id).expect("all of these are clients"))
}

fn levels() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug", "trace"])
        .map(|level| level.parse().expect("all of these are levels"))
}
