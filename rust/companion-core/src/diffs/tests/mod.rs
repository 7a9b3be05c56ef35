//! Tests the ledger, for single steps and for all orders.

mod arriving;
mod closing;
mod opening;

use std::sync::Arc;

use super::ledger::{Effect, Ledger};
use super::{
    Accepted, Answer, CloseReason, Decision, DiffId, EditorCommand, EventId, Outcome, Outgoing,
    Proposed,
};
use crate::calls::CallId;
use crate::record::Record;
use crate::session::{Client, ClientTraits, SessionId};
use crate::text::Text;

/// A ledger with two clients, and their streams.
struct Book {
    ledger: Ledger,
    a: SessionId,
    b: SessionId,
    calls: u64,
}

fn path() -> Arc<str> {
    Arc::from("/a b/é.rs")
}

fn proposed() -> Proposed {
    Proposed::new("proposed", ClientTraits::default())
}

fn text(text: &str) -> Text {
    text.to_owned().into()
}

impl Book {
    fn new() -> Self {
        let (a, b) = (SessionId::new(), SessionId::new());
        let mut ledger = Ledger::new(DiffId(1), true);
        for session in [a, b] {
            ledger.session_begun(session, Client::default());
            ledger.attach(session, 1, &EventId::default(), false);
        }
        Self { ledger, a, b, calls: 0 }
    }

    fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }

    fn open(&mut self, asker: SessionId) -> (CallId, Vec<Effect>) {
        let call = self.call();
        (call, self.ledger.open(asker, &path(), proposed(), call))
    }

    /// Opens a diff and its view.
    fn opened(&mut self, asker: SessionId) {
        let (call, _) = self.open(asker);
        let effects = self.ledger.completed(call, None);
        assert_eq!(effects, [Effect::Answer(call, Answer::Opened)]);
    }

    fn close(&mut self, caller: SessionId, suppress: bool) -> (CallId, Vec<Effect>) {
        let call = self.call();
        (call, self.ledger.close(caller, &path(), suppress, call))
    }

    fn request_decision(&mut self, accept: bool) -> (CallId, Vec<Effect>) {
        let call = self.call();
        (call, self.ledger.request_decision(&path(), accept, call))
    }

    fn user_decided(&mut self, accepted: Option<&str>) -> Vec<Effect> {
        self.ledger.user_decided(&path(), decision(accepted))
    }

    /// Describes effects.
    fn describe(&self, effects: &[Effect]) -> Vec<String> {
        let name = |id: &SessionId| if *id == self.a { "a" } else { "b" };
        let line = |effect: &Effect| match effect {
            Effect::Decided(to, _, Decision::Accepted(Accepted { content })) => {
                Some(format!("{} accepted {}", name(to), &**content))
            }
            Effect::Decided(to, _, Decision::RejectedWithReason(text)) => {
                Some(format!("{} rejected with a reason {}", name(to), &**text))
            }
            Effect::Decided(to, _, Decision::Rejected) => Some(format!("{} rejected", name(to))),
            Effect::Decided(to, _, Decision::Undecided) => Some(format!("{} undecided", name(to))),
            Effect::Ask(_, EditorCommand::Open(..)) => Some("open".to_owned()),
            Effect::Ask(_, EditorCommand::Close(_, reason)) => {
                Some(if reason.takes_text() { "close" } else { "abandon" }.to_owned())
            }
            Effect::Ask(_, EditorCommand::Accept(_)) => Some("accept".to_owned()),
            Effect::Ask(_, EditorCommand::Reject(_)) => Some("reject".to_owned()),
            Effect::Ended(diff, outcome) => Some(format!("{diff} {outcome:?}")),
            Effect::Answer(..)
            | Effect::ShortenDeadline(_)
            | Effect::Record(_)
            | Effect::Expect(..) => None,
        };
        effects.iter().filter_map(line).collect()
    }
}

/// Returns an acceptance of a text, or else a rejection.
fn decision(content: Option<&str>) -> Decision {
    content.map_or(Decision::Rejected, |content| Decision::Accepted(acceptance(content)))
}

fn acceptance(content: &str) -> Accepted {
    Accepted { content: text(content) }
}

/// Returns the only answer to a call among effects.
fn answer(effects: &[Effect], to: CallId) -> &Answer {
    let answers: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Answer(call, answer) => Some((*call, answer)),
            _ => None,
        })
        .collect();
    let [(call, answer)] = answers[..] else { panic!("{answers:?}") };
    assert_eq!(call, to);
    answer
}

fn closed(content: &str) -> Answer {
    Answer::Closed(Some(acceptance(content)))
}

