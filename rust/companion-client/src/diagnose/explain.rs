//! Explains each problem: the verdict, and the fixes, the most promising first.

use std::path::Path;

use companion_platform::{Platform, quote, temp_dir_variables};
use companion_protocol::profile::{Base, ClientProfile, Folder};

use super::Problem;
use super::facts::{Facts, bad_proxy};
use super::judge::most_relevant;
use super::probe::Failure;
use super::sandbox::Sandbox;
use super::settings::{IdeMode, outweighs_user};
use super::text::{list, place, quoted};
use crate::discover::{CandidateStatus, Environment, Origin, Target};

const NAME_THE_HOST: &str = "Start the container with gemini-companion container -- docker run \
                             IMAGE, or with --add-host host.docker.internal:host-gateway.";

fn new_terminal(profile: &ClientProfile) -> String {
    format!("Open a new terminal in the editor, and start {} there.", profile.id)
}

/// Suggests how to get the variables of the companion that runs now, if the client uses variables.
fn new_variables(facts: &Facts) -> Vec<String> {
    let environment = &facts.environment;
    let is_used = facts.tried.iter().any(|tried| {
        tried.route.origin == Origin::Variable && matches!(tried.route.target, Target::Http { .. })
    });
    let mut advice = Vec::new();
    if !is_used {
        return advice;
    }
    if !environment.looks_on_host() {
        advice.push(new_terminal(environment.profile));
    }
    if environment.set("SSH_CONNECTION").is_some() {
        advice.push(
            "If the editor runs on your own machine, it may have another port by now: end this \
             connection, and run there the commands again that gemini-companion env --help shows."
                .to_owned(),
        );
    } else if environment.container.is_some() {
        advice.push(
            "If the editor runs on the host, it may have another port by now: start the container \
             again with gemini-companion container -- docker run IMAGE."
                .to_owned(),
        );
    }
    advice
}

fn start(facts: &Facts) -> String {
    let profile = facts.environment.profile;
    // Without an editor at its start, the client has no command /ide enable.
    let connect = match facts.plan.ide {
        None => format!("start {} again", profile.id),
        Some(_) => format!("type /ide enable in {}", profile.name),
    };
    format!(
        "Open the project in an editor with the companion's plugin, which gemini-companion setup \
         installs, and wait until it has loaded. Then {connect}."
    )
}

