//! Chooses the discovery file as clients do that have the editor's process in the files' names
//! (`getConnectionConfigFromFile`).

use std::cmp::Reverse;
use std::path::PathBuf;

use super::Environment;
use super::files::{Candidate, CandidateStatus, Reason, Search, candidate, names};

pub(super) fn search(environment: &Environment, dir: PathBuf, prefix: &str) -> Search {
    let mut candidates = Vec::new();

    let pid = environment.ide_pid;
    let old = candidate(environment, dir.join(format!("{prefix}{pid}.json")), Some(pid));
    let old_is_chosen = old.connection.is_some();
    candidates.extend(old_is_chosen.then_some(old));

    let naming = environment.profile.naming;
    let (names, listed) = names(naming, &dir);
    let process = |name: String| {
        let pid = naming.parse(&name)?.pid?;
        // No process has a larger number, so such a process does not run.
        Some((pid.parse().unwrap_or(u32::MAX), name))
    };
    let mut of_processes: Vec<_> = names.into_iter().filter_map(process).collect();
    of_processes.sort_by_key(|(pid, _)| {
        let matches = *pid == environment.ide_pid;
        (!matches, !(environment.is_alive)(*pid), Reverse(*pid))
    });
    let first = candidates.len();
    candidates.extend(
        of_processes
            .into_iter()
            .map(|(pid, name)| candidate(environment, dir.join(name), Some(pid))),
    );
    if old_is_chosen {
        candidates[0].standing = CandidateStatus::Chosen(Reason::OldName);
    } else {
        choose(environment, &mut candidates[first..]);
    }
    Search { dir, listed, candidates }
}

fn choose(environment: &Environment, candidates: &mut [Candidate]) {
    let fits = |one: &Candidate| one.standing == CandidateStatus::Outranked;
    let port = environment.set(environment.profile.variables.port);
    let has_port = |one: &Candidate| port.is_some() && one.port() == port;
    let fitting = candidates.iter().filter(|one| fits(one)).count();
    let (pool, reason): (&dyn Fn(&Candidate) -> bool, _) = match fitting {
        0 => (&|one| one.connection.is_some(), Reason::NoneFits),
        1 => (&fits, Reason::OnlyOne),
        _ => (&fits, Reason::First),
    };
    let by_port = candidates.iter().position(|one| pool(one) && has_port(one));
    let reason = if by_port.is_some() && fitting > 1 { Reason::Port } else { reason };
    let chosen = by_port.or_else(|| candidates.iter().position(pool));
    if let Some(chosen) = chosen {
        candidates[chosen].standing = CandidateStatus::Chosen(reason);
    }
}
