//! Tests the text for each problem. The facts are invented, so nothing depends on the machine.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod left_over;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use companion_protocol::hook::HookEventKind;
use companion_protocol::ide::IdeInfo;
use companion_protocol::profile::{GEMINI, QWEN};

use super::features::features;
use super::probe::{Failure, Probed};
use super::*;
use crate::discover::{
    Candidate, CandidateStatus, Connection, Environment, Origin, Plan, Reason, Route, Search,
    Target, Token, WorkspaceError,
};
use crate::http::{InitializeResult, ServerInfo};

const SECRET: &str = "secret-token";

#[allow(clippy::unnecessary_wraps, reason = "it is one of several outcomes")]
fn answers() -> Probed {
    let server_info =
        ServerInfo { name: "companion-for-gemini-cli".to_owned(), version: "0.1.0".to_owned() };
    Ok(InitializeResult { protocol_version: "2025-06-18".to_owned(), server_info })
}

fn http(port: u16, origin: Origin) -> Route {
    Route { target: Target::Http { host: "127.0.0.1", port }, origin, token: None }
}

fn candidate(pid: u32, port: u16, ide: &str, standing: CandidateStatus) -> Candidate {
    Candidate {
        path: format!("/tmp/gemini/ide/gemini-ide-server-{pid}-{port}.json").into(),
        ide_pid: Some(pid),
        alive: true,
        connection: Some(Connection {
            port: Some(port.to_string()),
            stdio: None,
            workspace_path: Some("/home/me/project".to_owned()),
            worktrees: Vec::new(),
            ppid: None,
            auth_token: Some(Token::from(SECRET.to_owned())),
            ide_info: Some(IdeInfo { name: "ide".to_owned(), display_name: ide.to_owned() }),
        }),
        standing,
    }
}

/// Returns facts with one editor, one file, and a client that connects by the file.
fn connected() -> Facts {
    let chosen = candidate(4100, 41234, "IntelliJ IDEA", CandidateStatus::Chosen(Reason::OnlyOne));
    Facts {
        environment: Environment {
            profile: &GEMINI,
            vars: std::collections::BTreeMap::new(),
            cwd: "/home/me/project".into(),
            temp_dir: "/tmp".into(),
            uid: Some(1000),
            ide_pid: 4100,
            is_alive: |_| true,
            container: None,
        },
        plan: Plan {
            search: Search {
                dir: "/tmp/gemini/ide".into(),
                listed: Ok(()),
                candidates: vec![chosen],
            },
            ide: Some("IntelliJ IDEA".to_owned()),
            workspace: Ok(()),
            token: Some(Token::from(SECRET.to_owned())),
            token_origin: Origin::File,
            routes: vec![http(41234, Origin::File)],
            rejected: false,
        },
        tried: vec![Tried { route: http(41234, Origin::File), outcome: answers() }],
        answers: vec![Some(answers())],
        is_at_other_host: false,
        accepts_own_token: false,
        elsewhere: Vec::new(),
        env_file: None,
        unread: Vec::new(),
        unusable_folder: None,
        worktree_of: None,
        sandbox: None,
        ide_mode: IdeMode::On("/home/me/.gemini/settings.json".into()),
        client_program: ClientProgram::Version("0.61.0".to_owned()),
        trust: Some(Trust::Trusted),
        hooks: Hooks {
            obstacles: Vec::new(),
            events: HookEventKind::ALL.to_vec(),
            program: Some("gemini-companion".to_owned()),
            server_off: None,
        },
        hooks_arrived: Some(true),
    }
}

fn var(facts: &mut Facts, name: &str, value: &str) {
    facts.environment.vars.insert(name.to_owned(), value.to_owned());
}

/// Returns facts without anything that the client could find.
fn nothing() -> Facts {
    let mut facts = connected();
    facts.plan.search.candidates.clear();
    facts.plan.ide = None;
    facts.plan.workspace = Err(WorkspaceError::Unknown);
    facts.plan.token = None;
    facts.plan.token_origin = Origin::Variable;
    facts.plan.routes.clear();
    facts.tried.clear();
    facts.answers.clear();
    facts
}

/// Returns facts in which the only route fails.
fn failing(failure: Failure) -> Facts {
    let mut facts = connected();
    facts.answers = vec![Some(Err(failure.clone()))];
    facts.tried[0].outcome = Err(failure);
    facts
}

