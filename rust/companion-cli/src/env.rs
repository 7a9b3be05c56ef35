//! Prints the environment variables that connect a client with a companion.

use std::error::Error;
use std::path::PathBuf;

use clap::ValueEnum;
use companion_client::discover::Environment;
use companion_platform::quote;
use companion_protocol::profile::ClientProfile;

use crate::clients;
use crate::output;
use crate::running::{Running, Variables, container_marks};
use crate::serve::folder;

// If the port is taken on the other machine, no CLI must start: it would send its token to the
// program that has it. Without an address sshd accepts the port of ::1 alone, but the CLI uses
// 127.0.0.1.
const ENV_HELP: &str = r#"Over SSH, with the project at the same path on build-server, run in the project here:

  eval "$(gemini-companion env)"
  port=$GEMINI_CLI_IDE_SERVER_PORT
  env -u SANDBOX_ENV -u SANDBOX_FLAGS gemini-companion env |
    ssh build-server 'umask 077; cat > ~/.companion'
  pwd | ssh build-server 'cat > ~/.companion-folder'
  ssh -t -o ExitOnForwardFailure=yes -R 127.0.0.1:$port:127.0.0.1:$port build-server \
    '. ~/.companion; cd "$(cat ~/.companion-folder)"; rm ~/.companion ~/.companion-folder
    TERMINAL_EMULATOR=JetBrains-JediTerm gemini'

If ssh ends with "remote port forwarding failed", another program has the port there, often an
earlier session of yours. End it, and run the commands again. Until then both files stay there."#;

/// Print the environment variables that connect Gemini CLI with the companion.
///
/// In a terminal: eval "$(gemini-companion env)". It also sets the variables that
/// gemini --sandbox passes to its container. For macOS' own sandbox, also run
/// export TERMINAL_EMULATOR=JetBrains-JediTerm.
///
/// The output contains the token, which gives any program on this machine access to your editor,
/// and the variables that you have set for a sandbox. Send it to a shell or to a file that only you
/// can read. Keep it off shared screens, logs and command lines.
#[derive(Debug, clap::Args)]
#[command(after_long_help = ENV_HELP)]
pub(crate) struct EnvArgs {
    /// Output format: for a shell's eval, for docker run --env-file, or JSON.
    ///
    /// docker prints the variables for a container; all others are for a terminal.
    #[arg(long, value_name = "FORMAT", default_value = "sh")]
    pub(crate) format: EnvFormat,

    /// Project folder of the companion.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// Keep the CLI on 127.0.0.1, for a container with --network host.
    #[arg(long)]
    pub(crate) host_network: bool,

    /// CLI to connect [default: all that find a companion].
    #[arg(long, value_name = "CLIENT", value_delimiter = ',', value_parser = clients::parser())]
    pub(crate) client: Vec<&'static ClientProfile>,
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
    /// A JSON object.
    Json,
}

/// Prints the variables of all companions of the folder.
pub(crate) fn env(args: &EnvArgs) -> Result<(), Box<dyn Error>> {
    let clients = clients::or_all(&args.client);
    let environment = Environment::current(clients[0], folder(&args.workspace)?);
    let mut variables = Variables::new();
    for running in Running::find_all(&environment, &clients)? {
        if args.format == EnvFormat::Docker {
            variables.extend(running.for_container(args.host_network));
            if let Some((file, inside)) = running.file_for_container() {
                let name = running.profile.name;
                log::warn!("{name} in the container needs {} as {inside}, too", file.display());
            }
        } else {
            variables.extend(running.for_terminal());
            variables.extend(for_sandbox(running.profile, &environment, args.host_network));
        }
    }
    let text = render(args.format, &variables)?;
    output::print(&text)?;
    Ok(())
}

/// Returns the variables that `gemini --sandbox` passes to its container, together with the user's
/// own. The sandbox passes the port and the workspace by itself. The token is passed by name only:
/// a value would be on the command line of docker, and in the CLI's debug log. A client that reads
/// the token from a file has its folder in the container, too.
fn for_sandbox(
    profile: &ClientProfile,
    environment: &Environment,
    host_network: bool,
) -> Variables {
    let Some(token) = profile.variables.auth_token else { return Variables::new() };
    let theirs = environment.set("SANDBOX_ENV").unwrap_or_default();
    let mut list: Vec<_> =
        theirs.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if let Some(wrong) = list.iter().find(|one| !one.contains('=')) {
        log::warn!(
            "SANDBOX_ENV contains {wrong:?}, which is not NAME=value. gemini --sandbox rejects \
             it. A value can't contain a comma"
        );
    }
    // An earlier run may have added the one for the host's network.
    let ours = container_marks(profile, true);
    list.retain(|one| !ours.iter().any(|(name, value)| *one == format!("{name}={value}")));
    for (name, value) in container_marks(profile, host_network) {
        if !list.iter().any(|one| one.split('=').next() == Some(name)) {
            list.push(format!("{name}={value}"));
        }
    }
    let by_name = format!("--env {token}");
    let theirs = environment.set("SANDBOX_FLAGS").unwrap_or_default().trim();
    let flags = match theirs {
        "" => by_name,
        flags if flags.contains(&by_name) => flags.to_owned(),
        flags => format!("{flags} {by_name}"),
    };
    Variables::from([("SANDBOX_ENV", list.join(",")), ("SANDBOX_FLAGS", flags)])
}

