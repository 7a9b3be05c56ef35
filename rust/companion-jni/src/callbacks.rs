//! The one thread that calls Kotlin, in the order in which things happened.
//!
//! It calls through the objects that it was given, and attaches itself to the JVM only while it
//! has something to say: a JVM that comes to its end waits for the threads that are attached.
//! The objects live on its stack and in its queue, so they go when it ends.

use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use companion_protocol::diagnostics::DiagnosticsRequest;
use companion_server::{
    Asked, DiagnosticsResponder, EditorHost, Proposal, Remaining, Responder, Responders,
};
use log::Level;

/// How long the thread may take to end. Kotlin's callbacks return at once.
const END: Duration = Duration::from_secs(1);

/// After how long the JVM is asked again to attach the thread.
const AGAIN: Duration = Duration::from_millis(100);

/// What Kotlin was asked and has not answered, by numbers that are no other's in this process: it may
/// answer before it has been told the number of its server.
pub(crate) static RESPONDERS: LazyLock<Responders> = LazyLock::new(Responders::default);

/// Kotlin's side, which tests have another of.
pub(crate) trait KotlinSide: Clone + Send + Sync + 'static {
    /// What is called.
    type Object: Send + 'static;

    /// Calls while the thread is attached to the JVM, or says why that attaches none.
    fn attached(&self, call: &mut dyn FnMut(&mut dyn Calls<Self::Object>)) -> Result<(), String>;
}

/// The ways to call an object. An error names what it has thrown.
pub(crate) trait Calls<O> {
    fn ask(&mut self, object: &O, request: u64, ask: EditorCall) -> Result<(), String>;
    fn sessions(&mut self, object: &O, count: usize) -> Result<(), String>;
    fn log(&mut self, object: &O, level: Level, text: String) -> Result<(), String>;
}

/// The way to the thread.
pub(crate) type Queue<O> = Sender<Message<O>>;

/// What the thread is to do.
pub(crate) enum Message<O> {
    /// Call this object for that server from now on.
    Add(i64, O),
    /// And no longer.
    Remove(i64),
    /// A request to the editor, by its number.
    Call(i64, u64, EditorCall),
    Sessions(i64, usize),
    Log(Level, String),
    /// End, but not before these threads.
    End(Option<Remaining>),
}

/// A request to the editor.
pub(crate) enum EditorCall {
    Open(Proposal),
    Close(String),
    Accept(String),
    Reject(String),
    Diagnostics(DiagnosticsRequest),
}

/// The thread.
pub(crate) struct CallbackThread<O> {
    queue: Queue<O>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl<O: Send + 'static> CallbackThread<O> {
    pub(crate) fn start(ide: impl KotlinSide<Object = O>) -> io::Result<Self> {
        let (queue, messages) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("gemini-companion-callbacks".to_owned())
            .spawn(move || {
                run(&ide, &messages);
                drop(messages);
                let _ = end.send(());
            })?;
        Ok(Self { queue, ended, thread: Some(thread) })
    }

    pub(crate) fn queue(&self) -> Queue<O> {
        self.queue.clone()
    }

    pub(crate) fn add(&self, core: i64, callbacks: O) {
        let _ = self.queue.send(Message::Add(core, callbacks));
    }

    pub(crate) fn remove(&self, core: i64) {
        let _ = self.queue.send(Message::Remove(core));
    }