/// Returns the same facts in a container, where the client connects to the host.
fn failing_in_container(failure: Failure) -> Facts {
    let mut facts = failing(failure);
    facts.environment.container = Some("/.dockerenv");
    facts.tried[0].route.target = Target::Http { host: "host.docker.internal", port: 41234 };
    facts
}

fn check(expected: Option<Problem>, facts: &Facts) -> String {
    let diagnosis = diagnose(facts);
    assert_eq!(diagnosis.problem, expected);
    let text = diagnosis.to_string();
    let json = serde_json::to_string(&diagnosis).unwrap();
    assert!(!text.contains(SECRET) && !json.contains(SECRET), "{text}");
    text
}

#[test]
fn all_is_well() {
    insta::assert_snapshot!(check(None, &connected()));
    insta::assert_snapshot!(
        "all_is_well_json",
        serde_json::to_string_pretty(&diagnose(&connected())).unwrap()
    );
}

#[test]
fn much_is_wrong() {
    let mut facts = failing(Failure::Refused);
    let mut dead = candidate(77, 40_000, "Old", CandidateStatus::Outranked);
    dead.alive = false;
    let mut broken = candidate(5, 1, "Broken", CandidateStatus::Malformed);
    broken.connection = None;
    let elsewhere = WorkspaceError::Elsewhere(vec!["/home/me/other".into()]);
    let others = [
        candidate(4000, 2, "PyCharm", CandidateStatus::Workspace(elsewhere)),
        candidate(3999, 3, "Neovim", CandidateStatus::Workspace(WorkspaceError::Empty)),
        Candidate { standing: CandidateStatus::NotOurs(0), ..broken.clone() },
        broken,
        dead,
    ];
    facts.plan.search.candidates.extend(others);
    facts.answers.extend([Some(answers()), Some(answers()), None, None, None]);
    facts.plan.routes.push(http(5, Origin::Variable));
    facts.tried.push(Tried { route: http(5, Origin::Variable), outcome: Err(Failure::WrongToken) });
    facts.environment.container = Some("/run/.containerenv");
    for (name, value) in [
        (GEMINI.variables.port, "5"),
        (GEMINI.variables.workspace_path, "/home/me/project"),
        (GEMINI.variables.auth_token.unwrap(), SECRET),
        (GEMINI.variables.stdio_command, "gemini-companion"),
        (GEMINI.variables.stdio_args, "bridge"),
        ("REMOTE_CONTAINERS", "1"),
        ("HTTP_PROXY", "proxy:3128"),
        ("TMP", "/tmp"),
        ("WSL_DISTRO_NAME", "Debian"),
    ] {
        var(&mut facts, name, value);
    }
    facts.ide_mode = IdeMode::Off("/home/me/.gemini/settings.json".into());
    facts.client_program = ClientProgram::Version("0.40.0".to_owned());
    facts.trust = Some(Trust::Undecided);
    facts.hooks = without_hooks(HookObstacle::NotInstalled).hooks;
    facts.elsewhere = vec!["/var/tmp/gemini/ide/gemini-ide-server-9-9.json".into()];
    insta::assert_snapshot!(check(Some(Problem::NotRunning), &facts));
}

/// On Windows Node ignores TMPDIR, which Git's shell sets, and prefers TEMP to TMP.
#[test]
fn the_variable_that_counts_names_the_temporary_folder() {
    let mut facts = connected();
    for name in ["TMPDIR", "TMP", "TEMP"] {
        var(&mut facts, name, "/tmp");
    }
    let name = if cfg!(windows) { "TEMP" } else { "TMPDIR" };
    let text = check(None, &facts);
    assert!(text.contains(&format!("temporary files is /tmp, by {name}\n")), "{text}");
}

/// Returns facts with hooks that do not run for this reason.
fn without_hooks(obstacle: HookObstacle) -> Facts {
    let mut facts = connected();
    facts.hooks.obstacles = vec![obstacle];
    facts.hooks.events.clear();
    facts.hooks.program = None;
    facts
}

