//! Clears away the discovery files that no server stands behind any more.
//!
//! A stale file does harm: the client pairs its token with the port from the environment, and
//! on Windows it takes every process for alive.

use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use companion_platform::Processes;
use companion_protocol::dialect::GEMINI;

use super::File;

/// How long a local port may take to refuse or accept. Windows tries for 2 s before it refuses.
const PROBE: Duration = Duration::from_secs(4);

/// Removes our own user's files of dead processes, and those that an earlier server of the same
/// editor left behind when it was killed, unless somebody listens at their port: where a folder
/// is shared but process ids are not, as by containers, a process only seems to be dead.
///
/// Takes its time: there may be thousands, and a port may be slow to answer. Ends early if `ours`
/// is to be removed.
pub(super) fn sweep(ours: &File) {
    let place = &ours.place;
    let found = place.open().and_then(|dir| Ok((dir.own_files()?, dir)));
    let (names, dir) = match found {
        Ok(found) => found,
        Err(error) => {
            let place = place.path();
            return log::debug!("no look for stale files in {}: {error}", place.display());
        }
    };
    // After the list: whoever wrote a file before it runs still, or has ended.
    let processes = Processes::now();
    let mut removed = 0_usize;
    for name in names {
        if ours.removed.load(SeqCst) {
            break;
        }
        let Some(owner) = Owner::parse(&name) else { continue };
        let may_be_stale = if owner.pid == ours.pid {
            owner.port.is_some_and(|port| port != ours.port)
        } else {
            !processes.has(owner.pid)
        };
        // At our own port it is we who listen.
        let is_unused = |port| port == ours.port || nobody_listens(port);
        if may_be_stale && owner.port.is_none_or(is_unused) {
            match dir.remove(&name) {
                Ok(()) => removed += 1,
                Err(error) => log::warn!("could not remove {name}: {error}"),
            }
        }
    }
    if removed > 0 {
        log::info!("removed {removed} stale discovery files");
    }
}

/// Whom a file belongs to, by its name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// Absent in the form that old companions wrote, which the client still reads first.
    pub(super) port: Option<u16>,
}

impl Owner {
    /// Reads the name of a discovery file, or of one that was not finished.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let (pid, port) = GEMINI.parse_file_name(name.strip_suffix(".tmp").unwrap_or(name))?;
        let port = port.map(str::parse).transpose().ok()?;
        Some(Self { pid: pid.parse().ok()?, port })
    }
}

fn nobody_listens(port: u16) -> bool {
    let refused = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), PROBE);
    refused.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}
