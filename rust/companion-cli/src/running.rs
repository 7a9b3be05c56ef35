//! Finds the running companion of a folder, and the variables that lead to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion_client::discover::{Candidate, Connection, Environment, HERE, Plan, Token, validate};
use companion_client::http::{Endpoint, Error, Stage, block_on, probe};
use companion_platform::Platform;
use companion_protocol::profile::{ClientProfile, Naming};
use tokio::task::JoinHandle;

/// Names and values of environment variables.
pub(crate) type Variables = BTreeMap<&'static str, String>;

/// The time for a companion to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// A companion that has answered.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The address where it answers: on `127.0.0.1`, or on the host of this container.
    pub(crate) endpoint: Endpoint,
    /// The roots of its workspace, as a list.
    pub(crate) workspace_path: String,
    /// The editor's process.
    pub(crate) ide_pid: Option<u32>,
    /// Its discovery file, if the search used that file.
    pub(crate) file: Option<PathBuf>,
    /// Whether this program runs in a container.
    in_container: bool,
    /// The client that must find it.
    pub(crate) profile: &'static ClientProfile,
}

impl Running {
    /// Returns the companion that each client would choose, without clients that find none. The
    /// list is not empty. Skips companions that do not answer.
    pub(crate) fn find_all(
        environment: &Environment,
        clients: &[&'static ClientProfile],
    ) -> Result<Vec<Self>, Box<dyn std::error::Error>> {
        let possible =
            |client: &&'static ClientProfile| Self::possible(&environment.with_profile(client));
        let possible: Vec<_> = clients.iter().map(possible).collect();
        let (found, unanswered) = block_on(choose(possible))?;
        if !found.is_empty() {
            return Ok(found);
        }
        let folder = environment.cwd.display();
        let leads_to_program = |client: &&'static ClientProfile| {
            let client = environment.with_profile(client);
            client.workspace().is_some() && client.stdio().is_some()
        };
        let why = match unanswered {
            Some(authority) => {
                format!("the companion at {authority} does not answer. Its editor may be suspended")
            }
            None if clients.iter().any(leads_to_program) => format!(
                "no companion answers for {folder}. Here the CLI connects by a program, such as a bridge; \
                 run this command where the editor runs"
            ),
            None => format!(
                "no companion answers for {folder}. For the reason, run gemini-companion doctor"
            ),
        };
        Err(why.into())
    }

    /// Returns the companions that a client in the environment's folder may choose, each at all its
    /// hosts, the likeliest first.
    fn possible(environment: &Environment) -> Vec<Self> {
        let plan = Plan::of(environment);
        let files = plan.fitting().into_iter();
        let mut found: Vec<_> = files.filter_map(|one| Self::of_file(environment, one)).collect();
        found.extend(Self::of_variables(environment));
        let mut hosts = vec![HERE];
        hosts.extend(environment.hosts().iter().filter(|host| **host != HERE));
        let at = |companion: Self| {
            hosts.iter().map(move |host| {
                let mut companion = companion.clone();
                (*host).clone_into(&mut companion.endpoint.host);
                companion
            })
        };
        found.into_iter().flat_map(at).collect()
    }

    fn of_file(environment: &Environment, candidate: &Candidate) -> Option<Self> {
        let workspace_path = roots(environment, candidate.connection.as_ref()?)?;
        let file = Some(candidate.path.clone());
        let (port, token) = candidate.address()?;
        let address = (port, token?);
        Some(Self::new(environment, address, workspace_path, candidate.ide_pid, file))
    }

    fn of_variables(environment: &Environment) -> Option<Self> {
        let roots = environment.workspace()?.to_owned();
        let ide_pid = environment.named_ide_process();
        Some(Self::new(environment, environment.address()?, roots, ide_pid, None))
    }

    fn new(
        environment: &Environment,
        (port, token): (u16, Token),
        workspace_path: String,
        ide_pid: Option<u32>,
        file: Option<PathBuf>,
    ) -> Self {
        Self {
            endpoint: Endpoint::new(HERE, port, Some(token)),
            workspace_path,
            ide_pid,
            file,
            in_container: environment.container.is_some(),
            profile: environment.profile,
        }
    }

