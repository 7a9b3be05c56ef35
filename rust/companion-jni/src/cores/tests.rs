//! Servers without a JVM: their start, a JVM that attaches no thread, and a queue that is full.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use companion_protocol::settings::Settings;
use companion_server::{Asked, Config, Runtime, Server};
use log::Level;
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;

use super::Cores;
use crate::callbacks::{Calls, EditorCall, KotlinSide, Listener, Message, RESPONDERS};
use crate::gate::Error;

/// How long a test waits for anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// An IDE that tells what it is called for. As long as `busy` is held, calls take their time.
#[derive(Clone)]
struct Told {
    calls: Sender<String>,
    refusals: Arc<AtomicUsize>,
    busy: Arc<Mutex<()>>,
}

impl Told {
    fn new() -> (Self, Receiver<String>) {
        let (calls, told) = mpsc::channel();
        (Self { calls, refusals: Arc::default(), busy: Arc::default() }, told)
    }
}

impl KotlinSide for Told {
    /// Its number of references tells whether it is kept.
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

impl Calls<Arc<()>> for Told {
    fn ask(&mut self, _: &Arc<()>, request: u64, _: EditorCall) -> Result<(), String> {
        drop(self.busy.lock());
        self.calls.send(format!("ask {request}")).unwrap();
        Ok(())
    }

    fn sessions(&mut self, _: &Arc<()>, count: usize) -> Result<(), String> {
        drop(self.busy.lock());
        self.calls.send(format!("sessions {count}")).unwrap();
        Ok(())
    }

    fn log(&mut self, _: &Arc<()>, _: Level, _: String) -> Result<(), String> {
        Ok(())
    }
}

fn open(
    dir: &TempDir,
    settings: Settings,
) -> impl FnOnce(&Runtime, Listener<Arc<()>>) -> std::io::Result<Server> {
    let mut config = Config::new(settings);
    config.discovery_dir = Some(dir.path().to_owned());
    move |runtime, host| Server::open(runtime, config, Arc::new(host))
}

#[test]
fn servers_start_and_stop_and_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, _calls) = Told::new();
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
        assert!(cores.shared.lock().is_none());
        assert_eq!(Arc::strong_count(&object), 1, "an object would keep the class loader");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_server_that_does_not_start_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, _calls) = Told::new();
    let cores = Cores::new(ide);
    let object = Arc::new(());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let settings = Settings { port, ..Settings::default() };
    let error = cores.start(Arc::clone(&object), open(&dir, settings)).unwrap_err().to_string();
    assert!(error.contains(&format!("can't listen on port {port}")), "{error}");
    assert!(cores.shared.lock().is_none());
    assert_eq!(Arc::strong_count(&object), 1);
}

#[test]
fn what_is_told_while_no_thread_attaches_comes_later_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = Told::new();
    let refusals = Arc::clone(&ide.refusals);
    let cores = Cores::new(ide);
    refusals.store(3, Ordering::Relaxed);
    let core = cores.start(Arc::default(), open(&dir, Settings::default())).unwrap();
    let queue = cores.shared.lock().as_ref().unwrap().callbacks.queue();
    for count in 1..=3 {
        queue.send(Message::Sessions(core, count)).unwrap();
    }
    for count in 1..=3 {
        assert_eq!(calls.recv_timeout(PATIENCE).unwrap(), format!("sessions {count}"));
    }
    assert_eq!(refusals.load(Ordering::Relaxed), 0);
    cores.stop(core);
}

#[test]
fn a_full_queue_holds_up_nobody_and_loses_nothing() {
    const MANY: u64 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = Told::new();
    let ide_is_busy = Arc::clone(&ide.busy);
    let cores = Cores::new(ide);
    let core = cores.start(Arc::default(), open(&dir, Settings::default())).unwrap();
    let queue = cores.shared.lock().as_ref().unwrap().callbacks.queue();
    let busy: MutexGuard<'_, ()> = ide_is_busy.lock();
    for request in 0..MANY {
        queue.send(Message::Call(core, request, EditorCall::Close("/a".to_owned()))).unwrap();
    }
    assert!(calls.try_recv().is_err());
    drop(busy);
    for request in 0..MANY {
        assert_eq!(calls.recv_timeout(PATIENCE).unwrap(), format!("ask {request}"));
    }
    cores.stop(core);
}

/// What a client is answered to a message, with the head.
fn post(server: &Server, headers: &str, message: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
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
fn what_is_asked_before_a_server_has_its_number_is_answered() {
    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const OPEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":
        {"name":"openDiff","arguments":{"filePath":"/a","newContent":""}}}"#;
    let dir = tempfile::tempdir().unwrap();
    let (ide, calls) = Told::new();
    let cores = Cores::new(ide);
    let open = open(&dir, Settings::default());
    let core = cores.start(Arc::default(), |runtime, listener| {
        let server = open(runtime, listener)?;
        let reply = post(&server, "", INITIALIZE);
        let session = reply.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
        let reply = thread::scope(|scope| {
            let call = scope.spawn(|| post(&server, &format!("{session}\r\n"), OPEN));
            let asked = calls.iter().find_map(|call| call.strip_prefix("ask ")?.parse().ok());
            let Some(Asked::Diff(responder)) = RESPONDERS.take(asked.unwrap()) else { panic!() };
            responder.complete(None);
            call.join().unwrap()
        });
        assert!(reply.ends_with(r#""result":{"content":[]}}"#), "{reply}");
        Ok(server)
    });
    cores.stop(core.unwrap());
}
