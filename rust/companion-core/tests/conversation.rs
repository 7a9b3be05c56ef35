//! Tests which CLI gets which note, without a process.

use companion_core::notes::{CommentOutcome, Confirmation, MAX_AGE};
use companion_core::text::Digest;
use companion_protocol::editor::ReasonArrival::{Never, NextPrompt, Now};

use crate::cast::{Cast, cli, connected, of_process, original, texts};

#[test]
fn each_cli_gets_its_own_reasons() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!([cast.edit(&cli("x"), a, "/1"), cast.edit(&cli("y"), b, "/1")], [Now, Now]);
    assert_eq!([cast.reject(a, "/1"), cast.reject(b, "/1")], [Some(true), Some(true)]);
    assert_eq!(cast.result(&cli("y"), "/1"), ["/1"]);
    assert_eq!(cast.prompt(&cli("y")), [""; 0]);
    assert_eq!(cast.prompt(&cli("x")), ["/1"]);
}

#[test]
fn a_comment_that_changes_takes_no_reason_back() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    cast.reject(a, "/1").unwrap();
    cast.comment("c", 1, "first");
    let (_, due) = cast.conversation.due_after_tool(&cli("x"), "/1", cast.now, |_, _| false);
    let delivery = cast.conversation.deliver(&cli("x"), &due).unwrap();
    cast.comment("c", 1, "second");
    let confirmation = cast.conversation.confirm(delivery.number);
    assert!(matches!(confirmation, Confirmation::Taken(_)), "{confirmation:?}");
    assert_eq!(texts(&due), ["/1"]);
    assert_eq!(cast.result(&cli("x"), "/1"), ["second"]);
}

#[test]
fn a_reason_follows_its_cli_to_the_next_session() {
    let mut cast = Cast::new();
    let a = cast.a;
    let (old, new) = (of_process("old", "1"), of_process("new", "1"));
    cast.edit(&old, a, "/1");
    cast.reject(a, "/1");
    cast.conversation.session_ended(&old);
    assert_eq!(cast.prompt(&of_process("other", "2")), [""; 0]);
    cast.conversation.session_started(&new, true);
    assert_eq!(cast.prompt(&new), ["/1"]);
}

#[test]
fn a_reason_in_a_session_of_two_processes_reaches_its_own() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let (x, y) = (of_process("same", "1"), of_process("same", "2"));
    assert_eq!([cast.edit(&x, a, "/1"), cast.edit(&y, b, "/1")], [Now, Now]);
    cast.reject(a, "/1");
    assert_eq!([cast.result(&y, "/1").len(), cast.prompt(&y).len()], [0, 0]);
    assert_eq!(cast.result(&x, "/1"), ["/1"]);
}

#[test]
fn a_reason_of_a_diff_that_waits_over_a_prompt_arrives() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit(&of_process("old", "1"), a, "/1");
    // `/resume` runs no hook.
    assert_eq!(cast.prompt(&of_process("new", "1")), [""; 0]);
    assert_eq!(cast.reject(a, "/1"), Some(true));
    assert_eq!(cast.result(&of_process("new", "1"), "/1"), ["/1"]);
}

#[test]
fn a_resumed_session_in_another_process_gets_its_reasons() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.edit(&of_process("x", "1"), a, "/1");
    cast.reject(a, "/1");
    let again = of_process("x", "2");
    cast.conversation.session_ended(&of_process("x", "1"));
    cast.conversation.session_started(&again, true);
    assert_eq!(cast.prompt(&again), ["/1"]);
    assert_eq!(cast.edit(&again, b, "/1"), Now);
}

