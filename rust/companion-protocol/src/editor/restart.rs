//! Defines the messages by which an editor keeps its proposals over a restart of the companion.

use serde::{Deserialize, Serialize};

use super::ReasonArrival;

/// The companion ends now, and the editor starts the next one. It keeps its proposals for that.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Restarts {}

/// The parameters of `diff/resume`: the proposals of the last companion that the editor shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ShownProposals {
    /// All of them.
    pub proposals: Vec<ShownProposal>,
}

/// A proposal that the editor shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownProposal {
    /// As in `diff/open`.
    pub diff: String,
    /// As in `diff/open`, without the user's edits.
    pub new_content: String,
}

/// The result of `diff/resume`: the proposals that are open again. The others have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumedProposals {
    /// All of them.
    pub proposals: Vec<ResumedProposal>,
}

/// A proposal that is open again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumedProposal {
    /// As in `diff/resume`.
    pub diff: String,
    /// The number of its client by now.
    pub cli: u32,
    /// When the model gets the reason of a rejection by now.
    pub reason: ReasonArrival,
}