#[test]
fn hooks_do_not_run() {
    let mut names = connected();
    let name = vec!["companion-before-prompt".to_owned()];
    let setting = "hooksConfig.disabled";
    let settings = "/home/me/.gemini/settings.json".into();
    names.hooks.obstacles = vec![HookObstacle::NamesOff(setting, settings, name)];
    names.hooks.events.retain(|event_kind| *event_kind != HookEventKind::BeforeAgent);
    let mut older = without_hooks(HookObstacle::Program(
        "/home/me/bin/gemini-companion".into(),
        RunnerProblem::ProgramOfOtherVersion,
    ));
    older.hooks.events = HookEventKind::ALL.to_vec();
    let mut silent = connected();
    silent.hooks_arrived = Some(false);
    silent.hooks.server_off = Some("Gemini CLI does not trust this folder, by X".to_owned());
    let mut qwen = without_hooks(HookObstacle::SafeMode("QWEN_CODE_SAFE_MODE"));
    qwen.environment.profile = &QWEN;
    let mut text = String::new();
    for facts in [without_hooks(HookObstacle::NotInstalled), names, older, silent, qwen] {
        let all = check(None, &facts);
        let (beginning, rest) = all.split_once("\nWhere the CLI runs").unwrap();
        let (_, hooks) = rest.split_once("\nHooks").unwrap();
        writeln!(text, "{beginning}Hooks{hooks}").unwrap();
    }
    insta::assert_snapshot!(text);
}

fn nothing_found() -> Vec<(Problem, Facts)> {
    let mut editor = nothing();
    editor.plan.ide = Some("VS Code".to_owned());
    let mut temp = nothing();
    temp.elsewhere = vec!["/var/folders/a b/gemini/ide/gemini-ide-server-1-2.json".into()];
    let mut variables = nothing();
    variables.tried = connected().tried;
    let mut ssh = nothing();
    var(&mut ssh, "SSH_CONNECTION", "1 2 3 4");
    var(&mut ssh, "WSL_DISTRO_NAME", "Debian");
    let mut container = nothing();
    container.environment.container = Some("/.dockerenv");
    let mut other_user = nothing();
    other_user.unusable_folder = Some(("/tmp/gemini".into(), Some("anna".to_owned())));
    let mut foreign = nothing();
    foreign.plan.search.candidates = vec![candidate(1, 2, "IDE", CandidateStatus::NotOurs(0))];
    foreign.answers = vec![None];
    vec![
        (Problem::UnknownTerminal, nothing()),
        (Problem::NoCompanion, editor),
        (Problem::UnknownTerminal, temp),
        (Problem::UnknownTerminal, variables),
        (Problem::UnknownTerminal, ssh),
        (Problem::UnknownTerminal, container),
        (Problem::UnknownTerminal, other_user),
        (Problem::UnknownTerminal, foreign),
    ]
}

/// Gemini CLI 0.61.0 and Qwen Code look for their editor only when they start (`ideCommand.ts`).
#[test]
fn a_client_that_started_without_an_editor_starts_again() {
    for (problem, facts) in nothing_found() {
        let Diagnosis { advice, .. } = diagnose(&facts);
        let has_command = advice.iter().any(|one| one.contains("/ide enable"));
        assert_eq!(has_command, problem != Problem::UnknownTerminal, "{advice:?}");
    }
}

fn wrong_folder() -> Vec<(Problem, Facts)> {
    let elsewhere = |folders: &[&str]| {
        let mut facts = connected();
        let folders = folders.iter().map(PathBuf::from).collect();
        facts.plan.workspace = Err(WorkspaceError::Elsewhere(folders));
        facts
    };
    let mut none = connected();
    none.plan.workspace = Err(WorkspaceError::Empty);
    let mut worktree = elsewhere(&["/a"]);
    worktree.worktree_of = Some("/a".into());
    vec![
        (Problem::NoFolder, none),
        (Problem::OtherFolder, elsewhere(&["/a", "/b"])),
        (Problem::OtherFolder, worktree),
    ]
}

/// As a dev container of VS Code.
#[test]
fn in_a_container_with_its_editor_no_advice_is_about_the_host() {
    for (problem, mut facts) in nothing_found().into_iter().chain(wrong_folder()) {
        facts.environment.container = Some("/.dockerenv");
        var(&mut facts, "REMOTE_CONTAINERS", "true");
        let text = check(Some(problem), &facts);
        let advice = text.split("\nWhere the CLI runs").next().unwrap();
        assert!(!advice.contains("container") && !advice.contains("host"), "{advice}");
    }
}