#[test]
fn a_diff_without_a_hook_of_its_own_waits_for_the_prompt() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    assert_eq!(cast.open(a, "/1"), NextPrompt, "that was another edit");
    assert_eq!(cast.reject(a, "/1"), Some(false), "nobody knows the text before this one");
    assert_eq!(cast.prompt(&cli("x")), ["/1"]);
    assert_eq!(cast.open(a, "/2"), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Some(false));
    cast.conversation.clis.gone(a);
    assert_eq!(cast.open(a, "/2"), Never);
    assert_eq!(cast.prompt(&cli("x")), ["/2"], "the CLI may have connected again");
}

#[test]
fn a_cli_whose_hook_follows_the_diff_is_known_after_an_acceptance() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let text = Some(original());
    assert_eq!(cast.conversation.clis.opened_without_hook(a, "/1", text, 1), Never);
    cast.conversation.clis.accepted(&cli("x"), a, []);
    let clis = &cast.conversation.clis;
    assert!(clis.knows(a) && !clis.knows(b));
    assert_eq!(cast.conversation.clis.opened_without_hook(a, "/2", text, 1), Now);
    assert_eq!(cast.conversation.clis.opened_without_hook(a, "/3", None, 1), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Some(true));
    let other = cast.conversation.due_before_write(&cli("x"), "/2", Digest::of("other"));
    assert_eq!(other, (false, vec![]));
    let (is_denied, due) = cast.conversation.due_before_write(&cli("x"), "/2", Digest::of("sent"));
    assert_eq!((is_denied, cast.deliver(&cli("x"), &due)), (true, vec!["/2".to_owned()]));
    // The CLI begins a new session: the text that it writes shows that.
    cast.reject(a, "/3");
    let (is_denied, due) = cast.conversation.due_before_write(&cli("y"), "/3", Digest::of("sent"));
    assert_eq!((is_denied, cast.deliver(&cli("x"), &due)), (true, vec!["/3".to_owned()]));
    cast.reject(a, "/1");
    assert_eq!([cast.prompt(&cli("x")).len(), cast.prompt(&cli("y")).len()], [0, 1]);
}

#[test]
fn a_note_that_nobody_confirms_waits_again() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit(&cli("x"), a, "/1");
    cast.reject(a, "/1");
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let lost = cast.conversation.deliver(&cli("x"), &due).unwrap();
    assert_eq!(cast.prompt(&cli("x")), [""; 0], "it is under way");
    cast.conversation.notes.give_back(lost.number);
    assert_eq!(cast.conversation.confirm(lost.number), Confirmation::Refused, "it is too late");
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let delivery = cast.conversation.deliver(&cli("x"), &due).unwrap();
    assert!(matches!(cast.conversation.confirm(delivery.number), Confirmation::Taken(_)));
    assert_eq!(cast.conversation.confirm(delivery.number), Confirmation::Repeated);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
}

#[test]
fn a_comment_that_is_under_way_can_be_removed_changed_and_moved() {
    let deliver = |cast: &mut Cast| {
        let due = cast.conversation.due_before_agent(&cli("x"), cast.now);
        cast.conversation.deliver(&cli("x"), &due).unwrap().number
    };
    let mut cast = Cast::new();
    cast.comment("1", 1, "one");
    cast.comment("2", 1, "two");
    let number = deliver(&mut cast);
    assert!(cast.conversation.notes.remove_comment("1").is_some());
    assert_eq!(cast.conversation.confirm(number), Confirmation::Refused);

    let number = deliver(&mut cast);
    cast.comment("2", 1, "changed");
    assert_eq!(cast.conversation.confirm(number), Confirmation::Refused);

    let number = deliver(&mut cast);
    cast.comment("2", 9, "changed");
    assert!(matches!(cast.conversation.confirm(number), Confirmation::Taken(_)));
    assert_eq!(cast.comment("2", 10, "changed"), CommentOutcome::Delivered);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
    // The user has changed it while it was delivered.
    assert!(matches!(cast.comment("2", 10, "once more"), CommentOutcome::Waits(_)));
    assert_eq!(cast.prompt(&cli("x")), ["once more"]);
}

