//! Calls Kotlin from one thread for each server, in the order of the events.
//!
//! The thread attaches itself to the JVM only during calls, because a JVM that ends waits for all
//! attached threads. Kotlin's object lives on the thread's stack, so it is freed when the thread
//! ends.

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
pub(crate) type Queue = Sender<Message>;

/// A message to the thread.
pub(crate) enum Message {
    /// Send a request to the editor, by its number.
    Request(u64, EditorRequest),
    Notify(CompanionNotification),
    Log(Level, String),
    End,
}

/// The thread that calls Kotlin's object of one server.
pub(crate) struct CallbackThread {
    queue: Queue,
    ended: Receiver<()>,
    thread: JoinHandle<()>,
}

impl CallbackThread {
    pub(crate) fn start<I: KotlinSide>(ide: I, object: I::Object) -> io::Result<Self> {
        let (queue, messages) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("gemini-companion-callbacks".to_owned())
            .spawn(move || {
                run(&ide, object, &messages);
                let _ = end.send(());
            })?;
        Ok(Self { queue, ended, thread })
    }

    pub(crate) fn queue(&self) -> Queue {
        self.queue.clone()
    }

    /// Ends the thread, and waits a short time for it.
    pub(crate) fn end(self) {
        let _ = self.queue.send(Message::End);
        if self.ended.recv_timeout(END_TIMEOUT).is_ok() {
            let _ = self.thread.join();
        }
    }
}

/// Handles messages until [`Message::End`], and frees `object` while the thread is attached.
fn run<I: KotlinSide>(ide: &I, object: I::Object, messages: &Receiver<Message>) {
    let mut object = Some(object);
    while object.is_some()
        && let Ok(first) = messages.recv()
    {
        let more = std::iter::from_fn(|| messages.try_recv().ok());
        let mut due = std::iter::once(first).chain(more);
        attached(ide, |calls| {
            for message in due.by_ref() {
                take(calls, &mut object, message);
            }
        });
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

/// Handles a message. Those after [`Message::End`] are lost.
fn take<O>(calls: &mut dyn Calls<O>, object: &mut Option<O>, message: Message) {
    let Some(kept) = object else { return };
    match message {
        Message::Request(number, request) => {
            if let Err(error) = calls.request(kept, number, request) {
                log::error!("the IDE did not take a request: {error}");
                if let Some(responder) = RESPONDERS.take(number) {
                    responder.fail("The IDE could not carry out the request.");
                }
            }
        }
        Message::Notify(notification) => {
            if let Err(error) = calls.notify(kept, &notification) {
                log::error!("the IDE did not take a notification: {error}");
            }
        }
        Message::Log(level, text) => {
            // A failed line is lost.
            let _ = calls.log(kept, level, text);
        }
        Message::End => *object = None,
    }
}

/// The editor as the server sees it: queues each request for the thread.
pub(crate) struct Listener {
    queue: Queue,
}

impl Listener {
    pub(crate) fn new(queue: Queue) -> Self {
        Self { queue }
    }

    fn send(&self, message: Message) {
        // If the thread has ended, the server stops soon, and its requests have a deadline.
        let _ = self.queue.send(message);
    }
}

impl EditorHost for Listener {
    fn request(&self, request: EditorRequest, responder: Responder) {
        self.send(Message::Request(RESPONDERS.add(responder), request));
    }

    fn notify(&self, notification: CompanionNotification) {
        self.send(Message::Notify(notification));
    }
}
