//! Finds the companion for a program that a client starts: its arguments, its address, and the path
//! syntax of each side.

mod finder;
mod mapping;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use companion_client::discover::{Environment, HERE, Plan, Stdio, resolve_path};
use companion_protocol::profile::{self, GEMINI};

pub(crate) use companion_platform::vars;
pub(crate) use finder::Finder;
use finder::Search;
use mapping::Rule;

use crate::args::{Args, Command};
use crate::serve::{current_folder, folder, one_line};
pub(crate) use mapping::{Mapping, is_same_file};

/// Where the companion is, and how it sees the client's files.
#[derive(Debug, Default, PartialEq, clap::Args)]
pub(crate) struct FindArgs {
    /// Folder of the CLI; an editor must have it open [default: the current folder].
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Map a folder of the CLI to the companion's folder; repeatable.
    ///
    /// Both paths are absolute, in the notation of their own system: /work=/home/me/project,
    /// /mnt/c=C:\, /=\\wsl$\Debian. The longest match applies.
    #[arg(long, value_name = "FROM=TO", value_parser = OsStringValueParser::new().try_map(rule))]
    map: Vec<Rule>,

    /// Folder for temporary files of the companion's system, as seen from here.
    ///
    /// The discovery files are in gemini/ide in this folder. Set it if the companion runs on another
    /// machine, or if the editor has its own TMPDIR (on Windows, TEMP).
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,

    /// Port of the companion; disables the search.
    #[arg(
        long,
        value_name = "PORT",
        value_parser = clap::value_parser!(u16).range(1..),
        requires = "token_file"
    )]
    port: Option<u16>,

    /// File with the companion's token, for --port.
    #[arg(long, value_name = "FILE", requires = "port")]
    token_file: Option<PathBuf>,

    /// Host of the companion [default: 127.0.0.1; in a container, first host.docker.internal].
    #[arg(long, value_name = "HOST", value_parser = host)]
    host: Option<String>,
}

fn rule(text: OsString) -> Result<Rule, Box<dyn Error + Send + Sync>> {
    let text =
        text.into_string().map_err(|_| "MCP messages can't contain a path that is not Unicode")?;
    Ok(text.parse()?)
}

/// Reads the name of a host. `listening` prints an IPv6 address with brackets.
fn host(text: &str) -> Result<String, &'static str> {
    let address = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    one_line(address.unwrap_or(text))
}

impl FindArgs {
    /// Returns the path translation of `--map`.
    pub(crate) fn mapping(&self) -> Mapping {
        Mapping(self.map.clone())
    }

