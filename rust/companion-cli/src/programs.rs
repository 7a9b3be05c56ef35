//! Finds the programs that have started this one.

use companion_platform::{Ancestor, ancestors, parent_process};

/// The variable with the process id of `npm/gemini-companion.js`.
const LAUNCHER: &str = "GEMINI_COMPANION_LAUNCHER";

/// This program, as package managers name their launchers, too. Linux cuts the name.
pub(crate) const PROGRAM: &str = "gemini-companion";
const CUT_PROGRAM: &str = "gemini-companio";

/// The programs by which a CLI starts this one.
const SHELLS: &str = "sh bash dash ash zsh ksh mksh fish busybox csh tcsh cmd powershell pwsh";

/// Returns the process that has started this one, or npm's launcher of it.
pub(crate) fn starter() -> Option<u32> {
    let parent = parent_process()?;
    if launcher() != Some(parent) {
        return Some(parent);
    }
    ancestors().get(1).map_or(Some(parent), |ancestor| Some(ancestor.pid))
}

fn launcher() -> Option<u32> {
    std::env::var(LAUNCHER).ok()?.parse().ok()
}

/// Returns the programs that have started this one, the nearest first. A CLI starts it by a shell, and
/// a package manager's launcher has another process each time: neither counts. So the first is the CLI,
/// unless the user has put another program between them. Blocks for some milliseconds.
pub(crate) fn programs() -> Vec<Ancestor> {
    let launcher = launcher();
    let mut programs = ancestors();
    programs.retain(|ancestor| {
        let name = ancestor.name.trim_start_matches('-').to_ascii_lowercase();
        let is_launcher = Some(ancestor.pid) == launcher || name == PROGRAM || name == CUT_PROGRAM;
        !is_launcher && !SHELLS.split(' ').any(|shell| shell == name)
    });
    programs
}
