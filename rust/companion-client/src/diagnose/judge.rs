//! Finds the first problem that keeps the client from connecting, in the client's own order.

use super::explain::{explain, reach_host};
use super::facts::{Facts, Tried};
use super::hooks::HookObstacle;
use super::probe::Failure;
use super::sandbox::Sandbox;
use super::settings::IdeMode;
use super::text::place;
use super::{Diagnosis, Problem, evidence};
use crate::discover::{CandidateStatus, Plan, Target, WorkspaceError};

/// Finds the problem, and explains it with verdict, advice and evidence.
pub fn diagnose(facts: &Facts) -> Diagnosis {
    let problem = problem(facts);
    let profile = facts.environment.profile;
    let (verdict, mut advice) = match problem {
        Some(problem) => explain(facts, problem),
        None if may_be_apart(facts) => (success(facts), reach_host(&facts.environment)),
        None => (success(facts), Vec::new()),
    };
    // In a sandbox the client may say something else.
    let said_about = problem.filter(|problem| *problem != Problem::Sandbox);
    let obstacles = facts.hooks.obstacles.iter();
    let obstacles = obstacles.filter(|one| **one != HookObstacle::NotInstalled);
    advice.extend(obstacles.map(|one| one.fix(profile)));
    advice.dedup();
    Diagnosis {
        client: profile.id,
        name: profile.name,
        connects: problem.is_none(),
        problem,
        verdict,
        client_says: said_about.map(|problem| client_message(facts, problem)),
        advice,
        evidence: evidence::evidence(facts),
    }
}

fn problem(facts: &Facts) -> Option<Problem> {
    let Plan { ide, workspace, .. } = &facts.plan;
    if matches!(facts.ide_mode, IdeMode::Unreadable(_)) {
        return Some(Problem::BadSettings);
    }
    if let Some(HookObstacle::SourceNotAllowed(..)) = facts.hooks.obstacles.first() {
        return Some(Problem::RefusedExtension);
    }
    if ide.is_none() || *workspace == Err(WorkspaceError::Unknown) {
        let nothing = if ide.is_none() { Problem::UnknownTerminal } else { Problem::NoCompanion };
        return Some(no_folder_fits(&facts.plan).unwrap_or(nothing));
    }
    match workspace {
        Err(WorkspaceError::Empty) => return Some(Problem::NoFolder),
        Err(_) => return Some(Problem::OtherFolder),
        Ok(()) => {}
    }
    if facts.connected().is_some() {
        return match &facts.ide_mode {
            IdeMode::On(_) => {
                let is_hidden = matches!(facts.sandbox, Some(Sandbox::HidesCompanion(_)));
                is_hidden.then_some(Problem::Sandbox)
            }
            IdeMode::Sandboxed(_) => Some(Problem::ToolSandbox),
            _ => Some(Problem::SwitchedOff),
        };
    }
    let hosts = facts.environment.hosts();
    let Some(first) = most_relevant(&facts.tried, hosts.len()) else {
        return Some(no_folder_fits(&facts.plan).unwrap_or(Problem::NoRoute));
    };
    if facts.is_at_other_host {
        let looks_here = hosts == ["127.0.0.1"];
        return Some(if looks_here { Problem::LooksInContainer } else { Problem::LooksOnHost });
    }
    if facts.accepts_own_token {
        return Some(Problem::StaleFile);
    }
    Some(of_failure(first))
}

/// Returns the problem if all files are for other folders. Some clients ignore such files silently.
fn no_folder_fits(plan: &Plan) -> Option<Problem> {
    let passed_over = |wanted: fn(&WorkspaceError) -> bool| {
        let candidates = plan.search.candidates.iter();
        candidates
            .clone()
            .any(|one| matches!(&one.standing, CandidateStatus::Workspace(why) if wanted(why)))
    };
    if plan.search.chosen().is_some() {
        None
    } else if passed_over(|why| matches!(why, WorkspaceError::Elsewhere(_))) {
        Some(Problem::OtherFolder)
    } else {
        passed_over(|why| *why == WorkspaceError::Empty).then_some(Problem::NoFolder)
    }
}

