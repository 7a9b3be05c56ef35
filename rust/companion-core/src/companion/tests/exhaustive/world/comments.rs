//! Simulates a comment of the user, and the hooks of two CLIs that fetch it.

use companion_protocol::editor::CommentOnLines;

use super::{Script, Step, World};
use crate::cli::{Caller, Connected};
use crate::companion::{Hook, Input, Now, Output};
use crate::notes::{Confirmation, Delivery, Note, NoteId};
use crate::record::Left;

const ID: &str = "comment";
const PATH: &str = "/commented";

/// When the comments of the last process wait no longer for their editor, in milliseconds.
const AFTER_RESTORING: u64 = 2000;

/// How the editor shows the comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shown {
    Nothing,
    Waiting,
    Delivered,
    Refused,
}

/// A hook that has notes for its model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Fetched {
    delivery: Delivery,
    /// The confirmation was taken, and its answer waits until this number of records is saved.
    held: Option<u64>,
    /// The last process saved the confirmation. The hook does not end before it has an answer.
    is_saved: bool,
}

/// The comment, and the hooks that fetch it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Commenting {
    /// The number of versions that the user has written,
    written: u8,
    /// and the one that the editor shows.
    version: u8,
    shown: Shown,
    /// The versions that models have got.
    got: Vec<u8>,
    /// A hook of each CLI.
    hooks: [Option<Fetched>; 2],
    /// The editor has not reported its comment to this process.
    is_unreported: bool,
    /// Another editor has taken the clients over, and this one is gone.
    has_left: bool,
    writes: u8,
    prompts: u8,
}

fn version_of(text: &str) -> u8 {
    let number = text.strip_prefix("version ").expect("it is the user's comment");
    number.parse().expect("it has the number of its version")
}

impl Commenting {
    pub(super) fn new(script: &Script) -> Self {
        Self {
            written: 0,
            version: 0,
            shown: Shown::Nothing,
            got: Vec::new(),
            hooks: [None, None],
            is_unreported: false,
            has_left: false,
            writes: script.comments,
            prompts: script.prompts,
        }
    }

    /// The possible next steps.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.writes > 0 && !self.has_left {
            steps.push(Step::WriteComment);
            if self.shown == Shown::Waiting {
                steps.push(Step::RemoveComment);
            }
        }
        if self.is_unreported {
            steps.push(Step::ReportComment);
        }
        for (cli, hook) in self.hooks.iter().enumerate() {
            match hook {
                None if self.prompts > 0 => steps.push(Step::Prompt(cli)),
                Some(Fetched { held: None, is_saved, .. }) => {
                    steps.push(Step::Confirm(cli));
                    steps.extend((!is_saved).then_some(Step::LoseHook(cli)));
                }
                _ => {}
            }
        }
        steps
    }

    pub(super) fn is_delivered(&mut self) {
        if self.shown == Shown::Waiting {
            self.shown = Shown::Delivered;
        }
    }

    pub(super) fn is_refused(&mut self) {
        self.shown = Shown::Refused;
    }

    /// The next process begins. A hook whose confirmation was not answered confirms again.
    pub(super) fn restart(&mut self, saved: u64) {
        self.is_unreported = self.written > 0 && !self.has_left;
        for fetched in self.hooks.iter_mut().flatten() {
            fetched.is_saved |= fetched.held.take().is_some_and(|records| records <= saved);
        }
    }

    /// The editor has ended, and an unsaved comment is lost.
    pub(super) fn leave(&mut self, left: &Left) {
        self.has_left = true;
        self.is_unreported = false;
        self.shown = Shown::Nothing;
        for note in left.notes.values() {
            if let Note::Comment(comment) = note {
                self.version = version_of(&comment.text);
                self.shown = Shown::Waiting;
            }
        }
    }

    /// A model gets these notes.
    pub(super) fn print(&mut self, delivery: &Delivery) {
        for comment in delivery.comments() {
            let version = version_of(&comment.text);
            assert!(!self.got.contains(&version), "a model gets each version once");
            self.got.push(version);
        }
    }

    /// Checks a delivery that a hook may print.
    fn check_taken(&self, delivery: &Delivery) {
        for comment in delivery.comments().filter(|_| !self.has_left) {
            assert_eq!(version_of(&comment.text), self.version, "the user has changed it");
            assert_eq!(self.shown, Shown::Waiting, "the user does not expect it to be delivered");
        }
    }
}

impl World {
    /// The user writes the comment, or changes it.
    pub(super) fn write_comment(&mut self) {
        self.commenting.writes -= 1;
        self.commenting.written += 1;
        self.commenting.version = self.commenting.written;
        self.commenting.shown = Shown::Waiting;
        if !self.commenting.is_unreported {
            self.send_comment();
        }
    }

