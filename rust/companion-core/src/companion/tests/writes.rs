//! Tests that a text of the user is written, or is offered to the user again.

use std::sync::Arc;

use companion_protocol::editor::CompanionNotification::{Unwritten, Written};
use companion_protocol::editor::{CompanionNotification, DiffPath};
use companion_protocol::jsonrpc::Id;

use crate::calls::{Attempt, CallId, CallOrigin};
use crate::companion::{
    Action, Companion, DiskCheck, FoundFile, Input, Limits, Now, Output, Outputs,
};
use crate::diffs::{Accepted, DiffId, EventId, Proposed};
use crate::record::Left;
use crate::session::{ClientTraits, SessionId};
use crate::text::Digest;

const ACCEPTED: u64 = 1_700_000_000_000;
const OTHER_TEXT: Option<FoundFile> = Some(FoundFile { has_text: Some(false), modified: ACCEPTED });
const SAME_TEXT: Option<FoundFile> = Some(FoundFile { has_text: Some(true), modified: 0 });

pub(super) const CLIENT: ClientTraits = ClientTraits {
    replays_edits: true,
    empty_is_unchanged: true,
    confirms_after_hook: true,
    repeats_requests: false,
    is_one_request: false,
};

pub(super) struct Desk {
    pub(super) companion: Companion,
    pub(super) client: SessionId,
    elapsed: u64,
    calls: u64,
}

impl Desk {
    pub(super) fn new() -> Self {
        let companion = Companion::new(Limits::default(), DiffId(1), 1, false, Left::default());
        let client = SessionId::new();
        let mut desk = Self { companion, client, elapsed: 0, calls: 0 };
        desk.handle(Input::Connected(client, CLIENT.into()));
        desk.connect();
        desk
    }

    pub(super) fn handle(&mut self, input: Input<'_>) -> Outputs {
        let mut out = Outputs::new();
        let now = Now { elapsed: self.elapsed, date: ACCEPTED + self.elapsed };
        self.companion.handle(now, input, &mut out);
        out
    }

    fn connect(&mut self) {
        let last = &EventId::default();
        let session = self.client;
        self.handle(Input::StreamOpened { session, stream: 1, last, is_answer: false });
    }

    pub(super) fn open(&mut self, path: &str) {
        self.call(path);
        self.show();
    }

    /// The client proposes an edit. Returns the looks at files.
    fn call(&mut self, path: &str) -> Outputs {
        self.calls += 1;
        let (call, id) = (CallId(self.calls), Id::from(self.calls));
        let from = CallOrigin { session: self.client, id: &id, sent: Attempt::OnceForAll };
        let proposed = Proposed::new("proposed", CLIENT);
        let action = Action::Open { proposed, held: 0, is_editor_busy: false, is_shared: true };
        let mut out = self.handle(Input::Call { call, from, path: Arc::from(path), action });
        out.retain(|output| matches!(output, Output::CheckDisk(DiskCheck::ForText(_))));
        out
    }

    /// The editor shows the newest proposal.
    fn show(&mut self) {
        self.handle(Input::Original(CallId(self.calls), None));
        self.handle(Input::EditorDid(CallId(self.calls), None));
    }

    pub(super) fn accept(&mut self, path: &str, text: &str) -> Outputs {
        let out = self.handle(Input::Accepted(path, Accepted { content: text.to_owned().into() }));
        let mut events = Outputs::new();
        let now = Now { elapsed: self.elapsed, date: ACCEPTED };
        while self.companion.next_event(now, self.client, 1, &mut events).is_some() {}
        out
    }

    /// The user rejects a proposal with a reason. Returns the reason if the editor gets it back.
    fn reject(&mut self, path: &str, reason: &str) -> Option<String> {
        let out = self.handle(Input::RejectedWithReason(path, reason.to_owned().into()));
        out.into_iter().find_map(|output| match output {
            Output::Notification(CompanionNotification::ReasonLost(lost)) => Some(lost.reason),
            _ => None,
        })
    }

