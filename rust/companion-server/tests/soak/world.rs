//! Records the events that the editor and the clients saw, and checks their consequences.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A diff that a client proposed.
#[derive(Debug)]
pub(crate) struct Diff {
    /// The session of that client.
    asker: Rc<str>,
    path: String,
    /// The time of the proposal, as a counter.
    asked: u64,
    /// The decision that the server received from the editor.
    decided: Option<Decided>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    /// With this final text.
    Accepted(String),
    Rejected,
}

/// The numbers of the report.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) failed: u64,
    pub(crate) accepted: u64,
    pub(crate) rejected: u64,
    pub(crate) closed: u64,
    /// Notifications without a waiter that a client must expect.
    pub(crate) late: u64,
    pub(crate) streams: u64,
    pub(crate) breaks: u64,
    pub(crate) sessions: u64,
    pub(crate) contexts: u64,
    pub(crate) editor_events: u64,
    pub(crate) checks: u64,
}

/// An event that rejects a diff, if one is open.
#[derive(Debug)]
struct Cause {
    path: String,
    /// The session whose diffs it does not reject.
    spares: Option<Rc<str>>,
    /// The time when it was over. `None` while it may still take effect.
    over: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    clock: u64,
    last_diff: u64,
    diffs: HashMap<u64, Diff>,
    causes: Vec<Cause>,
    counts: Counts,
}

/// Shared by all tasks of the test, which run on one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct World(Rc<RefCell<State>>);

impl World {
    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.borrow_mut().counts);
    }

    pub(crate) fn counts(&self) -> String {
        format!("{:?}", self.0.borrow().counts)
    }

    /// Notes that a client is about to open a diff. Returns its number, and the effect on others'
    /// diffs.
    pub(crate) fn asks(&self, asker: &Rc<str>, path: &str) -> (u64, Rejecting) {
        let rejecting = self.rejects(path, Some(asker));
        let mut state = self.0.borrow_mut();
        state.last_diff += 1;
        let number = state.last_diff;
        let (asker, path) = (Rc::clone(asker), path.to_owned());
        let diff = Diff { asker, path, asked: state.clock, decided: None };
        state.diffs.insert(number, diff);
        (number, rejecting)
    }

    /// Notes an event that begins now and rejects a diff for `path`, unless `spares` proposed the
    /// diff.
    pub(crate) fn rejects(&self, path: &str, spares: Option<&Rc<str>>) -> Rejecting {
        let mut state = self.0.borrow_mut();
        state.clock += 1;
        let spares = spares.cloned();
        state.causes.push(Cause { path: path.to_owned(), spares, over: None });
        Rejecting { world: self.clone(), cause: state.causes.len() - 1, for_ever: false }
    }

    /// Notes that the server has received the user's decision about a diff.
    pub(crate) fn decided(&self, number: u64, decided: Decided) {
        let path = self.0.borrow().diffs[&number].path.clone();
        if decided == Decided::Rejected {
            drop(self.rejects(&path, None));
        }
        let mut state = self.0.borrow_mut();
        let diff = state.diffs.get_mut(&number).expect("seen above");
        assert!(diff.decided.is_none(), "decided twice: {diff:?}");
        diff.decided = Some(decided);
    }

    /// Notes that a client received the acceptance of this text. Returns the diff's number, or
    /// nothing if it is older than the last check.
    pub(crate) fn told_accepted(&self, session: &str, path: &str, text: &str) -> Option<u64> {
        let number = number(text);
        let mut state = self.0.borrow_mut();
        let diff = state.diffs.get(&number)?;
        assert_eq!(diff.path, path, "{diff:?}");
        assert_eq!(*diff.asker, *session, "told to another: {diff:?}");
        let accepted = Decided::Accepted(text.to_owned());
        assert_eq!(diff.decided.as_ref(), Some(&accepted), "{diff:?}");
        state.counts.accepted += 1;
        Some(number)
    }

    /// Returns whether an event may have rejected this proposal of a client.
    pub(crate) fn was_rejected(&self, session: &str, path: &str, number: u64) -> bool {
        let state = self.0.borrow();
        let diff = &state.diffs[&number];
        assert_eq!(*diff.asker, *session, "told to another: {diff:?}");
        let caused = state.causes.iter().any(|cause| {
            cause.path == path
                && cause.spares.as_deref() != Some(session)
                && cause.over.is_none_or(|over| over > diff.asked)
        });
        caused && !matches!(diff.decided, Some(Decided::Accepted(_)))
    }

    /// Forgets ended diffs. No diff may be open.
    pub(crate) fn forget(&self) {
        let mut state = self.0.borrow_mut();
        state.diffs.clear();
        state.causes.clear();
    }
}

/// Lasts as long as the event that may reject a diff.
pub(crate) struct Rejecting {
    world: World,
    cause: usize,
    for_ever: bool,
}

impl Rejecting {
    /// Keeps the event for ever: nobody knows whether or when it takes effect.
    pub(crate) fn for_ever(mut self) {
        self.for_ever = true;
    }
}

impl Drop for Rejecting {
    fn drop(&mut self) {
        let state = &mut *self.world.0.borrow_mut();
        state.clock += 1;
        if !self.for_ever {
            state.causes[self.cause].over = Some(state.clock);
        }
    }
}

/// Returns the text of a new proposal.
pub(crate) fn proposal(number: u64, length: usize) -> String {
    format!("{number}\n{}", "ä line\n".repeat(length / 7))
}

/// Returns the number of the diff whose proposal became `text`.
pub(crate) fn number(text: &str) -> u64 {
    text.split('\n').next().and_then(|line| line.parse().ok()).expect("a proposal of this test")
}

/// The waiters of one client. Like the real client, it has one per path.
#[derive(Default)]
pub(crate) struct Waiters {
    by_path: HashMap<String, u64>,
    /// Paths for which a late decision without a waiter may arrive.
    late: HashSet<String>,
}

impl Waiters {
    /// Notes a proposal of the client, which replaces the waiter for the path.
    pub(crate) fn insert(&mut self, path: &str, number: u64) {
        if self.by_path.insert(path.to_owned(), number).is_some() {
            self.late.insert(path.to_owned());
        }
    }

    pub(crate) fn get(&self, path: &str) -> Option<u64> {
        self.by_path.get(path).copied()
    }

    /// Removes the waiter of a diff that ended without a notification.
    pub(crate) fn remove(&mut self, path: &str, number: u64) {
        if self.get(path) == Some(number) {
            self.by_path.remove(path);
        }
    }

    /// Notes that a decision for the path may arrive without a waiter.
    pub(crate) fn expect_late(&mut self, path: &str) {
        self.late.insert(path.to_owned());
    }

    /// Does the same for every path that the client has ever asked about.
    pub(crate) fn expect_late_all(&mut self, paths: impl IntoIterator<Item = String>) {
        self.late.extend(paths);
    }

    pub(crate) fn may_be_late(&self, path: &str) -> bool {
        self.late.contains(path)
    }

    pub(crate) fn open(&self) -> Vec<(String, u64)> {
        self.by_path.iter().map(|(path, number)| (path.clone(), *number)).collect()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
