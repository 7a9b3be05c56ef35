//! Decisions of which their client has not shown that it got them.

use std::sync::Arc;

use super::{Book, DiffId, EventId, Proposed, SessionId, path, text};

/// The user accepts a proposal of client a for another file, with that text.
fn accept(book: &mut Book, number: usize, edited: &str) {
    let (path, call) = (Arc::from(format!("/{number}")), book.call());
    book.ledger.open(book.a, &path, Proposed::Text, call);
    book.ledger.completed(call, None);
    book.ledger.decided(&path, Some(text(edited)));
}

/// What a new stream of client a tells of the texts that were accepted, up to that length each.
fn told_by_stream(book: &mut Book, number: u64, length: usize) -> Vec<String> {
    book.ledger.attach(book.a, number, &EventId::default(), false);
    let told = std::iter::from_fn(|| book.ledger.next(book.a, number).0);
    told.map(|outgoing| outgoing.accepted.unwrap()[..length].to_owned()).collect()
}

#[test]
fn what_waited_for_a_client_comes_again_until_it_has_arrived_however_much_it_is() {
    let mut book = Book::new();
    let a = book.a;
    book.ledger.detach(a, 1);
    let megabytes = "x".repeat(2 << 20);
    for number in 0..250 {
        let more = if number < 3 { &megabytes } else { "" };
        accept(&mut book, number, &format!("{number:03}{more}"));
    }
    let all: Vec<_> = (0..250).map(|number| format!("{number:03}")).collect();
    for stream in 2..5 {
        assert_eq!(told_by_stream(&mut book, stream, 3), all);
    }
}

/// It costs no more memory than that, and what it does not show to have got is not for ever.
#[test]
fn of_a_client_that_answers_no_ping_the_newest_decisions_are_kept() {
    let mut book = Book::new();
    let a = book.a;
    for number in 0..400 {
        accept(&mut book, number, &format!("{number:03}"));
        book.ledger.next(a, 1).0.unwrap();
    }
    let again = told_by_stream(&mut book, 2, 3);
    assert_eq!((again[0].as_str(), again.len()), ("144", 256));
}

#[test]
fn of_a_client_that_answers_no_ping_for_long_few_large_texts_are_kept() {
    let mut book = Book::new();
    let a = book.a;
    let half = "x".repeat(600 << 10);
    for number in 0..5 {
        accept(&mut book, number, &format!("{number}{half}"));
        book.ledger.next(a, 1).0.unwrap();
    }
    book.ledger.grow_old();
    let bytes = |book: &Book| book.ledger.backlog(a).1 / half.len();
    assert_eq!(bytes(&book), 5, "they may be on their way");
    book.ledger.grow_old();
    assert_eq!(bytes(&book), 2);
    assert_eq!(told_by_stream(&mut book, 2, 1), ["3", "4"]);
}

/// It is told when the client opens a stream of its own, and not before.
#[test]
fn a_decision_of_the_last_process_is_not_dropped_for_later_ones() {
    let mut book = Book::new();
    let a = SessionId::new();
    book.ledger.restore_session(a);
    book.ledger.restore_decision(DiffId(1000), a, path(), Some(text("edited")));
    book.ledger.attach(a, 1, &EventId::default(), true);
    for number in 0..200 {
        let (path, call) = (Arc::from(format!("/{number}")), book.call());
        book.ledger.open(a, &path, Proposed::Text, call);
        book.ledger.completed(call, None);
        book.ledger.decided(&path, None);
        book.ledger.next(a, 1).0.unwrap();
    }
    book.ledger.attach(a, 2, &EventId::default(), false);
    assert_eq!(book.ledger.next(a, 2).0.unwrap().accepted, Some(text("edited")));
}