    /// Answers all looks until `elapsed`, and returns the times of the looks and the messages.
    fn look_until(
        &mut self,
        end: u64,
        found: Option<FoundFile>,
    ) -> (Vec<u64>, Vec<CompanionNotification>) {
        let (mut looks, mut messages) = (Vec::new(), Vec::new());
        while let Some(next) = self.companion.next_deadline().filter(|next| *next <= end) {
            self.elapsed = next;
            for output in self.handle(Input::Time) {
                let Output::CheckDisk(DiskCheck::ForText(text)) = output else { continue };
                looks.push(next);
                for output in self.handle(Input::Found(text.diff, found)) {
                    if let Output::Notification(message) = output {
                        messages.push(message);
                    }
                }
            }
        }
        (looks, messages)
    }
}

fn diff(path: &str) -> DiffPath {
    DiffPath { file_path: path.to_owned() }
}

#[test]
fn a_reason_for_an_ended_proposal_is_offered_again() {
    let mut desk = Desk::new();
    desk.open("/a");
    assert_eq!(desk.reject("/a", "no"), None, "its file is looked at");
    assert_eq!(desk.reject("/a", "twice"), None, "the first one counts");
    desk.open("/b");
    desk.accept("/b", "mine");
    assert_eq!(desk.reject("/b", "no").as_deref(), Some("no"));
    assert_eq!(desk.reject("/b", ""), None);
}

#[test]
fn a_text_of_the_user_is_looked_for_until_the_file_has_it() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "mine\r\n");
    assert_eq!(desk.look_until(999, OTHER_TEXT), (vec![100, 300], vec![]));
    desk.elapsed = 1000;
    let out = desk.handle(Input::Time);
    let [Output::CheckDisk(DiskCheck::ForText(text))] = &out[..] else { panic!("{out:?}") };
    assert_eq!((&*text.path, text.text), ("/a", Digest::of("mine")));
    let out = desk.handle(Input::Found(text.diff, SAME_TEXT));
    assert_eq!(out, [Output::Notification(Written(diff("/a")))]);
    assert_eq!(desk.look_until(100_000, OTHER_TEXT), (vec![], vec![]), "once");
}

#[test]
fn a_text_that_its_cli_has_written_need_not_be_in_the_file_any_more() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "mine");
    assert_eq!(desk.handle(Input::Wrote("/a", Digest::of("proposed"))), []);
    assert_eq!(desk.handle(Input::Wrote("/b", Digest::of("mine"))), []);
    let written = [Output::Notification(Written(diff("/a")))];
    assert_eq!(desk.handle(Input::Wrote("/a", Digest::of("mine"))), written);
    assert_eq!(desk.look_until(100_000, OTHER_TEXT), (vec![], vec![]));
}

#[test]
fn a_text_that_no_client_writes_is_reported_after_ten_seconds() {
    for found in [OTHER_TEXT, None, Some(FoundFile { has_text: None, modified: ACCEPTED - 60_000 })]
    {
        let mut desk = Desk::new();
        desk.open("/a");
        desk.accept("/a", "mine");
        let looks = vec![100, 300, 1000, 2000, 3000, 5000, 10_000];
        assert_eq!(desk.look_until(10_999, found), (looks, vec![Unwritten(diff("/a"))]));
    }
}

#[test]
fn a_text_that_is_written_late_is_found_and_one_that_never_is_is_forgotten() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "mine");
    desk.look_until(60_000, OTHER_TEXT);
    let (looks, messages) = desk.look_until(100_000, SAME_TEXT);
    assert_eq!((looks.len(), messages), (1, vec![Written(diff("/a"))]));
    desk.open("/a");
    desk.accept("/a", "other");
    let (looks, messages) = desk.look_until(10_000_000, OTHER_TEXT);
    assert_eq!((looks.len(), messages), (307, vec![Unwritten(diff("/a"))]));
}

