//! An editor that shows nothing, also for measurements.

use companion_server::{EditorHost, Proposal, Responder};

/// It is asked in vain.
pub(crate) struct NoEditor;

impl EditorHost for NoEditor {
    fn open_diff(&self, _: Proposal, _: Responder) {}
    fn close_diff(&self, _: &str, _: bool, _: Responder) {}
    fn accept_diff(&self, _: &str, _: Responder) {}
    fn reject_diff(&self, _: &str, _: Responder) {}
    fn sessions_changed(&self, _: usize) {}
}
