//! Writes the evidence of a diagnosis as sentences.

use companion_platform::{Platform, temp_dir_variables};
use companion_protocol::profile::ClientProfile;

use super::env_file::EnvFile;
use super::facts::{Facts, Tried};
use super::features::missing;
use super::hooks::{HookObstacle, Hooks};
use super::probe::{Failure, Probed};
use super::program::ClientProgram;
use super::runner::Runner;
use super::settings::{IdeMode, OnOff};
use super::text::{list, place};
use super::trust::Trust;
use super::{Finding, Level, Subject};
use crate::discover::{Candidate, CandidateStatus, Origin, Reason, WorkspaceError};

pub(super) fn evidence(facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    folder(facts, &mut findings);
    files(facts, &mut findings);
    connection(facts, &mut findings);
    environment(facts, &mut findings);
    client(facts, &mut findings);
    hooks(facts, &mut findings);
    findings
}

fn finding(subject: Subject, level: Level, text: impl Into<String>) -> Finding {
    Finding { subject, level, text: text.into() }
}

fn folder(facts: &Facts, findings: &mut Vec<Finding>) {
    let cwd = facts.environment.cwd.display();
    let (level, text) = match &facts.plan.workspace {
        Ok(()) => (Level::Good, format!("{cwd}, which the editor has open")),
        Err(WorkspaceError::Unknown) => (Level::Note, format!("{cwd}")),
        Err(WorkspaceError::Empty) => (Level::Bad, format!("{cwd}; the editor has no folder open")),
        Err(WorkspaceError::Elsewhere(folders)) => {
            let has = if facts.plan.is_left_over() { "that has ended had" } else { "has" };
            (Level::Bad, format!("{cwd}; the editor {has} open: {}", list(folders)))
        }
    };
    findings.push(finding(Subject::Folder, level, text));
    let (level, text) = match &facts.plan.ide {
        Some(ide) => (Level::Good, format!("the CLI calls the editor {ide}")),
        None => (
            Level::Bad,
            "no file names the editor, and the CLI does not know this terminal".to_owned(),
        ),
    };
    findings.push(finding(Subject::Folder, level, text));
}

fn files(facts: &Facts, findings: &mut Vec<Finding>) {
    let search = &facts.plan.search;
    let dir = search.dir.display();
    let text = match (search.listed, search.candidates.len()) {
        (Err(std::io::ErrorKind::NotFound), _) => format!("{dir} does not exist"),
        (Err(error), _) => format!("{dir} can't be read: {error}"),
        (Ok(()), 0) => format!("{dir} has none"),
        (Ok(()), count) => format!("{dir} has {count}"),
    };
    let found = !search.candidates.is_empty();
    let level = if found { Level::Good } else { Level::Note };
    findings.push(finding(Subject::Files, level, text));
    for (candidate, answer) in search.candidates.iter().zip(&facts.answers) {
        findings.push(file(candidate, answer.as_ref(), facts.environment.container.is_some()));
    }
    for path in &facts.elsewhere {
        let text = format!("the CLI does not look here: {}", path.display());
        findings.push(finding(Subject::Files, Level::Bad, text));
    }
}

