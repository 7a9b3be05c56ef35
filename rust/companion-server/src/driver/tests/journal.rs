//! Tests records that wait for a disk that does not answer.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use companion_core::calls::{Attempt, CallId, CallOrigin};
use companion_core::companion::{Action, Companion, Input, Now, Output, Outputs};
use companion_core::diffs::{Accepted, DiffId, Proposed};
use companion_core::record::{Left, Record};
use companion_core::text::HeldBytes;
use companion_protocol::jsonrpc::Id;
use companion_protocol::settings::Settings;

use crate::config::Config;
use crate::journal::{Batch, Journal};
use crate::session::{Client, ClientTraits, SessionId};

/// Hands in an input, and queues the records. They are saved when the disk answers.
fn handle(companion: &mut Companion, journal: &mut Journal, input: Input<'_>) {
    let mut out = Outputs::new();
    companion.handle(Now::default(), input, &mut out);
    for output in out {
        if let Output::Record(record) = output {
            journal.append(record);
        }
    }
}

/// Takes all records for the disk.
fn take(journal: &mut Journal) -> Batch {
    match journal.poll_next(&Context::from_waker(Waker::noop())) {
        Poll::Ready(batch) => batch,
        Poll::Pending => Batch::default(),
    }
}

#[test]
fn a_text_waits_for_the_disk_no_longer_than_its_client_waits_for_it() {
    for is_taken in [false, true] {
        for is_gone in [false, true] {
            let limits = Config::new(Settings::default()).limits.core;
            let mut companion = Companion::new(limits, DiffId(1), 1, true, Left::default());
            let (mut journal, session) = (Journal::default(), SessionId::new());
            let mut handle =
                |journal: &mut Journal, input: Input<'_>| handle(&mut companion, journal, input);
            handle(&mut journal, Input::Connected(session, Client::default()));
            let (call, id) = (CallId(1), Id::from(1));
            let from = CallOrigin { session, id: &id, sent: Attempt::OnceForAll };
            let proposed = Proposed::new("proposed", ClientTraits::default());
            let action = Action::Open { proposed, held: 0, is_editor_busy: false, is_shared: true };
            handle(&mut journal, Input::Call { call, from, path: "/a".into(), action });
            handle(&mut journal, Input::EditorDid(call, None));
            let before = if is_taken { take(&mut journal) } else { Batch::default() };
            let texts = HeldBytes::default();
            handle(
                &mut journal,
                Input::Accepted("/a", Accepted { content: texts.hold("accepted".to_owned()) }),
            );
            assert!(texts.bytes() > 0);
            handle(
                &mut journal,
                if is_gone { Input::Gone(session) } else { Input::Pong(session, DiffId(1)) },
            );
            assert_eq!(texts.bytes(), 0, "taken {is_taken}, gone {is_gone}");

            // Each record still counts, and their result is empty.
            let after = take(&mut journal);
            assert_eq!((before.count + after.count) as u64, companion.diffs().records());
            let mut left = Left::default();
            for record in [before.records, after.records].concat() {
                assert!(left.apply(record).is_empty(), "no text was to be saved");
            }
            assert_eq!(left.diffs.len(), 0);
        }
    }
}

#[test]
fn a_diff_that_is_over_has_nothing_long_that_waits_for_the_disk() {
    let (session, path) = (SessionId::new(), Arc::<str>::from("/long"));
    let mut journal = Journal::default();
    for number in 0..2 {
        let opened = Record::Opened(DiffId(number), session, Arc::clone(&path));
        journal.append(opened);
        journal.append(Record::Settled(DiffId(number)));
    }
    assert_eq!(Arc::strong_count(&path), 1);
}
