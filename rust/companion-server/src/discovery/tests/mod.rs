//! The discovery file: by the rules of the client that reads it.

#[cfg(unix)]
mod attacks;
mod keeping;

use std::path::Path;

use companion_protocol::ide::{DiscoveryFile, IdeInfo};

use super::sweep::Owner;
use super::*;
use crate::runtime::Runtime;
use companion_platform::Platform::{Unix, Windows};

fn content(port: u16) -> DiscoveryFile {
    DiscoveryFile {
        port,
        workspace_path: "/work".to_owned(),
        auth_token: "secret".to_owned(),
        ide_info: IdeInfo { name: "test".to_owned(), display_name: "Test".to_owned() },
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A process that has ended.
fn dead_pid() -> u32 {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--list")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    child.id()
}

/// A port on which nobody listens.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn the_file_is_there_as_long_as_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::start().unwrap();
    let discovery = Discovery::publish(runtime.alive(), Some(dir.path()), 7, content(4000));
    assert_eq!(names(dir.path()), ["gemini-ide-server-7-4000.json"]);
    assert_eq!(discovery.path(), Some(dir.path().join("gemini-ide-server-7-4000.json")));
    let read = || std::fs::read_to_string(dir.path().join("gemini-ide-server-7-4000.json"));
    let json = r#"{"port":4000,"workspacePath":"/work","authToken":"secret","ideInfo":{"name":"test","displayName":"Test"}}"#;
    assert_eq!(read().unwrap(), json);
    discovery.set_workspace_path("/other".to_owned()).unwrap();
    assert_eq!(read().unwrap(), json.replace("/work", "/other"));
    assert_eq!(names(dir.path()).len(), 1, "nothing is left of the writing");
    discovery.remove().gone();
    assert!(names(dir.path()).is_empty());
    assert_eq!(discovery.path(), None);
}

#[test]
fn stale_files_go_and_all_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let (dead, alive, ours) = (dead_pid(), std::process::id(), 2_000_000_000);
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [open, our_port] = listeners.each_ref().map(|one| one.local_addr().unwrap().port());
    let closed = closed_port();
    let stale = [
        format!("gemini-ide-server-{dead}-{closed}.json"),
        format!("gemini-ide-server-{dead}.json"),
        format!("gemini-ide-server-{dead}-{closed}.json.tmp"),
        format!("gemini-ide-server-{ours}-{closed}.json"),
        // Of one that was killed, whom we follow.
        format!("gemini-ide-server-{dead}-{our_port}.json"),
    ];
    let mut kept = vec![
        format!("gemini-ide-server-{alive}-4000.json"),
        format!("gemini-ide-server-{alive}.json"),
        format!("gemini-ide-server-{ours}-{open}.json"),
        // Where process ids are not shared, one that lives only seems to be dead.
        format!("gemini-ide-server-{dead}-{open}.json"),
        format!("gemini-ide-server-{dead}-{closed}.json.bak"),
        format!("gemini-ide-server-{dead}-x.json"),
        "something-else.json".to_owned(),
    ];
    for name in stale.iter().chain(&kept) {
        std::fs::write(dir.path().join(name), "{}").unwrap();
    }
    let new = format!("gemini-ide-server-{ours}-{our_port}.json");
    std::fs::write(dir.path().join(&new), "{}").unwrap();
    sweep::sweep(&File::new(Place::new(Some(dir.path())), ours, our_port));
    kept.push(new);
    kept.sort();
    assert_eq!(names(dir.path()), kept);
}

#[test]
fn names_are_read_as_the_client_reads_them() {
    let owner = |pid, port| Some(Owner { pid, port });
    assert_eq!(Owner::parse("gemini-ide-server-12-4000.json"), owner(12, Some(4000)));
    assert_eq!(Owner::parse("gemini-ide-server-12.json"), owner(12, None));
    assert_eq!(Owner::parse("gemini-ide-server-12-4000.json.tmp"), owner(12, Some(4000)));
    for other in ["gemini-ide-server-.json", "gemini-ide-server-a-1.json", "x", "12-4000.json"] {
        assert_eq!(Owner::parse(other), None, "{other}");
    }
}

#[test]
fn the_workspace_is_a_list_of_top_level_roots() {
    let path = |platform, roots: &[&str]| {
        let roots: Vec<_> = roots.iter().map(|root| (*root).to_owned()).collect();
        workspace_path(platform, &roots)
    };
    assert_eq!(path(Unix, &[]), "");
    assert_eq!(path(Unix, &["/a"]), "/a");
    assert_eq!(path(Unix, &["/a", "/b"]), "/a:/b");
    assert_eq!(path(Unix, &["/a/b", "/a", "/ab", "/a/c/d"]), "/a:/ab");
    assert_eq!(path(Unix, &["/a", "/a", "/a/"]), "/a", "the same root three times");
    assert_eq!(path(Unix, &["/a/", "/a"]), "/a/");
    assert_eq!(path(Windows, &["C:\\a", "D:\\b"]), "C:\\a;D:\\b");
    assert_eq!(path(Windows, &["C:\\a", "c:/A/b", "C:\\ab"]), "C:\\a;C:\\ab");
}

impl Removal {
    /// Waits until it is done.
    fn gone(self) {
        let _ = self.gone.blocking_recv();
    }
}
