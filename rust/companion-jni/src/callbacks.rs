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

use companion_protocol::editor::OpenDiff;
use companion_server::{EditorHost, Proposal, Remaining, Responder, Responders};
use jni::objects::{JObject, JString, JThrowable, JValue};
use jni::refs::Global;
use jni::vm::AttachConfig;
use jni::{Env, JavaVM, jni_sig, jni_str};
use log::Level;

use crate::logging;

/// How long the thread may take to end. Kotlin's callbacks return at once.
const END: Duration = Duration::from_secs(1);

/// After how long the JVM is asked again to attach the thread.
const AGAIN: Duration = Duration::from_millis(100);

/// How much of a stack is told in the log.
const FRAMES: usize = 16;

/// What Kotlin was asked and has not answered, by numbers that are no other's in this process: it may
/// answer before it has been told the number of its server.
pub(crate) static RESPONDERS: LazyLock<Responders> = LazyLock::new(Responders::default);

/// The object of Kotlin's that is called: a `NativeCallbacks`.
pub(crate) type Callbacks = Global<JObject<'static>>;

/// The way to the thread.
pub(crate) type Queue = Sender<Message>;

/// What the thread is to do.
pub(crate) enum Message {
    /// Call this object for that server from now on.
    Add(i64, Callbacks),
    /// And no longer.
    Remove(i64),
    /// A request to the editor, by its number.
    Ask(i64, u64, Ask),
    Sessions(i64, usize),
    Log(Level, String),
    /// End, but not before these threads.
    End(Option<Remaining>),
}

/// A request to the editor.
pub(crate) enum Ask {
    Open(Proposal),
    Close(String),
    Accept(String),
    Reject(String),
}

