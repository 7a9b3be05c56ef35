//! Tests the discovery file against the rules of the client that reads it.

#[cfg(unix)]
mod attacks;
mod keeping;

use std::path::Path;
use std::time::{Duration, SystemTime};

use companion_protocol::ide::{DiscoveryFile, IdeInfo};
use companion_protocol::profile::{self, Base, ClientProfile, GEMINI, QWEN};

use super::*;
use crate::runtime::Runtime;
use companion_platform::Platform::{Unix, Windows};

fn content(port: u16) -> DiscoveryFile {
    DiscoveryFile {
        port,
        workspace_path: "/work".to_owned(),
        worktrees: Vec::new(),
        auth_token: "secret".to_owned(),
        ppid: None,
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

/// Returns the id of a process that has ended.
fn dead_pid() -> u32 {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .arg("--list")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    child.id()
}

/// Returns a port without a listener.
fn closed_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the folder where the clients of a profile look, moved below `tmp`.
fn place_below(
    profile: &'static ClientProfile,
    tmp: &Path,
) -> (&'static ClientProfile, DiscoveryDir) {
    let base = match profile.folder.base {
        Base::Temp => tmp.to_owned(),
        Base::Own { name, .. } => tmp.join(name),
    };
    (profile, DiscoveryDir::below(&profile.folder, base))
}

/// Returns the path of the file if it is in place.
fn in_place(discovery: &Discovery) -> Option<PathBuf> {
    discovery.files().into_iter().find(|file| file.in_place).map(|file| file.path.into())
}

#[test]
fn the_files_are_there_as_long_as_their_owner() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::start().unwrap();
    let pid = std::process::id();
    let (all, at) = (&profile::ALL, Some(dir.path()));
    let discovery = Discovery::publish(runtime.alive(), all, at, pid, None, &content(4000));
    let gemini = format!("gemini-ide-server-{pid}-4000.json");
    let files = ["4000.lock", &*gemini];
    assert_eq!(names(dir.path()), files);
    let status = discovery.files().into_iter().map(|file| (file.client.id, file.in_place));
    assert_eq!(status.collect::<Vec<_>>(), [("gemini", true), ("qwen", true)]);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let json = r#"{"port":4000,"workspacePath":"/work","authToken":"secret","ideInfo":{"name":"test","displayName":"Test"}}"#;
    let with_pid = json.replace(r#","ideInfo""#, &format!(r#","ppid":{pid},"ideInfo""#));
    assert_eq!([read(&gemini), read("4000.lock")], [json, &with_pid]);
    discovery.set_workspace(&["/other".to_owned()], Vec::new()).unwrap();
    let others = [json, &with_pid].map(|json| json.replace("/work", "/other"));
    assert_eq!([read(&gemini), read("4000.lock")], others);
    assert_eq!(names(dir.path()), files, "nothing is left of the writing");
    discovery.remove().gone();
    assert!(names(dir.path()).is_empty());
    assert_eq!(in_place(&discovery), None);
}

/// A client would remove the file of a process that does not run.
#[test]
fn a_server_stands_in_for_an_editor_that_is_not_seen_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = Runtime::start().unwrap();
    let (qwen, at) = ([&QWEN], Some(dir.path()));
    let _discovery =
        Discovery::publish(runtime.alive(), &qwen, at, dead_pid(), None, &content(4000));
    let file = std::fs::read(dir.path().join("4000.lock")).unwrap();
    let file: DiscoveryFile = serde_json::from_slice(&file).unwrap();
    assert_eq!(file.ppid, Some(std::process::id()));
}

/// Sets the file's time to `age` ago.
fn set_age(file: &Path, age: Duration) {
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

/// The files of a folder that is swept, and which of them must stay.
struct Swept {
    dir: tempfile::TempDir,
    kept: Vec<String>,
}

impl Swept {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), kept: Vec::new() }
    }

    fn goes(&mut self, name: String, content: &str) {
        let file = self.dir.path().join(name);
        std::fs::write(&file, content).unwrap();
        set_age(&file, sweep::MIN_AGE);
        #[cfg(unix)]
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
    }

    /// Adds a file that was just written.
    fn young(&mut self, name: String, content: &str) {
        let file = self.dir.path().join(&name);
        self.stays(name, content);
        set_age(&file, Duration::ZERO);
    }

    fn stays(&mut self, name: String, content: &str) {
        self.goes(name.clone(), content);
        self.kept.push(name);
    }

    fn check(mut self, profile: &'static ClientProfile, pid: u32, port: u16, lost: Option<u16>) {
        let place = DiscoveryDir::new(&profile.folder, Some(self.dir.path()));
        let ours = Entry::new(profile, place, pid, port);
        self.stays(ours.name.clone(), "{}");
        sweep::sweep(&ours, lost);
        self.kept.sort();
        assert_eq!(names(self.dir.path()), self.kept);
    }
}

