//! What waits for a disk that does not answer.

use std::sync::Arc;

use crate::diffs::{DiffId, Journal, Left, Record};
use crate::session::SessionId;

#[tokio::test]
async fn a_text_waits_for_the_disk_no_longer_than_its_client_waits_for_it() {
    let journal = Journal::new();
    let [client, gone] = [SessionId::new(), SessionId::new()];
    let texts = [(1, client), (2, gone), (3, client)].map(|(number, session)| {
        let (diff, text) = (DiffId(number), Arc::new(number.to_string()));
        let opened = Record::Opened(diff, session, "/a".into());
        let accepted = Record::Accepted(diff, Arc::clone(&text));
        journal.append([Record::Session(session), opened, accepted].into_iter());
        text
    });
    journal.append([Record::Settled(DiffId(1)), Record::Gone(gone)].into_iter());
    assert_eq!(texts.map(|text| Arc::strong_count(&text)), [1, 1, 2]);

    // Each record still counts, and they come to the same.
    let batch = journal.next().await;
    assert_eq!(batch.records.len(), 11);
    let mut left = Left::default();
    for record in batch.records {
        left.apply(record);
    }
    assert_eq!(left.sessions, [client].into());
    assert_eq!(left.diffs.into_keys().collect::<Vec<_>>(), [DiffId(3)]);
}
