//! Collects the facts for a diagnosis. Does all IO: it reads files and calls companions.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::thread;

use companion_platform::{foreign_owner, is_opened, opened_folders, real_path, sibling_worktrees};

use super::client_program::ClientProgram;
use super::env_file::EnvFile;
use super::hooks::Hooks;
use super::probe::{ANSWER_TIMEOUT, Failure, Probed, over_http, over_stdio};
use super::sandbox::Sandbox;
use super::settings::{IdeMode, Settings, Unread};
use super::trust::Trust;
use crate::discover::{
    Candidate, Connection, Environment, Origin, Plan, Route, Search, Target, Token,
    decode_uri_component,
};
use crate::http::{Endpoint, block_on, hook_senders};

/// The variables of a proxy.
pub(super) const PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"];

/// The most discovery files whose companions are called, in the client's order.
const MAX_ASKED: usize = 16;

/// An attempt of the client to connect, and its result.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The route of the attempt.
    pub route: Route,
    /// The result of the attempt.
    pub outcome: Probed,
}

/// All facts for a diagnosis.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The environment in which the client would run.
    pub environment: Environment,
    /// The client's plan.
    pub plan: Plan,
    /// The attempts, in order. The last one may have succeeded.
    pub tried: Vec<Tried>,
    /// The answers of the companions that the files name, each called with the file's token. One
    /// entry per file; `None` if the file names no companion, or if there was no time for the call.
    pub answers: Vec<Option<Probed>>,
    /// In a container: whether a companion answers at the first port of the host that the client does
    /// not use.
    pub is_at_other_host: bool,
    /// Whether the companion of the variables accepts their token, if the client prefers a file's token.
    pub accepts_own_token: bool,
    /// Files of running companions for this folder, in folders that the client does not search.
    pub elsewhere: Vec<PathBuf>,
    /// The client's discovery folder, or one above it, if no companion of this user can write its file
    /// there: it belongs to another user, who is named, or is a link or not a folder.
    pub unusable_folder: Option<(PathBuf, Option<String>)>,
    /// An open folder whose Git repository has the client's folder as another worktree.
    pub worktree_of: Option<PathBuf>,
    /// The file from which the client reads variables of its connection, if there is one.
    pub env_file: Option<EnvFile>,
    /// The files of settings that the client does not read.
    pub unread: Vec<(PathBuf, Unread)>,
    /// Whether the client's IDE mode is on.
    pub ide_mode: IdeMode,
    /// Why the client may not connect in the sandbox in which it starts.
    pub sandbox: Option<Sandbox>,
    /// The client's program.
    pub client_program: ClientProgram,
    /// Whether the client trusts the folder, if its settings can be read.
    pub trust: Option<Trust>,
    /// The companion's hooks in the client.
    pub hooks: Hooks,
    /// Whether a hook of the client has reached the companion, if the client would connect to one that
    /// says so.
    pub hooks_arrived: Option<bool>,
}

impl Facts {
    /// Collects all facts. Takes a few seconds at most.
    pub fn gather(environment: Environment) -> Self {
        let plan = Plan::of(&environment);
        let (tried, answers, is_at_other_host, accepts_own_token) = thread::scope(|scope| {
            let (environment, plan) = (&environment, &plan);
            let tried = scope.spawn(move || try_routes(environment, plan));
            let other_host = scope.spawn(move || is_at_other_host(environment, plan));
            let own_token = scope.spawn(move || accepts_own_token(environment, plan));
            let answers: Vec<_> = plan
                .search
                .candidates
                .iter()
                .enumerate()
                .map(|(at, one)| {
                    let asked = Some(one).filter(|_| at < MAX_ASKED).and_then(Candidate::address);
                    asked.map(|(port, token)| {
                        scope.spawn(move || ask(environment, port, token.as_ref()))
                    })
                })
                .collect();
            let why = "an attempt does not panic";
            let answers = answers.into_iter().map(|one| one.map(|one| one.join().expect(why)));
            let answers: Vec<_> = answers.collect();
            let own_token = own_token.join().expect(why);
            (tried.join().expect(why), answers, other_host.join().expect(why), own_token)
        });
        let settings = Settings::read(&environment);
        let read = settings.as_ref().ok();
        Self {
            env_file: read.and_then(|all| EnvFile::of(&environment, all)),
            unread: read.map(|all| all.unread.clone()).unwrap_or_default(),
            elsewhere: elsewhere(&environment),
            unusable_folder: unusable_folder(&environment),
            worktree_of: worktree_of(&environment, &plan),
            ide_mode: IdeMode::of(&environment, &settings),
            sandbox: read.and_then(|all| Sandbox::of(&environment, all)),
            client_program: ClientProgram::of(&environment),
            trust: read.map(|all| all.trust().clone()),
            hooks: Hooks::of(&environment, read),
            hooks_arrived: ask_for_hooks(&environment, &plan, &tried),
            environment,
            plan,
            tried,
            answers,
            is_at_other_host,
            accepts_own_token,
        }
    }

