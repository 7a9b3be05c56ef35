//! Tests which hooks, sessions and connections belong to the same CLI, without a process.

use companion_core::cli::{Caller, Connected, FileBefore};
use companion_core::session::SessionId;
use companion_protocol::editor::ReasonArrival::{Never, NextPrompt, Now};

use crate::cast::{Cast, cli, connected, of_process, original};

#[test]
fn an_edit_that_two_clis_have_begun_belongs_to_none() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.begin(&cli("x"), "/1");
    cast.begin(&cli("y"), "/1");
    assert_eq!([cast.open(a, "/1"), cast.open(b, "/1")], [Never, Never]);
    assert_eq!(cast.reject(a, "/1"), None);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
    // Once they are known, they are distinguished.
    assert_eq!([cast.edit(&cli("x"), a, "/2"), cast.edit(&cli("y"), b, "/3")], [Now, Now]);
    cast.begin(&cli("x"), "/1");
    cast.begin(&cli("y"), "/1");
    assert_eq!([cast.open(a, "/1"), cast.open(b, "/1")], [Now, Now]);
}

#[test]
fn connections_of_a_process_decide_between_two_clis() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let x = connected("x", "1", a);
    let y = connected("y", "2", b);
    let stranger = Caller { session: "z", process: Some("3"), connected: Connected::No };
    cast.begin(&x, "/1");
    cast.begin(&y, "/1");
    cast.begin(&stranger, "/1");
    assert_eq!([cast.open(b, "/1"), cast.open(a, "/1")], [Now, Now]);
    cast.reject(a, "/1");
    assert_eq!([cast.prompt(&y).len(), cast.prompt(&stranger).len()], [0, 0]);
    assert_eq!(cast.prompt(&x), ["/1"]);
}

#[test]
fn a_cli_without_hooks_is_not_taken_for_another_one() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    // The other one is connected elsewhere.
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    cast.begin(&cli("x"), "/2");
    assert_eq!(cast.open(b, "/2"), Never);
    // The other one is not connected.
    let y = Caller { session: "y", process: Some("2"), connected: Connected::No };
    cast.begin(&y, "/3");
    assert_eq!(cast.open(b, "/3"), Never);
    // The edit of the other one was cancelled long ago.
    cast.begin(&cli("z"), "/4");
    cast.now += 60_000;
    assert_eq!(cast.open(b, "/4"), Never);
    assert_eq!(cast.reject(b, "/4"), None);
}

#[test]
fn a_diff_that_two_unknown_clients_may_have_opened_belongs_to_none() {
    let mut cast = Cast::new();
    let both @ [a, b] = [cast.a, cast.b];
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(b, "/1", &both), Never);
    assert_eq!(cast.reject(b, "/1"), None);
    // The hook after an edit that was not accepted shows nothing.
    cast.result(&of_process("x", "1"), "/1");
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(a, "/1", &both), Never);
    cast.accept(b, "/1");
    cast.accept(a, "/2");
    cast.result(&of_process("x", "1"), "/1");
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(a, "/1", &both), Never);
    // The hook after the edit of this diff got lost.
    cast.accept(a, "/1");
    cast.now += 60_000;
    cast.result(&of_process("x", "1"), "/1");
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(a, "/1", &both), Never);
    cast.accept(a, "/1");
    cast.result(&of_process("x", "1"), "/1");
    // By now the first one is known, and so the second one is the only unknown one.
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(b, "/1", &both), Never);
    assert_eq!(cast.open_beside(a, "/1", &both), Now);
    cast.begin(&of_process("y", "2"), "/2");
    assert_eq!(cast.open_beside(b, "/2", &both), Now);
}

#[test]
fn a_bridge_belongs_to_the_process_that_has_started_it() {
    let mut cast = Cast::new();
    let both @ [a, b] = [cast.a, cast.b];
    let started = |process: &str| vec![process.into(), "terminal".into()];
    let (x, y) = (of_process("x", "1"), of_process("y", "2"));
    // Before the first hook, and after it.
    cast.conversation.clis.bridged(a, started("1"));
    cast.begin(&x, "/1");
    cast.begin(&y, "/1");
    cast.conversation.clis.bridged(b, started("2"));
    assert_eq!(cast.open_beside(b, "/1", &both), Now);
    assert_eq!(cast.open_beside(b, "/1", &both), NextPrompt);
    assert_eq!(cast.open_beside(a, "/1", &both), Now);
    // A diff whose own hook does not arrive.
    cast.begin(&x, "/2");
    assert_eq!(cast.open_beside(b, "/2", &both), NextPrompt);
    let third = SessionId::new();
    assert_eq!(cast.open_beside(third, "/2", &[a, b, third]), Never);
    cast.conversation.clis.bridged(third, started("3"));
    cast.begin(&of_process("z", "4"), "/3");
    assert_eq!(cast.open_beside(third, "/3", &[a, b, third]), Never);
}