fn file(candidate: &Candidate, answer: Option<&Probed>, in_container: bool) -> Finding {
    let name = candidate.path.file_name().unwrap_or_default().to_string_lossy();
    let mut text = name.into_owned();
    if let Some(connection) = &candidate.connection {
        if let Some(ide) = &connection.ide_info {
            text = format!("{text}: {}", ide.display_name);
        }
        let folders = connection.workspace_path.as_deref().unwrap_or_default();
        let folders = if folders.is_empty() { "no folder open" } else { folders };
        text = format!("{text}, {folders}");
    }
    let (chosen, why) = match &candidate.standing {
        CandidateStatus::Chosen(reason) => (true, chosen_because(*reason).to_owned()),
        CandidateStatus::NotOurs(user) => {
            (false, format!("passed over: it belongs to another user, {user}"))
        }
        CandidateStatus::Unreadable(error) => {
            (false, format!("passed over: it can't be read, {error}"))
        }
        CandidateStatus::Malformed => (false, "passed over: it is not a JSON object".to_owned()),
        CandidateStatus::Workspace(WorkspaceError::Elsewhere(_)) => {
            (false, "passed over: the CLI runs in none of its folders".to_owned())
        }
        CandidateStatus::Workspace(WorkspaceError::Empty) => {
            (false, "passed over: it has no folder open".to_owned())
        }
        CandidateStatus::Workspace(WorkspaceError::Unknown) => {
            (false, "passed over: it names no folder".to_owned())
        }
        CandidateStatus::Outranked => (false, "passed over: another one comes first".to_owned()),
        CandidateStatus::Stale => {
            (false, "passed over, and removed by the CLI when it starts".to_owned())
        }
    };
    let is_refused = answer == Some(&Err(Failure::Refused));
    // In a container the companion may listen, and its process run, where nobody here sees it.
    let answers = matches!(answer, Some(Ok(_)));
    let stale = !in_container && !answers && (is_refused || !candidate.alive);
    text = format!("{text}\n{why}");
    if let Some(pid) = candidate.ide_pid {
        let alive = if candidate.alive { "runs" } else { "does not run here" };
        text = format!("{text}; process {pid} {alive}");
    }
    match answer {
        Some(Ok(_)) => text.push_str("; it answers"),
        Some(Err(failure)) => text = format!("{text}; {}", failed(failure)),
        None => {}
    }
    if stale {
        text.push_str(
            "\nleft over from a companion that has ended; one that starts when the file is at least \
             ten minutes old deletes it",
        );
    }
    let level = match (chosen, stale || is_refused) {
        (true, false) => Level::Good,
        (true, true) => Level::Bad,
        (false, _) => Level::Note,
    };
    finding(Subject::Files, level, text)
}

fn chosen_because(reason: Reason) -> &'static str {
    match reason {
        Reason::OldName => {
            "chosen by its name, which has the editor's process or the terminal's port"
        }
        Reason::OnlyOne => "chosen: the only one for this folder",
        Reason::Port => "chosen: it has the terminal's port",
        Reason::First => "chosen: the first of those for this folder",
        Reason::NoneFits => {
            "chosen although the CLI runs in none of its folders, because no other file fits"
        }
    }
}

/// Returns the end of a sentence about a failure.
fn failed(failure: &Failure) -> String {
    match failure {
        Failure::UnknownHost => "the host's name has no address".to_owned(),
        Failure::Refused => "no program listens at its port".to_owned(),
        Failure::Unreachable => "there is no way to it".to_owned(),
        Failure::Silent => "it does not answer in time".to_owned(),
        Failure::WrongToken => "it refuses the token (401)".to_owned(),
        Failure::WrongName(said) => format!("it refuses the request (403): {said}"),
        Failure::NotACompanion(said) => format!("no companion: {said}"),
        Failure::BadPort => "that is not a port".to_owned(),
        Failure::BadProxy(name) => format!("invalid {name}: the CLI can't start"),
        Failure::BadCommand(said) => said.clone(),
    }
}

fn connection(facts: &Facts, findings: &mut Vec<Finding>) {
    for Tried { route, outcome } in &facts.tried {
        let from = match route.origin {
            Origin::File => "from the file",
            Origin::Variable => "from the environment",
        };
        let place = place(&route.target);
        let (level, text) = match outcome {
            Ok(server) => (
                Level::Good,
                format!(
                    "{place}, {from}: {} {} answers, with MCP {}",
                    server.name, server.version, server.protocol_version
                ),
            ),
            Err(failure) => (Level::Bad, format!("{place}, {from}: {}", failed(failure))),
        };
        findings.push(finding(Subject::Connection, level, text));
    }
    if facts.tried.is_empty() {
        findings.push(finding(Subject::Connection, Level::Note, "nothing to try"));
    }
    if let Some((host, outcome)) = &facts.other_host {
        let text = match outcome {
            Ok(_) => "a companion answers there".to_owned(),
            Err(failure) => failed(failure),
        };
        let text = format!("{host}, where the CLI does not look: {text}");
        findings.push(finding(Subject::Connection, Level::Note, text));
    }
}

