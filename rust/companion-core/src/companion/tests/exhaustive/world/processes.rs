//! Simulates the end of a process and the start of the next one.

use super::{CLIENT, Fate, Look, Reason, Reply, Request, Script, World, companion};
use crate::companion::Input;
use crate::record::{Left, Record};

impl World {
    pub(super) fn end_stream(&mut self, arrives: usize) {
        if let Some(wire) = self.wires.last_mut() {
            if wire.begins > self.saved {
                self.client.failed_to_come_back();
            }
            wire.events.truncate(arrives);
            wire.is_open = false;
        }
    }

    pub(super) fn kill(&mut self, script: &Script, arrives: usize) {
        self.kills -= 1;
        self.end_stream(arrives);
        self.read_all(script);
        for (question, fate) in self.fates.iter_mut().enumerate() {
            let lost = |record: &Record| matches!(record, Record::Accepted(_, accepted) if *accepted == script.content(question));
            if *fate == Fate::Accepted && self.unsaved.iter().any(lost) {
                *fate = Fate::Unsaved;
            }
        }
        for record in std::mem::take(&mut self.unsaved) {
            if let Record::Note(_, note) = record {
                self.lose(&note);
            }
        }
        self.restart(script);
    }

    pub(super) fn begin_stop(&mut self) {
        self.stops -= 1;
        self.is_stopping = true;
        self.end_views();
        self.handle(Input::Stop);
    }

    pub(super) fn end_stop(&mut self, script: &Script) {
        self.handle(Input::EndTexts);
        while self.send() {}
        self.save_all();
        self.release();
        let arrives = self.wires.last().map_or(0, |wire| wire.events.len());
        self.end_stream(arrives);
        self.read_all(script);
        self.is_stopping = false;
        self.restart(script);
    }

    /// Starts the next process with the last one's saved records.
    pub(super) fn restart(&mut self, script: &Script) {
        let unanswered = std::mem::take(&mut self.calls).into_values();
        let unanswered = unanswered.filter(|request| *request != Request::OfOther);
        let held = std::mem::take(&mut self.held).into_iter().map(|(_, reply)| reply.request);
        // The client notices both long before the next process starts.
        let failed = unanswered.chain(held).map(|request| Reply { request, answer: None });
        for reply in std::mem::take(&mut self.replies).into_iter().chain(failed) {
            self.client.answered(script, &reply);
        }
        self.end_views();
        self.saved = 0;
        self.is_returning = true;
        for look in std::mem::take(&mut self.looks) {
            if let Look::At(diff) = look {
                self.reasons[self.rejected[&diff]] = Reason::Lost;
            }
        }
        // The editor offers these texts to the user when its companion ends.
        self.kept = 0;
        self.looks_for_text.clear();
        if script.hands_over {
            return self.hand_over();
        }
        self.companion = companion(1000, self.disk.clone());
    }

    /// Another process, which has a client, takes the clients over.
    fn hand_over(&mut self) {
        let left = std::mem::take(&mut self.disk);
        self.companion = companion(1000, Left::default());
        self.handle(Input::Connected(self.neighbor, CLIENT));
        self.handle(Input::Adopted(left));
        // The records of the last process stay until these are saved.
        self.save_all();
    }

    /// Closes the views of the process.
    pub(super) fn end_views(&mut self) {
        for (question, fate) in self.fates.iter_mut().enumerate() {
            // The editor has no view for a request that it has not received.
            let is_shown = !self.requests.contains(&Request::Open(question));
            if *fate == Fate::Open && self.client.has_asked(question) && is_shown {
                *fate = Fate::Ended;
            }
        }
        self.views.clear();
        self.is_others_shown = false;
        self.asks.clear();
        self.opens.clear();
        self.late.clear();
    }
}