    /// Returns the successful attempt, if there is one.
    pub fn connected(&self) -> Option<&Tried> {
        self.tried.last().filter(|tried| tried.outcome.is_ok())
    }
}

/// Tries all routes up to the first that works, as the client does.
fn try_routes(environment: &Environment, plan: &Plan) -> Vec<Tried> {
    let bad_proxy = bad_proxy(environment);
    let mut tried = Vec::new();
    for route in &plan.routes {
        let outcome = attempt(environment, plan, route, bad_proxy);
        let works = outcome.is_ok();
        tried.push(Tried { route: route.clone(), outcome });
        if works {
            break;
        }
    }
    tried
}

fn attempt(
    environment: &Environment,
    plan: &Plan,
    route: &Route,
    bad_proxy: Option<&'static str>,
) -> Probed {
    match (&route.target, bad_proxy) {
        (Target::Stdio(stdio), _) => over_stdio(environment, stdio),
        (Target::BadPort(_), _) => Err(Failure::BadPort),
        (Target::Http { .. }, Some(variable)) => Err(Failure::BadProxy(variable)),
        (Target::Http { host, port }, None) => {
            over_http(host, *port, route.token.as_ref().or(plan.token.as_ref()))
        }
    }
}

/// Asks the companion that the client would connect to whether hooks of the client have reached it.
fn ask_for_hooks(environment: &Environment, plan: &Plan, tried: &[Tried]) -> Option<bool> {
    let Tried { route, .. } = tried.last().filter(|tried| tried.outcome.is_ok())?;
    let Target::Http { host, port } = route.target else { return None };
    let token = route.token.as_ref().or(plan.token.as_ref());
    let endpoint = Endpoint::new(host, port, token.cloned());
    let senders = block_on(hook_senders(&endpoint, ANSWER_TIMEOUT)).ok()?;
    Some(senders.iter().any(|sender| sender == environment.profile.id))
}

/// Returns the name of a proxy variable whose value is not a URL of a proxy. The client fails at its start
/// (`loadCliConfig`), or its HTTP library does, although the client never uses the proxy for a companion
/// (`createProxyAwareFetch`). Each prefers other names.
pub(super) fn bad_proxy(environment: &Environment) -> Option<&'static str> {
    let schemes = environment.profile.installation.proxies;
    let is_bad = |name: &&str| environment.set(name).is_some_and(|value| !is_proxy(value, schemes));
    PROXIES.into_iter().find(is_bad)
}

/// Whether a value is a URL with one of the schemes, a host and nothing behind it. A character such as
/// `#` or `/` in a password ends the host. The client decodes a user only with a password.
fn is_proxy(value: &str, schemes: &[&str]) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let Some(rest) = schemes.iter().find_map(|scheme| value.strip_prefix(scheme)) else {
        return false;
    };
    let rest = rest.trim_start_matches('/');
    // Without a text behind it, each of them may be there.
    let rest =
        ['#', '?', '/'].iter().fold(rest, |rest, end| rest.strip_suffix(*end).unwrap_or(rest));
    let (user, host) = rest.rsplit_once('@').unwrap_or(("", rest));
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let has_both =
        user.split_once(':').is_some_and(|both| !both.0.is_empty() && !both.1.is_empty());
    decode_uri_component(name).as_deref().is_some_and(is_host)
        && !rest.contains(['/', '\\', '?', '#'])
        && (port.is_empty() || port.parse::<u16>().is_ok())
        && (!has_both || decode_uri_component(user).is_some())
}