    /// Ends the thread, and waits for a moment. As long as any of `remaining` runs it keeps the
    /// objects, and with them the class loader, without which the JVM would unload this library.
    pub(crate) fn end(mut self, remaining: Option<Remaining>) {
        let waits = remaining.is_none();
        let _ = self.queue.send(Message::End(remaining));
        if waits
            && self.ended.recv_timeout(END).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// Takes messages until the end.
fn run<I: KotlinSide>(ide: &I, messages: &Receiver<Message<I::Object>>) {
    let mut objects = BTreeMap::new();
    while let Ok(first) = messages.recv() {
        let more = std::iter::from_fn(|| messages.try_recv().ok());
        let mut due = std::iter::once(first).chain(more);
        let mut end = None;
        attached(ide, |calls| {
            for message in due.by_ref() {
                match message {
                    Message::End(remaining) => {
                        end = Some(remaining);
                        return;
                    }
                    message => take(calls, &mut objects, message),
                }
            }
        });
        if let Some(remaining) = end {
            // Not attached: a JVM that ends does not wait for a disk.
            if let Some(remaining) = remaining {
                remaining.wait();
            }
            return attached(ide, |_| objects.clear());
        }
    }
}

/// Calls while attached. A JVM that has no memory left may refuse; then it is asked again.
fn attached<I: KotlinSide>(ide: &I, mut call: impl FnMut(&mut dyn Calls<I::Object>)) {
    let mut told = false;
    while let Err(error) = ide.attached(&mut call) {
        // The IDE's log hears of it once it can be called.
        if !std::mem::replace(&mut told, true) {
            log::warn!("the IDE can't be called, and will be as soon as it can: {error}");
        }
        std::thread::sleep(AGAIN);
    }
}

fn take<O>(calls: &mut dyn Calls<O>, objects: &mut BTreeMap<i64, O>, message: Message<O>) {
    match message {
        Message::Add(core, callbacks) => drop(objects.insert(core, callbacks)),
        Message::Remove(core) => drop(objects.remove(&core)),
        Message::Call(core, request, ask) => {
            let Some(object) = objects.get(&core) else { return };
            if let Err(error) = calls.ask(object, request, ask) {
                log::error!("the editor could not be asked: {error}");
                if let Some(asked) = RESPONDERS.take(request) {
                    asked.fail("The IDE could not carry out the request.");
                }
            }
        }
        Message::Sessions(core, count) => {
            let Some(object) = objects.get(&core) else { return };
            if let Err(error) = calls.sessions(object, count) {
                log::error!("the editor could not be told: {error}");
            }
        }
        Message::Log(level, text) => {
            // Lines belong to no server; any object knows the IDE's log. One that fails is lost.
            let Some(object) = objects.values().next() else { return };
            let _ = calls.log(object, level, text);
        }
        Message::End(_) => {}
    }
}

/// The editor, for the server: puts what it is asked into the queue.
pub(crate) struct Listener<O> {
    core: i64,
    queue: Queue<O>,
}

impl<O: Send> Listener<O> {
    pub(crate) fn new(core: i64, queue: Queue<O>) -> Self {
        Self { core, queue }
    }

    fn send(&self, message: Message<O>) {
        // Without the thread the server is about to stop, and its requests have a deadline.
        let _ = self.queue.send(message);
    }

    fn ask(&self, responder: impl Into<Asked>, ask: EditorCall) {
        self.send(Message::Call(self.core, RESPONDERS.add(responder), ask));
    }
}

impl<O: Send + 'static> EditorHost for Listener<O> {
    fn open_diff(&self, proposal: Proposal, responder: Responder) {
        self.ask(responder, EditorCall::Open(proposal));
    }

    /// What was changed stays within reach in any case.
    fn close_diff(&self, file_path: &str, _abandoned: bool, responder: Responder) {
        self.ask(responder, EditorCall::Close(file_path.to_owned()));
    }

    fn accept_diff(&self, file_path: &str, responder: Responder) {
        self.ask(responder, EditorCall::Accept(file_path.to_owned()));
    }

    fn reject_diff(&self, file_path: &str, responder: Responder) {
        self.ask(responder, EditorCall::Reject(file_path.to_owned()));
    }

    fn diagnostics(&self, request: DiagnosticsRequest, responder: DiagnosticsResponder) {
        self.ask(responder, EditorCall::Diagnostics(request));
    }

    fn sessions_changed(&self, count: usize) {
        self.send(Message::Sessions(self.core, count));
    }
}
