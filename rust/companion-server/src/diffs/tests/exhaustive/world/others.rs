//! Simulates another client, which asks about the path of the first question and never reads its
//! stream.

use std::sync::Arc;

use super::{CLIENT, Fate, Request, Script, World};
use crate::diffs::Answer;
use crate::diffs::ledger::Effect;
use crate::diffs::proposed::Proposed;
use crate::diffs::tests::decision;
use crate::host::CallId;
use crate::text::Text;

/// Returns the text of the other client's view, which the first client must never get.
pub(super) fn text() -> Text {
    "of the other client".to_owned().into()
}

impl World {
    pub(super) fn open_other(&mut self, script: &Script) {
        let path = Arc::from(script.paths[0]);
        let call = self.next_other_call();
        let proposed = Proposed::new("proposed by the other client", CLIENT);
        let effects = self.ledger.open(self.other, &path, proposed, call);
        if effects
            .iter()
            .any(|effect| matches!(effect, Effect::Decided(to, ..) if *to == self.session))
        {
            let is_replaced = |question: &usize| {
                script.paths[*question] == &*path
                    && self.client.has_asked(*question)
                    && !self.requests.contains(&Request::Open(*question))
            };
            let replaced = (0..self.fates.len()).rfind(is_replaced);
            let fate = &mut self.fates[replaced.expect("a diff of the client was open")];
            assert_eq!(*fate, Fate::Open, "a diff ends once");
            *fate = Fate::Ended;
        }
        self.calls.insert(call, Request::OfOther);
        self.carry_out(effects);
    }

    /// Closes the other client's diff, which may be open. Only then does that client read the text.
    pub(super) fn close_other(&mut self, script: &Script) {
        let path = Arc::from(script.paths[0]);
        let call = self.next_other_call();
        let has_open = self.ledger.count(self.other) > 0;
        let waits = self.ledger.is_awaited_by(self.other);
        let effects = self.ledger.close(self.other, &path, true, call);
        let nothing = [Effect::Answer(call, Answer::Closed(None))];
        assert!(has_open || waits || effects == nothing, "it closes what is not its own");
        self.calls.insert(call, Request::OfOther);
        self.carry_out(effects);
    }

    pub(super) fn show_other(&mut self, path: &Arc<str>, call: CallId) {
        self.views.remove(path);
        self.is_others_shown = true;
        let effects = self.ledger.completed(call, None);
        self.carry_out(effects);
    }

    pub(super) fn decide_other(&mut self, script: &Script, accept: bool) {
        self.is_others_shown = false;
        let effects = self.ledger.user_decided(script.paths[0], decision(accept.then(text)));
        let to_client =
            |effect: &Effect| matches!(effect, Effect::Decided(to, ..) if *to == self.session);
        assert!(!effects.iter().any(to_client), "the client hears of another's diff");
        self.carry_out(effects);
    }

    fn next_other_call(&mut self) -> CallId {
        self.others = self.others.saturating_sub(1);
        self.last_call += 1;
        CallId(self.last_call)
    }
}
