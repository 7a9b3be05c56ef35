//! Tests that the editor gets no request about a path while a view for it opens.

use super::*;

#[test]
fn a_diff_that_is_closed_while_its_view_opens_is_closed_with_its_text_once_it_shows() {
    let mut book = Book::new();
    let (open, _) = book.open(book.a);
    let (close, effects) = book.close(book.a, true);
    assert_eq!(book.describe(&effects), ["1 Closed"]);
    assert!(effects.contains(&Effect::ShortenDeadline(close)));
    let effects = book.ledger.completed(open, None);
    assert_eq!(book.describe(&effects), ["close"]);
    let effects = book.ledger.completed(close, Some(acceptance("typed")));
    let expect = Effect::Expect(DiffId(1), book.a, path(), text("typed"), true);
    assert_eq!(effects, [expect, Effect::Answer(close, closed("typed"))]);
    assert!(book.user_decided(Some("typed")).is_empty());
}

/// The editor may still show the view of another client, and its text is none of this one's business.
#[test]
fn a_diff_that_is_closed_and_whose_view_does_not_open_has_no_text() {
    type End = fn(&mut Ledger, CallId) -> Vec<Effect>;
    let ends: [End; 3] = [
        |ledger, open| ledger.failed(open, "The file is binary."),
        |ledger, open| ledger.unreadable(open, "no JSON"),
        |ledger, open| ledger.expired(open),
    ];
    for end in ends {
        let mut book = Book::new();
        book.opened(book.b);
        let (open, _) = book.open(book.a);
        let (close, _) = book.close(book.a, true);
        let effects = end(&mut book.ledger, open);
        assert!(effects.contains(&Effect::Answer(close, Answer::Closed(None))));
        assert_eq!(book.describe(&effects), ["abandon"]);
    }
}

#[test]
fn a_client_waits_shortly_for_a_view_that_opens() {
    let mut book = Book::new();
    let (open, _) = book.open(book.a);
    let (close, _) = book.close(book.a, true);
    let (next, _) = book.open(book.a);
    let effects = book.ledger.expired(close);
    assert_eq!(effects, [Effect::Answer(close, Answer::Closed(None))]);
    let effects = book.ledger.completed(open, None);
    assert_eq!(book.describe(&effects), ["abandon", "open"]);
    assert!(book.ledger.is_opening(next));
}

#[test]
fn a_client_that_is_notified_of_the_end_waits_as_long_for_a_view_that_opens() {
    let mut book = Book::new();
    let (open, _) = book.open(book.a);
    let (close, effects) = book.close(book.a, false);
    assert!(effects.contains(&Effect::ShortenDeadline(close)));
    let effects = book.ledger.completed(open, None);
    let closed = EditorCommand::Close(path(), CloseReason::ClientDisconnects);
    assert!(effects.contains(&Effect::Ask(Some(close), closed)));
}

#[test]
fn a_stop_answers_a_call_that_waits_for_a_view_once() {
    for suppress in [true, false] {
        let mut book = Book::new();
        let (open, _) = book.open(book.a);
        let (close, _) = book.close(book.a, suppress);
        let mut effects = book.ledger.stop(false);
        effects.extend(book.ledger.failed(open, "The editor has ended."));
        effects.extend(book.ledger.expired(close));
        let answers = |effect: &&Effect| matches!(effect, Effect::Answer(of, _) if *of == close);
        assert_eq!(effects.iter().filter(answers).count(), 1, "{effects:?}");
    }
}

#[test]
fn the_next_diff_of_a_path_waits_until_the_first_view_shows() {
    let mut book = Book::new();
    let (first, _) = book.open(book.a);
    let (_, effects) = book.open(book.a);
    assert_eq!(book.describe(&effects), ["1 Replaced"]);
    let (third, effects) = book.open(book.b);
    assert_eq!(book.describe(&effects), ["a undecided", "2 Replaced"]);
    let (accept, effects) = book.request_decision(true);
    assert!(effects.is_empty());
    let effects = book.ledger.completed(first, None);
    assert_eq!(book.describe(&effects), ["open"], "the second is over");
    let effects = book.ledger.completed(third, None);
    assert_eq!(effects[0], Effect::Answer(third, Answer::Opened));
    assert_eq!(effects[1], Effect::Ask(Some(accept), EditorCommand::Accept(path())));
}

/// Otherwise the editor would accept the proposal that the next one has replaced.
#[test]
fn a_decision_for_a_view_that_does_not_open_is_never_sent() {
    let mut book = Book::new();
    book.opened(book.a);
    let (open, _) = book.open(book.b);
    let (accept, _) = book.request_decision(true);
    let effects = book.ledger.failed(open, "The file is binary.");
    let failed = Answer::Outcome { accept: true, outcome: Outcome::Failed };
    assert!(effects.contains(&Effect::Answer(accept, failed)));
    assert_eq!(book.describe(&effects), ["2 Failed", "abandon"], "the earlier view closes, too");
}

#[test]
fn other_paths_do_not_wait() {
    let mut book = Book::new();
    book.open(book.a);
    let call = book.call();
    let effects = book.ledger.open(book.a, &Arc::from("/other"), proposed(), call);
    assert_eq!(book.describe(&effects), ["open"]);
}

/// The client closes many diffs while the editor is busy.
#[test]
fn a_view_that_opens_is_closed_once() {
    let mut book = Book::new();
    let (first, _) = book.open(book.a);
    for _ in 0..10 {
        book.close(book.a, true);
        book.open(book.a);
    }
    book.close(book.a, true);
    let effects = book.ledger.completed(first, None);
    assert_eq!(book.describe(&effects), ["close"]);
}
