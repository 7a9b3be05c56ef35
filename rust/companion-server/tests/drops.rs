//! Tests the end of a server that is stopped, or only dropped.

use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::mpsc::channel;

use crate::common::{Rig, read_until};
use companion_protocol::profile;

#[test]
fn a_server_that_is_only_dropped_stops_while_its_runtime_ends() {
    let rig = Rig::start();
    assert_eq!(fs::read_dir(rig.discovery.path()).unwrap().count(), profile::ALL.len());
    let mut stream = rig.connect();
    stream.write_all(rig.head("GET /events", "").as_bytes()).unwrap();
    read_until(&mut stream, "openFiles");
    let Rig { server, runtime, discovery, .. } = rig;
    drop(server);
    drop(runtime);
    assert_eq!(fs::read_dir(discovery.path()).unwrap().count(), 0, "a discovery file is left");
    // The server must end the connection by FIN. An RST would be an error here.
    stream.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn the_discovery_file_goes_though_the_servers_thread_is_busy() {
    let rig = Rig::start();
    let (since, is_busy) = channel();
    let (go_on, until) = channel::<()>();
    rig.when_clients_change(move || {
        let _ = since.send(());
        let _ = until.recv();
    });
    let session = rig.initialize();
    let mut stream = rig.connect();
    let headers = format!("mcp-session-id: {session}\r\naccept: text/event-stream\r\n");
    stream.write_all(rig.head("GET /mcp", &headers).as_bytes()).unwrap();
    is_busy.recv().unwrap();
    rig.server.stop();
    let left = fs::read_dir(rig.discovery.path()).unwrap().count();
    drop(go_on);
    assert_eq!(left, 0, "a discovery file is left");
}
