//! Tests what a companion takes over from one that has ended, without a process.

use companion_core::cli::{Caller, Connected};
use companion_core::companion::{Companion, Hook, Input, Limits, Now, Output, Outputs};
use companion_core::diffs::DiffId;
use companion_core::notes::{Note, NoteId};
use companion_core::record::{DeliveredComment, DeliveredNotes, Left, RecognizedCli, Record};
use companion_core::session::{Client, SessionId};
use companion_protocol::editor::{CommentOnLines, CompanionNotification};

fn comment(id: &str, text: &str) -> CommentOnLines {
    CommentOnLines {
        id: id.into(),
        path: "/1".into(),
        line: 1,
        end_line: 1,
        content: "".into(),
        text: text.into(),
    }
}

/// An editor starts its companion again after another one has taken over its comments. Then that ends.
#[test]
fn a_comment_that_comes_back_from_another_companion_is_delivered_once() {
    let mut companion = Companion::new(Limits::default(), DiffId(1), 1, true, Left::default());
    let now = Now { elapsed: 10_000, date: 10_000 };
    let handle = |companion: &mut Companion, input: Input<'_>| {
        let mut out = Outputs::new();
        companion.handle(now, input, &mut out);
        out
    };
    let x = Caller { session: "x", process: None, connected: Connected::Unknown };
    let prompt = Hook::BeforeAgent { ends_cancelled_turns: true };
    let texts_of_prompt = |companion: &mut Companion, now: Now| {
        let mut out = Outputs::new();
        companion.handle(now, Input::Hook(&x, prompt), &mut out);
        let Some(Output::Due(due)) = out.pop() else { return Vec::new() };
        companion.handle(now, Input::Deliver(&x, &due), &mut out);
        let Some(Output::Deliver(delivery)) = out.pop() else { panic!("{out:?}") };
        companion.handle(now, Input::Confirm(delivery.number), &mut out);
        delivery.comments().map(|comment| comment.text.to_string()).collect()
    };

    handle(&mut companion, Input::Comment(comment("delivered", "one"), None));
    assert_eq!(texts_of_prompt(&mut companion, now), ["one"]);
    handle(&mut companion, Input::Comment(comment("waits", "changed"), None));
    handle(&mut companion, Input::Comment(comment("taken", "four"), None));
    let mut left = Left::default();
    let taken = vec![DeliveredComment::from(&comment("taken", "four"))];
    left.apply(Record::Delivered(DeliveredNotes { number: 9, notes: vec![], comments: taken }));
    for (number, comment) in
        [comment("delivered", "one"), comment("waits", "two"), comment("other", "three")]
            .into_iter()
            .enumerate()
    {
        left.apply(Record::Note(NoteId(number as u64), Note::Comment(comment)));
    }
    let adopted = handle(&mut companion, Input::Adopted(left));
    let is_delivered = |output: &Output| {
        matches!(output, Output::Notification(CompanionNotification::CommentsDelivered(_)))
    };
    assert_eq!(adopted.iter().filter(|output| is_delivered(output)).count(), 1, "{adopted:?}");
    let later = Now { elapsed: 20_000, ..now };
    assert_eq!(texts_of_prompt(&mut companion, later), ["changed", "three"]);
}

/// The model of the other companion's CLI got the comment, and has forgotten it with its turn.
#[test]
fn a_comment_that_waits_again_in_another_companion_still_waits() {
    let mut companion = Companion::new(Limits::default(), DiffId(1), 1, true, Left::default());
    let mut out = Outputs::new();
    companion.handle(Now::default(), Input::Comment(comment("1", "one"), None), &mut out);
    let mut left = Left::default();
    let comments = vec![DeliveredComment::from(&comment("1", "one"))];
    left.apply(Record::Delivered(DeliveredNotes { number: 9, notes: vec![], comments }));
    left.apply(Record::Note(NoteId(1), Note::Comment(comment("1", "one"))));
    companion.handle(Now::default(), Input::Adopted(left), &mut out);
    let waiting: Vec<_> = companion.notes().comments().map(|comment| &*comment.text).collect();
    assert_eq!(waiting, ["one"]);
}

fn recognized(left: &mut Left, cli: &str, process: &str) -> SessionId {
    let session = SessionId::new();
    left.apply(Record::Session(session, Client::default()));
    let cli = RecognizedCli { session: cli.into(), process: process.into() };
    left.apply(Record::Cli(session, cli));
    session
}

/// `--resume` runs a session in a second process.
#[test]
fn both_processes_of_a_session_are_known_after_a_restart() {
    let mut left = Left::default();
    let sessions = ["1", "2"].map(|process| recognized(&mut left, "x", process));
    let companion = Companion::new(Limits::default(), DiffId(1), 1, true, left);
    assert_eq!(sessions.map(|session| companion.clis().knows(session)), [true, true]);
}

#[test]
fn a_cli_with_another_session_than_in_its_companion_is_known_by_its_process() {
    let mut companion = Companion::new(Limits::default(), DiffId(1), 1, true, Left::default());
    let cleared = Caller { session: "y", process: Some("1"), connected: Connected::No };
    let started = Input::Hook(&cleared, Hook::SessionStart { is_new: true });
    companion.handle(Now::default(), started, &mut Outputs::new());
    let mut left = Left::default();
    let session = recognized(&mut left, "x", "1");
    companion.handle(Now::default(), Input::Adopted(left), &mut Outputs::new());
    assert_eq!(companion.clis().connection(&cleared), Some(session));
}