fn environment(facts: &Facts, findings: &mut Vec<Finding>) {
    let environment = &facts.environment;
    let names = &environment.profile.variables;
    let mut add = |level, text: String| findings.push(finding(Subject::Environment, level, text));
    let expected =
        [Some(names.port), Some(names.workspace_path), names.pid, Some(names.stdio_command)];
    for name in expected.into_iter().flatten() {
        if let Some(value) = environment.set(name) {
            add(Level::Note, format!("{name} is {value}"));
        }
    }
    if let Some(EnvFile { path, variables, ignored }) = &facts.env_file {
        let file = path.display();
        if !variables.is_empty() {
            let names = variables.join(", ");
            add(Level::Note, format!("the CLI also reads {names} from {file}; doctor does not"));
        }
        if !ignored.is_empty() {
            let (names, folder) = (ignored.join(", "), environment.profile.installation.settings);
            let text =
                format!("the CLI ignores {names} in {file}; write them into ~/{folder}/.env");
            add(Level::Bad, text);
        }
    }
    if let Some(name) = names.auth_token.filter(|name| environment.set(name).is_some()) {
        let used = match facts.plan.token_origin {
            Origin::File => "set, but the file's token is used",
            Origin::Variable => "set",
        };
        add(Level::Note, format!("{name} is {used}"));
    }
    let ports = facts.plan.search.chosen().and_then(|one| one.connection.as_ref()?.port.as_deref());
    if let (Some(ours), Some(port)) = (environment.set(names.port), ports)
        && ours != port
    {
        let text = "the terminal's port is not that of the chosen file: the terminal is of another \
                    window, or of an earlier session";
        add(Level::Note, text.to_owned());
    }
    if let Some(args) = environment.set(names.stdio_args)
        && serde_json::from_str::<Vec<String>>(args).is_err()
    {
        add(Level::Bad, format!("{} is not a JSON array of texts", names.stdio_args));
    }
    container(facts, &mut add);
    if let Some(name) = super::facts::bad_proxy(environment) {
        let schemes = environment.profile.installation.proxies.iter();
        let schemes: Vec<_> = schemes.map(|scheme| format!("{scheme}//")).collect();
        let schemes = schemes.join(" or ");
        add(Level::Bad, format!("{name} is not a URL that begins with {schemes}"));
    } else if ["http_proxy", "HTTP_PROXY"].iter().any(|name| environment.set(name).is_some()) {
        add(Level::Good, "a proxy is set; the CLI does not use it for its companion".to_owned());
    }
    let temp = environment.temp_dir.display();
    let mut names = temp_dir_variables(Platform::CURRENT).iter();
    let source = names.find(|name| environment.set(name).is_some());
    let source = source.map_or_else(|| "by default".to_owned(), |name| format!("by {name}"));
    add(Level::Note, format!("the folder for temporary files is {temp}, {source}"));
}

fn container(facts: &Facts, add: &mut impl FnMut(Level, String)) {
    let environment = &facts.environment;
    match (environment.container, environment.stays_local()) {
        (Some(mark), None) => {
            let here = if environment.hosts().len() > 1 { "here, and then " } else { "" };
            add(
                Level::Note,
                format!(
                    "a container, by {mark}: the CLI looks {here}on the host, host.docker.internal"
                ),
            );
        }
        (Some(mark), Some(name)) => add(
            Level::Note,
            format!("a container, by {mark}; but {name} is set, and the CLI stays on 127.0.0.1"),
        ),
        (None, _) if environment.set("SSH_CONNECTION").is_some() => {
            add(Level::Note, "logged in over SSH".to_owned());
        }
        (None, _) => {}
    }
    if let Some(name) = environment.set("WSL_DISTRO_NAME") {
        add(Level::Note, format!("WSL, {name}"));
    }
}

