//! Tests the end of a server that is stopped, or only dropped.

use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::mpsc::channel;
use std::thread;

use crate::common::{Rig, call, read_until};
use companion_protocol::profile;
use serde_json::json;

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

/// A client answers a ping over a connection of its own.
#[test]
fn a_server_that_stops_accepts_a_connection_with_the_answer_to_a_ping() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let mut stream = rig.connect();
    stream.write_all(rig.head("GET /mcp", &session).as_bytes()).unwrap();
    read_until(&mut stream, "ide/contextUpdate");
    let post =
        |body: &str| rig.exchange(rig.post(&format!("connection: close\r\n{session}"), body));
    post(&call("openDiff", r#"{"filePath":"/a","newContent":"new"}"#));
    rig.notify("diff/accepted", &json!({ "filePath": "/a", "content": "new" }));
    let seen = read_until(&mut stream, r#""method":"ping""#);
    let id = seen.rsplit(r#""id":""#).next().unwrap().split('"').next().unwrap();
    let server = rig.server.clone();
    let stopping = thread::spawn(move || server.stop());
    while fs::read_dir(rig.discovery.path()).unwrap().count() > 0 {
        thread::yield_now();
    }
    let reply = post(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string());
    assert!(reply.starts_with("HTTP/1.1 202 "), "{reply}");
    stopping.join().unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}