#[test]
fn the_text_of_the_client_is_not_looked_for_while_it_is_connected() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "proposed");
    assert_eq!(desk.look_until(100_000, OTHER_TEXT), (vec![], vec![]));
}

#[test]
fn a_file_in_another_encoding_counts_if_it_has_changed() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "mine");
    let changed = Some(FoundFile { has_text: None, modified: ACCEPTED });
    assert_eq!(desk.look_until(100_000, changed), (vec![100], vec![Written(diff("/a"))]));
}

#[test]
fn a_client_that_has_another_proposal_open_gets_more_time() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.open("/b");
    desk.accept("/a", "mine");
    assert_eq!(desk.look_until(60_000, OTHER_TEXT), (vec![], vec![]));
    desk.handle(Input::Rejected("/b"));
    let (looks, messages) = desk.look_until(desk.elapsed + 10_999, OTHER_TEXT);
    assert_eq!((looks.len(), messages), (7, vec![Unwritten(diff("/a"))]));
}

#[test]
fn a_client_that_is_away_writes_when_it_has_come_back() {
    for text in ["mine", "proposed"] {
        let mut desk = Desk::new();
        desk.open("/a");
        desk.handle(Input::StreamClosed(desk.client, 1));
        desk.accept("/a", text);
        assert_eq!(desk.look_until(60_000, SAME_TEXT), (vec![], vec![]), "it has got nothing");
        desk.connect();
        desk.accept("/none", "");
        let (looks, messages) = desk.look_until(100_000, SAME_TEXT);
        assert_eq!((looks.len(), messages), (1, vec![Written(diff("/a"))]));
    }
}

#[test]
fn a_text_that_the_editor_writes_itself_is_not_looked_for() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.handle(Input::StreamClosed(desk.client, 1));
    desk.accept("/a", "mine");
    assert!(desk.handle(Input::Withdraw("/a")).contains(&Output::Withdrawn(true)));
    assert_eq!(desk.look_until(100_000, OTHER_TEXT), (vec![], vec![]));
}

#[test]
fn an_earlier_text_for_the_file_was_not_written() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "first");
    desk.open("/a");
    let out = desk.accept("/a", "second");
    assert!(out.contains(&Output::Notification(Unwritten(diff("/a")))));
    let (_, messages) = desk.look_until(100_000, SAME_TEXT);
    assert_eq!(messages, [Written(diff("/a"))]);
}

#[test]
fn a_text_that_the_client_wrote_before_its_next_proposal_was_written() {
    for next in ["/a", "/b"] {
        let mut desk = Desk::new();
        desk.open("/a");
        desk.accept("/a", "first");
        desk.elapsed = 50;
        let [Output::CheckDisk(DiskCheck::ForText(text))] = &desk.call(next)[..] else { panic!() };
        let out = desk.handle(Input::Found(text.diff, SAME_TEXT));
        assert_eq!(out, [Output::Notification(Written(diff("/a")))]);
        desk.show();
        assert_eq!(desk.accept(next, "second").len(), 3, "nothing about the first one");
    }
}

#[test]
fn a_text_that_is_not_there_before_the_next_proposal_gets_its_time() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.accept("/a", "mine");
    let [Output::CheckDisk(DiskCheck::ForText(text))] = &desk.call("/b")[..] else { panic!() };
    assert_eq!(desk.handle(Input::Found(text.diff, OTHER_TEXT)), []);
    desk.show();
    desk.handle(Input::Rejected("/b"));
    let (looks, messages) = desk.look_until(10_999, OTHER_TEXT);
    assert_eq!((looks.len(), messages), (7, vec![Unwritten(diff("/a"))]));
}

#[test]
fn a_client_that_has_gone_writes_nothing() {
    let mut desk = Desk::new();
    desk.open("/a");
    desk.handle(Input::StreamClosed(desk.client, 1));
    desk.accept("/a", "mine");
    desk.handle(Input::Gone(desk.client));
    let (_, messages) = desk.look_until(100_000, OTHER_TEXT);
    assert_eq!(messages, [Unwritten(diff("/a"))]);
}