fn no_way() -> Vec<(Problem, Facts)> {
    let mut no_route = connected();
    no_route.plan.routes.clear();
    no_route.tried.clear();
    let mut proxy = failing(Failure::BadProxy("https_proxy"));
    var(&mut proxy, "https_proxy", "proxy:3128");
    let mut stale = failing(Failure::Refused);
    stale.accepts_own_token = true;
    let mut earlier = failing(Failure::WrongToken);
    earlier.plan.token_origin = Origin::Variable;
    earlier.tried[0].route.origin = Origin::Variable;
    let mut on_host = failing_in_container(Failure::UnknownHost);
    on_host.is_at_other_host = true;
    let mut in_container = failing(Failure::Refused);
    in_container.environment.container = Some("/.dockerenv");
    in_container.is_at_other_host = true;
    var(&mut in_container, "REMOTE_CONTAINERS", "1");
    let mut podman = failing_in_container(Failure::Refused);
    podman.environment.container = Some("/run/.containerenv");
    let mut off = connected();
    off.ide_mode = IdeMode::Unset;
    let mut project = connected();
    var(&mut project, "HOME", "/home/me");
    var(&mut project, "USERPROFILE", "/home/me");
    project.ide_mode = IdeMode::Off("/home/me/project/.gemini/settings.json".into());
    let mut bad = connected();
    bad.ide_mode = IdeMode::Unreadable("/home/me/.gemini/settings.json".into());
    let mut sandboxed = connected();
    sandboxed.environment.profile = &QWEN;
    sandboxed.ide_mode = IdeMode::Sandboxed("/home/me/.qwen/settings.json".into());
    let mut hidden = connected();
    hidden.sandbox = Some(Sandbox::HidesCompanion("GEMINI_SANDBOX".to_owned()));
    let html = Failure::NotACompanion("the server answered 404".to_owned());
    let refused = HookObstacle::SourceNotAllowed(
        "security.allowedExtensions",
        "/etc/gemini-cli/settings.json".into(),
        "/home/me/.gemini/extensions/gemini-companion".into(),
    );
    vec![
        (Problem::NoRoute, no_route),
        (Problem::NoRoute, failing(Failure::BadPort)),
        (Problem::BadProxy, proxy),
        (Problem::NotRunning, failing(Failure::Refused)),
        (Problem::StaleFile, stale),
        (Problem::WrongToken, failing(Failure::WrongToken)),
        (Problem::WrongToken, earlier),
        (Problem::WrongName, failing(Failure::WrongName("unknown host".to_owned()))),
        (Problem::UnknownHost, failing_in_container(Failure::UnknownHost)),
        (Problem::HostSilent, failing_in_container(Failure::Refused)),
        (Problem::HostSilent, podman),
        (Problem::HostSilent, failing_in_container(Failure::Unreachable)),
        (Problem::LooksOnHost, on_host),
        (Problem::LooksInContainer, in_container),
        (Problem::Silent, failing(Failure::Silent)),
        (Problem::NotACompanion, failing(html.clone())),
        (Problem::NotACompanion, failing_in_container(html)),
        (Problem::BadCommand, failing(Failure::BadCommand("it ended".to_owned()))),
        (Problem::BehindCommand, failing(Failure::BehindCommand("is it running?".to_owned()))),
        (Problem::SwitchedOff, off),
        (Problem::SwitchedOff, project),
        (Problem::BadSettings, bad),
        (Problem::ToolSandbox, sandboxed),
        (Problem::Sandbox, hidden),
        (Problem::RefusedExtension, without_hooks(refused)),
    ]
}

#[test]
fn in_a_container_a_refusal_does_not_mean_that_the_companion_has_ended() {
    let text = check(Some(Problem::HostSilent), &failing_in_container(Failure::Refused));
    assert!(text.contains("no program listens at its port"), "{text}");
    assert!(!text.contains("left over"), "{text}");
    let text = check(Some(Problem::HostSilent), &failing_in_container(Failure::Unreachable));
    assert!(text.contains("allow TCP from the container's network to port 41234"), "{text}");
}