#[test]
fn a_bridge_that_another_program_starts_is_matched_by_its_diff() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let through = |process: &str| vec!["npx".into(), process.into()];
    cast.conversation.clis.bridged(a, through("1"));
    cast.conversation.clis.bridged(b, through("2"));
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(b, "/1", &[a, b]), Never);
    assert_eq!(cast.open_beside(a, "/1", &[a, b]), Now);
}

#[test]
fn after_clear_the_newest_edit_of_the_process_counts() {
    let mut cast = Cast::new();
    let a = cast.a;
    let (old, new) = (of_process("old", "1"), of_process("new", "1"));
    assert_eq!(cast.edit(&old, a, "/1"), Now);
    cast.result(&old, "/1");
    // The hook after this edit gets lost.
    cast.begin(&old, "/1");
    cast.conversation.session_ended(&old);
    cast.conversation.session_started(&new, true);
    assert_eq!(cast.edit(&new, a, "/1"), Now);
    cast.reject(a, "/1");
    assert_eq!(cast.result(&new, "/1"), ["/1"]);
}

#[test]
fn every_session_of_a_connected_process_can_be_reviewed() {
    let mut cast = Cast::new();
    let a = cast.a;
    let connected =
        |cast: &Cast, caller: &Caller<'_>| cast.conversation.clis.is_connected(caller, &[a]);
    let unknown = of_process("other", "2");
    assert!(connected(&cast, &unknown), "it may be the one that is connected");
    cast.edit(&of_process("old", "1"), a, "/1");
    // `/resume` runs no hook.
    assert!(connected(&cast, &of_process("new", "1")));
    assert!(!connected(&cast, &unknown));
    let elsewhere = Caller { connected: Connected::No, ..of_process("third", "3") };
    assert!(!connected(&cast, &elsewhere));
}

#[test]
fn a_path_that_the_client_corrects_belongs_to_its_edit() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.conversation.before_edit(&cli("x"), "/p/foo.txt", FileBefore::Absent, 1);
    let opened = cast.conversation.clis.opened(a, "/p/src/foo.txt", [], 2);
    assert!(opened.needs_original);
    let clis = &mut cast.conversation.clis;
    assert_eq!(clis.original_read(a, "/p/src/foo.txt", Some(original())), Now);
    assert_eq!(cast.reject(a, "/p/src/foo.txt"), Some(true));
    // The result of an edit that failed names the file as the model did.
    assert_eq!(cast.result(&cli("x"), "/p/foo.txt"), ["/p/src/foo.txt"]);
    cast.conversation.before_edit(&cli("x"), "/p/@src/new.txt", FileBefore::Absent, 3);
    assert_eq!(cast.conversation.clis.opened(a, "/p/src/new.txt", [], 4).arrival, NextPrompt);
    cast.begin(&cli("y"), "/p/there.txt");
    assert_eq!(cast.open(cast.b, "/p/src/there.txt"), Never, "the file is there");
}

#[test]
fn a_cli_with_an_open_diff_outlives_any_number_of_short_runs() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    for number in 0..200 {
        cast.prompt(&cli(&format!("run {number}")));
    }
    assert_eq!(cast.reject(a, "/1"), Some(true));
    assert_eq!(cast.prompt(&cli("x")), ["/1"]);
}

#[test]
fn an_open_diff_outlives_any_number_of_edits_without_an_end() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    for number in 0..1000 {
        cast.begin(&cli("x"), &format!("/{number}{}", "/long".repeat(100)));
    }
    let memory = format!("{:?}", cast.conversation.clis).len();
    assert!(memory < 100_000, "{memory}");
    assert_eq!(cast.reject(a, "/1"), Some(true));
}

#[test]
fn the_word_of_a_bridge_does_not_count_against_the_connections_of_a_process() {
    let mut cast = Cast::new();
    let both @ [a, b] = [cast.a, cast.b];
    let x = connected("x", "1", a);
    cast.begin(&x, "/1");
    cast.conversation.clis.bridged(b, vec!["1".into()]);
    assert_eq!(cast.open_beside(b, "/1", &both), Never);
    assert_eq!(cast.open_beside(a, "/1", &both), Now);
}

#[test]
fn the_diff_of_a_client_that_is_gone_recognizes_no_cli() {
    let mut cast = Cast::new();
    let (a, both) = (cast.a, [cast.a, cast.b]);
    let x = of_process("x", "1");
    cast.begin(&x, "/1");
    assert_eq!(cast.open_beside(a, "/1", &both), Never);
    cast.accept(a, "/1");
    cast.conversation.clis.gone(a);
    cast.result(&x, "/1");
    assert!(!cast.conversation.clis.knows(a));
}
