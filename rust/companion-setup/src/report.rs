//! Reports the steps of setup as text and as JSON.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// All steps.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The steps, in the order of their execution.
    pub steps: Vec<Step>,
    /// The file that lists the installed items, if the run has added one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<PathBuf>,
    /// Whether an editor has the plugin, of any version, and supports it.
    #[serde(skip)]
    pub has_editor: bool,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// An IDE, with its version; the program; Neovim; a client.
    pub subject: String,
    /// The result of the step.
    pub outcome: Outcome,
    /// A sentence about the result.
    pub message: String,
    /// The file or folder that the step changes.
    pub path: PathBuf,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It would be done.
    Planned,
    /// It was done.
    Done,
    /// There was nothing to do.
    Unchanged,
    /// The step was skipped for a good reason.
    Skipped,
    /// It could not be done.
    Failed,
}

impl Outcome {
    /// Returns the verb for a step that would be done, or that was done.
    pub(crate) fn of(self, planned: &'static str, done: &'static str) -> &'static str {
        if self == Self::Planned { planned } else { done }
    }
}

impl Report {
    /// Returns whether a step has that outcome.
    pub fn has(&self, outcome: Outcome) -> bool {
        self.steps.iter().any(|step| step.outcome == outcome)
    }

    pub(crate) fn add(
        &mut self,
        subject: &str,
        path: PathBuf,
        (outcome, message): (Outcome, String),
    ) {
        self.steps.push(Step { subject: subject.to_owned(), outcome, message, path });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Step { subject, outcome, message, path } in &self.steps {
            let mark = match outcome {
                Outcome::Planned => "would",
                Outcome::Done => "done",
                Outcome::Unchanged => "same",
                Outcome::Skipped => "skip",
                Outcome::Failed => "FAIL",
            };
            writeln!(f, "{mark:>5}  {subject}: {message}")?;
            writeln!(f, "       {}", path.display())?;
        }
        if let Some(record) = &self.record {
            writeln!(f, "Installed items are listed in {}", record.display())?;
        }
        Ok(())
    }
}