/// Whether a text without escapes is a host of a URL: an IPv6 address in brackets, or a text without the
/// characters that the standard forbids. JavaScript reads four numbers as an IPv4 address.
fn is_host(name: &str) -> bool {
    if let Some(address) = name.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|it| it.parse::<Ipv6Addr>().is_ok());
    }
    let numbers: Result<Vec<u32>, _> = name.split('.').map(str::parse).collect();
    let is_no_address =
        numbers.is_ok_and(|all| all.len() == 4 && all.iter().any(|number| *number > 255));
    let is_forbidden = |c: char| c.is_ascii_control() || " #%/:<>?@[\\]^|".contains(c);
    !name.is_empty() && !name.contains(is_forbidden) && !is_no_address
}

/// Calls a companion at each host where the client looks.
fn ask(environment: &Environment, port: u16, token: Option<&Token>) -> Probed {
    let (last, others) = environment.hosts().split_last().expect("there is at least one");
    let answer = others.iter().map(|host| over_http(host, port, token)).find(Probed::is_ok);
    answer.unwrap_or_else(|| over_http(last, port, token))
}

fn is_at_other_host(environment: &Environment, plan: &Plan) -> bool {
    let (Some(_), [host]) = (environment.container, environment.hosts()) else { return false };
    let other = if *host == "127.0.0.1" { "host.docker.internal" } else { "127.0.0.1" };
    let port = plan.routes.iter().find_map(|route| match route.target {
        Target::Http { port, .. } => Some(port),
        _ => None,
    });
    port.is_some_and(|port| over_http(other, port, plan.token.as_ref()).is_ok())
}

fn accepts_own_token(environment: &Environment, plan: &Plan) -> bool {
    let Some(token) = environment.token() else { return false };
    if plan.token_origin == Origin::Variable || plan.token.as_ref() == Some(&token) {
        return false;
    }
    let own = plan.routes.iter().find(|route| route.origin == Origin::Variable);
    own.is_some_and(|route| match route.target {
        Target::Http { host, port } => over_http(host, port, Some(&token)).is_ok(),
        _ => false,
    })
}

/// Finds files in folders that the client does not search. The editor may have another `TMPDIR` than
/// the terminal.
///
/// A client with a folder of its own has another one only if its variable is not set everywhere.
fn elsewhere(environment: &Environment) -> Vec<PathBuf> {
    if let Some((variable, _)) = environment.profile.folder.base.own() {
        let mut vars = environment.vars.clone();
        let is_set = vars.remove(variable).is_some_and(|value| !value.is_empty());
        let there = Environment { vars, ..environment.clone() };
        let real = |dir: PathBuf| dir.canonicalize().ok();
        let differs = real(there.discovery_dir()) != real(environment.discovery_dir());
        return if is_set && differs { fitting(&there) } else { Vec::new() };
    }
    let named = ["TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"].into_iter();
    let mut dirs: Vec<PathBuf> =
        named.filter_map(|name| Some(environment.set(name)?.into())).collect();
    dirs.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
    dirs.extend(std::env::var_os("LOCALAPPDATA").map(|dir| Path::new(&dir).join("Temp")));
    dirs.extend(user_temp_dir());
    let real = |dir: &Path| dir.canonicalize().ok();
    let mut seen = vec![real(&environment.temp_dir)];
    let mut found = Vec::new();
    for dir in dirs {
        let place = real(&dir);
        if place.is_none() || seen.contains(&place) {
            continue;
        }
        seen.push(place);
        found.extend(fitting(&Environment { temp_dir: dir, ..environment.clone() }));
    }
    found
}

fn unusable_folder(environment: &Environment) -> Option<(PathBuf, Option<String>)> {
    environment.uid?; // a client that asks no owner, or files of another machine
    let dir = environment.discovery_dir();
    let count = environment.profile.folder.names.len();
    let mut folders: Vec<_> = dir.ancestors().take(count).collect();
    folders.reverse();
    folders.into_iter().find_map(|folder| {
        let owner = foreign_owner(folder);
        let is_other = folder.symlink_metadata().is_ok_and(|there| !there.is_dir());
        (owner.is_some() || is_other).then(|| (folder.to_owned(), owner))
    })
}

