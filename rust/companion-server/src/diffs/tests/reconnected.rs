//! A client whose user reconnects (`/ide enable`) has two sessions and the waiters of one: what the
//! first session has still to hear would answer what the second has asked since.

use super::{Answer, Book, Effect, EventId, Outgoing, answer, closed, path, text};
use crate::diffs::DiffId;
use crate::session::SessionId;

/// What a session is told next, if anything.
fn next(book: &mut Book, session: SessionId, stream: u64) -> Option<Outgoing> {
    book.ledger.next(session, stream).0
}

/// `a` has no stream while its diff is decided, and `b` asks about the same path.
fn asked_again(accepted: Option<&str>) -> Book {
    let mut book = Book::new();
    book.opened(book.a);
    book.ledger.detach(book.a, 1);
    book.decided(accepted);
    book.opened(book.b);
    book.ledger.attach(book.a, 2, &EventId::default(), false);
    book
}

#[test]
fn what_is_untold_waits_until_it_is_known_that_the_newer_question_is_answered() {
    for accepted in [Some("first"), None] {
        let mut book = asked_again(accepted);
        let (a, b) = (book.a, book.b);
        assert_eq!(next(&mut book, a, 2), None, "the question of the other session is open");
        book.decided(Some("second"));
        assert_eq!(next(&mut book, a, 2), None, "the other session has not heard");
        let second = next(&mut book, b, 1).expect("there is a decision");
        assert_eq!(second.accepted, Some(text("second")));
        assert_eq!(next(&mut book, a, 2), None, "the other session may not have heard");
        let effects = book.ledger.ping_answered(b, second.diff);
        assert!(effects.contains(&Effect::Wake(a)), "{effects:?}");
        assert_eq!(next(&mut book, a, 2).map(|first| first.accepted), Some(accepted.map(text)));
    }
}

#[test]
fn what_is_untold_is_told_when_the_newer_question_ends_otherwise() {
    let mut closed = asked_again(Some("first"));
    let (_, effects) = closed.close(closed.b, true);
    assert!(effects.contains(&Effect::Wake(closed.a)), "{effects:?}");
    let mut left = asked_again(Some("first"));
    let effects = left.ledger.session_gone(left.b);
    assert!(effects.contains(&Effect::Wake(left.a)), "{effects:?}");
    let mut decided = asked_again(Some("first"));
    decided.decided(None);
    let effects = decided.ledger.session_gone(decided.b);
    assert!(effects.contains(&Effect::Wake(decided.a)), "{effects:?}");
    for mut book in [closed, left, decided] {
        let a = book.a;
        assert!(next(&mut book, a, 2).is_some());
    }
}

#[test]
fn an_answer_in_the_terminal_brings_the_text_that_the_first_session_has_not_heard() {
    let mut book = Book::new();
    let (a, b) = (book.a, book.b);
    book.opened(a);
    book.ledger.detach(a, 1);
    book.decided(Some("edited"));
    let (call, effects) = book.close(b, true);
    assert_eq!(*answer(&effects, call), closed("edited"));
    book.ledger.attach(a, 2, &EventId::default(), false);
    assert_eq!(next(&mut book, a, 2), None, "the client may have asked again");
    let (call, effects) = book.close(b, false);
    assert_eq!(*answer(&effects, call), Answer::Closed(None));
    let (call, effects) = book.close(a, true);
    assert_eq!(*answer(&effects, call), closed("edited"), "both may be clients of their own");
}

#[test]
fn who_was_given_the_text_of_another_client_keeps_it_from_that_until_its_own_end() {
    let mut book = Book::new();
    let (a, b) = (book.a, book.b);
    book.opened(a);
    book.ledger.detach(a, 1);
    book.decided(Some("edited"));
    book.close(b, true);
    book.ledger.attach(a, 2, &EventId::default(), false);
    assert_eq!(next(&mut book, a, 2), None);
    let mut stopped = book.ledger.clone();
    assert!(stopped.stop().contains(&Effect::Wake(a)));
    assert!(stopped.next(a, 2).0.is_some());
    let effects = book.ledger.session_gone(b);
    assert!(effects.contains(&Effect::Wake(a)), "{effects:?}");
    assert_eq!(next(&mut book, a, 2).and_then(|told| told.accepted), Some(text("edited")));
}

#[test]
fn an_answer_in_the_terminal_does_not_overtake_the_text_that_the_first_session_is_told() {
    for arrives in [true, false] {
        let mut book = Book::new();
        let (a, b) = (book.a, book.b);
        book.opened(a);
        book.decided(Some("edited"));
        let told = next(&mut book, a, 1).expect("there is a decision");
        let (call, effects) = book.close(b, true);
        assert_eq!(effects, [Effect::Hurry(call)]);
        let effects = if arrives {
            book.ledger.ping_answered(a, told.diff)
        } else {
            book.ledger.expired(call)
        };
        assert_eq!(*answer(&effects, call), closed("edited"));
        book.ledger.attach(a, 2, &EventId::default(), false);
        assert_eq!(next(&mut book, a, 2), None, "the client may have asked again");
        let (call, effects) = book.close(a, true);
        let left = (!arrives).then(|| text("edited"));
        assert_eq!(*answer(&effects, call), Answer::Closed(left));
    }
}

#[test]
fn of_two_texts_nobody_knows_whose_the_answer_is() {
    let mut book = Book::new();
    let (a, b) = (book.a, book.b);
    for session in [a, b] {
        book.opened(session);
        book.ledger.detach(session, 1);
        book.decided(Some("edited"));
    }
    let third = SessionId::new();
    book.ledger.session_begun(third);
    let (call, effects) = book.close(third, true);
    assert_eq!(*answer(&effects, call), Answer::Closed(None));
}

#[test]
fn who_is_replaced_by_another_client_hears_of_it_at_once() {
    let mut book = Book::new();
    book.opened(book.a);
    book.opened(book.b);
    let a = book.a;
    assert_eq!(next(&mut book, a, 1).map(|told| told.accepted), Some(None));
}

#[test]
fn what_the_last_process_decided_waits_for_newer_questions_too() {
    let mut book = Book::new();
    let (a, b) = (book.a, book.b);
    book.ledger.restore_decision(DiffId(1 << 40), a, path(), Some(text("before")));
    book.opened(b);
    assert_eq!(next(&mut book, a, 1), None);
    book.decided(None);
    let told = next(&mut book, b, 1).expect("there is a decision");
    assert_eq!(next(&mut book, a, 1), None);
    book.ledger.ping_answered(b, told.diff);
    assert_eq!(next(&mut book, a, 1).map(|told| told.accepted), Some(Some(text("before"))));
}

#[test]
fn a_server_that_stops_tells_one_after_the_other() {
    let mut book = asked_again(Some("first"));
    let (a, b) = (book.a, book.b);
    book.ledger.stop();
    assert_eq!(next(&mut book, a, 2), None);
    let (told, effects) = book.ledger.next(b, 1);
    assert_eq!(told.map(|told| told.accepted), Some(None));
    assert_eq!(effects, [Effect::Wake(a)]);
    assert!(next(&mut book, a, 2).is_some());
}
