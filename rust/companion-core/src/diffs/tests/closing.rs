//! Tests `closeDiff`, and decisions that its caller has not received.

use super::{
    Answer, Book, Decision, Effect, EventId, Outgoing, Proposed, acceptance, answer, closed,
    decision, path,
};
use crate::session::ClientTraits;

/// A client that is being disabled stops listening after the answer.
#[test]
fn who_wants_a_notification_of_the_end_gets_it_before_the_answer() {
    for arrives in [true, false] {
        let mut book = Book::new();
        let a = book.a;
        book.opened(a);
        let (call, effects) = book.close(a, false);
        assert_eq!(book.describe(&effects), ["a rejected", "1 Closed", "abandon"]);
        assert_eq!(
            book.ledger.completed(call, Some(acceptance("edited"))),
            [Effect::ShortenDeadline(call)]
        );
        let Some(Outgoing { diff, .. }) = book.ledger.next(a, 1).0 else { panic!() };
        let effects =
            if arrives { book.ledger.ping_answered(a, diff) } else { book.ledger.expired(call) };
        assert_eq!(*answer(&effects, call), closed("edited"));
        book.ledger.attach(a, 2, &EventId::default(), false);
        assert_eq!(book.ledger.next(a, 2).0.is_none(), arrives, "it is sent until it arrives");
    }
}

#[test]
fn who_wants_a_notification_of_the_end_gets_it_first_even_if_the_editor_fails() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    let (call, _) = book.close(a, false);
    assert_eq!(book.ledger.failed(call, "no such view"), [Effect::ShortenDeadline(call)]);
    let Some(Outgoing { diff, .. }) = book.ledger.next(a, 1).0 else { panic!() };
    assert_eq!(*answer(&book.ledger.ping_answered(a, diff), call), Answer::Closed(None));
}

#[test]
fn the_close_of_a_view_fails_if_the_editor_does_not_answer() {
    let mut book = Book::new();
    book.opened(book.a);
    let (call, _) = book.close(book.a, true);
    let late = Answer::Failed("The editor did not answer in time.".to_owned());
    assert_eq!(*answer(&book.ledger.expired(call), call), late);
}

#[test]
fn who_wants_a_notification_of_a_decision_gets_it_before_the_answer() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.user_decided(Some("edited"));
    let (call, effects) = book.close(a, false);
    assert_eq!(effects, [Effect::ShortenDeadline(call)]);
    let Some(Outgoing { diff, .. }) = book.ledger.next(a, 1).0 else { panic!() };
    assert_eq!(*answer(&book.ledger.ping_answered(a, diff), call), closed("edited"));
}

#[test]
fn who_has_no_stream_is_answered_at_once() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.ledger.detach(a, 1);
    let (call, _) = book.close(a, false);
    assert_eq!(*answer(&book.ledger.completed(call, Some(acceptance("b"))), call), closed("b"));
    let (call, effects) = book.close(a, false);
    assert_eq!(*answer(&effects, call), Answer::Closed(None), "it is rejected");
}

/// A stopping server rejects without a ping, so no client acknowledges.
#[test]
fn who_wants_a_notification_on_a_stream_that_ends_is_answered_then() {
    for stops in [true, false] {
        let mut book = Book::new();
        let a = book.a;
        book.opened(a);
        let (call, _) = book.close(a, false);
        let effects = if stops {
            book.ledger.stop(false)
        } else {
            book.ledger.completed(call, Some(acceptance("b")))
        };
        assert_eq!(effects, [Effect::ShortenDeadline(call)]);
        assert_eq!(book.ledger.next(a, 1).0.unwrap().ping, !stops);
        assert!(book.ledger.detach(a, 2).is_empty(), "it is an earlier one");
        let content = if stops { Answer::Closed(None) } else { closed("b") };
        assert_eq!(*answer(&book.ledger.detach(a, 1), call), content);
    }
}

#[test]
fn closing_what_is_not_open_gives_an_empty_object() {
    let mut book = Book::new();
    let (call, effects) = book.close(book.a, true);
    assert_eq!(effects, [Effect::Answer(call, Answer::Closed(None))]);
}