    /// Returns the variables for a terminal on the companion's machine.
    pub(crate) fn for_terminal(&self) -> Variables {
        let mut variables = self.address();
        if self.in_container && self.endpoint.host == HERE {
            variables.extend(stay_local(self.profile));
        }
        variables
    }

    /// Returns the variables for a container, which usually has no discovery file. On the host's
    /// network the client must not look for another host.
    pub(crate) fn for_container(&self, host_network: bool) -> Variables {
        let mut variables = self.address();
        if self.file_for_container().is_none() {
            variables.extend(container_marks(self.profile, host_network));
        }
        variables
    }

    /// Returns the discovery file for a container, and its path there, if the client reads the
    /// token only from a file. The old file name works for every home folder.
    pub(crate) fn file_for_container(&self) -> Option<(&Path, String)> {
        let Naming::Port { old_prefix, .. } = self.profile.naming else { return None };
        Some((self.file.as_deref()?, format!("/tmp/{old_prefix}{}.json", self.endpoint.port)))
    }

    fn address(&self) -> Variables {
        let names = &self.profile.variables;
        let mut variables = Variables::from([
            (names.port, self.endpoint.port.to_string()),
            (names.workspace_path, self.workspace_path.clone()),
        ]);
        let token = names.auth_token.zip(self.endpoint.token.as_ref());
        variables.extend(token.map(|(name, token)| (name, token.expose().to_owned())));
        let pid = names.pid.zip(self.ide_pid);
        variables.extend(pid.map(|(name, pid)| (name, pid.to_string())));
        variables
    }
}

/// Returns the first of each list that answers, and the address of one that does not answer. Each address is
/// tried once, and all at the same time: one that is suspended answers late.
async fn choose(
    possible: Vec<Vec<Running>>,
) -> Result<(Vec<Running>, Option<String>), Box<dyn std::error::Error>> {
    let mut attempts: Vec<(Endpoint, JoinHandle<_>)> = Vec::new();
    for Running { endpoint, .. } in possible.iter().flatten() {
        if attempts.iter().all(|(other, _)| other != endpoint) {
            let there = endpoint.clone();
            let attempt = tokio::spawn(async move { probe(&there, ANSWER_TIMEOUT).await });
            attempts.push((endpoint.clone(), attempt));
        }
    }
    let mut chosen = Vec::new();
    let mut unanswered = None;
    let mut answers: Vec<(Endpoint, bool)> = Vec::new();
    for companions in possible {
        for companion in companions {
            let is_this = |other: &Endpoint| *other == companion.endpoint;
            if let Some(at) = attempts.iter().position(|(other, _)| is_this(other)) {
                let (endpoint, attempt) = attempts.swap_remove(at);
                let answer = attempt.await?;
                if let Err(Error::Timeout { authority, stage: Stage::Answer }) = &answer {
                    unanswered.get_or_insert_with(|| authority.clone());
                }
                answers.push((endpoint, answer.is_ok()));
            }
            if answers.iter().any(|(other, answered)| *answered && is_this(other)) {
                chosen.push(companion);
                break;
            }
        }
    }
    Ok((chosen, unanswered))
}

/// Returns the roots of the workspace, without the worktrees that the client is not in: a client lets its
/// model read all folders that a variable names.
fn roots(environment: &Environment, connection: &Connection) -> Option<String> {
    let separator = Platform::CURRENT.list_separator();
    let roots = connection.workspace_path.as_deref()?.split(separator);
    let is_needed = |root: &&str| {
        !connection.worktrees.iter().any(|worktree| worktree == root)
            || validate(environment.profile.roots, Some(root), &environment.cwd).is_ok()
    };
    Some(roots.filter(is_needed).collect::<Vec<_>>().join(&separator.to_string()))
}

/// Returns the variables besides the address for a client in a container. Without a discovery file
/// the client must recognize the terminal.
pub(crate) fn container_marks(profile: &ClientProfile, host_network: bool) -> Variables {
    let (name, value) = profile.terminal;
    let mut marks = Variables::from([(name, value.to_owned())]);
    marks.extend(stay_local(profile).filter(|_| host_network));
    marks
}

/// Makes a client in a container look for the companion at 127.0.0.1.
fn stay_local(profile: &ClientProfile) -> Option<(&'static str, String)> {
    Some((profile.variables.stay_local?, "1".to_owned()))
}
