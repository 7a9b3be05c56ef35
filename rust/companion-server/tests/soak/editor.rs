//! Simulates an editor that is slow, fails and forgets at random, and a user who decides at random.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use companion_protocol::editor::CompanionNotification;
use companion_server::{Delivery, EditorHost, EditorRequest, Proposal, Responder, Server};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::common::notify;
use crate::world::{Decided, World, number};

enum What {
    Open(String),
    Close,
    Accept,
    Reject,
}

pub(crate) struct Asked {
    path: String,
    what: What,
    responder: Responder,
}

/// The server's side of the editor. It passes all requests to the test's thread.
pub(crate) struct Link {
    asked: UnboundedSender<Asked>,
    connected: AtomicUsize,
}

impl Link {
    pub(crate) fn new() -> (Self, UnboundedReceiver<Asked>) {
        let (asked, receiver) = unbounded_channel();
        (Self { asked, connected: AtomicUsize::new(0) }, receiver)
    }

    /// Returns the last number of clients that the server sent.
    pub(crate) fn connected(&self) -> usize {
        self.connected.load(Ordering::Relaxed)
    }
}

impl EditorHost for Link {
    fn request(&self, request: EditorRequest, responder: Responder) {
        let (path, what) = match request {
            EditorRequest::OpenDiff(Proposal { file_path, new_content, .. }) => {
                (file_path, What::Open(new_content))
            }
            EditorRequest::CloseDiff(close) => (close.file_path, What::Close),
            EditorRequest::AcceptDiff(path) => (path.file_path, What::Accept),
            EditorRequest::RejectDiff(path) => (path.file_path, What::Reject),
            EditorRequest::Diagnostics(_) | EditorRequest::UnsavedFiles => return,
        };
        let _ = self.asked.send(Asked { path, what, responder });
    }

    fn notify(&self, notification: CompanionNotification) {
        if let CompanionNotification::Sessions(sessions) = notification {
            self.connected.store(sessions.count, Ordering::Relaxed);
        }
    }
}

pub(crate) struct Editor {
    server: Server,
    world: World,
    rng: RefCell<fastrand::Rng>,
    /// The shown proposals, by path.
    views: RefCell<HashMap<String, String>>,
    /// Requests about one path are carried out in order.
    queues: RefCell<HashMap<String, Rc<Mutex<()>>>>,
    pending: Cell<usize>,
}

impl Editor {
    /// Starts an editor that answers requests.
    pub(crate) fn start(
        server: Server,
        world: World,
        rng: fastrand::Rng,
        mut asked: UnboundedReceiver<Asked>,
    ) -> Rc<Self> {
        let editor = Rc::new(Self {
            server,
            world,
            rng: RefCell::new(rng),
            views: RefCell::default(),
            queues: RefCell::default(),
            pending: Cell::new(0),
        });
        let answering = Rc::clone(&editor);
        spawn_local(async move {
            while let Some(asked) = asked.recv().await {
                answering.pending.update(|pending| pending + 1);
                spawn_local(Rc::clone(&answering).answer(asked));
            }
        });
        editor
    }

    /// Returns whether no proposal is shown and no request is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.get() == 0 && self.views.borrow().is_empty()
    }

    fn chance(&self, percent: u32) -> bool {
        self.rng.borrow_mut().u32(0..100) < percent
    }

    async fn pause(&self, longest: u64) {
        let time = self.rng.borrow_mut().u64(0..=longest);
        sleep(Duration::from_millis(time)).await;
    }

    async fn answer(self: Rc<Self>, Asked { path, what, responder }: Asked) {
        let queue = Rc::clone(self.queues.borrow_mut().entry(path.clone()).or_default());
        let turn = queue.lock().await;
        // Now and then the editor is slower than the server waits.
        let longest = match self.rng.borrow_mut().u32(0..100) {
            0..60 => 0,
            60..97 => 40,
            _ => 600,
        };
        self.pause(longest).await;
        let lucky = self.rng.borrow_mut().u32(0..100);
        if lucky < 6 {
            // The editor fails to open, closes without returning the text, or leaves the proposal
            // as it is.
            if matches!(what, What::Open(_) | What::Close) {
                self.views.borrow_mut().remove(&path);
            }
            if lucky > 0 {
                responder.fail("The editor of the test can't.");
            } else {
                // The editor never answers.
                std::mem::forget(responder);
            }
        } else {
            match what {
                What::Open(text) => self.show(&path, text, responder),
                What::Close => match self.views.borrow_mut().remove(&path) {
                    Some(text) => responder.complete(Some(text)),
                    None => responder.fail("There is no such view."),
                },
                What::Accept | What::Reject => {
                    if self.decide(&path, matches!(what, What::Accept)) {
                        responder.complete(None);
                    } else {
                        responder.fail("There is no such view.");
                    }
                }
            }
        }
        drop(turn);
        self.pending.update(|pending| pending - 1);
    }

    fn show(self: &Rc<Self>, path: &str, text: String, responder: Responder) {
        let shown = number(&text);
        self.views.borrow_mut().insert(path.to_owned(), text);
        responder.complete(None);
        if self.chance(75) {
            let (editor, path) = (Rc::clone(self), path.to_owned());
            spawn_local(async move {
                editor.pause(300).await;
                let still = editor.views.borrow().get(&path).is_some_and(|t| number(t) == shown);
                if still {
                    let accept = editor.chance(50);
                    editor.decide(&path, accept);
                }
            });
        }
    }

    /// Decides for the user. Returns false if no proposal is shown.
    fn decide(&self, path: &str, accept: bool) -> bool {
        let Some(mut text) = self.views.borrow_mut().remove(path) else { return false };
        let number = number(&text);
        if self.chance(30) {
            text.push_str("edited \u{1f600}");
        }
        let (delivery, decided) = if accept {
            let params = json!({ "filePath": path, "content": text });
            (notify(&self.server, "diff/accepted", &params), Decided::Accepted(text))
        } else {
            let params = json!({ "filePath": path });
            (notify(&self.server, "diff/rejected", &params), Decided::Rejected)
        };
        if delivery != Some(Delivery::Unknown) {
            self.world.decided(number, decided);
        }
        true
    }

    /// Decides about all shown proposals for the user.
    pub(crate) fn decide_all(&self) {
        let paths: Vec<_> = self.views.borrow().keys().cloned().collect();
        for path in paths {
            let accept = self.chance(50);
            self.decide(&path, accept);
        }
    }
}
