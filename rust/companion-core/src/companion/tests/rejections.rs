//! Tests which edit is denied after the user has rejected one with a reason.

use super::writes::{CLIENT, Desk};
use crate::cli::{Caller, Connected, FileBefore};
use crate::companion::{DiskCheck, Hook, Input, Now, Output};
use crate::diffs::{Decision, EventId};
use crate::session::{ClientTraits, SessionId};
use crate::text::Digest;

const CLI: Caller<'_> = Caller { session: "cli", process: None, connected: Connected::Unknown };

impl Desk {
    /// The user rejects an edit of a CLI with a reason. The file still has the text before it.
    fn reject_edit(&mut self, path: &str) {
        let before = FileBefore::Text(Digest::of("text"));
        self.handle(Input::Hook(&CLI, Hook::BeforeEdit(path, before)));
        self.reject_with_reason(path, Some("text"));
    }

    /// The user rejects a proposal with a reason. The client may get `present`, the text of the file.
    fn reject_with_reason(&mut self, path: &str, present: Option<&str>) {
        self.open(path);
        let out = self.handle(Input::RejectedWithReason(path, "no".to_owned().into()));
        let [.., Output::CheckDisk(DiskCheck::Access(diff, _))] = out[..] else {
            panic!("{out:?}")
        };
        self.handle(Input::AccessChecked(diff, None));
        self.handle(Input::Present(diff, present.map(|text| text.to_owned().into())));
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

impl Desk {
    /// Connects a client.
    fn connect_client(&mut self, session: SessionId, client: ClientTraits) {
        self.handle(Input::Connected(session, client.into()));
        let (stream, last) = (1, &EventId::default());
        self.handle(Input::StreamOpened { session, stream, last, is_answer: false });
    }

    /// The user accepts a diff of the first client, and a CLI writes a text to the same file.
    fn write_after_acceptance(&mut self, caller: &Caller<'_>, text: &str) {
        self.open("/a");
        self.accept("/a", "text");
        self.handle(Input::Hook(caller, Hook::BeforeWrite("/a", Some(Digest::of(text)))));
    }
}

/// Two CLIs run their hooks after their diffs, and the ports of their connections are not known.
#[test]
fn an_acceptance_counts_for_no_other_cli_that_writes_to_the_same_file() {
    let client = ClientTraits { replays_edits: true, ..ClientTraits::default() };
    let process = |session, process| Caller { session, process, ..CLI };
    for [x, y] in [[None, None], [Some("1"), Some("2")]] {
        let (x, y) = (process("x", x), process("y", y));
        let mut desk = Desk::new();
        let (of_x, of_y) = (desk.client, SessionId::new());
        desk.handle(Input::Connected(of_x, client.into()));
        desk.connect_client(of_y, client);
        desk.write_after_acceptance(&y, "other");
        assert_eq!(desk.companion.clis().connections(), [], "it may be the one of either");
        desk.write_after_acceptance(&x, "text");
        assert_eq!(desk.companion.clis().connection(&x), Some(of_x));

        // The second CLI has its own connection.
        desk.client = of_y;
        desk.write_after_acceptance(&y, "other");
        desk.client = of_x;
        desk.write_after_acceptance(&y, "text");
        let clis = desk.companion.clis();
        assert_eq!([&x, &y].map(|cli| clis.connection(cli)), [Some(of_x), Some(of_y)]);
    }
    let [x, y] = [Some("1"), Some("2")].map(|of| process("same", of));
    let mut desk = Desk::new();
    desk.handle(Input::Connected(desk.client, client.into()));
    for cli in [&x, &y] {
        desk.write_after_acceptance(cli, "text");
    }
    assert_eq!(desk.companion.clis().connection(&x), Some(desk.client), "it still runs");
}

/// The client gets the rejection, so no hook of the edit follows.
#[test]
fn a_reason_does_not_leave_with_the_edit_of_a_subagent() {
    let mut desk = Desk::new();
    let client = ClientTraits { replays_edits: true, ..ClientTraits::default() };
    desk.handle(Input::Connected(desk.client, client.into()));
    desk.write_after_acceptance(&CLI, "text");
    desk.reject_with_reason("/a", None);
    assert_eq!(desk.next_decision(1), Decision::Rejected);
    assert_eq!(desk.handle(Input::Hook(&CLI, Hook::ToolEnded("/a"))), []);
    let out = desk.handle(Input::Hook(&CLI, Hook::BeforeResults));
    assert!(matches!(out[..], [Output::Due(_)]), "{out:?}");
}

#[test]
fn a_cli_that_goes_on_for_a_killed_one_gets_its_reason_with_the_next_prompt() {
    for is_killed in [true, false] {
        let mut desk = Desk::new();
        let (client, next) = (desk.client, SessionId::new());
        let connected = Connected::To(vec![client]);
        let cli = Caller { process: Some("1"), connected, ..CLI };
        desk.handle(Input::Hook(&cli, Hook::SessionStart { is_new: true }));
        desk.reject_with_reason("/a", None);
        if is_killed {
            desk.handle(Input::StreamClosed(client, 1));
        }
        desk.connect_client(next, CLIENT);
        let connected = Connected::To(vec![next]);
        let resumed = Caller { process: Some("2"), connected, ..CLI };
        desk.handle(Input::Hook(&resumed, Hook::SessionStart { is_new: false }));
        let prompt = Hook::BeforeAgent { ends_cancelled_turns: true };
        let out = desk.handle(Input::Hook(&resumed, prompt));
        assert_eq!(matches!(out[..], [Output::Due(_)]), is_killed, "{out:?}");
    }
}
