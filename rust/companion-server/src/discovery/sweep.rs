//! Removes discovery files whose server has ended.
//!
//! A stale file does harm: the client pairs its token with the port from the environment. On
//! Windows the client takes every process for alive.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use companion_platform::{PrivateDir, is_process_alive};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::profile::Naming;

use super::Entry;

/// The time for a local port to refuse or accept. Windows tries for 2 s before it refuses.
const PROBE_TIMEOUT: Duration = Duration::from_secs(4);

/// The age until which a file stays although nobody is seen to listen at its port. It may belong to
/// a container that has just started.
pub(super) const MIN_AGE: Duration = Duration::from_mins(10);

/// The largest file that is read.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// Removes the user's files of servers that have ended, and those of an earlier server of the same
/// editor that was killed.
///
/// A file stays if a program listens at its port. Containers may share a folder without sharing
/// ports, so young files stay, too. A server there writes an older file again.
///
/// The last process of this server listened at `lost_port`, which another program has now. Its file
/// would lead CLIs to that program.
///
/// This may take long: there may be thousands of files, and a port may be slow. It ends early once
/// `ours` must go.
pub(super) fn sweep(ours: &Entry, lost_port: Option<u16>) {
    let place = &ours.place;
    let found = place
        .open()
        .and_then(|dir| dir.map(|dir| dir.own_files().map(|names| (names, dir))).transpose());
    let (names, dir) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return,
        Err(error) => {
            let place = place.path();
            return log::debug!("no look for stale files in {}: {error}", place.display());
        }
    };
    let mut count = 0_usize;
    for name in names {
        if ours.is_removed() {
            break;
        }
        let Some(owner) = Owner::of(ours.profile.naming, &dir, &name) else { continue };
        let may_be_stale = match owner.pid {
            Some(pid) if pid == ours.pid => owner.port.is_some_and(|port| port != ours.port),
            Some(_) => owner.port == Some(ours.port) || is_old(&dir, &name),
            None => owner.port != Some(ours.port) && is_old(&dir, &name),
        };
        let is_lost = |port| owner.pid == Some(ours.pid) && Some(port) == lost_port;
        // This server itself listens at its own port.
        let is_unused = |port| port == ours.port || is_lost(port) || nobody_listens(port);
        if may_be_stale && name != ours.name && owner.has_ended(is_unused) {
            match dir.remove(&name) {
                Ok(()) => count += 1,
                Err(error) => log::warn!("could not remove {name}: {error}"),
            }
        }
    }
    if count > 0 {
        log::info!("removed {count} stale discovery files of {}", ours.profile.name);
    }
}

/// Removes the files of all servers that have ended, or only looks for them with `dry_run`. Returns
/// whether there are any. A server in a container, whose port is not seen here, writes its file again.
pub(crate) fn remove_ended(naming: Naming, dir: &PrivateDir, dry_run: bool) -> io::Result<bool> {
    let mut names = dir.own_files()?;
    names.retain(|name| {
        Owner::of(naming, dir, name).is_some_and(|owner| owner.has_ended(nobody_listens))
    });
    if !dry_run {
        names.iter().try_for_each(|name| dir.remove(name))?;
    }
    Ok(!names.is_empty())
}

/// The owner of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// Absent if the file was not finished.
    pub(super) pid: Option<u32>,
    /// Absent in the form of old companions, which the client still reads first.
    pub(super) port: Option<u16>,
}

impl Owner {
    /// The owner of a file in `dir`, finished or not. `None` if no such server wrote it.
    fn of(naming: Naming, dir: &PrivateDir, name: &str) -> Option<Self> {
        let owner = Self::parse(naming, name)?;
        if matches!(naming, Naming::Process { .. }) || name.ends_with(TEMPORARY) {
            return Some(owner);
        }
        let (content, _) = dir.read(name, MAX_FILE).ok()??;
        let content: DiscoveryFile = serde_json::from_slice(&content).ok()?;
        let pid = Some(content.ppid?);
        (owner.port == Some(content.port)).then_some(Self { pid, ..owner })
    }

    /// Whether its port has no listener; without a port, whether its process does not run. Another process
    /// may have the id of one that has ended.
    fn has_ended(&self, is_unused: impl FnOnce(u16) -> bool) -> bool {
        match self.port {
            Some(port) => is_unused(port),
            None => self.pid.is_some_and(|pid| !is_process_alive(pid)),
        }
    }

    /// Reads the owner from the name alone.
    pub(super) fn parse(naming: Naming, name: &str) -> Option<Self> {
        let numbers = naming.parse(name.strip_suffix(TEMPORARY).unwrap_or(name))?;
        let pid = numbers.pid.map(str::parse).transpose().ok()?;
        let port = numbers.port.map(str::parse).transpose().ok()?;
        Some(Self { pid, port })
    }
}

/// The ending of unfinished files.
const TEMPORARY: &str = ".tmp";

fn is_old(dir: &PrivateDir, name: &str) -> bool {
    let age = dir.written(name).map(|written| written.elapsed());
    // A time in the future gives no age.
    !matches!(age, Ok(Ok(age)) if age < MIN_AGE)
}

pub(crate) fn nobody_listens(port: u16) -> bool {
    let refused = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), PROBE_TIMEOUT);
    refused.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}