#[test]
fn stale_files_go_and_all_others_stay() {
    let (dead, alive, ours) = (dead_pid(), std::process::id(), 2_000_000_000);
    let listeners = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [open, lost, our_port] = listeners.each_ref().map(|one| one.local_addr().unwrap().port());
    let closed = closed_port();
    let mut swept = Swept::new();
    for name in [
        format!("gemini-ide-server-{dead}-{closed}.json"),
        format!("gemini-ide-server-{dead}.json"),
        format!("gemini-ide-server-{dead}-{closed}.json.tmp"),
        format!("gemini-ide-server-{ours}-{closed}.json"),
        // The file of a killed server with the same port.
        format!("gemini-ide-server-{dead}-{our_port}.json"),
        format!("gemini-ide-server-{ours}-{lost}.json"),
        // Another process has the id of a killed editor.
        format!("gemini-ide-server-{alive}-{closed}.json"),
    ] {
        swept.goes(name, "{}");
    }
    for name in [
        format!("gemini-ide-server-{alive}-{open}.json"),
        format!("gemini-ide-server-{alive}.json"),
        format!("gemini-ide-server-{ours}-{open}.json"),
        // Containers may not share process ids. So a running process may seem to be dead.
        format!("gemini-ide-server-{dead}-{open}.json"),
        format!("gemini-ide-server-{dead}-{lost}.json"),
        format!("gemini-ide-server-{dead}-{closed}.json.bak"),
        format!("gemini-ide-server-{dead}-x.json"),
        "something-else.json".to_owned(),
    ] {
        swept.stays(name, "{}");
    }
    // The process and the port may belong to another container.
    swept.young(format!("gemini-ide-server-{}-{closed}.json", dead_pid()), "{}");
    swept.check(&GEMINI, ours, our_port, Some(lost));
}

#[test]
fn a_file_that_names_its_process_is_swept_only_if_a_server_like_this_wrote_it() {
    let (dead, alive, ours) = (dead_pid(), std::process::id(), 2_000_000_000);
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [open, our_port] = listeners.each_ref().map(|one| one.local_addr().unwrap().port());
    let json = |port: u16, pid: u32| {
        serde_json::to_string(&DiscoveryFile { ppid: Some(pid), ..content(port) }).unwrap()
    };
    // All ports are bound at once, so that they differ.
    let closed = [(); 10].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let closed = closed.map(|one| one.local_addr().unwrap().port());
    let lock = |port: u16| format!("{port}.lock");
    let mut swept = Swept::new();
    swept.goes(lock(closed[0]), &json(closed[0], dead));
    swept.goes(lock(closed[1]), &json(closed[1], ours));
    swept.goes(lock(closed[2]) + ".tmp", "{\"po");
    swept.stays(lock(open), &json(open, dead));
    swept.goes(lock(closed[3]), &json(closed[3], alive));
    swept.stays(lock(closed[4]), "{");
    swept.stays(lock(closed[5]), &serde_json::to_string(&content(closed[5])).unwrap());
    swept.stays(lock(closed[6]), &json(1, dead));
    swept.stays(lock(closed[7]), &json(closed[7], dead).replace("ideInfo", "ideName"));
    swept.stays(lock(our_port) + ".tmp", "");
    swept.young(lock(closed[8]), &json(closed[8], dead));
    swept.young(lock(closed[9]) + ".tmp", "{\"po");
    swept.stays("7x.lock".to_owned(), "");
    swept.check(&QWEN, ours, our_port, None);
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

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_a_disk_that_does_not_answer_until_its_time_is_up() {
    let removal = || {
        let (gone, removal) = oneshot::channel();
        (gone, Removal { files: Vec::new(), gone: removal })
    };
    let (_never, mut silent) = removal();
    let end = Instant::now() + 2 * DISK_TIMEOUT;
    silent.begin().await;
    assert!(Instant::now() < end, "others have their time, too");
    silent.end(end).await;
    assert!(Instant::now() >= end);
    // If the removal is done at once, there is nothing to wait for.
    let (gone, mut done) = removal();
    gone.send(()).unwrap();
    let begun = Instant::now();
    done.begin().await;
    done.end(begun + DISK_TIMEOUT).await;
    assert_eq!(Instant::now(), begun);
}

impl Removal {
    /// Waits until the removal is done.
    fn gone(self) {
        let _ = self.gone.blocking_recv();
    }
}