    fn send_comment(&mut self) {
        let comment = CommentOnLines {
            id: ID.into(),
            path: PATH.into(),
            line: 1,
            end_line: 1,
            content: "line".into(),
            text: format!("version {}", self.commenting.version).into(),
        };
        self.handle(Input::Comment(comment, None));
    }

    pub(super) fn remove_comment(&mut self) {
        self.commenting.writes -= 1;
        self.commenting.shown = Shown::Nothing;
        if !self.commenting.is_unreported {
            self.handle(Input::CommentRemoved(ID));
        }
    }

    /// After a restart the editor gets the comments that wait, and sends what its user has changed.
    pub(super) fn report_comment(&mut self) {
        self.commenting.is_unreported = false;
        let waiting = self.companion.notes().comments().next().map(|of| version_of(&of.text));
        match (self.commenting.shown, waiting) {
            (Shown::Waiting, _) => self.send_comment(),
            (Shown::Nothing, Some(_)) => {
                self.handle(Input::CommentRemoved(ID));
            }
            // The last process was killed before it saved that the comment is over.
            (Shown::Delivered | Shown::Refused, Some(version)) => {
                self.commenting.version = version;
                self.commenting.shown = Shown::Waiting;
            }
            (_, None) => {}
        }
    }

    /// Whether a model may get the comment.
    pub(super) fn check_comment_access(&mut self, note: NoteId, is_good: bool) {
        self.handle(Input::NoteChecked(note, PATH, (!is_good).then_some("it is private")));
    }

    /// The user sends a prompt to a CLI, whose hook fetches notes.
    pub(super) fn prompt(&mut self, cli: usize) {
        self.commenting.prompts = self.commenting.prompts.saturating_sub(1);
        self.fetch(cli, Now::default());
    }

    fn fetch(&mut self, cli: usize, now: Now) {
        let (name, session) = [("cli", self.session), ("other", self.other)][cli];
        let connected = Connected::To(vec![session]);
        let caller = Caller { session: name, process: Some(name), connected };
        let hook = Hook::BeforeAgent { ends_cancelled_turns: true };
        for output in self.handle_at(now, Input::Hook(&caller, hook)) {
            let Output::Due(due) = output else { continue };
            for output in self.handle(Input::Deliver(&caller, &due)) {
                let Output::Deliver(delivery) = output else { continue };
                self.commenting.hooks[cli] =
                    Some(Fetched { delivery, held: None, is_saved: false });
            }
        }
    }

    pub(super) fn confirm_hook(&mut self, cli: usize) {
        let Some(fetched) = self.commenting.hooks[cli].take() else { return };
        let before = self.commenting.clone();
        for output in self.handle(Input::Confirm(fetched.delivery.number)) {
            let Output::Confirmed(confirmation) = output else { continue };
            if let Confirmation::Taken(delivery) = &confirmation {
                before.check_taken(delivery);
            }
            if confirmation != Confirmation::Refused {
                let held = Some(self.companion.diffs().records());
                let fetched = Fetched { held, ..fetched.clone() };
                self.commenting.hooks[cli] = Some(fetched);
            }
        }
    }

    /// The hook ends before it confirms.
    pub(super) fn lose_hook(&mut self, cli: usize) {
        if let Some(fetched) = self.commenting.hooks[cli].take() {
            self.handle(Input::GiveBack(fetched.delivery.number));
        }
    }

    /// Hooks print their notes, once that is saved.
    pub(super) fn print_confirmed(&mut self) {
        for cli in 0..self.commenting.hooks.len() {
            let is_confirmed =
                |fetched: &mut Fetched| fetched.held.is_some_and(|records| records <= self.saved);
            if let Some(fetched) = self.commenting.hooks[cli].take_if(is_confirmed) {
                self.print(&fetched.delivery);
            }
        }
    }

    /// The next model gets a comment that waits, and nothing of it stays on the disk.
    pub(super) fn check_comment(&self) -> Result<(), String> {
        let mut world = self.clone();
        world.fetch(0, Now { elapsed: AFTER_RESTORING, date: 0 });
        world.confirm_hook(0);
        world.save_all();
        world.print_confirmed();
        let Commenting { version, shown, got, .. } = &world.commenting;
        if *shown == Shown::Waiting || (*shown == Shown::Delivered && !got.contains(version)) {
            return Err(format!("no model gets the comment: {:?}", world.commenting));
        }
        if world.disk.notes.values().any(|note| note.is_on(PATH)) {
            return Err("a comment stays on the disk".to_owned());
        }
        Ok(())
    }
}
