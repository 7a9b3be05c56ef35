//! Simulates the end of a process and the start of the next one.

use super::{
    CLIENT, DiskQuery, Fate, RESUME_TIMEOUT, Reason, Reply, Request, Script, World, companion,
    first_diff, others,
};
use crate::companion::{Input, Now, Output};
use crate::diffs::DiffId;
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
            let lost = |record: &Record| matches!(record, Record::Accepted(_, accepted) if accepted.content == script.content(question));
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

    pub(super) fn begin_stop(&mut self, script: &Script) {
        self.stops -= 1;
        self.is_stopping = true;
        if script.keeps_views {
            self.lose_requests();
        } else {
            self.end_views();
        }
        self.handle(Input::Stop { keeps: script.keeps_views });
        self.end_unkept(script);
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
        if script.keeps_views {
            self.lose_requests();
            self.is_resuming = true;
        } else {
            self.end_views();
        }
        self.commenting.restart(self.saved);
        self.saved = 0;
        self.is_returning = true;
        for query in std::mem::take(&mut self.disk_queries) {
            if let DiskQuery::Access(diff) = query {
                self.reasons[self.rejected[&diff]] = Reason::Lost;
            }
        }
        // The editor offers these texts to the user when its companion ends.
        self.kept = 0;
        self.text_queries.clear();
        self.restarts += 1;
        if script.hands_over {
            return self.hand_over(script);
        }
        self.companion = companion(script, self.restarts, self.disk.clone());
        self.end_unkept(script);
    }

    /// The editor names its views, or some time later. Then it closes those that have ended.
    pub(super) fn resume(&mut self, script: &Script, is_late: bool) {
        self.is_resuming = false;
        if is_late {
            self.handle_at(Now { elapsed: RESUME_TIMEOUT, date: 0 }, Input::Time);
        }
        let shown = |diff: &DiffId, text: &str| (*diff, text.to_owned().into());
        let mut named: Vec<_> = self
            .views
            .values()
            .map(|question| shown(&self.diffs[question], &script.proposed(*question)))
            .collect();
        if self.is_others_shown {
            named.extend(self.others_diff.map(|diff| shown(&diff, others::PROPOSED)));
        }
        let out = self.handle(Input::Shown(&named));
        let open: Vec<_> = out
            .iter()
            .filter_map(|output| match output {
                Output::Resumed(resumed) => Some(resumed.iter().map(|of| of.diff)),
                _ => None,
            })
            .flatten()
            .collect();
        self.views.retain(|_, question| open.contains(&self.diffs[question]));
        self.is_others_shown &= self.others_diff.is_some_and(|diff| open.contains(&diff));
        for question in self.views.values() {
            // The last process was killed before anybody knew of the end.
            if self.fates[*question] == Fate::Ended && self.client.outcomes[*question].is_none() {
                self.fates[*question] = Fate::Open;
            }
        }
        self.end_unkept(script);
    }

    /// The editor has lost the views of the last process.
    pub(super) fn resume_nothing(&mut self, script: &Script) {
        self.is_resuming = false;
        let first = first_diff(self.restarts);
        self.views.retain(|_, question| self.diffs[question] >= first);
        self.is_others_shown &= self.others_diff.is_some_and(|diff| diff >= first);
        self.handle(Input::Shown(&[]));
        self.end_unkept(script);
    }

    /// Marks the questions that have ended with the process, although the editor keeps its views.
    fn end_unkept(&mut self, script: &Script) {
        if !script.keeps_views {
            return;
        }
        for (question, fate) in self.fates.iter_mut().enumerate() {
            let open = Request::Open(question);
            let is_sent = !self.requests.contains(&open);
            let is_opening = self.opens.values().any(|request| *request == open);
            let is_kept = self.diffs.get(&question).is_some_and(|diff| {
                self.views.values().any(|shown| *shown == question)
                    && self.companion.diffs().asker(*diff).is_some()
            });
            if *fate == Fate::Open
                && self.client.has_asked(question)
                && is_sent
                && !is_kept
                && !is_opening
            {
                *fate = Fate::Ended;
            }
        }
    }

    /// The requests that the editor has not carried out are lost with the process.
    fn lose_requests(&mut self) {
        self.asks.clear();
        self.opens.clear();
        self.late.clear();
    }

    /// Another process, which has a client, takes the clients over.
    fn hand_over(&mut self, script: &Script) {
        let left = std::mem::take(&mut self.disk);
        self.commenting.leave(&left);
        self.companion = companion(script, self.restarts, Left::default());
        self.handle(Input::Connected(self.neighbor, CLIENT.into()));
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
        self.lose_requests();
    }
}
