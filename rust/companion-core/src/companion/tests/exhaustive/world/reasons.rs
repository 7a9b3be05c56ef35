//! Simulates rejections with a reason, the disk queries for them, and the hooks of the CLI.

use super::{DiskQuery, Fate, Question, Request, Script, World, present};
use crate::cli::{Caller, Connected, FileBefore};
use crate::companion::tests::exhaustive::client::Outcome;
use crate::companion::{DiskCheck, Hook, Input, Output, Outputs};
use crate::diffs::Decision;
use crate::notes::{Confirmation, Delivery, Note};
use crate::text::{Digest, Text};

/// Where the user's reason of a rejection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reason {
    /// There is none.
    None,
    /// The model has not got it.
    Waits,
    /// The model has got it.
    Delivered,
    /// The editor was notified that no model gets it, or the process has ended before that was known.
    Lost,
}

/// The user's reason of a rejection.
fn reason(question: Question) -> Text {
    format!("reason {question}").into()
}

pub(super) fn question_of(reason: &str) -> Question {
    let number = reason.strip_prefix("reason ").expect("it is the user's reason");
    number.parse().expect("it has the number of its question")
}

impl World {
    /// The CLI begins an edit, and asks about it.
    pub(super) fn ask(&mut self, script: &Script) {
        let request = self.client.ask(script);
        if let Request::Open(first) = request {
            let begun = match first {
                0 if script.begins_at_once => 0..script.paths.len(),
                _ if script.begins_at_once => 0..0,
                _ => first..first + 1,
            };
            for question in begun {
                self.begin_edit(script, question);
            }
        }
        self.requests.push(request);
    }

    /// The hook before an edit runs.
    fn begin_edit(&mut self, script: &Script, question: Question) {
        let hook = if script.corrects {
            Hook::BeforeEdit(script.wrong_path(question), FileBefore::Absent)
        } else {
            let file = FileBefore::Text(Digest::of(&present()));
            Hook::BeforeEdit(script.paths[question], file)
        };
        self.run_hook(script, hook);
    }

    /// A hook runs. It waits for the disk before it answers with notes.
    pub(super) fn run_hook(&mut self, script: &Script, hook: Hook<'_>) -> Outputs {
        if !script.has_hooks {
            return Outputs::new();
        }
        let connected = Connected::To(vec![self.session]);
        let caller = Caller { session: "cli", process: Some("process"), connected };
        let out = self.handle(Input::Hook(&caller, hook));
        for output in &out {
            let Output::Due(due) = output else { continue };
            for output in self.handle(Input::Deliver(&caller, due)) {
                let Output::Deliver(delivery) = output else { continue };
                let out = self.handle(Input::Confirm(delivery.number));
                assert!(out.contains(&Output::Confirmed(Confirmation::Taken(delivery.clone()))));
                self.save_all();
                self.print(&delivery);
            }
        }
        out
    }

    /// Checks the answer to the hook after an edit. The next process knows a rejected edit by its reason alone.
    pub(super) fn check_denial(&self, script: &Script, question: Question, out: &[Output]) {
        let is_denied = out.contains(&Output::EditRejected);
        let is_unchanged =
            self.client.outcomes[question] == Some(Outcome::Accepted(Some(present())));
        let is_known = script.has_hooks && self.restarts == 0;
        assert!(is_denied || !is_unchanged || !is_known, "the model takes the edit for made");
    }

    /// A model gets these notes.
    pub(super) fn print(&mut self, delivery: &Delivery) {
        for reason in delivery.reasons() {
            let reason = &mut self.reasons[question_of(&reason.text)];
            assert_eq!(*reason, Reason::Waits, "a model gets each reason once");
            *reason = Reason::Delivered;
        }
        self.commenting.print(delivery);
    }

    /// The disk answers.
    pub(super) fn answer_query(&mut self, is_good: bool) {
        match self.disk_queries.pop_front() {
            Some(DiskQuery::Access(diff)) => {
                self.handle(Input::AccessChecked(diff, (!is_good).then_some("it is private")));
            }
            Some(DiskQuery::Read(diff, is_kept)) => {
                let present = (is_good && is_kept).then(present);
                let is_rejected = |of: &Output| {
                    matches!(of, Output::Decided(.., Decision::RejectedWithReason(_)))
                };
                if self.handle(Input::Present(diff, present)).iter().any(is_rejected) {
                    self.fates[self.rejected[&diff]] = Fate::RejectedWithReason(self.last_stream);
                }
            }
            Some(DiskQuery::Original(call)) => {
                let original = is_good.then(|| Digest::of(&present()));
                self.handle(Input::Original(call, original));
            }
            Some(DiskQuery::Comment(note)) => self.check_comment_access(note, is_good),
            None => {}
        }
    }

    pub(super) fn lose(&mut self, note: &Note) {
        if let Note::Reason(reason) = note {
            let reason = &mut self.reasons[question_of(&reason.text)];
            // The delivery of the hook is saved.
            if *reason == Reason::Waits {
                *reason = Reason::Lost;
            }
        }
    }

    /// The user rejects with a reason, which closes the view.
    pub(super) fn reject_with_reason(&mut self, script: &Script, question: Question) {
        self.rejections_with_reason -= 1;
        let path = script.paths[question];
        self.views.remove(path);
        let out = self.handle(Input::RejectedWithReason(path, reason(question)));
        for output in out {
            if let Output::CheckDisk(DiskCheck::Access(diff, _)) = output {
                self.rejected.insert(diff, question);
                self.fates[question] = Fate::Rejected;
                self.reasons[question] = Reason::Waits;
            }
        }
    }
}