fn render(format: EnvFormat, variables: &Variables) -> Result<String, String> {
    let lines = variables.iter().map(|(name, value)| match format {
        EnvFormat::Sh => Ok(format!("export {name}={}\n", quote::sh(value))),
        EnvFormat::Fish => Ok(format!("set -gx {name} {}\n", quote::fish(value))),
        EnvFormat::Powershell => Ok(format!("$env:{name} = {}\n", quote::powershell(value))),
        EnvFormat::Docker if value.contains(['\n', '\r']) => {
            Err(format!("{name} has a line break, which docker's format can't carry; use json"))
        }
        EnvFormat::Docker => Ok(format!("{name}={value}\n")),
        EnvFormat::Json => Ok(String::new()),
    });
    let text = lines.collect::<Result<String, String>>()?;
    if format == EnvFormat::Json {
        return Ok(output::json(variables).expect("texts are JSON"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use companion_protocol::profile::GEMINI;

    use super::*;

    fn sandbox(vars: &[(&str, &str)], host_network: bool) -> (String, String) {
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Environment::with_vars(&GEMINI, vars.collect(), "/".into());
        let variables = for_sandbox(&GEMINI, &environment, host_network);
        (variables["SANDBOX_ENV"].clone(), variables["SANDBOX_FLAGS"].clone())
    }

    #[test]
    fn what_the_user_wants_in_a_sandbox_stays() {
        let ours = "TERMINAL_EMULATOR=JetBrains-JediTerm";
        let by_name = "--env GEMINI_CLI_IDE_AUTH_TOKEN";
        assert_eq!(sandbox(&[], false), (ours.to_owned(), by_name.to_owned()));
        let (list, flags) =
            sandbox(&[("SANDBOX_ENV", " A=b=c, "), ("SANDBOX_FLAGS", "-m 1g")], true);
        assert_eq!(list, format!("A=b=c,REMOTE_CONTAINERS=1,{ours}"));
        assert_eq!(flags, format!("-m 1g {by_name}"));
        // A second run with the first result changes nothing.
        let again = sandbox(&[("SANDBOX_ENV", &list), ("SANDBOX_FLAGS", &flags)], true);
        assert_eq!(again, (list.clone(), flags.clone()));
        let elsewhere = sandbox(&[("SANDBOX_ENV", &list), ("SANDBOX_FLAGS", &flags)], false);
        assert_eq!(elsewhere, (format!("A=b=c,{ours}"), flags));
        let theirs = sandbox(&[("SANDBOX_ENV", "TERMINAL_EMULATOR=mine")], false);
        assert_eq!(theirs.0, "TERMINAL_EMULATOR=mine");
    }

    #[test]
    fn each_format_in_its_own_way() {
        let value = "a b$c`d\"e\\f'g,é=;\n#";
        let variables = Variables::from([("A", value.to_owned()), ("B", String::new())]);
        let text = |format| render(format, &variables).unwrap();
        assert_eq!(text(EnvFormat::Sh), "export A='a b$c`d\"e\\f'\\''g,é=;\n#'\nexport B=''\n");
        assert_eq!(text(EnvFormat::Fish), "set -gx A 'a b$c`d\"e\\\\f\\'g,é=;\n#'\nset -gx B ''\n");
        assert_eq!(
            text(EnvFormat::Powershell),
            "$env:A = 'a b$c`d\"e\\f''g,é=;\n#'\n$env:B = ''\n"
        );
        let json: serde_json::Value = serde_json::from_str(&text(EnvFormat::Json)).unwrap();
        assert_eq!(json, serde_json::json!({"A": value, "B": ""}));
        assert!(
            render(EnvFormat::Docker, &variables).unwrap_err().starts_with("A has a line break")
        );
        let variables = Variables::from([("A", "a b'\"$c #\\".to_owned())]);
        assert_eq!(render(EnvFormat::Docker, &variables).unwrap(), "A=a b'\"$c #\\\n");
    }
}
