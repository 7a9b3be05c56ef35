//! Tests servers without a JVM: start and stop, failing attachment, a full queue.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use companion_protocol::editor::{Clients, CloseDiff, CompanionNotification};
use companion_protocol::settings::Settings;
use companion_server::{Config, EditorRequest, Runtime, Server};
use log::Level;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

use super::Cores;
use crate::callbacks::{Calls, KotlinSide, Listener, Message, RESPONDERS};
use crate::gate::Error;

/// Maximum wait of a test.
const TEST_TIMEOUT: Duration = Duration::from_mins(1);

/// An IDE that sends its calls to a channel. While a test holds `busy`, calls block.
#[derive(Clone)]
struct RecordingIde {
    calls: Sender<String>,
    refusals: Arc<AtomicUsize>,
    busy: Arc<Mutex<()>>,
}

impl RecordingIde {
    fn new() -> (Self, Receiver<String>) {
        let (calls, receiver) = mpsc::channel();
        (Self { calls, refusals: Arc::default(), busy: Arc::default() }, receiver)
    }
}

impl KotlinSide for RecordingIde {
    /// An object whose reference count shows whether the thread holds it.
    type Object = Arc<()>;

    fn attached(&self, call: &mut dyn FnMut(&mut dyn Calls<Arc<()>>)) -> Result<(), String> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
            return Err("no memory".to_owned());
        }
        call(&mut self.clone());
        Ok(())
    }
}

impl Calls<Arc<()>> for RecordingIde {
    fn request(&mut self, _: &Arc<()>, number: u64, _: EditorRequest) -> Result<(), String> {
        drop(self.busy.lock());
        self.calls.send(format!("request {number}")).unwrap();
        Ok(())
    }

    fn notify(&mut self, _: &Arc<()>, notification: &CompanionNotification) -> Result<(), String> {
        drop(self.busy.lock());
        if let CompanionNotification::Clients(clients) = notification {
            self.calls.send(format!("clients {}", clients.count)).unwrap();
        }
        Ok(())
    }

    fn log(&mut self, _: &Arc<()>, _: Level, _: String) -> Result<(), String> {
        Ok(())
    }
}

fn open(
    dir: &TempDir,
    settings: Settings,
) -> impl FnOnce(&Runtime, Listener) -> std::io::Result<Server> {
    let mut config = Config::new(settings);
    config.discovery_dir = Some(dir.path().to_owned());
    move |runtime, host| Server::open(runtime, config, Arc::new(host))
}

#[test]
fn stopped_servers_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, _calls) = RecordingIde::new();
    let cores = Cores::new(ide);
    let object = Arc::new(());
    for _ in 0..2 {
        let start = || cores.start(Arc::clone(&object), open(&dir, Settings::default())).unwrap();
        let (one, two) = (start(), start());
        assert_ne!(one, two);
        assert_ne!(cores.get(one).unwrap().port(), cores.get(two).unwrap().port());
        cores.stop(one);
        cores.stop(one);
        assert!(matches!(cores.get(one), Err(Error::NotRunning(number)) if number == one));
        assert!(cores.get(two).is_ok());
        cores.stop(two);
        assert!(cores.running.lock().is_empty());
        assert_eq!(Arc::strong_count(&object), 1, "an object would keep the class loader");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_server_that_does_not_start_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, _calls) = RecordingIde::new();
    let cores = Cores::new(ide);
    let object = Arc::new(());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let settings = Settings { port, ..Settings::default() };
    let error = cores.start(Arc::clone(&object), open(&dir, settings)).unwrap_err().to_string();
    assert!(error.contains(&format!("can't listen on port {port}")), "{error}");
    assert!(cores.running.lock().is_empty());
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn calls_during_failed_attachment_arrive_later_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = RecordingIde::new();
    let refusals = Arc::clone(&ide.refusals);
    let cores = Cores::new(ide);
    refusals.store(3, Ordering::Relaxed);
    let core = cores.start(Arc::default(), open(&dir, Settings::default())).unwrap();
    let queue = cores.running.lock()[&core].threads.callbacks.queue();
    for count in 1..=3 {
        let clients = CompanionNotification::Clients(Clients { count });
        queue.send(Message::Notify(clients)).unwrap();
    }
    for count in 1..=3 {
        assert_eq!(calls.recv_timeout(TEST_TIMEOUT).unwrap(), format!("clients {count}"));
    }
    assert_eq!(refusals.load(Ordering::Relaxed), 0);
    cores.stop(core);
}

#[test]
fn a_full_queue_blocks_nothing_and_loses_nothing() {
    const MANY: u64 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = RecordingIde::new();
    let ide_is_busy = Arc::clone(&ide.busy);
    let cores = Cores::new(ide);
    let core = cores.start(Arc::default(), open(&dir, Settings::default())).unwrap();
    let queue = cores.running.lock()[&core].threads.callbacks.queue();
    let busy: MutexGuard<'_, ()> = ide_is_busy.lock();
    for request in 0..MANY {
        let close = CloseDiff { file_path: "/a".to_owned(), abandoned: false };
        queue.send(Message::Request(request, EditorRequest::CloseDiff(close))).unwrap();
    }
    assert!(calls.try_recv().is_err());
    drop(busy);
    for request in 0..MANY {
        assert_eq!(calls.recv_timeout(TEST_TIMEOUT).unwrap(), format!("request {request}"));
    }
    cores.stop(core);
}

/// Sends a client's message, and returns the answer with its head.
fn post(server: &Server, headers: &str, message: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    let (port, token, length) = (server.port(), server.token(), message.len());
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    stream.write_all((head + message).as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn a_request_before_the_servers_number_is_answered() {
    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
        {"name":"openDiff","arguments":{"filePath":"/a","newContent":""}}}"#;
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = RecordingIde::new();
    let cores = Cores::new(ide);
    let open = open(&dir, Settings::default());
    let core = cores.start(Arc::default(), |runtime, listener| {
        let server = open(runtime, listener)?;
        let reply = post(&server, "", INITIALIZE);
        let session = reply.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
        let reply = thread::scope(|scope| {
            let call = scope.spawn(|| post(&server, &format!("{session}\r\n"), OPEN));
            let asked = calls.iter().find_map(|call| call.strip_prefix("request ")?.parse().ok());
            RESPONDERS.take(asked.unwrap()).unwrap().complete(None);
            call.join().unwrap()
        });
        assert!(reply.ends_with(r#""result":{"content":[]}}"#), "{reply}");
        Ok(server)
    });
    cores.stop(core.unwrap());
}
