//! Simulates another client, which asks about the path of the first question and never reads its
//! stream.

use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use super::{CLIENT, Fate, Request, Script, World, open};
use crate::calls::CallId;
use crate::companion::{Action, End, Input, Output};
use crate::diffs::{Accepted, Answer, Proposed};
use crate::text::Text;

/// Returns the text of the other client's view, which the first client must never get.
pub(super) fn text() -> Text {
    "of the other client".to_owned().into()
}

/// The text that it proposes.
pub(super) const PROPOSED: &str = "proposed by the other client";

/// A client takes the text of its diff.
pub(super) const CLOSE: Action = Action::End(End::Close { suppress: true });

impl World {
    pub(super) fn open_other(&mut self, script: &Script) {
        let path = Arc::from(script.paths[0]);
        let call = self.next_other_call();
        let proposed = Proposed::new(PROPOSED, CLIENT);
        self.calls.insert(call, Request::OfOther);
        self.opens.insert(call, Request::OfOther);
        let out = self.call(self.other, call, Arc::clone(&path), open(proposed));
        let never = Output::Arrival(call, ReasonArrival::Never);
        assert!(out.contains(&never) || self.is_stopping, "it is taken for a CLI with hooks");
        let is_decided = |of: &Output| matches!(of, Output::Decided(to, ..) if *to == self.session);
        if out.iter().any(is_decided) {
            let is_replaced = |question: &usize| {
                script.paths[*question] == &*path
                    && self.client.has_asked(*question)
                    && !self.requests.contains(&Request::Open(*question))
            };
            let replaced = (0..self.fates.len()).rfind(is_replaced);
            let fate = &mut self.fates[replaced.expect("a diff of the client was open")];
            if matches!(fate, Fate::Open | Fate::Rejected) {
                *fate = Fate::Ended;
            } else {
                // A process that was killed may not have saved the end.
                let is_forgotten = script.keeps_views && *fate != Fate::Accepted;
                assert!(is_forgotten, "a diff ends once: {fate:?}");
            }
        }
    }

    /// Closes the other client's diff, which may be open. Only then does that client read the text.
    pub(super) fn close_other(&mut self, script: &Script) {
        let path = Arc::from(script.paths[0]);
        let call = self.next_other_call();
        let has_open = self.companion.diffs().count(self.other) > 0;
        let waits = self.companion.diffs().is_awaited_by(self.other);
        self.calls.insert(call, Request::OfOther);
        let out = self.call(self.other, call, path, CLOSE);
        let closes_nothing = out.contains(&Output::Answer(call, Answer::Closed(None)));
        assert!(has_open || waits || closes_nothing, "it closes what is not its own");
    }

    pub(super) fn show_other(&mut self, path: &Arc<str>, call: CallId) {
        self.views.remove(path);
        self.is_others_shown = true;
        self.handle(Input::EditorDid(call, None));
    }

    pub(super) fn decide_other(&mut self, script: &Script, accept: bool) {
        self.is_others_shown = false;
        let path = script.paths[0];
        let accepted = Accepted { content: text() };
        let input = if accept { Input::Accepted(path, accepted) } else { Input::Rejected(path) };
        let out = self.handle(input);
        let is_decided = |of: &Output| matches!(of, Output::Decided(to, ..) if *to == self.session);
        assert!(!out.iter().any(is_decided), "the client gets the decision about another's diff");
        if accept {
            self.keep_accepted(true, &out);
        }
    }

    fn next_other_call(&mut self) -> CallId {
        self.others = self.others.saturating_sub(1);
        self.last_call += 1;
        CallId(self.last_call)
    }
}