/// Returns the first attempt. If the client tries a port on several hosts, returns the most
/// informative of these attempts. A host without an address does not count.
pub(super) fn most_relevant(tried: &[Tried], hosts: usize) -> Option<&Tried> {
    if hosts == 1 {
        return tried.first();
    }
    let is_http = |one: &&Tried| matches!(one.route.target, Target::Http { .. });
    let counts = |one: &&Tried| one.outcome != Err(Failure::UnknownHost);
    let silent = |one: &&Tried| matches!(one.outcome, Err(Failure::Refused | Failure::Unreachable));
    let port = || tried.iter().take(hosts).take_while(is_http).filter(counts);
    port().find(|one| !silent(one)).or(port().last()).or(tried.first())
}

fn of_failure(tried: &Tried) -> Problem {
    let Err(failure) = &tried.outcome else { return Problem::NotACompanion };
    let on_host = matches!(tried.route.target, Target::Http { host, .. } if host != "127.0.0.1");
    match failure {
        Failure::BadProxy(_) => Problem::BadProxy,
        Failure::WrongToken => Problem::WrongToken,
        Failure::WrongName(_) => Problem::WrongName,
        Failure::BadCommand(_) => Problem::BadCommand,
        Failure::BehindCommand(_) => Problem::BehindCommand,
        Failure::BadPort => Problem::NoRoute,
        Failure::UnknownHost => Problem::UnknownHost,
        Failure::Refused | Failure::Unreachable if on_host => Problem::HostSilent,
        Failure::Refused | Failure::Unreachable => Problem::NotRunning,
        Failure::Silent => Problem::Silent,
        Failure::NotACompanion(_) => Problem::NotACompanion,
    }
}

/// Returns the first line of the client's own message (`ide-client`, `ide-connection-utils`). Other
/// versions may use other words.
fn client_message(facts: &Facts, problem: Problem) -> String {
    let (profile, plan) = (facts.environment.profile, &facts.plan);
    let tried_port = facts.tried.iter().any(|one| matches!(one.route.target, Target::Http { .. }));
    let text = match (&plan.ide, &plan.workspace) {
        _ if problem == Problem::BadSettings => {
            "Please fix the configuration file(s) and try again."
        }
        _ if problem == Problem::RefusedExtension => {
            return format!(
                "Failed to load extension gemini-companion. The {} file is missing or misconfigured.",
                profile.hooks.switches.install_metadata
            );
        }
        (None, _) => profile.unsupported,
        (_, Err(WorkspaceError::Unknown)) => {
            "Failed to connect to IDE companion extension. Please ensure the extension is running. \
             To install the extension, run /ide install."
        }
        (_, Err(WorkspaceError::Empty)) => {
            "To use this feature, please open a workspace folder in your IDE and try again."
        }
        (_, Err(WorkspaceError::Elsewhere(folders))) => {
            return format!(
                "Directory mismatch. {} is running in a different location than the open \
                 workspace in the IDE. Please run the CLI from one of the following directories: {}",
                profile.name,
                super::text::list(folders)
            );
        }
        _ if problem == Problem::SwitchedOff => {
            "IDE integration is currently disabled. To enable it, run /ide enable."
        }
        _ if problem == Problem::ToolSandbox => "Unknown command: /ide status",
        _ if tried_port && profile.lost.is_some() => profile.lost.unwrap_or_default(),
        _ if plan.rejected => {
            return format!(
                "Found IDE companion extension, but its workspace does not match the current \
                 directory. Run {} from the workspace open in your IDE, or switch the IDE to this \
                 project.",
                profile.name
            );
        }
        (Some(ide), Ok(())) => {
            return format!(
                "Failed to connect to IDE companion extension in {ide}. Please ensure the \
                 extension is running. To install the extension, run /ide install."
            );
        }
    };
    text.to_owned()
}

/// Whether the client starts in a container that may not reach the companion. Only a container shows that.
fn may_be_apart(facts: &Facts) -> bool {
    facts.sandbox == Some(Sandbox::HasOwnNetwork)
}

fn success(facts: &Facts) -> String {
    let name = facts.environment.profile.name;
    let ide = facts.plan.ide.as_deref().unwrap_or("the editor");
    let by = facts.connected().map_or_else(String::new, |tried| place(&tried.route.target));
    let hooks = match facts.hooks.obstacles.iter().find(|one| one.stops_hooks()) {
        None | Some(HookObstacle::NotInstalled) => "",
        Some(_) if facts.hooks.events.is_empty() => " Its hooks do not run.",
        Some(_) => " Not all of its hooks work.",
    };
    let condition = if may_be_apart(facts) { ", if its sandbox reaches this machine" } else { "" };
    format!("{name} connects to {ide}, at {by}{condition}.{hooks}")
}
