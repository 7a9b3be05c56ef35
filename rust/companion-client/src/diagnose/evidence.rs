//! Writes the evidence of a diagnosis as sentences.

use companion_platform::{Platform, temp_dir_variables};
use companion_protocol::profile::ClientProfile;

use super::client_program::ClientProgram;
use super::env_file::EnvFile;
use super::facts::{Facts, Tried, bad_proxy};
use super::features::missing;
use super::hooks::{HookObstacle, Hooks};
use super::probe::{Failure, Probed, shown};
use super::sandbox::Sandbox;
use super::settings::{IdeMode, Unread};
use super::text::{list, place};
use super::trust::Trust;
use super::{Finding, Level, Subject};
use crate::discover::{Candidate, CandidateStatus, Environment, Origin, Reason, WorkspaceError};
use crate::http::InitializeResult;

pub(super) fn evidence(facts: &Facts) -> Vec<Finding> {
    let mut found = Evidence { subject: Subject::Folder, findings: Vec::new() };
    folder(facts, &mut found);
    found.subject = Subject::Files;
    files(facts, &mut found);
    found.subject = Subject::Connection;
    connection(facts, &mut found);
    found.subject = Subject::Environment;
    environment(facts, &mut found);
    found.subject = Subject::Client;
    client(facts, &mut found);
    found.subject = Subject::Hooks;
    hooks(facts, &mut found);
    found.findings
}

/// Collects the findings about one subject after the other.
struct Evidence {
    subject: Subject,
    findings: Vec<Finding>,
}

impl Evidence {
    fn add(&mut self, level: Level, text: impl Into<String>) {
        self.findings.push(Finding { subject: self.subject, level, text: text.into() });
    }

    fn good(&mut self, text: impl Into<String>) {
        self.add(Level::Good, text);
    }

    fn note(&mut self, text: impl Into<String>) {
        self.add(Level::Note, text);
    }

    fn bad(&mut self, text: impl Into<String>) {
        self.add(Level::Bad, text);
    }
}

fn folder(facts: &Facts, found: &mut Evidence) {
    let cwd = facts.environment.cwd.display();
    // The processes of another system are not seen here.
    let is_seen = facts.environment.container.is_none() && facts.connected().is_none();
    let is_refused = facts.tried.first().is_some_and(|one| one.outcome == Err(Failure::Refused));
    let has_ended = is_seen && (facts.plan.is_left_over() || is_refused);
    let has = if has_ended { "that has ended had" } else { "has" };
    let by_file = facts.plan.search.chosen().and_then(|one| one.connection.as_ref());
    let is_known = facts.connected().is_some()
        || by_file.is_some_and(|connection| connection.workspace_path.is_some());
    let variable = facts.environment.profile.variables.workspace_path;
    match &facts.plan.workspace {
        Ok(()) if !is_known => found.note(format!("{cwd}, which {variable} names")),
        Ok(()) if has_ended => found.note(format!("{cwd}, which the editor {has} open")),
        Ok(()) => found.good(format!("{cwd}, which the editor {has} open")),
        Err(WorkspaceError::Unknown) => found.note(format!("{cwd}")),
        Err(WorkspaceError::Empty) => found.bad(format!("{cwd}; the editor has no folder open")),
        Err(WorkspaceError::Elsewhere(folders)) if !is_known => {
            found.bad(format!("{cwd}; {variable} names {}", list(folders)));
        }
        Err(WorkspaceError::Elsewhere(folders)) => {
            found.bad(format!("{cwd}; the editor {has} open: {}", list(folders)));
        }
    }
    match &facts.plan.ide {
        Some(ide) => found.good(format!("the CLI calls the editor {ide}")),
        None => found.bad("no file names the editor, and the CLI does not know this terminal"),
    }
}

fn files(facts: &Facts, found: &mut Evidence) {
    let search = &facts.plan.search;
    let dir = search.dir.display();
    match (search.listed, search.candidates.len()) {
        (Err(std::io::ErrorKind::NotFound), _) => found.note(format!("{dir} does not exist")),
        (Err(error), _) => found.note(format!("{dir} can't be read: {error}")),
        (Ok(()), 0) => found.note(format!("{dir} has none")),
        (Ok(()), count) => found.good(format!("{dir} has {count}")),
    }
    for (candidate, answer) in search.candidates.iter().zip(&facts.answers) {
        file(candidate, answer.as_ref(), facts.environment.container.is_some(), found);
    }
    for path in &facts.elsewhere {
        found.bad(format!("the CLI does not look here: {}", path.display()));
    }
}