    /// Returns these arguments. If none is set, returns those of the bridge that a client would
    /// start here, because only the bridge may reach the companion.
    pub(crate) fn or_of_bridge(self) -> Self {
        match current_folder() {
            Ok(here) if self == Self::default() => Self::of_bridge(&here).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns the arguments for a client in `folder`: those of the bridge that it would start, if it
    /// does.
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        let find = Self::of_bridge(&folder).unwrap_or_default();
        Self { workspace: find.workspace.or(Some(folder)), ..find }
    }

    fn of_bridge(folder: &Path) -> Option<Self> {
        let clients =
            profile::ALL.map(|client| Environment::with_vars(client, vars(), folder.to_owned()));
        let find = clients.iter().find_map(|client| {
            client.workspace()?;
            arguments_of_bridge(&client.stdio()?)
        })?;
        (!clients.iter().any(is_beside_editor)).then_some(find)
    }

    /// Returns the client's folder.
    pub(crate) fn folder(&self) -> Result<PathBuf, String> {
        match &self.workspace {
            Some(dir) => Ok(resolve_path(&folder(dir)?.to_string_lossy(), Path::new(""))),
            None => current_folder(),
        }
    }

    /// Creates the finder for these arguments.
    ///
    /// # Errors
    /// If an argument is invalid; the text names it.
    pub(crate) fn finder(self, parent: Parent) -> Result<Finder, Box<dyn Error>> {
        let mapping = self.mapping();
        if let Some(folder) = mapping.ambiguous() {
            return Err(format!("--map {folder}=...: the folder is mapped twice").into());
        }
        let folder = self.folder()?;
        let environment = match parent {
            Parent::Client if self.port.is_none() && self.temp_dir.is_none() => {
                Environment::current(&GEMINI, folder)
            }
            // The editor's process is not needed, and finding it takes time.
            Parent::Client | Parent::Shell => Environment::with_vars(&GEMINI, vars(), folder),
        };
        let hosts = self.host.map_or_else(|| hosts(&environment), |host| vec![host]);
        let Some((port, file)) = self.port.zip(self.token_file) else {
            let environments = profile::ALL.map(|profile| {
                let environment = environment.with_profile(profile);
                match &self.temp_dir {
                    Some(dir) => environment.with_files_of_another_machine(dir.clone()),
                    None => environment,
                }
            });
            return Ok(Finder::discovery(hosts, environments.to_vec(), &mapping));
        };
        Ok(Finder { hosts, search: Search::Port(port, file) })
    }
}

/// Whether the client connects to an editor of its own machine: it prefers a discovery file to a bridge.
fn is_beside_editor(client: &Environment) -> bool {
    client.hosts()[0] == HERE && Plan::of(client).fitting().first().is_some_and(|file| file.alive)
}

/// Returns the arguments by which a bridge finds the companion, if `stdio` starts one.
fn arguments_of_bridge(stdio: &Stdio) -> Option<FindArgs> {
    if Path::new(&stdio.command).file_stem()? != "gemini-companion" {
        return None;
    }
    // The whole command line: options of the program and of the bridge may stand anywhere in it.
    let words = [&stdio.command].into_iter().chain(&stdio.args);
    match Args::try_parse_from(words).ok()?.command {
        Command::Bridge(args) => Some(args.find),
        _ => None,
    }
}

/// The process that started this program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parent {
    /// The client itself. So this program finds the editor as the client does.
    Client,
    /// A shell of the client. The editor is known only if a variable names its process.
    Shell,
}

/// Returns the host that the client chooses. In a container it adds the other one, because the
/// client does not pass on the variables of that choice.
fn hosts(environment: &Environment) -> Vec<String> {
    let mut hosts = vec![environment.hosts()[0].to_owned()];
    if hosts[0] != HERE {
        hosts.push(HERE.to_owned());
    }
    hosts
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use companion_client::discover::Stdio;

    use super::{Args, arguments_of_bridge};

    fn host_of_bridge(args: &[&str]) -> Option<String> {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        arguments_of_bridge(&Stdio { command: "/bin/gemini-companion".to_owned(), args })?.host
    }

    #[test]
    fn the_arguments_of_a_bridge_are_found_among_all_that_it_takes() {
        let mut program = Args::command();
        program.build();
        let bridge = program.find_subcommand("bridge").unwrap();
        let options: Vec<_> = bridge.get_arguments().filter_map(|one| one.get_long()).collect();
        assert!(options.contains(&"log-level") && options.contains(&"wait"));
        for option in options {
            let option_args: &[&str] = match option {
                "help" | "host" => continue,
                "log-level" => &["--log-level", "debug"],
                "map" => &["--map", "/work=/home/me"],
                "port" | "token-file" => &["--port", "7", "--token-file", "x"],
                "wait" => &["--wait", "7"],
                _ => &[&format!("--{option}"), "/tmp"],
            };
            let args = [&["bridge", "--host", "there"], option_args].concat();
            assert_eq!(host_of_bridge(&args).as_deref(), Some("there"), "{args:?}");
        }
        let first = ["--log-level=debug", "bridge", "--host", "there"];
        assert_eq!(host_of_bridge(&first).as_deref(), Some("there"));
        assert_eq!(host_of_bridge(&["mcp", "--host", "there"]), None);
    }
}