/// Returns the manual's table of problems: the first case of each verdict.
fn problem_table() -> String {
    let mut table = String::new();
    let mut known = Vec::new();
    for (problem, facts) in nothing_found().into_iter().chain(wrong_folder()).chain(no_way()) {
        check(Some(problem), &facts);
        if !known.contains(&problem) {
            known.push(problem);
            let Diagnosis { verdict, advice, .. } = diagnose(&facts);
            if !table.contains(&format!("| {verdict} |")) {
                writeln!(table, "| {verdict} | {} |", advice[0]).unwrap();
            }
        }
    }
    table
}

fn feature_table() -> String {
    let mut table = String::new();
    for (name, hooks) in features(&GEMINI) {
        let names: Vec<_> = hooks.iter().map(|event_kind| format!("`{event_kind:?}`")).collect();
        let is_for_both = features(&QWEN).any(|(other, _)| other == name);
        let only = if is_for_both { "" } else { " (Gemini CLI)" };
        writeln!(table, "| {name}{only} | {} |", names.join(", ")).unwrap();
    }
    table
}

fn obstacle_table() -> String {
    let file = |name: &str| PathBuf::from(name);
    let program = |problem| HookObstacle::Program("gemini-companion".into(), problem);
    let obstacles = [
        (&GEMINI, HookObstacle::NotInstalled),
        (&GEMINI, HookObstacle::Broken { file: file("hooks/hooks.json"), is_linked: false }),
        (&GEMINI, HookObstacle::Broken { file: file("linked/hooks/hooks.json"), is_linked: true }),
        (&GEMINI, HookObstacle::Incomplete { file: file("hooks/hooks.json"), is_linked: false }),
        (&GEMINI, HookObstacle::Disabled("!/*".to_owned(), file("extension-enablement.json"))),
        (&GEMINI, HookObstacle::SwitchedOff("hooksConfig.enabled", file("settings.json"))),
        (&QWEN, HookObstacle::SwitchedOff("disableAllHooks", file("settings.json"))),
        (
            &GEMINI,
            HookObstacle::NamesOff(
                "hooksConfig.disabled",
                file("settings.json"),
                vec!["companion-before-prompt".to_owned()],
            ),
        ),
        (&QWEN, HookObstacle::SafeMode("QWEN_CODE_SAFE_MODE")),
        (
            &GEMINI,
            HookObstacle::SourceNotAllowed(
                "security.allowedExtensions",
                file("settings.json"),
                file("~/.gemini/extensions/gemini-companion"),
            ),
        ),
        (&GEMINI, program(RunnerProblem::NoFile)),
        (&GEMINI, program(RunnerProblem::NotInPath)),
        (&GEMINI, program(RunnerProblem::NotExecutable)),
        (&GEMINI, program(RunnerProblem::Fails("it is another program".to_owned()))),
        (&GEMINI, program(RunnerProblem::ProgramOfOtherVersion)),
    ];
    let mut table = String::new();
    let mut kinds = BTreeSet::new();
    for (client, obstacle) in obstacles {
        writeln!(table, "| {} | {} |", obstacle.reason(client), obstacle.fix(client)).unwrap();
        kinds.insert(kind(&obstacle));
    }
    assert_eq!(kinds, (0..KINDS).collect(), "each kind needs an example");
    table
}

const KINDS: usize = 13;

/// Numbers the kinds of obstacles, so that a new one does not compile without an example above.
fn kind(obstacle: &HookObstacle) -> usize {
    match obstacle {
        HookObstacle::NotInstalled => 0,
        HookObstacle::Broken { .. } => 1,
        HookObstacle::SafeMode(_) => 2,
        HookObstacle::SourceNotAllowed(..) => 3,
        HookObstacle::Disabled(..) => 4,
        HookObstacle::SwitchedOff(..) => 5,
        HookObstacle::NamesOff(..) => 6,
        HookObstacle::Incomplete { .. } => 7,
        HookObstacle::Program(_, problem) => match problem {
            RunnerProblem::NoFile => 8,
            RunnerProblem::NotInPath => 9,
            RunnerProblem::NotExecutable => 10,
            RunnerProblem::Fails(_) => 11,
            RunnerProblem::ProgramOfOtherVersion => 12,
        },
    }
}

#[test]
fn the_manual_has_all_that_can_stop_a_feature() {
    let manual = include_str!("../../../../docs/troubleshooting.md");
    for table in [problem_table(), feature_table(), obstacle_table()] {
        assert!(manual.contains(&format!("| --- | --- |\n{table}\n")), "it lacks:\n{table}");
    }
}
