//! Provides an editor that shows nothing.

use companion_protocol::editor::CompanionNotification;
use companion_server::{EditorHost, EditorRequest, Responder};

/// It fails every request.
pub(crate) struct NoEditor;

impl EditorHost for NoEditor {
    fn request(&self, _: EditorRequest, _: Responder) {}
    fn notify(&self, _: CompanionNotification) {}
}
