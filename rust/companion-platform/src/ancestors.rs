//! Looks at the processes that have started this one, and at their connections.

/// A process that has started this one, directly or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Its id.
    pub pid: u32,
    /// The name of its program, without the folder.
    pub name: String,
    /// Names the process while the system runs: its id alone may be used again.
    pub identity: String,
}

/// The most ancestors that are looked at.
const MAX_ANCESTORS: usize = 16;

/// Returns the ancestors of this process, the nearest first. Empty if the system does not show them.
/// Blocks for some milliseconds where a program has to be asked.
pub fn ancestors() -> Vec<Ancestor> {
    system::ancestors()
}

/// Returns the name of a process, in the form of [`Ancestor::identity`]. `None` if there is no such
/// process, or if the system does not show it. Blocks like [`ancestors`].
pub fn process_identity(pid: u32) -> Option<String> {
    system::process_identity(pid)
}

/// Returns the id of the process with this [`Ancestor::identity`]. `None` if it does not run, or if the
/// system does not show it, as one of another container. Blocks like [`ancestors`].
pub fn find_process(identity: &str) -> Option<u32> {
    let pid = identity.rsplit('/').nth(1)?.parse().ok()?;
    (process_identity(pid)? == identity).then_some(pid)
}

/// Returns whether only this machine can reach a TCP port that a program listens at. `None` if that
/// is unknown, as on systems other than Linux. There, containers reach the host's loopback addresses
/// anyway.
pub fn listens_on_loopback_only(port: u16) -> Option<bool> {
    connections::listens_on_loopback_only(port)
}

/// Returns the local ports of the TCP connections over the loopback interface from a process, or with
/// `child` also from its children of that name, to `port`. `None` if that can't be known: the system
/// does not show it, or a connection to that port leads through another interface.
pub fn loopback_ports(pid: u32, child: Option<&str>, port: u16) -> Option<Vec<u16>> {
    connections::loopback_ports(pid, child, port)
}

#[cfg(target_os = "linux")]
use process as connections;

#[cfg(not(target_os = "linux"))]
mod connections {
    pub(super) fn loopback_ports(_pid: u32, _child: Option<&str>, _port: u16) -> Option<Vec<u16>> {
        None
    }

    pub(super) fn listens_on_loopback_only(_port: u16) -> Option<bool> {
        None
    }
}

#[cfg(unix)]
mod system {
    use super::process::process;
    use super::{Ancestor, MAX_ANCESTORS};

    pub(super) fn ancestors() -> Vec<Ancestor> {
        let mut ancestors = Vec::new();
        let mut pid = std::os::unix::process::parent_id();
        while pid > 0 && ancestors.len() < MAX_ANCESTORS {
            let Some((parent, ancestor)) = process(pid) else { break };
            ancestors.push(ancestor);
            pid = parent;
        }
        ancestors
    }

    pub(super) fn process_identity(pid: u32) -> Option<String> {
        process(pid).map(|(_, process)| process.identity)
    }
}

#[cfg(target_os = "linux")]
mod process {
    use std::collections::HashSet;
    use std::fs;
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::Ancestor;

    /// The system cuts longer names (`TASK_COMM_LEN`).
    const MAX_NAME: usize = 15;

    /// The state of an established connection (`tcp_states.h`).
    const ESTABLISHED: &str = "01";
    const LISTENING: &str = "0A";

