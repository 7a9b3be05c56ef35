//! Simulates the editor. It shows a proposal, or fails, or does not answer in time.

use super::{Request, Script, World, others};
use crate::calls::CallId;
use crate::companion::limits::ms;
use crate::companion::tests::exhaustive::client::text;
use crate::companion::{Input, Limits, Now};
use crate::diffs::{Accepted, EditorCommand};

impl World {
    /// The editor carries out a request.
    pub(super) fn edit(&mut self, script: &Script, index: usize) {
        let Some((call, ask)) = self.asks.remove(index) else { return };
        let input = match (call, ask) {
            (Some(call), EditorCommand::Open(path, diff)) => {
                self.late.remove(&call);
                let Some(Request::Open(question)) = self.opens.remove(&call) else {
                    self.others_diff = Some(diff);
                    return self.show_other(&path, call);
                };
                self.is_others_shown &= script.paths[0] != &*path;
                assert_eq!(script.paths[question], &*path);
                self.views.insert(path, question);
                self.diffs.insert(question, diff);
                Input::EditorDid(call, None)
            }
            (Some(call), EditorCommand::Close(path, _)) => match self.views.remove(&path) {
                Some(question) => {
                    Input::EditorDid(call, Some(Accepted { content: text(question) }))
                }
                None if self.is_others_shown && script.paths[0] == &*path => {
                    self.is_others_shown = false;
                    Input::EditorDid(call, Some(Accepted { content: others::text() }))
                }
                None => Input::EditorFailed(call, "no such view"),
            },
            (None, EditorCommand::Close(path, reason)) if !reason.takes_text() => {
                self.views.remove(&path);
                self.is_others_shown &= script.paths[0] != &*path;
                return;
            }
            (_, ask) => panic!("{ask:?}"),
        };
        if let Input::EditorDid(call, Some(_)) = &input
            && self.returns_changed_text(script, *call)
        {
            self.kept += 1;
        }
        self.handle(input);
    }

    /// The editor can't show a proposal. It closes the one that this would replace, or keeps it.
    pub(super) fn fail_to_open(&mut self, script: &Script, keeps_earlier: bool) {
        let Some((Some(call), ask)) = self.asks.pop_front() else { return };
        self.failures -= 1;
        self.late.remove(&call);
        self.opens.remove(&call);
        if !keeps_earlier {
            self.views.remove(ask.path());
            self.is_others_shown &= script.paths[0] != &**ask.path();
        }
        self.handle(Input::EditorFailed(call, "the file is binary"));
    }

    /// The editor has not answered for so long that the calls have failed.
    pub(super) fn time_out(&mut self) {
        self.timeouts -= 1;
        self.late.extend(self.opens.keys());
        let now = Now { elapsed: ms(Limits::default().host_timeout), date: 0 };
        self.handle_at(now, Input::Time);
    }

    /// Whether the editor may close a view before it shows, too late.
    pub(super) fn may_overtake(&self) -> bool {
        let is_late = |(call, _): &(Option<CallId>, EditorCommand)| {
            call.is_some_and(|call| self.late.contains(&call))
        };
        self.asks.front().is_some_and(is_late)
            && matches!(
                self.asks.get(1),
                Some((_, EditorCommand::Close(_, reason))) if !reason.takes_text()
            )
    }

    /// Whether the editor still has time to answer an open of that path.
    pub(super) fn is_opening(&self, path: &str) -> bool {
        self.asks.iter().any(|(call, ask)| {
            let is_late = call.is_some_and(|call| self.late.contains(&call));
            matches!(ask, EditorCommand::Open(of, _) if **of == *path) && !is_late
        })
    }
}
