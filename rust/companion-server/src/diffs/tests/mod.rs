//! The ledger, step by step.

mod interleavings;

use std::sync::Arc;

use companion_protocol::mcp::CallToolResult;
use tokio::sync::oneshot;

use super::ledger::{Ask, Effect, Ledger, Outcome};
use crate::host::HostRequest;
use crate::session::SessionId;

type Answer = oneshot::Receiver<CallToolResult>;

fn path() -> Arc<str> {
    Arc::from("/a b/é.rs")
}

fn open(ledger: &mut Ledger, asker: SessionId) -> (Vec<Effect>, Answer) {
    let (reply, answer) = oneshot::channel();
    (ledger.open(asker, &path(), "new".to_owned(), reply), answer)
}

fn close(ledger: &mut Ledger, caller: SessionId, suppress: bool) -> (Vec<Effect>, Answer) {
    let (reply, answer) = oneshot::channel();
    (ledger.close(caller, &path(), suppress, reply), answer)
}

/// Opens a diff, and its view.
fn opened(ledger: &mut Ledger, asker: SessionId) {
    let (effects, mut answer) = open(ledger, asker);
    ledger.completed(asked(&effects), None);
    assert_eq!(answer.try_recv(), Ok(CallToolResult::empty()));
}

fn asked(effects: &[Effect]) -> HostRequest {
    let ask = effects.iter().rev().find_map(|effect| match effect {
        Effect::Ask(request, _) => Some(*request),
        _ => None,
    });
    ask.expect("the editor is asked")
}

/// What follows for clients and the editor, in words.
fn told(effects: &[Effect], names: &[(SessionId, &str)]) -> Vec<String> {
    let name = |id: &SessionId| names.iter().find(|(known, _)| known == id).map_or("?", |n| n.1);
    let tell = |effect: &Effect| match effect {
        Effect::Forget(..) => None,
        Effect::Accepted(to, _, content) => Some(format!("{} accepted {content}", name(to))),
        Effect::Rejected(to, _) => Some(format!("{} rejected", name(to))),
        Effect::Ask(_, Ask::Open(..)) => Some("open".to_owned()),
        Effect::Ask(_, Ask::Close(_)) => Some("close".to_owned()),
        Effect::Ask(_, Ask::Accept(_)) => Some("accept".to_owned()),
        Effect::Ask(_, Ask::Reject(_)) => Some("reject".to_owned()),
        Effect::Ended(number, outcome) => Some(format!("{number} {outcome:?}")),
    };
    effects.iter().filter_map(tell).collect()
}

#[test]
fn the_user_accepts_with_edits() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let effects = ledger.decided(&path(), Some("edited".to_owned()));
    assert_eq!(told(&effects, &[(a, "a")]), ["a accepted edited", "1 Accepted"]);
    assert!(ledger.decided(&path(), None).is_empty(), "it has ended");
}

#[test]
fn a_decision_before_the_view_shows_is_about_an_earlier_view() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    let (effects, mut answer) = open(&mut ledger, a);
    assert!(ledger.decided(&path(), Some("of a view that timed out".to_owned())).is_empty());
    ledger.completed(asked(&effects), None);
    assert_eq!(answer.try_recv(), Ok(CallToolResult::empty()));
    assert_eq!(told(&ledger.decided(&path(), None), &[(a, "a")]), ["a rejected", "1 Rejected"]);
}

#[test]
fn the_editor_can_not_open_it() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    let (effects, mut answer) = open(&mut ledger, a);
    let failed = ledger.failed(asked(&effects), "The file is binary.");
    assert_eq!(told(&failed, &[]), ["1 Failed"]);
    assert_eq!(answer.try_recv(), Ok(CallToolResult::error("The file is binary.")));
}

#[test]
fn an_editor_that_answers_too_late_is_asked_to_close_the_view() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    let (effects, mut answer) = open(&mut ledger, a);
    let expired = ledger.expired(asked(&effects));
    assert_eq!(told(&expired, &[]), ["1 TimedOut", "close"]);
    assert!(answer.try_recv().is_ok_and(|result| result.is_error));
    ledger.completed(asked(&effects), None);
    assert!(ledger.decided(&path(), Some("late".to_owned())).is_empty());
}

#[test]
fn the_same_client_replaces_its_diff_silently() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let (effects, _answer) = open(&mut ledger, a);
    assert!(matches!(&effects[0], Effect::Forget(session, _) if *session == a));
    assert_eq!(told(&effects, &[(a, "a")]), ["1 Replaced", "open"]);
    let stale = ledger.decided(&path(), Some("of the old view".to_owned()));
    assert!(stale.is_empty(), "the new view is not open yet");
    ledger.completed(asked(&effects), None);
    assert_eq!(told(&ledger.decided(&path(), None), &[(a, "a")]), ["a rejected", "2 Rejected"]);
}

#[test]
fn another_client_replaces_a_diff_and_its_asker_hears_of_it() {
    let (mut ledger, a, b) = (Ledger::default(), SessionId::new(), SessionId::new());
    let (_, mut first) = open(&mut ledger, a);
    let (effects, _second) = open(&mut ledger, b);
    let names = [(a, "a"), (b, "b")];
    assert_eq!(told(&effects, &names), ["a rejected", "1 Replaced", "open"]);
    assert_eq!(first.try_recv(), Ok(CallToolResult::empty()), "its call is answered");
    ledger.completed(asked(&effects), None);
    let decided = ledger.decided(&path(), Some("x".to_owned()));
    assert_eq!(told(&decided, &names), ["b accepted x", "2 Accepted"]);
}

