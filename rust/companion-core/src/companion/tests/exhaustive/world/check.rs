//! Checks the invariants.

use super::{Fate, Question, Reason, Script, World, present};
use crate::companion::Hook;
use crate::companion::tests::exhaustive::client::Outcome;

impl World {
    /// Returns the broken invariant of this state, if there is one. `is_last` means that no step is
    /// left.
    pub(crate) fn check(&self, script: &Script, is_last: bool) -> Result<(), String> {
        for (question, outcome) in self.client.outcomes.iter().enumerate() {
            self.check_outcome(script, question, outcome.as_ref())?;
        }
        let shown = self.views.len() + usize::from(self.is_others_shown);
        if self.asks.is_empty()
            && !self.is_resuming
            && !self.is_stopping
            && shown > self.companion.diffs().open_count()
        {
            return Err("a view stays, although no client waits for it".to_owned());
        }
        if !is_last {
            return Ok(());
        }
        self.check_texts()?;
        self.check_comment()?;
        if self.client.is_cut {
            return Ok(());
        }
        let asked = self.client.outcomes.iter().flatten().count();
        if !self.client.waiters.is_empty() || asked < script.paths.len() {
            return Err("the client waits for ever".to_owned());
        }
        if self.disk.diffs.values().any(|diff| diff.session != self.other) {
            return Err("what nobody waits for stays on the disk".to_owned());
        }
        if script.has_hooks {
            return self.check_reasons(script);
        }
        Ok(())
    }

    /// The model gets all reasons with the next prompt at the latest.
    fn check_reasons(&self, script: &Script) -> Result<(), String> {
        let mut world = self.clone();
        world.run_hook(script, Hook::BeforeAgent { ends_cancelled_turns: true });
        if world.reasons.contains(&Reason::Waits) {
            return Err(format!("the model does not get a reason: {:?}", world.reasons));
        }
        if world.disk.notes.is_empty() {
            return Ok(());
        }
        Err("a reason that the model has got stays on the disk".to_owned())
    }

    fn check_outcome(
        &self,
        script: &Script,
        question: Question,
        outcome: Option<&Outcome>,
    ) -> Result<(), String> {
        let is_right = match (&self.fates[question], outcome) {
            (_, None | Some(Outcome::Failed)) => true,
            (fate, Some(Outcome::Accepted(Some(content)))) => {
                let in_terminal = self.is_closed(question)
                    && !matches!(fate, Fate::Rejected | Fate::RejectedWithReason(_));
                if *content == present() {
                    return self.check_rejected_with_reason(question);
                }
                let in_editor = matches!(fate, Fate::Accepted | Fate::Unsaved);
                *content == script.content(question) && (in_editor || in_terminal)
            }
            (fate, Some(Outcome::Accepted(None))) => {
                self.is_closed(question) && (*fate != Fate::Accepted || self.client.is_cut)
            }
            (fate, Some(Outcome::Rejected)) => {
                self.is_closed(question)
                    || matches!(
                        fate,
                        Fate::Rejected | Fate::RejectedWithReason(_) | Fate::Ended | Fate::Unsaved
                    )
            }
        };
        if is_right {
            return Ok(());
        }
        let fate = &self.fates[question];
        Err(format!("question {question}, which is {fate:?} in the editor, came to {outcome:?}"))
    }

    /// The client writes the file's text only for a question that was rejected with a reason.
    fn check_rejected_with_reason(&self, question: Question) -> Result<(), String> {
        match self.fates[question] {
            Fate::RejectedWithReason(_) => Ok(()),
            ref fate => Err(format!("question {question}, which is {fate:?}, ends unchanged")),
        }
    }

    /// Whether the user has answered the question in the terminal.
    fn is_closed(&self, question: Question) -> bool {
        self.client.terminal.contains(&question)
    }
}