fn file(candidate: &Candidate, answer: Option<&Probed>, in_container: bool, found: &mut Evidence) {
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
    let why = match &candidate.standing {
        CandidateStatus::Chosen(reason) => chosen_because(*reason).to_owned(),
        CandidateStatus::NotOurs(user) => {
            format!("passed over: it belongs to another user, {user}")
        }
        CandidateStatus::Unreadable(error) => format!("passed over: it can't be read, {error}"),
        CandidateStatus::Malformed => "passed over: it is not a JSON object".to_owned(),
        CandidateStatus::Workspace(WorkspaceError::Elsewhere(_)) => {
            "passed over: the CLI runs in none of its folders".to_owned()
        }
        CandidateStatus::Workspace(WorkspaceError::Empty) => {
            "passed over: it has no folder open".to_owned()
        }
        CandidateStatus::Workspace(WorkspaceError::Unknown) => {
            "passed over: it names no folder".to_owned()
        }
        CandidateStatus::Outranked => "passed over: another one comes first".to_owned(),
        CandidateStatus::Stale => "passed over, and removed by the CLI when it starts".to_owned(),
    };
    let is_refused = answer == Some(&Err(Failure::Refused));
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
    // In a container the companion may listen where nobody here sees it.
    if is_refused && !in_container {
        text.push_str(
            "\nleft over from a companion that has ended; one that starts when the file is at least \
             ten minutes old deletes it",
        );
    }
    match &candidate.standing {
        CandidateStatus::Chosen(_) if matches!(answer, Some(Err(_))) => found.bad(text),
        CandidateStatus::Chosen(_) => found.good(text),
        _ => found.note(text),
    }
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
        Failure::BadProxy(name) => format!("invalid {name}"),
        Failure::BadCommand(said) | Failure::BehindCommand(said) => said.clone(),
    }
}

fn connection(facts: &Facts, found: &mut Evidence) {
    for Tried { route, outcome } in &facts.tried {
        let from = match route.origin {
            Origin::File => "from the file",
            Origin::Variable => "from the environment",
        };
        let place = place(&route.target);
        match outcome {
            Ok(InitializeResult { protocol_version, server_info }) => {
                let (name, version) = (shown(&server_info.name), shown(&server_info.version));
                let mcp = shown(protocol_version);
                found.good(format!("{place}, {from}: {name} {version} answers, with MCP {mcp}"));
            }
            Err(failure) => found.bad(format!("{place}, {from}: {}", failed(failure))),
        }
    }
    if facts.tried.is_empty() {
        found.note("nothing to try");
    }
}

fn environment(facts: &Facts, found: &mut Evidence) {
    let environment = &facts.environment;
    let names = &environment.profile.variables;
    let expected =
        [Some(names.port), Some(names.workspace_path), names.pid, Some(names.stdio_command)];
    for name in expected.into_iter().flatten() {
        if let Some(value) = environment.set(name) {
            found.note(format!("{name} is {value}"));
        }
    }
    if let Some(EnvFile { path, variables, ignored }) = &facts.env_file {
        let file = path.display();
        if !variables.is_empty() {
            let names = variables.join(", ");
            found.note(format!("the CLI also reads {names} from {file}; doctor does not"));
        }
        if !ignored.is_empty() {
            let names = ignored.join(", ");
            found.bad(format!("the CLI ignores {names} in {file}; set them in the terminal"));
        }
    }
    if let Some(name) = names.auth_token.filter(|name| environment.set(name).is_some()) {
        let used = match facts.plan.token_origin {
            Origin::File => "set, but the file's token is used",
            Origin::Variable => "set",
        };
        found.note(format!("{name} is {used}"));
    }
    let ports = facts.plan.search.chosen().and_then(|one| one.connection.as_ref()?.port.as_deref());
    if let (Some(ours), Some(port)) = (environment.set(names.port), ports)
        && ours != port
    {
        found.note(
            "the terminal's port is not that of the chosen file: the terminal is of another window, \
             or of an earlier session",
        );
    }
    if let Some(args) = environment.set(names.stdio_args)
        && serde_json::from_str::<Vec<String>>(args).is_err()
    {
        found.bad(format!("{} is not a JSON array of texts", names.stdio_args));
    }
    container(environment, found);
    if let Some(name) = bad_proxy(environment) {
        let schemes = environment.profile.installation.proxies.iter();
        let forms: Vec<_> = schemes.map(|scheme| format!("{scheme}//HOST:PORT")).collect();
        found.bad(format!("{name} does not have the form {}", forms.join(" or ")));
    } else if ["http_proxy", "HTTP_PROXY"].iter().any(|name| environment.set(name).is_some()) {
        found.good("a proxy is set; the CLI does not use it for its companion");
    }
    let temp = environment.temp_dir.display();
    let mut names = temp_dir_variables(Platform::CURRENT).iter();
    let source = names.find(|name| environment.set(name).is_some());
    let source = source.map_or_else(|| "by default".to_owned(), |name| format!("by {name}"));
    found.note(format!("the folder for temporary files is {temp}, {source}"));
}

