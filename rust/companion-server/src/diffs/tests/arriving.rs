//! What is kept of decisions until they have arrived, and what a server that stops waits for.

use super::*;

/// Has the user accept `content` at a path of its own, and sends that on the stream 1.
fn accepted(book: &mut Book, path: &str, content: &str) {
    let (a, path, call) = (book.a, Arc::from(path), book.call());
    book.ledger.open(a, &path, Proposed::Text, call);
    book.ledger.completed(call, None);
    book.ledger.decided(&path, Some(text(content)));
    book.ledger.next(a, 1).0.unwrap();
}

/// A client that listens would have shown by then what it got.
fn grow_old(book: &mut Book) {
    for _ in 0..2 {
        book.ledger.grow_old();
    }
}

/// The paths of the decisions that a client is told which comes back and shows nothing.
fn told_again(book: &mut Book) -> Vec<Arc<str>> {
    let a = book.a;
    book.ledger.attach(a, 2, &EventId::default(), false);
    std::iter::from_fn(|| book.ledger.next(a, 2).0).map(|outgoing| outgoing.path).collect()
}

#[test]
fn of_a_client_that_answers_no_ping_a_megabyte_is_kept_besides_the_newest() {
    let mut book = Book::new();
    let half = "x".repeat(1 << 19);
    for path in ["/1", "/2", "/3", "/4", "/5"] {
        accepted(&mut book, path, &half);
    }
    grow_old(&mut book);
    assert_eq!(told_again(&mut book), ["/3", "/4", "/5"].map(Arc::from));
}

#[test]
fn the_newest_decision_is_kept_however_long_it_is() {
    let mut book = Book::new();
    let long = "x".repeat(3 << 20);
    accepted(&mut book, "/1", &long);
    accepted(&mut book, "/2", &long);
    grow_old(&mut book);
    assert_eq!(told_again(&mut book), ["/2"].map(Arc::from));
}

#[test]
fn a_server_that_stops_waits_until_a_text_has_been_sent_and_has_arrived() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.decided(Some("edited"));
    book.ledger.stop();
    assert!(book.ledger.is_any_on_its_way());
    let outgoing = book.ledger.next(a, 1).0.unwrap();
    assert!(outgoing.ping);
    assert!(book.ledger.is_any_on_its_way());
    book.ledger.ping_answered(a, outgoing.diff);
    assert!(!book.ledger.is_any_on_its_way());
}

/// An answer has no event ids that say it.
#[test]
fn a_client_that_is_told_of_a_rejection_with_an_answer_shows_that_even_to_a_server_that_stops() {
    let mut book = Book::new();
    let a = book.a;
    book.ledger.attach(a, 2, &EventId::default(), true);
    book.opened(a);
    book.ledger.stop();
    assert!(book.ledger.next(a, 2).0.unwrap().ping);
}

#[test]
fn a_server_that_stops_does_not_wait_for_the_ping_of_a_stream_that_has_broken() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.decided(None);
    assert!(book.ledger.next(a, 1).0.unwrap().ping);
    book.ledger.attach(a, 2, &EventId::default(), false);
    book.ledger.stop();
    assert!(!book.ledger.is_any_on_its_way());
}

#[test]
fn event_ids_name_what_is_not_saved_yet() {
    let mut book = Book::new();
    let a = book.a;
    let mut saved = Vec::new();
    for path in ["/1", "/2"] {
        accepted(&mut book, path, "");
        let told = book.ledger.event_id(a).to_string();
        let diff = DiffId::parse(told.rsplit('.').next_back().unwrap()).unwrap();
        book.ledger.ping_answered(a, diff);
        saved.push(book.ledger.records());
    }
    assert_eq!(book.ledger.event_id(a).to_string(), "1.2");
    book.ledger.saved(saved[0]);
    assert_eq!(book.ledger.event_id(a).to_string(), "2");
}
