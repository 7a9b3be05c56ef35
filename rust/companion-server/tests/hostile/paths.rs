//! Tests links and paths of special files.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use companion_protocol::editor::EditorNotification;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::common::{Rig, read_until};

/// Only regular files are sent. The check opens none: a FIFO would never answer.
#[test]
fn what_is_no_file_is_not_sent() {
    let rig = Rig::start();
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let file = at("file");
    File::create(&file).unwrap().write_all(b"text").unwrap();
    mknodat(CWD, at("fifo").as_str(), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    let link = |to: &str, name: &str| symlink(to, dir.path().join(name)).unwrap();
    link(&file, "to-file");
    link("/dev/zero", "to-device");
    link(&at("fifo"), "to-fifo");
    link(&at("loop"), "loop");
    link("/nowhere", "to-nowhere");
    let parent = format!(
        "{}/../{}/file",
        at("x").trim_end_matches("/x"),
        Path::new(&at("x")).parent().unwrap().file_name().unwrap().to_str().unwrap()
    );
    let none = [
        at("fifo"),
        at("socket"),
        at("to-device"),
        at("to-fifo"),
        at("loop"),
        at("to-nowhere"),
        at(""),
        "/dev/zero".to_owned(),
        "/dev/stdin".to_owned(),
        "/dev/tty".to_owned(),
        "/proc".to_owned(),
        "/".to_owned(),
        String::new(),
        "file".to_owned(),
        "file\0".to_owned(),
        format!("{file}\0"),
        format!("{file}/"),
        format!("{file}/x"),
        format!("/{}", "p".repeat(300)),
        format!("/{}", "p/".repeat(100_000)),
        "\\\\server\\share\\a".to_owned(),
    ];
    for path in &none {
        for method in ["editor/opened", "editor/focused", "editor/selection"] {
            let params = json!({ "path": path, "text": "selected" }).to_string();
            let notification = EditorNotification::from_json(method, &params).unwrap();
            // A path that is not absolute is refused.
            let _ = rig.server.apply(notification);
        }
    }
    for path in [&file, &at("to-file"), &parent] {
        rig.notify("editor/opened", &json!({ "path": path }));
    }
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let mut stream = rig.connect();
    stream.write_all(rig.head("GET /mcp", &session).as_bytes()).unwrap();
    let context = read_until(&mut stream, "\"openFiles\":[{");
    let paths: Vec<_> =
        context.split("\"path\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(paths, [file], "the others are names of the same file");
    assert!(!context.contains("selected"), "{context}");
}
