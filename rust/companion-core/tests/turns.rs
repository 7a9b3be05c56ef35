//! Tests which notes wait again because a model has forgotten them, without a process.

use companion_core::cli::Caller;
use companion_core::text::Digest;

use crate::cast::{Cast, cli, connected, of_process};

/// The answer of a model that was cancelled before it has said anything.
const NO_ANSWER: &str = "[no response text]";

#[test]
fn a_note_that_a_model_forgets_with_its_turn_waits_again() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.edit(&x, a, "/1");
    cast.reject(a, "/1");
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt(&x), ["/1", "one"]);
    assert_eq!(cast.end(&x, NO_ANSWER), [""; 0], "a cancelled turn does not go on");
    assert_eq!(cast.prompt(&x), ["/1", "one"]);
    cast.comment("2", 1, "two");
    assert_eq!(cast.end(&x, "Done."), ["two"]);
    assert_eq!(cast.prompt(&x), [""; 0], "the turn goes on with that comment");
    // The model has not answered that.
    let answer = Some(Digest::of("Done."));
    assert_eq!(cast.conversation.turn_ended(&x, answer).len(), 3);
    assert_eq!(cast.prompt(&x), ["/1", "one", "two"]);
    assert_eq!(cast.end(&x, "Done."), [""; 0], "it is the answer to another prompt");
    assert_eq!(cast.prompt(&x), [""; 0]);
}

#[test]
fn a_note_that_a_model_forgets_waits_again_after_any_number_of_short_runs() {
    let mut cast = Cast::new();
    // The companion was restarted after the prompt.
    cast.comment("1", 1, "one");
    assert_eq!(cast.result(&cli("x"), "/2"), ["one"]);
    cast.comment("2", 1, "two");
    assert_eq!(cast.prompt(&cli("y")), ["two"]);
    for number in 0..200 {
        let run = format!("run {number}");
        cast.prompt(&cli(&run));
        cast.end(&cli(&run), "Done.");
    }
    for (caller, note) in [(cli("x"), "one"), (cli("y"), "two")] {
        cast.end(&caller, NO_ANSWER);
        assert_eq!(cast.prompt(&caller), [note]);
    }
}

#[test]
fn a_comment_that_a_model_forgets_waits_only_as_its_user_has_left_it() {
    let mut cast = Cast::new();
    let x = cli("x");
    for id in ["removed", "changed", "kept"] {
        cast.comment(id, 1, id);
    }
    cast.prompt(&x);
    cast.conversation.remove_comment("removed");
    cast.comment("changed", 1, "other words");
    cast.end(&x, NO_ANSWER);
    assert_eq!(cast.prompt(&x), ["kept", "other words"]);
}

#[test]
fn a_revert_that_a_model_forgets_does_not_wait_again_once_it_is_undone() {
    let mut cast = Cast::new();
    let x = cli("x");
    cast.conversation.reverted("x".into(), vec!["/1".into(), "/2".into()], false, 1);
    assert_eq!(cast.prompt(&x), ["reverted /1 /2"]);
    cast.conversation.revert_undone("x", "/1");
    cast.end(&x, NO_ANSWER);
    assert_eq!(cast.prompt(&x), ["reverted /2"]);
}

#[test]
fn a_turn_whose_answer_is_not_known_forgets_nothing() {
    let mut cast = Cast::new();
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt(&cli("x")), ["one"]);
    assert_eq!(cast.conversation.turn_ended(&cli("x"), None), []);
    assert_eq!(cast.conversation.turn_ended(&cli("y"), Some(Digest::of(NO_ANSWER))), []);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
}

/// The user has installed the extension twice.
#[test]
fn a_turn_whose_hook_at_the_end_runs_twice_forgets_nothing() {
    let mut cast = Cast::new();
    let x = cli("x");
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt(&x), ["one"]);
    cast.comment("2", 1, "two");
    assert_eq!(cast.end(&x, "Done."), ["two"]);
    assert_eq!(cast.end(&x, "Done."), [""; 0]);
    assert_eq!(cast.prompt(&x), [""; 0]);
    assert_eq!([cast.end(&x, "Done, too."), cast.end(&x, "Done, too.")], [[""; 0]; 2]);
    assert_eq!(cast.prompt(&x), [""; 0]);
}

