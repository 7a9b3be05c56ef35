//! Open diffs: decides how each ends, and when its client has got the decision.

mod answer;
mod decision;
mod id;
pub(crate) mod ledger;
pub(crate) mod outbox;
mod proposed;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Outcome};
pub use decision::{Accepted, Decision};
pub use id::DiffId;
pub use ledger::{CloseReason, EditorCommand, Ledger};
pub use outbox::{EventId, Outgoing};
pub use proposed::Proposed;

/// The most diffs that a session may have open, or decided and not delivered; the default of
/// [`Limits::diffs_per_session`](crate::Limits::diffs_per_session). As many sent decisions are kept
/// for a returning client.
pub(crate) const MAX_DIFFS_PER_SESSION: usize = 256;
