//! Tests how long decisions are kept, and what a stopping server waits for.

use super::*;

/// Makes the user accept `content` at its own path.
fn accept(book: &mut Book, path: &str, content: &str) {
    let (path, call) = (Arc::from(path), book.call());
    book.ledger.open(book.a, &path, proposed(), call);
    book.ledger.completed(call, None);
    book.ledger.user_decided(&path, Decision::Accepted(acceptance(content)));
}

/// Accepts a diff, and sends the decision on stream 1.
fn accepted(book: &mut Book, path: &str, content: &str) {
    accept(book, path, content);
    book.ledger.next(book.a, 1).0.unwrap();
}

/// Prunes twice. By then a connected client would have acknowledged its decisions.
fn prune_sent(book: &mut Book) {
    for _ in 0..2 {
        book.ledger.prune_sent();
    }
}

/// Returns the paths of the decisions that a client receives again if it returns and acknowledges
/// nothing.
fn resent_paths(book: &mut Book, stream: u64) -> Vec<Arc<str>> {
    let a = book.a;
    book.ledger.attach(a, stream, &EventId::default(), false);
    std::iter::from_fn(|| book.ledger.next(a, stream).0).map(|outgoing| outgoing.path).collect()
}

#[test]
fn of_a_client_that_answers_no_ping_a_megabyte_is_kept_besides_the_newest() {
    let mut book = Book::new();
    let half = "x".repeat(1 << 19);
    for path in ["/1", "/2", "/3", "/4", "/5"] {
        accepted(&mut book, path, &half);
    }
    prune_sent(&mut book);
    assert_eq!(resent_paths(&mut book, 2), ["/3", "/4", "/5"].map(Arc::from));
}

#[test]
fn a_server_that_stops_waits_until_a_text_has_been_sent_and_has_arrived() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.user_decided(Some("edited"));
    book.ledger.stop(false);
    assert!(book.ledger.is_any_on_its_way());
    let outgoing = book.ledger.next(a, 1).0.unwrap();
    assert!(outgoing.ping);
    assert!(book.ledger.is_any_on_its_way());
    book.ledger.ping_answered(a, outgoing.diff);
    assert!(!book.ledger.is_any_on_its_way());
}

/// A response stream has no event ids, so the client must acknowledge by a ping.
#[test]
fn a_client_that_gets_a_rejection_with_an_answer_shows_that_even_to_a_server_that_stops() {
    let mut book = Book::new();
    let a = book.a;
    book.ledger.attach(a, 2, &EventId::default(), true);
    book.opened(a);
    book.ledger.stop(false);
    assert!(book.ledger.next(a, 2).0.unwrap().ping);
}

#[test]
fn a_server_that_stops_does_not_wait_for_the_ping_of_a_stream_that_has_broken() {
    let mut book = Book::new();
    let a = book.a;
    book.opened(a);
    book.user_decided(None);
    assert!(book.ledger.next(a, 1).0.unwrap().ping);
    book.ledger.attach(a, 2, &EventId::default(), false);
    book.ledger.stop(false);
    assert!(!book.ledger.is_any_on_its_way());
}

#[test]
fn what_waited_for_a_client_comes_again_until_it_has_arrived_however_much_it_is() {
    let mut book = Book::new();
    book.ledger.detach(book.a, 1);
    let megabytes = "x".repeat(2 << 20);
    let all: Vec<Arc<str>> = (0..250).map(|number| Arc::from(format!("/{number}"))).collect();
    for (number, path) in all.iter().enumerate() {
        accept(&mut book, path, if number < 3 { &megabytes } else { "" });
    }
    for stream in 2..5 {
        assert_eq!(resent_paths(&mut book, stream), all);
    }
}

#[test]
fn what_was_on_its_way_to_a_client_that_stays_away_waits_for_it() {
    let mut book = Book::new();
    let half = "x".repeat(1 << 19);
    let all = ["/1", "/2", "/3", "/4", "/5"];
    for path in all {
        accepted(&mut book, path, &half);
    }
    book.ledger.prune_sent();
    book.ledger.detach(book.a, 1);
    prune_sent(&mut book);
    assert_eq!(resent_paths(&mut book, 2), all.map(Arc::from));
}

/// The server limits the memory of decisions for such a client.
#[test]
fn of_a_client_that_answers_no_ping_the_newest_decisions_are_kept() {
    let mut book = Book::new();
    for number in 0..400 {
        accepted(&mut book, &format!("/{number}"), "");
    }
    let again = resent_paths(&mut book, 2);
    assert_eq!((&*again[0], again.len()), ("/144", 256));
}

/// The client receives the decision when it opens its own stream, and not before.
#[test]
fn a_decision_of_the_last_process_is_not_dropped_for_later_ones() {
    let mut book = Book::new();
    let a = SessionId::new();
    book.ledger.restore_session(a);
    book.ledger.restore_decision(DiffId(1000), a, path(), Decision::Accepted(acceptance("edited")));
    book.ledger.attach(a, 1, &EventId::default(), true);
    for number in 0..200 {
        let (path, call) = (Arc::from(format!("/{number}")), book.call());
        book.ledger.open(a, &path, proposed(), call);
        book.ledger.completed(call, None);
        book.ledger.user_decided(&path, Decision::Rejected);
        book.ledger.next(a, 1).0.unwrap();
    }
    book.ledger.attach(a, 2, &EventId::default(), false);
    assert_eq!(
        book.ledger.next(a, 2).0.unwrap().decision,
        Decision::Accepted(acceptance("edited"))
    );
}
