//! Chooses the discovery file as clients do that have the port in the files' names
//! (`getConnectionConfigFromFile` of `ide-client.ts`).

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::{Candidate, CandidateStatus, Reason, Search, candidate, names};
use super::{Environment, WorkspaceError};

/// Finds and judges the files. The client tries three groups in this order:
///
/// 1. The file for the terminal's port.
/// 2. The files with names of the old form.
/// 3. The file that was written last.
///
/// A file is chosen only if its workspace contains the client's folder. In the first two groups it
/// may also have no workspace.
pub(super) fn search(environment: &Environment, dir: PathBuf, old_prefix: &str) -> Search {
    let port = terminal_port(environment);
    let at = |path: PathBuf| candidate(environment, path, None);

    let numbers = [Some(environment.ide_pid.to_string()), port.map(|port| port.to_string())];
    let old = numbers.into_iter().flatten().map(|number| format!("{old_prefix}{number}.json"));
    let old = old.map(|name| environment.temp_dir.join(name)).find(|path| path.is_file());
    let mut candidates: Vec<_> = old.map(at).into_iter().collect();
    let old_is_chosen = candidates.first().is_some_and(fits_or_names_none);

    let (names, listed) = names(environment.profile.naming, &dir);
    let mut files: Vec<_> = names.into_iter().map(|name| at(dir.join(name))).collect();
    files.sort_by_key(|one| Reverse(written(&one.path)));
    let own = port.map(|port| environment.profile.naming.file_name(0, port));
    let own = files.iter().position(|one| one.path.file_name() == own.as_ref().map(AsRef::as_ref));
    if let Some(own) = own {
        let own = files.remove(own);
        candidates.insert(0, own);
    }
    let by_port = own.is_some() && fits_or_names_none(&candidates[0]);
    let last = candidates.len().saturating_sub(1);
    candidates.extend(files);
    let chosen = if by_port {
        Some((0, Reason::Port))
    } else if old_is_chosen {
        Some((last, Reason::OldName))
    } else {
        newest(&mut candidates)
    };
    if let Some((chosen, reason)) = chosen {
        candidates[chosen].standing = CandidateStatus::Chosen(reason);
    }
    Search { dir, listed, candidates }
}

/// Chooses the newest file that fits. Before that, the client removes stale files, unless it has chosen a
/// file of an earlier group.
fn newest(candidates: &mut [Candidate]) -> Option<(usize, Reason)> {
    for one in &mut *candidates {
        if is_stale(one) {
            one.standing = CandidateStatus::Stale;
        }
    }
    let fits = |one: &Candidate| one.standing == CandidateStatus::Outranked;
    let count = candidates.iter().filter(|one| fits(one)).count();
    let reason = if count == 1 { Reason::OnlyOne } else { Reason::First };
    Some((candidates.iter().position(fits)?, reason))
}

/// Returns the port that the terminal's variable names, if it is valid.
pub(super) fn terminal_port(environment: &Environment) -> Option<u16> {
    let port = environment.set(environment.profile.variables.port)?;
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    port.parse().ok().filter(|port| digits && *port > 0)
}

fn fits_or_names_none(one: &Candidate) -> bool {
    use CandidateStatus::{Outranked, Workspace};
    matches!(one.standing, Outranked | Workspace(WorkspaceError::Unknown))
}

/// Returns whether the client removes this file.
fn is_stale(one: &Candidate) -> bool {
    let Some(connection) = &one.connection else { return false };
    if connection.ppid.is_some() {
        return !one.alive;
    }
    // A list of several roots is not a path.
    let workspace = connection.workspace_path.as_deref().filter(|path| !path.is_empty());
    workspace.is_some_and(|path| !Path::new(path).exists())
}

fn written(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}
