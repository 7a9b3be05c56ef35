//! Sends the answers of the companion.

use super::{Event, World};
use crate::diffs::EventId;

impl World {
    /// Sends the answers whose records are saved.
    pub(super) fn release(&mut self) {
        for (_, reply) in
            self.held.extract_if(.., |(records, _)| *records <= self.saved).collect::<Vec<_>>()
        {
            let is_due = self.companion.diffs().is_anything_due(self.session);
            if self.is_returning && !self.companion.diffs().has_stream(self.session) && is_due {
                self.attach(&EventId::default(), true);
                let wire = self.wires.last_mut().expect("it was just made");
                wire.events.push_front(Event::Reply(reply));
            } else {
                self.replies.push(reply);
            }
        }
    }
}