fn client(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut add = |level, text: String| findings.push(finding(Subject::Client, level, text));
    match &facts.ide_mode {
        IdeMode::Set(OnOff::On, file) => {
            add(Level::Good, format!("IDE mode is on, by {}", file.display()));
        }
        IdeMode::Set(OnOff::Off, file) => {
            add(Level::Bad, format!("IDE mode is off, by {}", file.display()));
        }
        IdeMode::Unset => {
            add(Level::Bad, "IDE mode is off; no settings file turns it on".to_owned());
        }
        IdeMode::Unreadable(file) => {
            add(Level::Bad, format!("{} can't be read as a JSON object", file.display()));
        }
        IdeMode::Sandboxed(setting, file) => {
            let file = file.display();
            add(
                Level::Bad,
                format!("IDE mode is off: by {setting} in {file} tools run in a sandbox"),
            );
        }
    }
    if let Some(file) = &facts.reset {
        let file = file.display();
        let text = format!(
            "{file} is not valid JSON: when it starts, it writes empty settings in its place, and \
             keeps yours as {file}.corrupted"
        );
        add(Level::Bad, text);
    }
    let ClientProfile { id, installation, .. } = facts.environment.profile;
    let tested = installation.tested;
    match &facts.client_program {
        ClientProgram::Version(version) if version == tested => {
            add(Level::Good, format!("version {version}"));
        }
        ClientProgram::Version(version) => {
            add(Level::Note, format!("version {version}; this program is tested with {tested}"));
        }
        ClientProgram::UnknownVersion(program) => add(
            Level::Note,
            format!(
                "{} starts it; {id} --version shows its version, and this program is tested with \
                 {tested}",
                program.display()
            ),
        ),
        ClientProgram::Missing => add(Level::Note, format!("{id} is not in the PATH")),
    }
    match &facts.trust {
        Some(Trust::Denied(by)) => add(
            Level::Note,
            format!(
                "it does not trust this folder, by {by}, and so ignores the project's settings"
            ),
        ),
        Some(Trust::Undecided) => {
            add(Level::Note, "it asks whether you trust this folder when it starts".to_owned());
        }
        Some(Trust::Trusted) | None => {}
    }
}

/// Reports the hooks, and each feature that does not work without them.
fn hooks(facts: &Facts, findings: &mut Vec<Finding>) {
    let mut add = |level, text: String| findings.push(finding(Subject::Hooks, level, text));
    let client = facts.environment.profile;
    let Hooks { obstacles, runner, server_off, .. } = &facts.hooks;
    // A user without the extension may not want these features.
    let level = match obstacles.first() {
        Some(HookObstacle::NotInstalled) => Level::Note,
        _ => Level::Bad,
    };
    for obstacle in obstacles {
        let mut text = obstacle.reason(client);
        if *obstacle == HookObstacle::NotInstalled {
            text = format!("{text}; run gemini-companion setup");
        }
        add(level, text);
    }
    if let Some(Runner { program, problem: None }) =
        runner.as_ref().filter(|_| obstacles.is_empty())
    {
        add(Level::Good, format!("they run {program}"));
    }
    for feature in missing(client, &facts.hooks) {
        add(level, format!("does not work: {}", feature.name));
    }
    if let Some(why) = server_off {
        add(Level::Note, format!("does not work: the model asks for problems; {why}"));
    }
    match facts.hooks_arrived.filter(|_| !obstacles.iter().any(HookObstacle::stops_hooks)) {
        Some(true) => add(Level::Good, "they have reached the companion".to_owned()),
        Some(false) => {
            let text = "none has reached the companion with a prompt or a tool since it started";
            add(Level::Note, text.to_owned());
        }
        None => {}
    }
}