#[test]
fn a_text_accepted_while_the_diff_is_being_closed_is_not_lost() {
    let mut book = Book::new();
    book.opened(book.a);
    let (call, _) = book.close(book.a, true);
    assert_eq!(*answer(&book.user_decided(Some("edited")), call), closed("edited"));
    assert!(book.ledger.failed(call, "no such view").is_empty());
}

/// Returns the notification of a decision, and the answer to `closeDiff`.
fn delivered_texts(proposal: &str, empty_is_unchanged: bool, left: &str) -> [Option<String>; 2] {
    let mut book = Book::new();
    let proposed =
        Proposed::new(proposal, ClientTraits { empty_is_unchanged, ..ClientTraits::default() });
    let open = |book: &mut Book| {
        let call = book.call();
        book.ledger.open(book.a, &path(), proposed, call);
        book.ledger.completed(call, None);
    };
    open(&mut book);
    let whole = if left.is_empty() && !proposal.is_empty() { "\n" } else { left };
    let decided = Effect::Decided(book.a, path(), Decision::Accepted(acceptance(whole)));
    assert!(book.user_decided(Some(left)).contains(&decided), "watchers see the whole text");
    let sent = book.ledger.next(book.a, 1).0.unwrap();
    book.ledger.ping_answered(book.a, sent.diff);

    open(&mut book);
    let (call, _) = book.close(book.a, true);
    let effects = book.ledger.completed(call, Some(acceptance(left)));
    let Answer::Closed(closed) = answer(&effects, call) else { panic!() };
    [sent.decision.accepted(), closed.as_ref()]
        .map(|accepted| accepted.map(|accepted| accepted.content.to_string()))
}

#[test]
fn only_an_unchanged_edit_is_left_to_a_client_that_understands() {
    for (proposal, left, replayed) in [
        ("a\nb\n", "a\nb\n", true),
        ("\n", "\n", true),
        ("a\nb\n", "a\nb", false),
        ("a\nb\n", "a\r\nb\r\n", false),
        ("a\n", "\u{feff}a\n", false),
        ("a\n", "b\n", false),
    ] {
        let whole = [Some(left.to_owned()), Some(left.to_owned())];
        assert_eq!(delivered_texts(proposal, false, left), whole, "{proposal:?} as {left:?}");
        let expected = if replayed { [Some(String::new()), Some(String::new())] } else { whole };
        assert_eq!(delivered_texts(proposal, true, left), expected, "{proposal:?} as {left:?}");
    }
}

#[test]
fn what_the_user_has_deleted_is_no_unchanged_proposal() {
    for empty_is_unchanged in [true, false] {
        let line = || Some("\n".to_owned());
        assert_eq!(delivered_texts("proposed", empty_is_unchanged, ""), [line(), line()]);
        let nothing = || Some(String::new());
        assert_eq!(delivered_texts("", empty_is_unchanged, ""), [nothing(), nothing()]);
    }
}

/// The user accepts while the stream is down. Then the user lets the editor write the text.
#[test]
fn an_acceptance_that_the_editor_carries_out_is_not_carried_out_again() {
    let mut book = Book::new();
    for client in [book.b, book.a] {
        book.ledger.detach(client, 1);
        book.opened(client);
        book.user_decided(Some("edited"));
    }
    let (is_withdrawn, effects) = book.ledger.withdraw(&path());
    assert!(is_withdrawn && effects.len() == 3, "three records, for the next process");
    for (client, accepted) in [(book.a, None), (book.b, Some("edited"))] {
        book.ledger.attach(client, 2, &EventId::default(), false);
        assert_eq!(
            book.ledger.next(client, 2).0.unwrap().decision,
            decision(accepted),
            "the last one alone"
        );
    }

    // A client that received the decision may have made the edit.
    let mut book = Book::new();
    book.opened(book.a);
    book.user_decided(Some("edited"));
    let sent = book.ledger.next(book.a, 1).0.unwrap();
    assert_eq!(book.ledger.withdraw(&path()), (false, Vec::new()));
    book.ledger.detach(book.a, 1);
    assert_eq!(book.ledger.withdraw(&path()), (false, Vec::new()));
    book.ledger.attach(book.a, 2, &EventId::default(), false);
    assert_eq!(book.ledger.withdraw(&path()), (false, Vec::new()));
    assert_eq!(book.ledger.next(book.a, 2).0.unwrap().decision, sent.decision);
}
