//! Suggests fixes for a problem, the most promising first.

use std::path::Path;

use companion_platform::{Platform, quote, temp_dir_variables};
use companion_protocol::profile::{Base, ClientProfile, Folder};

use super::Problem;
use super::facts::Facts;
use super::hooks::HookObstacle;
use super::probe::Failure;
use super::settings::{IdeMode, OnOff, outweighs_user};
use super::text::{list, quoted};
use crate::discover::{CandidateStatus, Origin, Target};

const NAME_THE_HOST: &str = "Start the container with gemini-companion container -- docker run \
                             IMAGE, or with --add-host host.docker.internal:host-gateway.";

fn new_terminal(profile: &ClientProfile) -> String {
    format!("Open a new terminal in the editor, and start {} there.", profile.id)
}

fn start(facts: &Facts) -> String {
    let profile = facts.environment.profile;
    // Without an editor at its start, the client has no command /ide enable.
    let connect = match facts.plan.ide {
        None => format!("start {} again", profile.id),
        Some(_) => format!("type /ide enable in {}", profile.name),
    };
    format!(
        "Open the project in an editor that has the companion, and wait until it has loaded. Then \
         {connect}."
    )
}

/// Suggests fixes for the problem, and for hooks that do not run.
pub(super) fn advice(facts: &Facts, problem: Option<Problem>) -> Vec<String> {
    let mut advice = problem.map(|problem| of_problem(facts, problem)).unwrap_or_default();
    let obstacles = facts.hooks.obstacles.iter();
    let obstacles = obstacles.filter(|one| **one != HookObstacle::NotInstalled);
    advice.extend(obstacles.map(|one| one.fix(facts.environment.profile)));
    advice.dedup();
    advice
}

fn of_problem(facts: &Facts, problem: Problem) -> Vec<String> {
    let environment = &facts.environment;
    let profile = environment.profile;
    let names = &profile.variables;
    let in_container = environment.container.is_some();
    let fixed = |advice: &[&str]| advice.iter().map(|text| (*text).to_owned()).collect();
    match problem {
        Problem::UnknownTerminal | Problem::NoCompanion => nothing_found(facts, problem),
        Problem::NoFolder => fixed(&["Open a folder in the editor. Then type /ide enable."]),
        Problem::OtherFolder => other_folder(facts),
        Problem::NoRoute => {
            fixed(&["Restart the companion in the editor.", &new_terminal(profile)])
        }
        Problem::BadProxy => vec![format!(
            "Write {} as http://HOST:PORT, or unset it. The CLI does not use a proxy for its \
             companion, but an invalid URL stops it at its start.",
            super::facts::bad_proxy(environment).unwrap_or("HTTP_PROXY")
        )],
        Problem::NotRunning | Problem::WrongToken | Problem::StaleFile => left_over(facts),
        Problem::WrongName => fixed(&[
            "Allow that name: gemini-companion serve --allow-host NAME, or the JetBrains plugin's \
             setting.",
        ]),
        Problem::UnknownHost => fixed(&[NAME_THE_HOST]),
        Problem::HostSilent => host_silent(facts),
        Problem::LooksOnHost => {
            let variable = names.stay_local.unwrap_or_default();
            vec![format!("export {variable}=1, then start {}.", profile.id)]
        }
        Problem::LooksInContainer => vec![format!(
            "Unset {}: it says that the editor is in this container.",
            environment.stays_local().unwrap_or("REMOTE_CONTAINERS")
        )],
        Problem::Silent => fixed(&[
            "Its editor may be suspended: continue it with fg in its terminal. Otherwise restart \
             it.",
        ]),
        Problem::NotACompanion if in_container && environment.stays_local().is_none() => {
            fixed(&["See what listens at that port on the host, and restart the companion."])
        }
        Problem::NotACompanion => {
            let restart = "Restart the editor. If another program has the port, the companion takes \
                           a new one.";
            fixed(&[restart, &new_terminal(profile)])
        }
        Problem::BadCommand => vec![format!(
            "Correct {} and {}, or unset them. Try the command by hand: it should wait for input.",
            names.stdio_command, names.stdio_args
        )],
        Problem::BadSettings => match &facts.ide_mode {
            IdeMode::Unreadable(file) => vec![format!(
                "Correct {}: a comma or a bracket may be missing or one too many, or the file is \
                 not in UTF-8. Or move it away.",
                file.display()
            )],
            _ => Vec::new(),
        },
        Problem::RefusedExtension => Vec::new(), // the hooks have the fix
        Problem::SwitchedOff => {
            if let IdeMode::Set(OnOff::Off, file) = &facts.ide_mode
                && outweighs_user(environment, file)
            {
                return vec![format!(
                    "Take \"ide.enabled\" out of {}, which outweighs your own settings and /ide \
                     enable.",
                    file.display()
                )];
            }
            vec![format!("Type /ide enable in {}. It remembers that.", profile.name)]
        }
        Problem::ToolSandbox => match &facts.ide_mode {
            IdeMode::Sandboxed(setting, file) => vec![format!(
                "Take {} out of {}, and start {} again.",
                setting,
                file.display(),
                profile.id
            )],
            _ => Vec::new(),
        },
    }
}