#[test]
fn after_a_rejected_edit_the_model_has_forgotten_the_last_message() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.comment("1", 1, "with the prompt");
    assert_eq!(cast.prompt(&x), ["with the prompt"]);
    cast.comment("2", 1, "with the result");
    assert_eq!(cast.result(&x, "/2"), ["with the result"]);
    cast.edit(&x, a, "/1");
    assert_eq!(cast.prompt(&x), ["with the result"]);
    // The user has accepted the edit: the tool ends.
    cast.edit(&x, a, "/1");
    assert_eq!(cast.result(&x, "/1"), [""; 0]);
    assert_eq!(cast.prompt(&x), [""; 0]);
}

#[test]
fn results_whose_hooks_run_at_the_same_time_are_one_message() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.prompt(&x);
    cast.comment("1", 1, "with the first result");
    let (_, due) = cast.conversation.due_after_tool(&x, "/1", cast.now, |_, _| false);
    let delivery = cast.conversation.deliver(&cli("x"), &due).unwrap();
    assert_eq!(cast.result(&x, "/2"), [""; 0]);
    cast.conversation.confirm(delivery.number);
    cast.edit(&x, a, "/1");
    assert_eq!(cast.prompt(&x), ["with the first result"]);
}

#[test]
fn a_model_forgets_what_its_turn_goes_on_with_and_the_message_before() {
    let x = cli("x");
    let going_on = |messages: fn(&mut Cast, &Caller<'_>)| {
        let mut cast = Cast::new();
        cast.prompt(&cli("x"));
        messages(&mut cast, &cli("x"));
        cast.comment("2", 1, "two");
        assert_eq!(cast.end(&cli("x"), "Done."), ["two"]);
        assert_eq!(cast.prompt(&cli("x")), [""; 0], "the turn goes on with that comment");
        cast
    };
    let of_prompt = |cast: &mut Cast, x: &Caller<'_>| {
        cast.comment("1", 1, "one");
        assert_eq!(cast.prompt(x), ["one"]);
    };
    let mut cast = going_on(of_prompt);
    cast.conversation.tool_begun(&x);
    assert_eq!(cast.prompt(&x), ["one", "two"], "the user has rejected the tool");
    let mut cast = going_on(of_prompt);
    assert_eq!(cast.end(&x, "Done."), [""; 0]);
    assert_eq!(cast.prompt(&x), ["one", "two"], "the user has cancelled the turn");
    let mut cast = going_on(|cast, x| {
        cast.comment("1", 1, "one");
        assert_eq!(cast.prompt(x), ["one"]);
        assert_eq!(cast.result(x, "/1"), [""; 0]);
    });
    cast.conversation.tool_begun(&x);
    assert_eq!(cast.prompt(&x), ["two"], "the results of a tool were the message before");
}

#[test]
fn a_cli_keeps_only_the_first_prompt_of_a_new_session() {
    let x = cli("x");
    for (is_new, expected) in [(true, vec![]), (false, vec!["one"])] {
        let mut cast = Cast::new();
        cast.conversation.session_started(&x, is_new);
        cast.comment("1", 1, "one");
        assert_eq!(cast.prompt(&x), ["one"]);
        cast.conversation.tool_begun(&x);
        assert_eq!(cast.prompt(&x), expected);
    }
}

#[test]
fn after_a_denied_command_the_model_has_forgotten_the_last_message() {
    let mut cast = Cast::new();
    let x = cli("x");
    cast.prompt(&x);
    cast.end(&x, "Done.");
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt(&x), ["one"]);
    cast.conversation.tool_begun(&x);
    assert_eq!(cast.prompt(&x), ["one"]);
    cast.conversation.tool_begun(&x);
    assert_eq!(cast.end(&x, "It ran."), [""; 0]);
    assert_eq!(cast.prompt(&x), [""; 0], "the turn went on");
}