    /// A process that has not ended, and its parent, by `/proc/PID/stat` (`proc_pid_stat(5)`).
    pub(super) fn process(pid: u32) -> Option<(u32, Ancestor)> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may contain parentheses and spaces.
        let (head, tail) = text.rsplit_once(") ")?;
        let (_, name) = head.split_once(" (")?;
        let fields: Vec<_> = tail.split(' ').collect();
        // It has ended, and its parent has not noticed: a zombie, or dead.
        if matches!(*fields.first()?, "Z" | "X") {
            return None;
        }
        let (parent, start) = (fields.get(1)?.parse().ok()?, fields.get(19)?);
        // Two containers may have the same ids at the same time.
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let identity = format!("{}/{pid}/{start}", space.display());
        Some((parent, Ancestor { pid, name: name.to_owned(), identity }))
    }

    pub(super) fn loopback_ports(pid: u32, child: Option<&str>, port: u16) -> Option<Vec<u16>> {
        let mut own = sockets(pid)?;
        for child in child.map(|name| children(pid, name)).unwrap_or_default() {
            own.extend(sockets(child).unwrap_or_default());
        }
        let mut ports = Vec::new();
        let mut lines = 0;
        for table in ["tcp", "tcp6"] {
            // A system without IPv6 has no second table.
            let text = fs::read_to_string(format!("/proc/{pid}/net/{table}"));
            for line in text.unwrap_or_default().lines().skip(1) {
                lines += 1;
                let fields: Vec<_> = line.split_whitespace().collect();
                let [_, local, remote, state, _, _, _, _, _, inode, ..] = fields[..] else {
                    continue;
                };
                let (Some((address, local)), Some((_, remote))) = (split(local), split(remote))
                else {
                    continue;
                };
                if state != ESTABLISHED || remote != port || !own.contains(inode) {
                    continue;
                }
                if !is_loopback(address) {
                    return None;
                }
                ports.push(local);
            }
            // A client connects over one family. Each table takes a millisecond or two.
            if !ports.is_empty() {
                break;
            }
        }
        // The companion itself has a line, so without any the tables do not show the connections.
        (lines > 0).then_some(ports)
    }

    pub(super) fn listens_on_loopback_only(port: u16) -> Option<bool> {
        let mut found = None;
        for table in ["tcp", "tcp6"] {
            let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
            for line in text.lines().skip(1) {
                let fields: Vec<_> = line.split_whitespace().collect();
                let [_, local, _, LISTENING, ..] = fields[..] else { continue };
                if let Some((address, local)) = split(local)
                    && local == port
                {
                    found = Some(found.unwrap_or(true) && is_loopback(address));
                }
            }
        }
        found
    }

    /// The inodes of the sockets of a process.
    fn sockets(pid: u32) -> Option<HashSet<String>> {
        let mut sockets = HashSet::new();
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).ok()? {
            let Ok(target) = fs::read_link(entry.ok()?.path()) else { continue };
            let Some(target) = target.to_str() else { continue };
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            sockets.extend(inode.map(str::to_owned));
        }
        Some(sockets)
    }

    /// The children of a process whose program has this name.
    fn children(pid: u32, name: &str) -> Vec<u32> {
        let name = name.get(..MAX_NAME).unwrap_or(name);
        let mut children = Vec::new();
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return children };
        for thread in threads.flatten() {
            let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in text.split_whitespace().filter_map(|pid| pid.parse().ok()) {
                if process(child).is_some_and(|(_, child)| child.name == name) {
                    children.push(child);
                }
            }
        }
        children
    }

    /// An address and a port, both in hexadecimal.
    fn split(endpoint: &str) -> Option<(&str, u16)> {
        let (address, port) = endpoint.split_once(':')?;
        Some((address, u16::from_str_radix(port, 16).ok()?))
    }

    /// The words of an address are in the byte order of the processor.
    fn is_loopback(address: &str) -> bool {
        let words = address.as_bytes().chunks(8).map(|word| std::str::from_utf8(word).ok());
        let mut bytes = Vec::new();
        for word in words {
            let Some(word) = word.and_then(|word| u32::from_str_radix(word, 16).ok()) else {
                return false;
            };
            bytes.extend(word.to_ne_bytes());
        }
        if let Ok(address) = <[u8; 4]>::try_from(&*bytes) {
            return Ipv4Addr::from(address).is_loopback();
        }
        let address = <[u8; 16]>::try_from(&*bytes);
        address.is_ok_and(|address| Ipv6Addr::from(address).to_canonical().is_loopback())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn loopback_addresses_of_both_families() {
            let hex = |bytes: &[u8]| {
                let words = bytes.chunks(4).map(|of| u32::from_ne_bytes(of.try_into().unwrap()));
                words.map(|word| format!("{word:08X}")).collect::<Vec<_>>().concat()
            };
            let v6 = |tail: &[u8]| hex(&[&vec![0; 16 - tail.len()], tail].concat());
            assert!(is_loopback(&hex(&[127, 0, 0, 1])));
            assert!(is_loopback(&v6(&[1])));
            assert!(is_loopback(&v6(&[0xff, 0xff, 127, 0, 0, 1])));
            assert!(!is_loopback(&hex(&[172, 17, 0, 1])));
            assert!(!is_loopback(&v6(&[0xff, 0xff, 172, 17, 0, 1])));
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod process {
    use std::process::Command;

    use super::Ancestor;

    /// A process and its parent. The time of its start has five words, as `Fri Nov 27 12:06:22 2026`.
    pub(super) fn process(pid: u32) -> Option<(u32, Ancestor)> {
        let mut ps = Command::new("ps");
        // A hook and the editor may have different time zones.
        ps.args(["-o", "ppid=,lstart=,comm=", "-p", &pid.to_string()])
            .envs([("LC_ALL", "C"), ("TZ", "UTC0")]);
        let output = ps.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut words = text.split_whitespace();
        let parent = words.next()?.parse().ok()?;
        let start: Vec<_> = words.by_ref().take(5).collect();
        let command: Vec<_> = words.collect();
        let command = command.join(" ");
        let name = command.rsplit('/').next().unwrap_or_default().to_owned();
        Some((parent, Ancestor { pid, name, identity: format!("{pid}/{}", start.join(" ")) }))
    }
}

#[cfg(windows)]
mod system {
    use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

    use super::{Ancestor, MAX_ANCESTORS};

    pub(super) fn ancestors() -> Vec<Ancestor> {
        let Ok(mut system) = System::new() else { return Vec::new() };
        let nothing = ProcessRefreshKind::nothing();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, nothing);
        let Ok(me) = get_current_pid() else { return Vec::new() };
        let Some(mut child) = system.process(me) else { return Vec::new() };
        let mut ancestors = Vec::new();
        while let Some(parent) = child.parent().and_then(|pid: Pid| system.process(pid)) {
            // Windows does not report that the parent has ended, and uses its id again.
            if parent.start_time() > child.start_time() || ancestors.len() == MAX_ANCESTORS {
                break;
            }
            let pid = parent.pid().as_u32();
            let name = parent.name().to_string_lossy();
            let name = name.trim_end_matches(".exe").to_owned();
            ancestors.push(Ancestor { pid, name, identity: identity(parent) });
            child = parent;
        }
        ancestors
    }

    pub(super) fn process_identity(pid: u32) -> Option<String> {
        let mut system = System::new().ok()?;
        let pid = Pid::from_u32(pid);
        let nothing = ProcessRefreshKind::nothing();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, nothing);
        system.process(pid).map(identity)
    }

    fn identity(process: &Process) -> String {
        format!("{}/{}", process.pid().as_u32(), process.start_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ancestors_begin_with_the_parent() {
        let ancestors = ancestors();
        assert!(!ancestors.is_empty() && ancestors.len() <= MAX_ANCESTORS);
        assert_eq!(Some(ancestors[0].pid), crate::parent_process());
        assert!(ancestors.iter().all(|of| !of.name.is_empty() && !of.identity.is_empty()));
        assert_eq!(process_identity(ancestors[0].pid).as_ref(), Some(&ancestors[0].identity));
        assert_eq!(process_identity(0x3fff_fffe), None);
        assert_eq!(find_process(&ancestors[0].identity), Some(ancestors[0].pid));
        let of_another_container = ancestors[0].identity.replacen("pid:[", "pid:[9", 1);
        if of_another_container != ancestors[0].identity {
            assert_eq!(find_process(&of_another_container), None);
        }
        assert_eq!(find_process("other/1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_is_gone_before_its_parent_notices() {
        use std::process::Command;

        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = process_identity(child.id()).unwrap();
        assert_eq!(find_process(&identity), Some(child.id()));
        child.kill().unwrap();
        let id = WaitId::Pid(Pid::from_child(&child));
        waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        assert_eq!(find_process(&identity), None);
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_on_loopback_addresses_is_for_this_machine_alone() {
        use std::net::TcpListener;

        for (address, expected) in [("127.0.0.1:0", true), ("[::1]:0", true), ("0.0.0.0:0", false)]
        {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            assert_eq!(listens_on_loopback_only(port), Some(expected), "{address}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_ports_of_a_process_are_those_of_its_own_connections() {
        use std::net::{TcpListener, TcpStream};
        use std::process;

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(loopback_ports(process::id(), Some("x"), port), Some(Vec::new()));
        let ours = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let local = ours.local_addr().unwrap().port();
        assert_eq!(loopback_ports(process::id(), Some("x"), port), Some(vec![local]));
        let parent = crate::parent_process().unwrap();
        assert_ne!(loopback_ports(parent, Some("x"), port), Some(vec![local]));
    }
}