/// Returns the verdict about a problem, in one sentence, and its fixes.
#[expect(clippy::too_many_lines, reason = "a table of all problems")]
pub(super) fn explain(facts: &Facts, problem: Problem) -> (String, Vec<String>) {
    let environment = &facts.environment;
    let profile = environment.profile;
    let ClientProfile { id, name, variables, installation, .. } = profile;
    let at = most_relevant(&facts.tried, environment.hosts().len());
    let at = at.map_or_else(String::new, |tried| place(&tried.route.target));
    let settings =
        facts.ide_mode.file().map_or_else(String::new, |file| file.display().to_string());
    let fails = |why: &str| format!("{name} does not connect: {why}.");
    let one = |fix: &str| vec![fix.to_owned()];
    match problem {
        Problem::UnknownTerminal | Problem::NoCompanion => {
            (nothing_found_verdict(facts, problem), nothing_found(facts, problem))
        }
        Problem::NoFolder => (
            fails("the editor has no folder open"),
            one("Open a folder in the editor. Then type /ide enable."),
        ),
        Problem::OtherFolder => {
            let cwd = environment.cwd.display();
            let why = match &facts.worktree_of {
                Some(open) => format!(
                    "{cwd} is a worktree of the repository in {}, which the editor has open \
                     without its other worktrees",
                    open.display()
                ),
                None => format!("{cwd} is not in a folder that the editor has open"),
            };
            (fails(&why), other_folder(facts))
        }
        Problem::NoRoute => (
            fails("the file or variable that it found names no port"),
            vec!["Restart the companion in the editor.".to_owned(), new_terminal(profile)],
        ),
        Problem::BadProxy => {
            let proxy = bad_proxy(environment).unwrap_or("HTTP_PROXY");
            let fix = format!(
                "Write {proxy} as http://HOST:PORT, or unset it. In a password, # is %23, / is %2F \
                 and % is %25. The CLI does not use a proxy for its companion, but an invalid URL \
                 stops it."
            );
            (fails(&format!("{proxy} is not a valid URL")), vec![fix])
        }
        Problem::NotRunning => {
            (fails(&format!("no program listens at {at} any more")), left_over(facts))
        }
        Problem::StaleFile => (
            fails("a file left over from another companion is in the way of the one that runs"),
            left_over(facts),
        ),
        Problem::WrongToken => {
            let rejects = format!("the companion at {at} rejects the token (401), which is from");
            let why = match (facts.plan.token_origin, variables.auth_token) {
                (Origin::File, _) => format!("{rejects} another companion's file"),
                (_, Some(name)) if facts.plan.token.is_none() => {
                    format!("the companion at {at} wants a token (401), and {name} is not set")
                }
                _ => format!("{rejects} an earlier session of the editor"),
            };
            (fails(&why), left_over(facts))
        }
        Problem::WrongName => (
            fails(&format!("the companion does not accept the host name {at} (403)")),
            one("Allow that name: gemini-companion serve --allow-host NAME, or the JetBrains \
                 plugin's setting."),
        ),
        Problem::UnknownHost => (
            fails("this container does not know host.docker.internal, where the CLI looks"),
            one(NAME_THE_HOST),
        ),
        Problem::HostSilent => {
            (fails(&format!("from this container, no program answers at {at}")), host_silent(facts))
        }
        Problem::LooksOnHost => {
            let variable = variables.stay_local.unwrap_or_default();
            (
                fails("the companion is in this container, but the CLI looks for it on the host"),
                vec![format!("export {variable}=1, then start {id}.")],
            )
        }
        Problem::LooksInContainer => {
            let variable = environment.stays_local().unwrap_or("REMOTE_CONTAINERS");
            (
                fails("the companion is on the host, but the CLI looks for it in this container"),
                vec![format!("Unset {variable}: it says that the editor is in this container.")],
            )
        }
        Problem::Silent => (
            fails(&format!(
                "the program that listens at {at} takes the connection and does not answer"
            )),
            one("Its editor may be suspended: continue it with fg in its terminal. Otherwise \
                 restart it."),
        ),
        Problem::NotACompanion => {
            let mut fixes = new_variables(facts);
            let fix = if environment.looks_on_host() {
                "See what listens at that port on the host, and restart the companion."
            } else {
                "Restart the editor. If another program has the port, the companion takes a new one."
            };
            fixes.push(fix.to_owned());
            let why = format!("the program that listens at {at} does not answer as a companion");
            (fails(&why), fixes)
        }
        Problem::BadCommand => {
            (fails("the command that should lead to the companion fails"), vec![command(profile)])
        }
        Problem::BehindCommand => (
            fails("the command that should lead to the companion does not reach it"),
            vec![start(facts), command(profile)],
        ),
        Problem::BadSettings => (
            format!("{name} does not start: it can't read {settings} as a JSON object."),
            vec![format!(
                "Correct {settings}: a comma or a bracket may be missing or one too many, or the \
                 file is not in UTF-8. Or move it away."
            )],
        ),
        Problem::RefusedExtension => {
            let obstacle = facts.hooks.obstacles.first();
            let why = obstacle.map(|why| why.reason(profile)).unwrap_or_default();
            (format!("{why}."), Vec::new()) // the hooks have the fix
        }
        Problem::SwitchedOff => {
            let fix = match &facts.ide_mode {
                IdeMode::Off(file) if outweighs_user(environment, file) => format!(
                    "Take \"ide.enabled\" out of {settings}, which outweighs your own settings and \
                     /ide enable."
                ),
                _ => format!("Type /ide enable in {name}. It remembers that."),
            };
            (format!("All is ready, but IDE mode is switched off in {name}."), vec![fix])
        }
        Problem::Sandbox => {
            let by = match &facts.sandbox {
                Some(Sandbox::HidesCompanion(by)) => by,
                _ => "",
            };
            let (variable, value) = profile.terminal;
            let variables = format!(
                "Run eval \"$(gemini-companion env)\" and export {variable}={value}, and start {id} in \
                 the same terminal."
            );
            let mut fixes = vec![variables];
            if cfg!(target_os = "linux") {
                fixes.extend(reach_host(environment));
            }
            (
                format!(
                    "All is ready, but {name} starts in a sandbox, by {by}, and finds no companion \
                     there."
                ),
                fixes,
            )
        }
        Problem::ToolSandbox => {
            let setting = installation.tool_sandbox.unwrap_or_default();
            (
                format!(
                    "All is ready, but {name} has no IDE mode while its tools run in a sandbox."
                ),
                vec![format!("Take {setting} out of {settings}, and start {id} again.")],
            )
        }
    }
}

/// Suggests a correction of the command that should lead to the companion.
fn command(ClientProfile { variables, .. }: &ClientProfile) -> String {
    let (command, args) = (variables.stdio_command, variables.stdio_args);
    format!(
        "Correct {command} and {args}, or unset them. Try the command by hand: it should wait for \
         input."
    )
}