/// The thread.
pub(crate) struct CallbackThread {
    queue: Queue,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl CallbackThread {
    pub(crate) fn start() -> io::Result<Self> {
        let (queue, messages) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("gemini-companion-callbacks".to_owned())
            .spawn(move || {
                run(&messages);
                drop(messages);
                let _ = end.send(());
            })?;
        logging::forward_to(queue.clone());
        Ok(Self { queue, ended, thread: Some(thread) })
    }

    pub(crate) fn queue(&self) -> Queue {
        self.queue.clone()
    }

    pub(crate) fn add(&self, core: i64, callbacks: Callbacks) {
        let _ = self.queue.send(Message::Add(core, callbacks));
    }

    pub(crate) fn remove(&self, core: i64) {
        let _ = self.queue.send(Message::Remove(core));
    }

    /// Ends the thread, and waits for a moment. As long as any of `remaining` runs it keeps the
    /// objects, and with them the class loader, without which the JVM would unload this library.
    pub(crate) fn end(mut self, remaining: Option<Remaining>) {
        logging::forward_to_nobody();
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
fn run(messages: &Receiver<Message>) {
    let mut objects = BTreeMap::new();
    while let Ok(first) = messages.recv() {
        let more = std::iter::from_fn(|| messages.try_recv().ok());
        let mut due = std::iter::once(first).chain(more);
        let mut end = None;
        attached(|env| {
            for message in due.by_ref() {
                match message {
                    Message::End(remaining) => {
                        end = Some(remaining);
                        return;
                    }
                    message => take(env, &mut objects, message),
                }
            }
        });
        if let Some(remaining) = end {
            // Not attached: a JVM that ends does not wait for a disk.
            if let Some(remaining) = remaining {
                remaining.wait();
            }
            return attached(|_| objects.clear());
        }
    }
}

/// Calls while attached to the JVM. One that has no memory left may refuse; then it is asked again.
fn attached(mut call: impl FnMut(&mut Env<'_>)) {
    let mut told = false;
    loop {
        let attached = JavaVM::singleton().and_then(|vm| {
            let config = || {
                AttachConfig::new().scoped(true).thread_name(jni_str!("gemini-companion-callbacks"))
            };
            vm.attach_current_thread_with_config(config, None, |env| {
                call(env);
                Ok::<_, jni::errors::Error>(())
            })
        });
        let Err(error) = attached else { return };
        // The IDE's log hears of it once it can be called.
        if !std::mem::replace(&mut told, true) {
            log::warn!("the IDE can't be called, and will be as soon as it can: {error}");
        }
        std::thread::sleep(AGAIN);
    }
}

fn take(env: &mut Env<'_>, objects: &mut BTreeMap<i64, Callbacks>, message: Message) {
    match message {
        Message::Add(core, callbacks) => drop(objects.insert(core, callbacks)),
        Message::Remove(core) => drop(objects.remove(&core)),
        Message::Ask(core, request, ask) => {
            let Some(object) = objects.get(&core) else { return };
            if let Err(error) = in_frame(env, |env| call_ask(env, object, request, ask)) {
                log::error!("the editor could not be asked: {error}");
                if let Some(responder) = RESPONDERS.take(request) {
                    responder.fail("The IDE could not carry out the request.");
                }
            }
        }
        Message::Sessions(core, count) => {
            let Some(object) = objects.get(&core) else { return };
            let count = i32::try_from(count).unwrap_or(i32::MAX);
            let called = in_frame(env, |env| {
                let (name, sig) = (jni_str!("sessionsChanged"), jni_sig!((jint)));
                env.call_method(object, name, sig, &[count.into()]).map(drop)
            });
            if let Err(error) = called {
                log::error!("the editor could not be told: {error}");
            }
        }
        Message::Log(level, text) => {
            // Lines belong to no server; any object knows the IDE's log. One that fails is lost.
            let Some(object) = objects.values().next() else { return };
            let _ = in_frame(env, |env| {
                let text = JString::from_str(env, text)?;
                let (name, sig) = (jni_str!("log"), jni_sig!((jint, JString)));
                let arguments = [(level as i32).into(), JValue::Object(&text)];
                env.call_method(object, name, sig, &arguments).map(drop)
            });
        }
        Message::End(_) => {}
    }
}

fn call_ask(
    env: &mut Env<'_>,
    object: &Callbacks,
    request: u64,
    ask: Ask,
) -> jni::errors::Result<()> {
    let request = JValue::Long(request.cast_signed());
    let (name, path) = match ask {
        Ask::Open(proposal) => {
            let content = env.byte_array_from_slice(proposal.new_content.as_bytes())?;
            let rest = OpenDiff { new_content: "", ..proposal.to_show() };
            let rest = serde_json::to_string(&rest).expect("a proposal is JSON");
            let rest = JString::from_str(env, rest)?;
            drop(proposal);
            let (name, sig) = (jni_str!("openDiff"), jni_sig!((jlong, JString, jbyte[])));
            let arguments = [request, JValue::Object(&rest), JValue::Object(&content)];
            return env.call_method(object, name, sig, &arguments).map(drop);
        }
        Ask::Close(path) => (jni_str!("closeDiff"), path),
        Ask::Accept(path) => (jni_str!("acceptDiff"), path),
        Ask::Reject(path) => (jni_str!("rejectDiff"), path),
    };
    let path = JString::from_str(env, path)?;
    let arguments = [request, JValue::Object(&path)];
    env.call_method(object, name, jni_sig!((jlong, JString)), &arguments).map(drop)
}

/// Frees what a call made, and turns an exception of Kotlin's into an error that names it.
fn in_frame(
    env: &mut Env<'_>,
    call: impl FnOnce(&mut Env<'_>) -> jni::errors::Result<()>,
) -> Result<(), String> {
    let called = env.with_local_frame(16, call);
    let described = env.with_local_frame(16, |env| {
        let Some(thrown) = env.exception_occurred() else { return called.map(|()| None) };
        env.exception_clear();
        describe(env, &thrown).map(Some)
    });
    match described {
        Ok(None) => Ok(()),
        Ok(Some(thrown)) => Err(thrown),
        Err(error) => {
            env.exception_clear();
            Err(error.to_string())
        }
    }
}

/// What was thrown and where. Not its message, which may have something of a file in it.
fn describe(env: &mut Env<'_>, thrown: &JThrowable<'_>) -> jni::errors::Result<String> {
    let mut text = env.get_object_class(thrown)?.get_name(env)?.try_to_string(env)?;
    let stack = thrown.get_stack_trace(env)?;
    for index in 0..stack.len(env)?.min(FRAMES) {
        // One reference at a time: references are few.
        let frame = env.with_local_frame(4, |env| {
            stack.get_element(env, index)?.try_to_string(env)?.try_to_string(env)
        })?;
        text.push_str("\n    at ");
        text.push_str(&frame);
    }
    Ok(text)
}

/// The editor, for the server: puts what it is asked into the queue.
pub(crate) struct Listener {
    core: i64,
    queue: Queue,
}

impl Listener {
    pub(crate) fn new(core: i64, queue: Queue) -> Self {
        Self { core, queue }
    }

    fn send(&self, message: Message) {
        // Without the thread the server is about to stop, and its requests have a deadline.
        let _ = self.queue.send(message);
    }

    fn ask(&self, responder: Responder, ask: Ask) {
        self.send(Message::Ask(self.core, RESPONDERS.add(responder), ask));
    }
}

impl EditorHost for Listener {
    fn open_diff(&self, proposal: Proposal, responder: Responder) {
        self.ask(responder, Ask::Open(proposal));
    }

    fn close_diff(&self, file_path: &str, responder: Responder) {
        self.ask(responder, Ask::Close(file_path.to_owned()));
    }

    fn accept_diff(&self, file_path: &str, responder: Responder) {
        self.ask(responder, Ask::Accept(file_path.to_owned()));
    }

    fn reject_diff(&self, file_path: &str, responder: Responder) {
        self.ask(responder, Ask::Reject(file_path.to_owned()));
    }

    fn sessions_changed(&self, count: usize) {
        self.send(Message::Sessions(self.core, count));
    }
}
