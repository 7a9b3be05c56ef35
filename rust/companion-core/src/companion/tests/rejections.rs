//! Tests which edit is denied after the user has rejected one with a reason.

use super::writes::Desk;
use crate::cli::{Caller, Connected, FileBefore};
use crate::companion::{DiskCheck, Hook, Input, Now, Output};
use crate::diffs::{Decision, EventId};
use crate::session::ClientTraits;
use crate::text::Digest;

const CLI: Caller<'_> = Caller { session: "cli", process: None, connected: Connected::Unknown };

impl Desk {
    /// The user rejects an edit of a CLI with a reason. The file still has the text before it.
    fn reject_edit(&mut self, path: &str) {
        let before = FileBefore::Text(Digest::of("text"));
        self.handle(Input::Hook(&CLI, Hook::BeforeEdit(path, before)));
        self.open(path);
        let out = self.handle(Input::RejectedWithReason(path, "no".to_owned().into()));
        let [.., Output::CheckDisk(DiskCheck::Access(diff, _))] = out[..] else {
            panic!("{out:?}")
        };
        self.handle(Input::AccessChecked(diff, None));
        self.handle(Input::Present(diff, Some("text".to_owned().into())));
    }

    fn next_decision(&mut self, stream: u64) -> Decision {
        let client = self.client;
        self.companion.next_event(Now::default(), client, stream, &mut Vec::new()).unwrap().decision
    }

    fn replace_stream(&mut self) {
        let (session, last) = (self.client, &EventId::default());
        self.handle(Input::StreamOpened { session, stream: 2, last, is_answer: false });
    }

    /// Whether the CLI may not write the text that the file had before.
    fn is_denied(&mut self, path: &str) -> bool {
        let hook = Hook::BeforeWrite(path, Some(Digest::of("text")));
        self.handle(Input::Hook(&CLI, hook)).contains(&Output::EditRejected)
    }
}

#[test]
fn an_edit_is_denied_if_its_client_got_the_text_of_the_file() {
    let mut desk = Desk::new();
    desk.reject_edit("/a");
    assert!(matches!(desk.next_decision(1), Decision::RejectedWithReason(_)));
    assert_eq!([desk.is_denied("/a"), desk.is_denied("/a")], [true, false]);
}

#[test]
fn an_edit_is_not_denied_for_one_whose_client_got_the_rejection_itself() {
    for is_sent_before in [true, false] {
        let mut desk = Desk::new();
        desk.reject_edit("/a");
        if is_sent_before {
            desk.next_decision(1);
        }
        desk.replace_stream();
        assert_eq!(desk.next_decision(2), Decision::Rejected);
        assert!(!desk.is_denied("/a"), "sent before: {is_sent_before}");
    }
}

/// A CLI that runs its hook after its diff.
#[test]
fn an_acceptance_counts_for_no_cli_once_its_client_is_gone() {
    for is_gone in [false, true] {
        let mut desk = Desk::new();
        let client = ClientTraits { replays_edits: true, ..ClientTraits::default() };
        desk.handle(Input::Connected(desk.client, client.into()));
        desk.open("/a");
        desk.accept("/a", "text");
        if is_gone {
            desk.handle(Input::Gone(desk.client));
        }
        desk.handle(Input::Hook(&CLI, Hook::BeforeWrite("/a", None)));
        assert_eq!(desk.companion.clis().knows(desk.client), !is_gone);
    }
}
