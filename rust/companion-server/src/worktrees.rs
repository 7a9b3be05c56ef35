//! Takes the other worktrees of a Git repository into the workspace, so that a CLI in one of them finds
//! the editor, and the user reviews its edits.
//!
//! A worktree that another companion's editor has open stays with that one.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_platform::{Repository, Watch, is_opened, sibling_worktrees, strip_verbatim};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::discovery::{Discovery, texts};
use crate::disk::paths::Worktrees;
use crate::disk::pool::BlockingPool;
use crate::runtime::ThreadGuard;
use crate::workspace::Workspace;

/// The pause after a change: Git writes several files for a worktree.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Keeps the worktrees up to date until the pool ends. All reads happen on the disk's threads.
pub(crate) async fn follow(
    workspace: Arc<Workspace>,
    pool: Arc<BlockingPool>,
    discovery: Discovery,
) {
    let mut folders = workspace.changes();
    let found_change = Arc::new(Notify::new());
    let mut _watches;
    // The discovery file may have got these folders after newer ones.
    let mut is_outdated = false;
    loop {
        let open = workspace.open();
        let changed = Arc::clone(&found_change);
        let (alive, others) = (pool.alive(), discovery.clone());
        let look = pool.run(move || {
            // Before the look, so that no change is missed.
            let watches = watch(&open, &others, &changed, alive.as_ref());
            let worktrees = find(&open, &others);
            (open, worktrees, watches)
        });
        let Ok((open, worktrees, watches)) = look.await else { return };
        _watches = watches; // only now the old ones end
        if workspace.set_worktrees(&open, &worktrees) || is_outdated {
            let (roots, worktrees) = (texts(&open), for_clients(worktrees.free));
            let discovery = discovery.clone();
            let write = pool.run(move || discovery.set_workspace(&roots, worktrees));
            if let Ok(Err(error)) = write.await {
                log::warn!("could not write the worktrees into the discovery file: {error}");
            }
            is_outdated = workspace.open() != open;
        }
        tokio::select! {
            () = found_change.notified() => {}
            Ok(()) = folders.changed() => {}
        }
        if workspace.open() == open {
            sleep(SETTLE_TIME).await;
        }
    }
}

/// The worktrees as the discovery file names them.
pub(crate) fn for_clients(worktrees: Vec<PathBuf>) -> Vec<String> {
    // Clients do not know the form that Windows has for paths without links.
    let worktrees: Vec<_> = worktrees.into_iter().map(strip_verbatim).collect();
    texts(&worktrees)
}

/// Finds the other worktrees. Another companion may have one open.
fn find(open: &[PathBuf], others: &Discovery) -> Worktrees {
    let worktrees = sibling_worktrees(open);
    if worktrees.is_empty() {
        return Worktrees::default();
    }
    let others = others.opened_by_others();
    let (taken, free) = worktrees.into_iter().partition(|folder| is_opened(folder, &others));
    Worktrees { free, taken }
}

/// Watches the repositories, and the files of other companions. None if there is no repository.
fn watch(
    open: &[PathBuf],
    others: &Discovery,
    changed: &Arc<Notify>,
    alive: Option<&ThreadGuard>,
) -> Option<[Watch; 2]> {
    let repositories: Vec<_> = open.iter().filter_map(|root| Repository::around(root)).collect();
    if repositories.is_empty() {
        return None;
    }
    let notify = {
        let (changed, alive) = (Arc::clone(changed), alive.cloned());
        move || {
            let _held_by_its_thread = &alive;
            changed.notify_one();
        }
    };
    let mut entries: HashSet<_> = Repository::WATCHED.map(OsString::from).into_iter().collect();
    entries.extend(repositories.iter().flat_map(|(_, within)| within).map(OsString::from));
    let watches = Watch::start(entries, notify.clone())
        .and_then(|named| Ok([named, Watch::start(HashSet::new(), notify)?]));
    let [mut named, mut all] =
        watches.inspect_err(|error| log::debug!("worktrees can't be watched: {error}")).ok()?;
    for (repository, within) in &repositories {
        repository.watch(within, &mut named, &mut all);
    }
    others.watch(&mut all);
    Some([named, all])
}