/// Suggests fixes for a host that does not answer this container.
fn host_silent(facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    // A host without a program at the port refuses. A firewall drops packets without an answer.
    let unreachable = facts.tried.iter().find_map(|tried| match tried.route.target {
        Target::Http { port, .. } if tried.outcome == Err(Failure::Unreachable) => Some(port),
        _ => None,
    });
    if let Some(port) = unreachable {
        advice.push(format!(
            "If the editor is open on the host, a firewall there may drop the connection: allow \
             TCP from the container's network to port {port}."
        ));
    }
    advice.push("See that the editor is open on the host.".to_owned());
    advice.push(if facts.environment.container == Some("/run/.containerenv") {
        "Let the companion listen where containers of Podman reach it: gemini-companion serve \
         --listen ADDRESS (run getent hosts host.containers.internal here), or the JetBrains \
         plugin's setting. By itself it listens on 127.0.0.1 only."
            .to_owned()
    } else {
        "Let the companion listen where containers reach it: gemini-companion serve --listen \
         172.17.0.1 (the address of Docker's bridge), or the JetBrains plugin's setting. By itself \
         it listens on 127.0.0.1 only."
            .to_owned()
    });
    advice.push(
        "Or start the container with --network host, and with -e REMOTE_CONTAINERS=1.".to_owned(),
    );
    advice
}

fn nothing_found(facts: &Facts, problem: Problem) -> Vec<String> {
    let environment = &facts.environment;
    let ClientProfile { id, terminal: (variable, value), .. } = environment.profile;
    let mut advice = Vec::new();
    if let Some((folder, _)) = &facts.foreign_folder {
        advice.push(format!(
            "Start the editor and {id} with a folder for temporary files of your own: export \
             TMPDIR=$HOME/.cache/tmp; mkdir -p \"$TMPDIR\""
        ));
        let folders = [folder.clone(), environment.discovery_dir()].map(|folder| quoted(&folder));
        advice.push(format!(
            "Or let an administrator share the folder among all users: mkdir -p {1}; chown root {0} \
             {1}; chmod 1777 {0} {1}",
            folders[0], folders[1]
        ));
    }
    if let Some(file) = facts.elsewhere.first() {
        let Folder { base, names } = environment.profile.folder;
        let folder = file.ancestors().nth(names.len() + 1).unwrap_or(Path::new("/"));
        let (what, variable) = match base {
            Base::Temp => ("for temporary files", temp_dir_variables(Platform::CURRENT)[0]),
            Base::Own { variable, .. } => ("of settings", variable),
        };
        let command = with_variable(Platform::CURRENT, variable, folder, id);
        advice.push(format!("Start {id} with the editor's folder {what}: {command}"));
    }
    let foreign = facts
        .plan
        .search
        .candidates
        .iter()
        .any(|one| matches!(one.standing, CandidateStatus::NotOurs(_)));
    if foreign {
        advice.push(format!(
            "Run {id} as the user who runs the editor, without sudo: it reads no other user's \
                 files."
        ));
    }
    if problem == Problem::UnknownTerminal
        && environment.set(environment.profile.variables.port).is_some()
    {
        advice.push(format!(
            "Run: export {variable}={value}. The CLI accepts only terminals of editors that it \
                 knows."
        ));
    }
    // The editor is in this container if the client stays in it, as in a dev container.
    if environment.container.is_some() && environment.stays_local().is_none() {
        advice.push(
            "If the editor runs on the host, start the container with gemini-companion container -- \
             docker run IMAGE. A container sees neither the companion's file nor its variables by \
             itself."
                .to_owned(),
        );
    } else if environment.set("SSH_CONNECTION").is_some() {
        advice.push(
            "You are logged in over SSH. If the editor runs on your own machine, forward its port \
             and pass its variables: gemini-companion env --help shows the commands."
                .to_owned(),
        );
    }
    if environment.set("WSL_DISTRO_NAME").is_some() {
        advice.push(
            "This is WSL. If the editor runs on Windows, use gemini-companion bridge: \
             gemini-companion bridge --help shows the commands."
                .to_owned(),
        );
    }
    advice.push(start(facts));
    advice
}

