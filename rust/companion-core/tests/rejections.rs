//! Tests which edit is denied after the user has rejected one with a reason.

use companion_core::cli::Caller;
use companion_core::conversation::Due;
use companion_core::diffs::DiffId;
use companion_core::notes::{Note, NoteId};
use companion_core::text::Digest;
use companion_protocol::editor::ReasonArrival::{NextPrompt, Now};

use crate::cast::{Cast, cli, of_process, original};

/// A CLI is about to write the text that it got in place of the rejection.
fn write(cast: &mut Cast, caller: &Caller<'_>, path: &str) -> (bool, Due) {
    cast.conversation.due_before_write(caller, path, Digest::of("sent"))
}

#[test]
fn an_edit_is_denied_without_its_reason_too() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit(&cli("x"), a, "/1");
    let (reason, _) = cast.conversation.rejected(a, "/1", "no".to_owned().into(), 1).unwrap();
    cast.conversation.clis.decision_sent(a, "/1", DiffId(1), Some(Digest::of("sent")));
    cast.conversation.notes.remove(reason);
    assert_eq!(write(&mut cast, &cli("x"), "/1"), (true, vec![]));
    assert_eq!(write(&mut cast, &cli("x"), "/1"), (false, vec![]), "it has ended");
}

#[test]
fn no_edit_is_denied_for_one_of_an_earlier_turn() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.edit(&x, a, "/1");
    cast.reject(a, "/1");
    // The user cancels the turn before the hook of the edit.
    assert_eq!(cast.prompt(&x), ["/1"]);
    assert_eq!(write(&mut cast, &x, "/1"), (false, vec![]));
    assert_eq!(cast.conversation.due_after_tool(&x, "/1", cast.now, |_, _| false), (false, vec![]));
}

#[test]
fn a_rejected_edit_is_denied_although_another_one_of_its_file_has_begun() {
    for is_shown in [true, false] {
        let mut cast = Cast::new();
        let (x, a) = (cli("x"), cast.a);
        cast.edit(&x, a, "/1");
        cast.reject(a, "/1");
        cast.conversation.notes.remove(NoteId(1));
        // A subagent edits the file, too.
        cast.begin(&x, "/1");
        if is_shown {
            cast.open(a, "/1");
        }
        assert!(cast.conversation.due_after_tool(&x, "/1", cast.now, |_, _| is_shown).0);
    }
}

/// Two subagents begin their edits of one file before the client opens the first diff.
#[test]
fn each_of_two_edits_of_a_file_that_have_begun_is_known() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.begin(&x, "/1");
    assert_eq!(cast.edit(&x, a, "/1"), Now);
    cast.accept(a, "/1");
    assert_eq!(cast.result(&x, "/1"), [""; 0]);
    assert_eq!(cast.open(a, "/1"), Now);
    cast.reject(a, "/1");
    assert_eq!(cast.result(&x, "/1"), ["/1"]);
}

#[test]
fn each_of_two_rejected_edits_of_a_file_is_denied_with_its_own_reason() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    let reasons = ["first", "second"].map(|text| {
        cast.edit(&x, a, "/1");
        let (reason, _) = cast.conversation.rejected(a, "/1", text.to_owned().into(), 1).unwrap();
        cast.conversation.clis.decision_sent(a, "/1", DiffId(reason.0), Some(Digest::of("sent")));
        reason
    });
    for reason in reasons {
        let (is_denied, due) = cast.conversation.due_after_tool(&x, "/1", cast.now, |_, _| false);
        assert_eq!((is_denied, &*due), (true, &[(reason, due[0].1.clone())][..]));
        cast.deliver(&x, &due);
    }
}

#[test]
fn two_processes_of_a_session_get_their_own_reasons_of_a_file() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let (x, y) = (of_process("same", "1"), of_process("same", "2"));
    assert_eq!([cast.edit(&x, a, "/1"), cast.edit(&y, b, "/1")], [Now, Now]);
    cast.reject(a, "/1");
    cast.reject(b, "/1");
    for caller in [y, x] {
        let (is_denied, due) = write(&mut cast, &caller, "/1");
        let [(_, Note::Reason(reason))] = &due[..] else { panic!("{due:?}") };
        assert_eq!((is_denied, reason.process.as_deref()), (true, caller.process));
        cast.deliver(&caller, &due);
    }
}

#[test]
fn a_rejected_edit_of_a_client_that_is_gone_connects_no_cli_to_it() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.conversation.clis.accepted(&x, a, []);
    assert_eq!(cast.conversation.clis.opened_without_hook(a, "/1", Some(original()), 1), Now);
    cast.reject(a, "/1");
    cast.conversation.clis.gone(a);
    assert!(write(&mut cast, &x, "/1").0);
    assert!(!cast.conversation.clis.knows(a));
}

#[test]
fn a_reason_leaves_with_another_edit_of_its_file_only_after_a_restart() {
    let mut cast = Cast::new();
    let (x, a) = (of_process("x", "1"), cast.a);
    cast.edit(&x, a, "/1");
    cast.result(&x, "/1");
    assert_eq!(cast.open(a, "/1"), NextPrompt);
    cast.reject(a, "/1");
    assert_eq!(cast.result(&x, "/1"), [""; 0], "it is the edit of a subagent");
    let mut next = Cast::new();
    for (id, note) in cast.conversation.due_before_agent(&x, 1) {
        next.conversation.notes.restore(id, note, 0);
    }
    assert_eq!(next.result(&x, "/1"), ["/1"], "its edit may have begun before");
    assert_eq!(cast.prompt(&x), ["/1"]);
}