#[test]
fn a_revert_that_is_under_way_can_be_undone() {
    let mut cast = Cast::new();
    let paths = vec!["/1".into(), "/2".into()];
    cast.conversation.reverted("x".into(), paths, false, 1);
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let delivery = cast.conversation.deliver(&cli("x"), &due).unwrap();
    cast.conversation.revert_undone("x", "/1");
    assert_eq!(cast.conversation.confirm(delivery.number), Confirmation::Refused);
    assert_eq!(cast.prompt(&cli("x")), ["reverted /2"]);
    assert!(cast.conversation.revert_undone("x", "/2").is_empty());
}

#[test]
fn comments_of_the_last_process_wait_for_the_editor() {
    let mut last = Cast::new();
    last.comment("1", 1, "old");
    last.comment("2", 1, "removed");
    let mut cast = Cast::new();
    for (id, note) in last.conversation.due_before_agent(&cli("x"), 1) {
        cast.conversation.notes.restore(id, note, 0);
    }
    cast.now = 10;
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
    cast.comment("1", 1, "new");
    cast.conversation.notes.remove_comment("2");
    assert_eq!(cast.prompt(&cli("x")), ["new"]);
}

#[test]
fn a_reason_that_waits_for_too_long_is_dropped() {
    let mut cast = Cast::new();
    let a = cast.a;
    let age = u64::try_from(MAX_AGE.as_millis()).unwrap();
    cast.edit(&cli("x"), a, "/1");
    cast.conversation.rejected(a, "/1", "old".to_owned().into(), 5);
    cast.conversation.rejected(a, "/1", "new".to_owned().into(), 7);
    cast.comment("1", 1, "comment");
    let notes = &mut cast.conversation.notes;
    assert_eq!((notes.oldest(), notes.expire(4 + age).len()), (Some(5), 0));
    assert_eq!((notes.expire(6 + age).len(), notes.oldest()), (1, Some(7)));
    assert_eq!(cast.prompt(&cli("x")), ["new", "comment"]);
}

#[test]
fn a_revert_reaches_the_cli_that_goes_on_for_one_that_was_killed() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.conversation.session_started(&connected("other", "2", b), true);
    cast.conversation.session_started(&connected("s", "1", a), true);
    cast.conversation.clis.gone(a);
    for session in ["s", "new"] {
        cast.conversation.session_started(&connected(session, "2", b), true);
    }
    cast.conversation.reverted("s".into(), vec!["/1".into()], false, 1);
    assert_eq!(cast.prompt(&connected("new", "2", b)), ["reverted /1"]);
}

#[test]
fn a_revert_reaches_the_cli_that_has_the_session_now() {
    let mut cast = Cast::new();
    let (old, cleared) = (connected("s", "1", cast.a), connected("new", "1", cast.a));
    let resumed = connected("s", "2", cast.b);
    for caller in [&old, &cleared, &resumed] {
        cast.conversation.session_started(caller, true);
    }
    cast.conversation.reverted("s".into(), vec!["/1".into()], false, 1);
    assert_eq!(cast.prompt(&cleared), [""; 0]);
    assert_eq!(cast.prompt(&resumed), ["reverted /1"]);
}

#[test]
fn long_comments_reach_a_model_in_parts() {
    let mut cast = Cast::new();
    let long = "x".repeat(40_000);
    let texts = [long.repeat(2), "short".to_owned(), long.clone(), long];
    for (number, text) in texts.iter().enumerate() {
        cast.comment(&number.to_string(), 1, text);
    }
    let mut deliver = || {
        let due = cast.conversation.due_before_agent(&cli("x"), 1);
        let delivery = cast.conversation.deliver(&cli("x"), &due).unwrap();
        cast.conversation.confirm(delivery.number);
        delivery.comments().map(|comment| comment.id.parse().unwrap()).collect::<Vec<usize>>()
    };
    assert_eq!([deliver(), deliver(), deliver()], [vec![0], vec![1, 2], vec![3]]);
}
