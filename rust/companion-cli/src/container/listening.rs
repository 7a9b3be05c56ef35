//! Finds the addresses that a port of this machine is bound to.

use std::fs;

/// Returns whether only this machine can reach the port. Returns `None` if that is unknown, as on
/// systems other than Linux. There, containers reach the host's loopback addresses anyway.
pub(super) fn loopback_only(port: u16) -> Option<bool> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables: Vec<_> = tables.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let mut addresses = tables.iter().flat_map(|table| listeners(table, port)).peekable();
    addresses.peek()?;
    Some(addresses.all(is_loopback))
}

/// Returns the local addresses in a table that listen on the port, in the table's notation.
fn listeners(table: &str, port: u16) -> impl Iterator<Item = &str> {
    const LISTEN: &str = "0A";
    table.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_whitespace().skip(1);
        let (address, local_port) = fields.next()?.split_once(':')?;
        let state = fields.nth(1)?;
        let same = u16::from_str_radix(local_port, 16) == Ok(port);
        (same && state == LISTEN).then_some(address)
    })
}

/// Returns whether an address is a loopback address. The bytes of each group of 4 are reversed.
fn is_loopback(address: &str) -> bool {
    match address.len() {
        8 => address.ends_with("7F"),
        _ => {
            address == "00000000000000000000000001000000"
                || (address.starts_with("0000000000000000FFFF0000") && address.ends_with("7F"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:A112 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 1 1 0
   1: 0100007F:A113 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 1 1 0
   2: 010011AC:A113 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 1 1 0
   3: 00000000:A112 0100007F:A112 01 00000000:00000000 00:00000000 00000000  1000 0 1 1 0
";

    #[test]
    fn a_table_of_sockets() {
        let addresses = |port| listeners(TABLE, port).collect::<Vec<_>>();
        assert_eq!(addresses(0xA112), ["0100007F"], "a connection is no listener");
        assert_eq!(addresses(0xA113), ["0100007F", "010011AC"]);
        assert!(addresses(1).is_empty());
        assert!(is_loopback("0100007F") && is_loopback("00000000000000000000000001000000"));
        assert!(is_loopback("0000000000000000FFFF00000100007F"));
        assert!(!is_loopback("00000000") && !is_loopback("00000000000000000000000000000000"));
        assert!(!is_loopback("010011AC") && !is_loopback("0000000000000000FFFF0000010011AC"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine() {
        for (address, expected) in [("127.0.0.1:0", true), ("[::1]:0", true), ("0.0.0.0:0", false)]
        {
            let Ok(listener) = std::net::TcpListener::bind(address) else { continue };
            let port = listener.local_addr().expect("it listens").port();
            assert_eq!(loopback_only(port), Some(expected), "{address}");
        }
    }
}
