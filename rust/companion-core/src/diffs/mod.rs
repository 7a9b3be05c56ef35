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
pub use decision::Decision;
pub use id::DiffId;
pub use ledger::{EditorCommand, Ledger};
pub use outbox::{EventId, Outgoing};
pub use proposed::Proposed;
