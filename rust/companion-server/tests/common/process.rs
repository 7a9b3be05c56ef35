//! Reads the resources of this process from the system.

#![cfg(target_os = "linux")]

use std::fs;

/// Returns the number of open files and sockets.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns whether clients have left no descriptors open, if there were `before` at the start.
/// The server itself opens one or two later, and three for its watch of ignore files.
pub(crate) fn are_closed(before: usize) -> bool {
    descriptors() <= before + 6
}

/// Returns the number of threads.
pub(crate) fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Returns the memory in use, in KB.
pub(crate) fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
