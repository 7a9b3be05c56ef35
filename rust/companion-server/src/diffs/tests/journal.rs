//! Tests records that wait for a disk that does not answer.

use std::sync::Arc;

use super::Book;
use crate::diffs::ledger::Effect;
use crate::diffs::{Decision, DiffId, Journal, Left, Record, TextId};
use crate::mcp::session::{ClientTraits, SessionId};
use crate::text::HeldTexts;

/// The number of records of the book's two clients.
const BEGUN: u64 = 2;

/// Queues the records of `effects`. They are saved when the disk answers.
fn append(journal: &Journal, effects: Vec<Effect>) {
    journal.append(effects.into_iter().filter_map(|effect| match effect {
        Effect::Record(record) => Some(record),
        _ => None,
    }));
}

#[tokio::test]
async fn a_text_waits_for_the_disk_no_longer_than_its_client_waits_for_it() {
    for is_taken in [false, true] {
        for is_gone in [false, true] {
            let (mut book, journal) = (Book::new(), Journal::new());
            let (call, opened) = book.open(book.a);
            append(&journal, opened);
            book.ledger.completed(call, None);
            let before = if is_taken { journal.next().await.records } else { Vec::new() };
            let texts = HeldTexts::default();
            let accepted = Decision::Accepted(texts.hold("accepted".to_owned()));
            let decided = book.ledger.user_decided(&super::path(), accepted);
            append(&journal, decided);
            assert!(texts.bytes() > 0);
            let over = if is_gone {
                book.ledger.session_gone(book.a)
            } else {
                book.ledger.ping_answered(book.a, DiffId(1))
            };
            append(&journal, over);
            assert_eq!(texts.bytes(), 0, "taken {is_taken}, gone {is_gone}");

            // Each record still counts, and their result is empty.
            let records = [before, journal.next().await.records].concat();
            assert_eq!(records.len() as u64, book.ledger.records() - BEGUN);
            let mut left = Left::default();
            for record in records {
                assert!(left.apply(record).is_empty(), "no text was to be saved");
            }
            assert_eq!(left.diffs.len(), 0);
        }
    }
}

#[test]
fn a_diff_that_is_over_has_nothing_long_that_waits_for_the_disk() {
    let (session, path) = (SessionId::new(), Arc::<str>::from("/long"));
    let journal = Journal::new();
    for number in 0..2 {
        let opened = Record::Opened(DiffId(number), session, Arc::clone(&path));
        journal.append([opened, Record::Settled(DiffId(number))].into_iter());
    }
    assert_eq!(Arc::strong_count(&path), 1);
}

#[test]
fn a_text_that_no_longer_counts_is_named() {
    let [first, second] = [SessionId::new(), SessionId::new()];
    let opened = |number, session| Record::Opened(DiffId(number), session, "/a".into());
    let accepted = |number| Record::Accepted(DiffId(number), "text".to_owned().into());
    let mut left = Left::default();
    for (record, over) in [
        (Record::Session(first, ClientTraits::default()), vec![]),
        (opened(1, first), vec![]),
        (Record::Settled(DiffId(1)), vec![]),
        (opened(2, first), vec![]),
        (Record::Gone(first), vec![]),
        (opened(3, second), vec![]),
        (accepted(3), vec![]),
        (Record::Settled(DiffId(3)), vec![TextId::Diff(DiffId(3))]),
        (opened(4, second), vec![]),
        (accepted(4), vec![]),
        (opened(5, second), vec![]),
        (Record::Gone(second), vec![TextId::Diff(DiffId(4))]),
    ] {
        assert_eq!(left.apply(record.clone()), over, "{record:?}");
    }
}
