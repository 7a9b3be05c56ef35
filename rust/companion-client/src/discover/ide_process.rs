//! Finds the process that the client considers the editor (`process-utils.js`).

use companion_platform::{ProcessInfo, process_info};

/// The most steps, after which the client gives up.
const MAX_DEPTH: usize = 32;

const SHELLS: [&str; 8] = ["zsh", "bash", "sh", "tcsh", "csh", "ksh", "fish", "dash"];

/// Returns the process that a client considers the editor, if it is started in place of this
/// process and no variable names one. It is the shell's grandparent.
pub(super) fn ide_process() -> u32 {
    ide_process_from(std::process::id(), cfg!(windows), process_info)
}

/// Does the same for a client with the id `pid`, in the process tree from `info`.
pub fn ide_process_from(pid: u32, windows: bool, info: impl Fn(u32) -> Option<ProcessInfo>) -> u32 {
    if windows { from_root(pid, info) } else { from_shell(pid, info) }
}

/// Returns the grandparent of the nearest shell, or else the topmost process.
fn from_shell(mut pid: u32, info: impl Fn(u32) -> Option<ProcessInfo>) -> u32 {
    for _ in 0..MAX_DEPTH {
        let Some(ProcessInfo { parent, command }) = info(pid) else { break };
        let program = command.split(' ').next().unwrap_or_default();
        if SHELLS.contains(&program.rsplit('/').next().unwrap_or_default()) {
            let grandparent = info(parent).map_or(0, |process| process.parent);
            return if grandparent > 1 { grandparent } else { parent };
        }
        if parent <= 1 {
            break;
        }
        pid = parent;
    }
    pid
}

/// Returns the great-grandchild of the root.
fn from_root(pid: u32, info: impl Fn(u32) -> Option<ProcessInfo>) -> u32 {
    let mut ancestors = Vec::new();
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|_| ancestors.len() < MAX_DEPTH) {
        let Some(process) = info(pid) else { break };
        ancestors.push(pid);
        next = Some(process.parent).filter(|parent| *parent != 0);
    }
    match ancestors.len() {
        0 => pid,
        1 | 2 => ancestors[ancestors.len() - 1],
        length => ancestors[length - 3],
    }
}
