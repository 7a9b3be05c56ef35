//! Calls Kotlin from one thread, in the order of the events.
//!
//! The thread attaches itself to the JVM only during calls, because a JVM that ends waits for all
//! attached threads. Kotlin's objects live on the thread's stack and in its queue, so they are
//! freed when the thread ends.

use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use companion_protocol::editor::CompanionNotification;
use companion_server::{EditorHost, EditorRequest, Responder, Responders};
use log::Level;

/// Maximum wait for the thread to end. Kotlin's callbacks return immediately.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval between attempts to attach the thread to the JVM.
const ATTACH_INTERVAL: Duration = Duration::from_millis(100);

/// The requests that Kotlin has not answered yet, by numbers that are unique in this process.
/// Kotlin may answer before it knows the number of its server.
pub(crate) static RESPONDERS: LazyLock<Responders> = LazyLock::new(Responders::default);

/// Kotlin's side of the calls; tests replace it.
pub(crate) trait KotlinSide: Clone + Send + Sync + 'static {
    /// The object to call.
    type Object: Send + 'static;

    /// Runs `call` while the thread is attached to the JVM.
    ///
    /// # Errors
    /// With the reason why the JVM does not attach the thread.
    fn attached(&self, call: &mut dyn FnMut(&mut dyn Calls<Self::Object>)) -> Result<(), String>;
}

/// The calls of an object. An error names the exception.
pub(crate) trait Calls<O> {
    fn request(&mut self, object: &O, number: u64, request: EditorRequest) -> Result<(), String>;
    fn notify(&mut self, object: &O, notification: &CompanionNotification) -> Result<(), String>;
    fn log(&mut self, object: &O, level: Level, text: String) -> Result<(), String>;
}

/// The queue of the thread.
pub(crate) type Queue<O> = Sender<Message<O>>;

/// A message to the thread.
pub(crate) enum Message<O> {
    /// Start to call this object for that server.
    Add(i64, O),
    /// Stop to call the object of that server.
    Remove(i64),
    /// Send a request to the editor, by its number.
    Request(i64, u64, EditorRequest),
    Notify(i64, CompanionNotification),
    Log(Level, String),
    End,
}

/// The thread that calls Kotlin.
pub(crate) struct CallbackThread<O> {
    queue: Queue<O>,
    ended: Receiver<()>,
    thread: JoinHandle<()>,
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
        Ok(Self { queue, ended, thread })
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

    /// Ends the thread, and waits a short time for it.
    pub(crate) fn end(self) {
        let _ = self.queue.send(Message::End);
        if self.ended.recv_timeout(END_TIMEOUT).is_ok() {
            let _ = self.thread.join();
        }
    }
}

/// Handles messages until [`Message::End`].
fn run<I: KotlinSide>(ide: &I, messages: &Receiver<Message<I::Object>>) {
    let mut objects = BTreeMap::new();
    while let Ok(first) = messages.recv() {
        let more = std::iter::from_fn(|| messages.try_recv().ok());
        let mut due = std::iter::once(first).chain(more);
        let mut is_over = false;
        attached(ide, |calls| {
            for message in due.by_ref() {
                if matches!(message, Message::End) {
                    is_over = true;
                    return objects.clear();
                }
                take(calls, &mut objects, message);
            }
        });
        if is_over {
            return;
        }
    }
}

/// Runs `call` while attached. A JVM without memory may refuse; then this tries again.
fn attached<I: KotlinSide>(ide: &I, mut call: impl FnMut(&mut dyn Calls<I::Object>)) {
    let mut is_logged = false;
    while let Err(error) = ide.attached(&mut call) {
        // The IDE's log gets the reason as soon as a call succeeds.
        if !std::mem::replace(&mut is_logged, true) {
            log::warn!("the IDE can't be called, and will be as soon as it can: {error}");
        }
        std::thread::sleep(ATTACH_INTERVAL);
    }
}

fn take<O>(calls: &mut dyn Calls<O>, objects: &mut BTreeMap<i64, O>, message: Message<O>) {
    match message {
        Message::Add(core, callbacks) => drop(objects.insert(core, callbacks)),
        Message::Remove(core) => drop(objects.remove(&core)),
        Message::Request(core, number, request) => {
            let Some(object) = objects.get(&core) else { return };
            if let Err(error) = calls.request(object, number, request) {
                log::error!("the IDE did not take a request: {error}");
                if let Some(responder) = RESPONDERS.take(number) {
                    responder.fail("The IDE could not carry out the request.");
                }
            }
        }
        Message::Notify(core, notification) => {
            let Some(object) = objects.get(&core) else { return };
            if let Err(error) = calls.notify(object, &notification) {
                log::error!("the IDE did not take a notification: {error}");
            }
        }
        Message::Log(level, text) => {
            // Log lines do not belong to a server; every object can log. A failed line is lost.
            let Some(object) = objects.values().next() else { return };
            let _ = calls.log(object, level, text);
        }
        Message::End => {}
    }
}

/// The editor as the server sees it: queues each request for the thread.
pub(crate) struct Listener<O> {
    core: i64,
    queue: Queue<O>,
}

impl<O: Send> Listener<O> {
    pub(crate) fn new(core: i64, queue: Queue<O>) -> Self {
        Self { core, queue }
    }

    fn send(&self, message: Message<O>) {
        // If the thread has ended, the server stops soon, and its requests have a deadline.
        let _ = self.queue.send(message);
    }
}

impl<O: Send + 'static> EditorHost for Listener<O> {
    fn request(&self, request: EditorRequest, responder: Responder) {
        self.send(Message::Request(self.core, RESPONDERS.add(responder), request));
    }

    fn notify(&self, notification: CompanionNotification) {
        self.send(Message::Notify(self.core, notification));
    }
}