/// Qwen Code takes a prompt that has no answer out of the history, and runs no hook then.
#[test]
fn a_note_of_a_prompt_that_another_one_follows_waits_again_if_the_cli_does_not_end_it() {
    let mut cast = Cast::new();
    let x = cli("x");
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt_of(&x, false), ["one"]);
    assert_eq!(cast.prompt_of(&x, false), ["one"]);
    // The model has answered: the CLI sends it the results of tools, or asks the user.
    let due = cast.conversation.due_before_results(&x, cast.now);
    assert_eq!(cast.deliver(&x, &due), [""; 0]);
    assert_eq!(cast.prompt_of(&x, false), [""; 0]);
    cast.comment("2", 1, "two");
    assert_eq!(cast.prompt_of(&x, false), ["two"]);
    cast.conversation.answered(&x);
    assert_eq!(cast.prompt_of(&x, false), [""; 0]);
    cast.comment("3", 1, "three");
    assert_eq!(cast.end(&x, "Done."), ["three"]);
    assert_eq!(cast.prompt_of(&x, false), [""; 0], "the turn goes on with that comment");
    assert_eq!(cast.prompt_of(&x, false), [""; 0], "the CLI keeps it");
}

#[test]
fn a_note_of_a_prompt_that_the_user_cancels_before_a_new_session_waits_again() {
    let mut cast = Cast::new();
    let (old, new) = (of_process("old", "1"), of_process("new", "1"));
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt_of(&old, false), ["one"]);
    cast.conversation.session_ended(&old);
    cast.conversation.session_started(&new, true);
    assert_eq!(cast.prompt_of(&new, false), ["one"]);
}

#[test]
fn a_tool_whose_model_may_be_another_one_brings_reasons_and_no_comment() {
    let mut cast = Cast::new();
    let (x, a) = (cli("x"), cast.a);
    cast.prompt_of(&x, false);
    cast.edit(&x, a, "/1");
    cast.reject(a, "/1");
    cast.comment("1", 1, "one");
    for expected in [vec!["/1"], vec![]] {
        let (_, due) = cast.conversation.reasons_after_tool(&x, "/1", cast.now, |_, _| false);
        assert_eq!(cast.deliver(&x, &due), expected);
    }
    let due = cast.conversation.due_before_results(&x, cast.now);
    assert_eq!(cast.deliver(&x, &due), ["one"]);
}

#[test]
fn of_the_texts_of_a_comment_that_a_model_forgets_only_the_newest_waits() {
    let mut cast = Cast::new();
    let (x, y) = (cli("x"), cli("y"));
    cast.prompt(&x);
    cast.comment("1", 1, "old");
    assert_eq!(cast.result(&x, "/2"), ["old"]);
    cast.comment("1", 1, "new");
    assert_eq!(cast.result(&x, "/3"), ["new"]);
    cast.end(&x, NO_ANSWER);
    assert_eq!(cast.prompt(&y), ["new"]);
    cast.comment("1", 1, "newest");
    assert_eq!(cast.prompt(&x), ["newest"]);
    cast.end(&y, NO_ANSWER);
    assert_eq!(cast.prompt(&y), [""; 0], "another model has a newer text");
}

#[test]
fn a_denied_tool_forgets_no_note_of_another_process_with_the_same_session() {
    let mut cast = Cast::new();
    let (x, y) = (connected("same", "1", cast.a), connected("same", "2", cast.b));
    for cli in [&x, &y] {
        cast.prompt(cli);
        cast.end(cli, "Done.");
    }
    cast.prompt(&y);
    cast.comment("1", 1, "one");
    assert_eq!(cast.prompt(&x), ["one"]);
    cast.conversation.tool_begun(&y);
    assert_eq!(cast.prompt(&y), [""; 0]);
    // The user denies a tool of the first one.
    cast.conversation.tool_begun(&x);
    assert_eq!(cast.prompt(&x), ["one"]);
}