#[test]
fn a_decision_before_the_view_shows_is_about_an_earlier_view() {
    let mut book = Book::new();
    let (call, _) = book.open(book.a);
    assert!(book.user_decided(Some("of a view that timed out")).is_empty());
    book.ledger.completed(call, None);
    let effects = book.user_decided(None);
    assert_eq!(book.describe(&effects), ["a rejected", "1 Rejected"]);
}

#[test]
fn the_editor_can_not_open_it() {
    let mut book = Book::new();
    let (call, _) = book.open(book.a);
    let effects = book.ledger.failed(call, "The file is binary.");
    assert_eq!(book.describe(&effects), ["1 Failed"]);
    assert_eq!(*answer(&effects, call), Answer::Failed("The file is binary.".to_owned()));
}

#[test]
fn the_same_client_replaces_its_diff_silently() {
    let mut book = Book::new();
    book.opened(book.a);
    let (call, effects) = book.open(book.a);
    assert_eq!(book.describe(&effects), ["1 Replaced", "open"]);
    assert!(book.user_decided(Some("of the old view")).is_empty(), "the new view is not open yet");
    book.ledger.completed(call, None);
    let effects = book.user_decided(None);
    assert_eq!(book.describe(&effects), ["a rejected", "2 Rejected"]);
}

#[test]
fn another_client_replaces_a_diff_and_its_asker_is_notified() {
    let mut book = Book::new();
    let (first, _) = book.open(book.a);
    let (second, effects) = book.open(book.b);
    assert_eq!(book.describe(&effects), ["a undecided", "1 Replaced"]);
    assert_eq!(*answer(&effects, first), Answer::Opened, "its call is answered");
    let effects = book.ledger.completed(first, None);
    assert_eq!(book.describe(&effects), ["open"]);
    book.ledger.completed(second, None);
    let effects = book.user_decided(Some("x"));
    assert_eq!(book.describe(&effects), ["b accepted x", "2 Accepted"]);
}

#[test]
fn a_tool_gets_the_decision_also_if_it_differs_from_its_own() {
    for (accept, accepted, outcome) in [
        (true, Some("x"), Outcome::Accepted),
        (false, None, Outcome::Rejected),
        (true, None, Outcome::Rejected),
    ] {
        let mut book = Book::new();
        book.opened(book.a);
        let (call, effects) = book.request_decision(accept);
        assert_eq!(book.describe(&effects), [if accept { "accept" } else { "reject" }]);
        assert!(book.ledger.completed(call, None).is_empty(), "the decision has not come");
        let effects = book.user_decided(accepted);
        assert_eq!(*answer(&effects, call), Answer::Outcome { accept, outcome });
    }
}

#[test]
fn a_tool_gets_the_decision_that_the_asker_has_not_received() {
    for accepted in [Some("edited"), None] {
        let mut book = Book::new();
        let a = book.a;
        book.opened(a);
        book.ledger.detach(a, 1);
        book.user_decided(accepted);
        let (call, effects) = book.request_decision(true);
        let outcome = if accepted.is_some() { Outcome::Accepted } else { Outcome::Rejected };
        assert_eq!(*answer(&effects, call), Answer::Outcome { accept: true, outcome });
        book.ledger.attach(a, 2, &EventId::default(), false);
        assert!(book.ledger.next(a, 2).0.is_some(), "the asker waits for it still");
    }
}

#[test]
fn a_tool_that_fails_leaves_the_diff_open_and_others_waiting() {
    let mut book = Book::new();
    book.opened(book.a);
    let ((fails, _), (waits, _)) = (book.request_decision(true), book.request_decision(true));
    let effects = book.ledger.failed(fails, "read-only");
    assert_eq!(*answer(&effects, fails), Answer::Failed("read-only".to_owned()));
    assert_eq!(book.ledger.open_count(), 1);
    let effects = book.user_decided(Some("edited"));
    let decided = Answer::Outcome { accept: true, outcome: Outcome::Accepted };
    assert_eq!(*answer(&effects, waits), decided);
}

#[test]
fn deciding_what_is_not_open_is_an_error() {
    let mut book = Book::new();
    let (call, effects) = book.request_decision(true);
    let expected = Answer::Failed("No diff is open for this filePath.".to_owned());
    assert_eq!(*answer(&effects, call), expected);
}

#[test]
fn a_tool_that_waits_gets_the_outcome() {
    let mut book = Book::new();
    book.opened(book.a);
    let (call, _) = book.request_decision(true);
    let (_, effects) = book.open(book.a);
    let expected = Answer::Outcome { accept: true, outcome: Outcome::Replaced };
    assert_eq!(*answer(&effects, call), expected);
}