#[test]
fn closing_gives_the_final_text_and_tells_the_asker_unless_it_asks_not_to() {
    for (suppress, expected) in
        [(true, vec!["1 Closed", "close"]), (false, vec!["a rejected", "1 Closed", "close"])]
    {
        let (mut ledger, a) = (Ledger::default(), SessionId::new());
        opened(&mut ledger, a);
        let (effects, mut answer) = close(&mut ledger, a, suppress);
        assert_eq!(told(&effects, &[(a, "a")]), expected);
        ledger.completed(asked(&effects), Some("as \"edited\"".to_owned()));
        let expected = CallToolResult::text(r#"{"content":"as \"edited\""}"#);
        assert_eq!(answer.try_recv(), Ok(expected));
    }
}

#[test]
fn closing_what_is_not_open_gives_an_empty_object() {
    let mut ledger = Ledger::default();
    let (effects, mut answer) = close(&mut ledger, SessionId::new(), true);
    assert!(effects.is_empty());
    assert_eq!(answer.try_recv(), Ok(CallToolResult::text("{}")));
}

#[test]
fn closing_by_another_client_tells_the_asker_in_any_case() {
    let (mut ledger, a, b) = (Ledger::default(), SessionId::new(), SessionId::new());
    opened(&mut ledger, a);
    let (effects, _answer) = close(&mut ledger, b, true);
    assert_eq!(told(&effects, &[(a, "a"), (b, "b")]), ["a rejected", "1 Closed", "close"]);
}

#[test]
fn a_text_accepted_while_the_diff_is_being_closed_is_not_lost() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let (effects, mut answer) = close(&mut ledger, a, true);
    assert!(ledger.decided(&path(), Some("edited".to_owned())).is_empty());
    assert_eq!(answer.try_recv(), Ok(CallToolResult::text(r#"{"content":"edited"}"#)));
    assert!(ledger.failed(asked(&effects), "no such view").is_empty());
}

#[test]
fn tools_decide_in_the_users_place() {
    for accept in [true, false] {
        let (mut ledger, a) = (Ledger::default(), SessionId::new());
        opened(&mut ledger, a);
        let (reply, mut answer) = oneshot::channel();
        let effects = ledger.decide(&path(), accept, reply);
        assert_eq!(told(&effects, &[]), [if accept { "accept" } else { "reject" }]);
        ledger.completed(asked(&effects), None);
        assert!(answer.try_recv().is_err(), "the decision has not come");
        ledger.decided(&path(), accept.then(|| "x".to_owned()));
        assert!(answer.try_recv().is_ok_and(|result| !result.is_error));
    }
}

#[test]
fn a_tool_hears_that_it_was_decided_otherwise() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let (reply, mut answer) = oneshot::channel();
    ledger.decide(&path(), true, reply);
    ledger.decided(&path(), None);
    assert_eq!(answer.try_recv(), Ok(CallToolResult::error("The diff was rejected.")));
}

#[test]
fn a_tool_that_fails_leaves_the_diff_open() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let (reply, mut answer) = oneshot::channel();
    let effects = ledger.decide(&path(), true, reply);
    assert!(ledger.failed(asked(&effects), "read-only").is_empty());
    assert_eq!(answer.try_recv(), Ok(CallToolResult::error("read-only")));
    assert_eq!(ledger.len(), 1);
}

#[test]
fn deciding_what_is_not_open_is_an_error() {
    let (reply, mut answer) = oneshot::channel();
    assert!(Ledger::default().decide(&path(), true, reply).is_empty());
    let expected = CallToolResult::error("No diff is open for this filePath.");
    assert_eq!(answer.try_recv(), Ok(expected));
}

#[test]
fn a_client_that_is_gone_for_good_leaves_no_view_behind() {
    let (mut ledger, a, b) = (Ledger::default(), SessionId::new(), SessionId::new());
    opened(&mut ledger, a);
    assert!(ledger.session_gone(b).is_empty());
    assert_eq!(told(&ledger.session_gone(a), &[(a, "a")]), ["1 Closed", "close"]);
}

#[test]
fn stopping_rejects_what_is_open_and_answers_every_call() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    let (_, mut answer) = open(&mut ledger, a);
    assert_eq!(told(&ledger.stop(), &[(a, "a")]), ["a rejected", "1 Rejected"]);
    assert_eq!(answer.try_recv(), Ok(CallToolResult::empty()));
    let (effects, mut answer) = open(&mut ledger, a);
    assert!(effects.is_empty());
    assert_eq!(answer.try_recv(), Ok(CallToolResult::error("The editor is closing.")));
}

#[test]
fn outcomes_are_told_to_a_tool_that_waits() {
    let (mut ledger, a) = (Ledger::default(), SessionId::new());
    opened(&mut ledger, a);
    let (reply, mut answer) = oneshot::channel();
    ledger.decide(&path(), true, reply);
    let effects = open(&mut ledger, a).0;
    assert!(effects.iter().any(|e| matches!(e, Effect::Ended(1, Outcome::Replaced))));
    assert!(answer.try_recv().is_ok_and(|result| result.is_error));
}