/// Whether the client ignores variables that lead to a program, though that may refuse the token or not
/// answer.
fn ignores_variables(facts: &Facts, problem: Problem) -> bool {
    let outcome = facts.tried.first().map(|first| &first.outcome);
    problem == Problem::UnknownTerminal
        && outcome.is_some_and(|it| !matches!(it, Err(Failure::Refused | Failure::Unreachable)))
}

fn nothing_found_verdict(facts: &Facts, problem: Problem) -> String {
    let name = facts.environment.profile.name;
    let why = if let Some((folder, owner)) = &facts.unusable_folder {
        let folder = folder.display();
        &match owner {
            Some(owner) => format!(
                "{folder} belongs to another user, {owner}, so no editor of yours can leave its file \
                 there"
            ),
            None => format!("{folder} is not a folder, so no editor can leave its file there"),
        }
    } else if !facts.elsewhere.is_empty() {
        "the companion's file is not in the folder where the CLI looks"
    } else if ignores_variables(facts, problem) {
        "the CLI ignores the companion's variables, because it does not recognize this terminal as \
         an editor's"
    } else {
        "it finds no companion"
    };
    format!("{name} does not connect: {why}.")
}

/// Suggests fixes for a host that does not answer this container.
fn host_silent(facts: &Facts) -> Vec<String> {
    let mut advice = new_variables(facts);
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
    advice.push(listen(&facts.environment));
    advice.push(
        "Or start the container with --network host, and with -e REMOTE_CONTAINERS=1.".to_owned(),
    );
    advice
}

/// Suggests that the companion listens for containers.
fn listen(environment: &Environment) -> String {
    let (address, which) = match environment.container {
        Some("/run/.containerenv") => ("ADDRESS", "run getent hosts host.containers.internal here"),
        _ => ("172.17.0.1", "the address of Docker's bridge"),
    };
    format!(
        "Let the companion listen where containers reach it: gemini-companion serve --listen \
         {address} ({which}), or the JetBrains plugin's setting. By itself it listens on 127.0.0.1 \
         only."
    )
}

/// Suggests how the container of a sandbox reaches the companion of a Linux machine.
pub(super) fn reach_host(environment: &Environment) -> Vec<String> {
    let network = "Or let the sandbox use the host's network: export SANDBOX_FLAGS='--network host', \
                   and run eval \"$(gemini-companion env --host-network)\".";
    vec![listen(environment), network.to_owned()]
}

fn nothing_found(facts: &Facts, problem: Problem) -> Vec<String> {
    let environment = &facts.environment;
    let ClientProfile { id, terminal: (variable, value), .. } = environment.profile;
    let mut advice = Vec::new();
    match &facts.unusable_folder {
        Some((folder, Some(_))) => {
            advice.push(format!(
                "Start the editor and {id} with a folder for temporary files of your own: export \
                 TMPDIR=$HOME/.cache/tmp; mkdir -p \"$TMPDIR\""
            ));
            let folders = [folder, &environment.discovery_dir()].map(|folder| quoted(folder));
            advice.push(format!(
                "Or let an administrator share the folder among all users: mkdir -p {1}; chown root \
                 {0} {1}; chmod 1777 {0} {1}",
                folders[0], folders[1]
            ));
        }
        Some((folder, None)) => advice.push(format!("Move {} away.", folder.display())),
        None => {}
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
    if ignores_variables(facts, problem) {
        advice.push(format!(
            "Run: export {variable}={value}. The CLI accepts only terminals of editors that it \
                 knows."
        ));
    }
    if environment.looks_on_host() {
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
    let is_unexplained = advice.is_empty();
    advice.push(start(facts));
    if is_unexplained && matches!(environment.profile.folder.base, Base::Temp) {
        advice.push(format!(
            "If it is open there, its folder for temporary files may be another one, or full. \
             Compare {} in the editor with {}.",
            temp_dir_variables(Platform::CURRENT)[0],
            environment.temp_dir.display()
        ));
    }
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
    let ClientProfile { id, name, .. } = facts.environment.profile;
    if let Some(folder) = facts.plan.split_folder(&facts.environment.cwd) {
        return vec![format!(
            "Rename {}, and open it again: {name} takes a {} in a folder's name for the end of the name.",
            quoted(folder),
            Platform::CURRENT.list_separator()
        )];
    }
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
    if facts.environment.looks_on_host() {
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
    advice.extend(new_variables(facts));
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