#[test]
fn a_client_that_is_gone_for_good_leaves_no_view_behind() {
    let mut book = Book::new();
    let (a, b) = (book.a, book.b);
    book.opened(a);
    let effects = book.ledger.session_gone(b);
    assert_eq!(effects, [Effect::Record(Record::Gone(b))]);
    let effects = book.ledger.session_gone(a);
    assert_eq!(book.describe(&effects), ["1 Closed", "abandon"]);
}

#[test]
fn a_client_of_one_request_leaves_nothing_to_the_next_process() {
    let mut book = Book::new();
    let is_single = ClientTraits { is_one_request: true, ..ClientTraits::default() };
    let single = SessionId::new();
    let mut effects = book.ledger.session_begun(single, is_single.into());
    for accepted in [None, Some("accepted")] {
        let (call, opened) = book.open(single);
        effects.extend(opened);
        effects.extend(book.ledger.completed(call, None));
        effects.extend(book.user_decided(accepted));
    }
    effects.extend(book.open(single).1);
    effects.extend(book.ledger.session_gone(single));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Record(_))), "{effects:?}");
}

/// The server may have begun to handle one of its requests before the client left.
#[test]
fn a_client_that_is_gone_for_good_opens_nothing() {
    let mut book = Book::new();
    book.ledger.session_gone(book.a);
    let (call, effects) = book.open(book.a);
    assert_eq!(effects.len(), 1);
    assert_eq!(*answer(&effects, call), Answer::Failed("The session has ended.".to_owned()));
}

/// The client was suspended for longer than its views wait.
#[test]
fn a_client_that_was_away_gets_the_rejections_of_its_diffs() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.ledger.detach(a, 1);
    let effects = book.ledger.session_away(a);
    assert_eq!(book.describe(&effects), ["a rejected", "1 Closed", "abandon"]);
    book.ledger.attach(a, 2, &EventId::default(), false);
    assert_eq!(book.ledger.next(a, 2).0.unwrap().decision, Decision::Rejected);
}

#[test]
fn stopping_rejects_what_is_open_and_answers_every_call() {
    let mut book = Book::new();
    let (call, _) = book.open(book.a);
    let effects = book.ledger.stop(false);
    assert_eq!(book.describe(&effects), ["a undecided", "1 Rejected"]);
    assert_eq!(*answer(&effects, call), Answer::Opened);
    let (call, effects) = book.open(book.a);
    assert_eq!(effects.len(), 1);
    assert_eq!(*answer(&effects, call), Answer::Failed("The editor is closing.".to_owned()));
}

/// An IDE that closes a project rejects its open diffs and stops its server.
#[test]
fn a_server_that_stops_waits_for_the_answer_to_the_ping_behind_a_rejection() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.user_decided(None);
    let outgoing = book.ledger.next(a, 1).0.unwrap();
    assert!(outgoing.ping);
    book.opened(book.b);
    book.ledger.stop(false);
    assert!(book.ledger.is_any_on_its_way());
    book.ledger.ping_answered(a, outgoing.diff);
    assert!(!book.ledger.is_any_on_its_way(), "what it rejects itself has no ping");
}

#[test]
fn event_ids_name_what_was_sent_until_that_is_saved() {
    let mut book = Book::new();
    let a = book.a;
    assert_eq!(book.ledger.event_id(a).to_string(), "-");
    book.opened(a);
    book.user_decided(None);
    assert_eq!(book.ledger.event_id(a).to_string(), "-", "it was not sent");
    let diff = book.ledger.next(a, 1).0.unwrap().diff;
    assert_eq!(book.ledger.event_id(a).to_string(), "1");
    book.ledger.ping_answered(a, diff);
    assert_eq!(book.ledger.event_id(a).to_string(), "1", "the next process does not know");
    book.ledger.saved(book.ledger.records());
    assert_eq!(book.ledger.event_id(a).to_string(), "-");
    assert_eq!(EventId::parse("x.-.1.ffffffffffffffff.").to_string(), "1.ffffffffffffffff");
}

/// Otherwise an editor that does not read would cost memory for each call.
#[test]
fn only_so_many_tools_wait_for_one_decision() {
    let mut book = Book::new();
    book.opened(book.a);
    let mut asked = 0;
    for _ in 0..1000 {
        let (call, effects) = book.request_decision(true);
        match book.describe(&effects).len() {
            0 => assert!(matches!(answer(&effects, call), Answer::Failed(_))),
            _ => asked += 1,
        }
    }
    assert_eq!(asked, 16);
    let effects = book.user_decided(None);
    let answered = effects.iter().filter(|effect| matches!(effect, Effect::Answer(..)));
    assert_eq!(answered.count(), asked);
}