/// Finds an open folder that has the client's folder in another worktree. A worktree that another editor
/// has open belongs to that one.
fn worktree_of(environment: &Environment, plan: &Plan) -> Option<PathBuf> {
    let cwd = environment.cwd.canonicalize().ok()?;
    let running = plan.search.candidates.iter().filter(|one| one.alive);
    let connections = running.filter_map(|one| one.connection.as_ref());
    let opened =
        |one: &Connection| Some(opened_folders(one.workspace_path.as_deref()?, &one.worktrees));
    let editors: Vec<_> = connections.filter_map(opened).collect();
    plan.open_folders().into_iter().find(|folder| {
        let real = real_path(folder);
        let others: Vec<_> =
            editors.iter().filter(|opened| !opened.contains(&real)).flatten().cloned().collect();
        let worktrees = sibling_worktrees(std::slice::from_ref(folder));
        worktrees.iter().any(|one| cwd.starts_with(one) && !is_opened(one, &others))
    })
}

/// Returns the files of running companions that the client would take there.
fn fitting(environment: &Environment) -> Vec<PathBuf> {
    let candidates = Search::of(environment).candidates.into_iter();
    candidates.filter(|one| one.alive && one.fits()).map(|one| one.path).collect()
}

/// Returns the user's own folder for temporary files on macOS, which a terminal may not know.
fn user_temp_dir() -> Option<PathBuf> {
    if !cfg!(target_os = "macos") {
        return None;
    }
    let output = std::process::Command::new("getconf").arg("DARWIN_USER_TEMP_DIR").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

#[cfg(test)]
mod tests {
    use companion_protocol::profile::{GEMINI, QWEN};

    use super::*;

    #[test]
    fn each_client_has_its_own_kinds_of_proxies() {
        for (value, gemini, qwen) in [
            ("http://proxy:3128", true, true),
            ("HTTPS://proxy", true, true),
            ("socks5://127.0.0.1:1080", false, true),
            ("socks://127.0.0.1:1080", false, true),
            ("socks5h://127.0.0.1:1080", false, false),
            ("proxy:3128", false, false),
            ("http://me:a%23b@proxy:3128/", true, true),
            ("http://[::1]:3128", true, true),
            ("http://me:a#b@proxy:3128", false, false),
            ("http://me:100%@proxy:3128", false, false),
            ("http://proxy:99999", false, false),
            ("http://proxy/proxy.pac", false, false),
            ("http://:3128", false, false),
            ("http://me%@proxy:3128", true, true),
            ("http://me%:@proxy:3128", true, true),
            ("http://me%:a@proxy:3128", false, false),
            ("http://a b:c^d@proxy:3128", true, true),
            ("http://proxy:3128?", true, true),
            ("http://proxy:3128/#", true, true),
            ("http://proxy:3128/?a", false, false),
            ("http://pr%6fxy:3128", true, true),
            ("http://pr%:1", false, false),
            ("http://p%20r:1", false, false),
            ("http://p r:1", false, false),
            ("http://p^x:1", false, false),
            ("http://p<x>:1", false, false),
            ("http://p|x:1", false, false),
            ("http://pr%2foxy:1", false, false),
            ("http://pr%40oxy", false, false),
            ("http://pr%00oxy", false, false),
            ("http://[::1", false, false),
            ("http://[proxy]:1", false, false),
            ("http://10.0.0.300:3128", false, false),
            ("http://10.1:3128", true, true),
            ("http://proxy.10.example:3128", true, true),
        ] {
            for (client, is_valid) in [(&GEMINI, gemini), (&QWEN, qwen)] {
                let vars = [("https_proxy".to_owned(), value.to_owned())].into();
                let environment = Environment::with_vars(client, vars, "/".into());
                assert_eq!(bad_proxy(&environment).is_none(), is_valid, "{value}, {}", client.name);
            }
        }
    }
}