/// Returns a command line that starts a program with a folder in a variable, on Windows for PowerShell.
fn with_variable(platform: Platform, variable: &str, folder: &Path, program: &str) -> String {
    match platform {
        Platform::Unix => format!("{variable}={} {program}", quoted(folder)),
        Platform::Windows => {
            format!("$env:{variable} = {}; {program}", quote::powershell(&folder.to_string_lossy()))
        }
    }
}

fn other_folder(facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    let id = facts.environment.profile.id;
    if facts.worktree_of.is_some() {
        advice.push(
            "Let worktrees belong to the project: turn on Include other Git worktrees in the IDE's \
             settings, take worktrees = false from Neovim's, or --no-worktrees from gemini-companion serve."
                .to_owned(),
        );
    }
    match facts.plan.open_folders().as_slice() {
        [] => {}
        [folder] => advice.push(format!("cd {}, and start {id} there.", quoted(folder))),
        folders => advice.push(format!("Start {id} in one of these folders: {}", list(folders))),
    }
    if facts.environment.container.is_some() {
        advice.push(
            "If it is the same project under another path, mount it at the path that it has on the \
             host; gemini-companion container does so. Or use gemini-companion bridge --map."
                .to_owned(),
        );
    }
    let or = if advice.is_empty() { "Open" } else { "Or open" };
    advice.push(format!("{or} this folder in the editor, and type /ide enable."));
    advice
}

/// Suggests fixes for a discovery file or terminal variables that remain from an earlier companion.
fn left_over(facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    if facts.tried.iter().any(|tried| tried.outcome == Err(Failure::UnknownHost)) {
        advice.push(format!("If the editor runs on the host: {NAME_THE_HOST}"));
    }
    let file_fails = facts.tried.iter().any(|tried| {
        tried.route.origin == Origin::File
            && matches!(
                tried.outcome,
                Err(Failure::Refused | Failure::Unreachable | Failure::WrongToken)
            )
    });
    if let Some(chosen) = facts.plan.search.chosen().filter(|_| file_fails) {
        advice.push(format!("Remove the file that is left over: rm {}", quoted(&chosen.path)));
    }
    let of_variable = facts.tried.iter().any(|tried| {
        tried.route.origin == Origin::Variable && matches!(tried.route.target, Target::Http { .. })
    });
    if of_variable {
        advice.push(new_terminal(facts.environment.profile));
    }
    advice.push(start(facts));
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_set_as_in_the_systems_shell() {
        let command = |platform, folder| {
            with_variable(platform, temp_dir_variables(platform)[0], Path::new(folder), "gemini")
        };
        assert_eq!(command(Platform::Unix, "/var/a b"), "TMPDIR='/var/a b' gemini");
        assert_eq!(command(Platform::Windows, "C:\\a b"), "$env:TEMP = 'C:\\a b'; gemini");
    }
}