fn container(environment: &Environment, found: &mut Evidence) {
    match (environment.container, environment.stays_local()) {
        (Some(mark), None) => {
            let here = if environment.hosts().len() > 1 { "here, and then " } else { "" };
            found.note(format!(
                "a container, by {mark}: the CLI looks {here}on the host, host.docker.internal"
            ));
        }
        (Some(mark), Some(name)) => found.note(format!(
            "a container, by {mark}; but {name} is set, and the CLI stays on 127.0.0.1"
        )),
        (None, _) if environment.set("SSH_CONNECTION").is_some() => {
            found.note("logged in over SSH");
        }
        (None, _) => {}
    }
    if let Some(name) = environment.set("WSL_DISTRO_NAME") {
        found.note(format!("WSL, {name}"));
    }
}

fn client(facts: &Facts, found: &mut Evidence) {
    let ClientProfile { id, installation, .. } = facts.environment.profile;
    let file = facts.ide_mode.file().map_or_else(String::new, |file| file.display().to_string());
    match &facts.ide_mode {
        IdeMode::On(_) => found.good(format!("IDE mode is on, by {file}")),
        IdeMode::Off(_) => found.bad(format!("IDE mode is off, by {file}")),
        IdeMode::Unset => found.bad("IDE mode is off; no settings file turns it on"),
        IdeMode::Unreadable(_) => found.bad(format!("{file} can't be read as a JSON object")),
        IdeMode::Sandboxed(_) => {
            let setting = installation.tool_sandbox.unwrap_or_default();
            found.bad(format!("IDE mode is off: by {setting} in {file} tools run in a sandbox"));
        }
    }
    if let Some(Sandbox::HidesCompanion(by)) = &facts.sandbox {
        found.bad(format!("it starts in a sandbox, by {by}, without the companion's variables"));
    }
    for (file, why) in &facts.unread {
        let file = file.display();
        match why {
            Unread::Reset => found.bad(format!(
                "{file} is not valid JSON: when it starts, it writes empty settings in its place, and \
                 keeps yours as {file}.corrupted"
            )),
            Unread::Unsafe => found.note(format!(
                "it does not read {file}, because others than root can change it or a folder above it"
            )),
        }
    }
    let tested = installation.tested;
    match &facts.client_program {
        ClientProgram::Version(version) if version == tested => {
            found.good(format!("version {version}"));
        }
        ClientProgram::Version(version) => {
            found.note(format!("version {version}; this program is tested with {tested}"));
        }
        ClientProgram::UnknownVersion(program) => found.note(format!(
            "{} starts it; {id} --version shows its version, and this program is tested with \
             {tested}",
            program.display()
        )),
        ClientProgram::Missing => found.note(format!("{id} is not in the PATH")),
    }
    match &facts.trust {
        Some(Trust::Denied(by)) => found.note(format!(
            "it does not trust this folder, by {by}, and so ignores the project's settings"
        )),
        Some(Trust::Undecided) => {
            found.note("it asks whether you trust this folder when it starts");
        }
        Some(Trust::Trusted) | None => {}
    }
}

/// Reports the hooks, and each feature that does not work without them.
fn hooks(facts: &Facts, found: &mut Evidence) {
    let client = facts.environment.profile;
    let Hooks { obstacles, program, server_off, .. } = &facts.hooks;
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
        found.add(level, text);
    }
    if let (true, Some(program)) = (obstacles.is_empty(), program) {
        found.good(format!("they run {program}"));
    }
    for feature in missing(client, &facts.hooks) {
        found.add(level, format!("does not work: {feature}"));
    }
    if let Some(why) = server_off {
        found.note(format!("does not work: the model asks for problems; {why}"));
    }
    match facts.hooks_arrived.filter(|_| !obstacles.iter().any(HookObstacle::stops_hooks)) {
        Some(true) => found.good("they have reached the companion"),
        Some(false) => {
            found.note(
                "none has reached the companion since it started; before the first prompt that is normal",
            );
        }
        None => {}
    }
}
