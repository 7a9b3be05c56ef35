//! Tests which CLI gets which note, without a process.

use companion_core::cli::{Caller, Connected};
use companion_core::conversation::{Conversation, Due, Rejection};
use companion_core::notes::{Comment, CommentOutcome, Confirmation, MAX_AGE, MAX_REASONS, Note};
use companion_core::session::SessionId;
use companion_core::text::Digest;
use companion_protocol::editor::ReasonArrival::{self, Never, NextPrompt, Now};

/// Some CLIs. The text of each reason is the path of its file.
struct Cast {
    conversation: Conversation,
    /// Milliseconds.
    now: u64,
    a: SessionId,
    b: SessionId,
}

fn cli(session: &str) -> Caller<'_> {
    Caller { session, process: None, connected: Connected::Unknown }
}

fn of_process<'a>(session: &'a str, process: &'a str) -> Caller<'a> {
    Caller { session, process: Some(process), connected: Connected::Unknown }
}

fn original() -> Digest {
    Digest::of("text")
}

impl Cast {
    fn new() -> Self {
        let (a, b) = (SessionId::new(), SessionId::new());
        Self { conversation: Conversation::new(7), now: 0, a, b }
    }

    fn begin(&mut self, caller: &Caller<'_>, path: &str) {
        self.now += 1;
        self.conversation.before_edit(caller, path, Some(original()), self.now);
    }

    fn open(&mut self, session: SessionId, path: &str) -> ReasonArrival {
        self.open_beside(session, path, &[])
    }

    /// A client opens a diff while these clients are connected.
    fn open_beside(
        &mut self,
        session: SessionId,
        path: &str,
        connected: &[SessionId],
    ) -> ReasonArrival {
        self.now += 1;
        self.conversation.opened(session, path, connected, self.now).arrival
    }

    /// A CLI begins an edit of a file, and the client opens its diff.
    fn edit(&mut self, caller: &Caller<'_>, session: SessionId, path: &str) -> ReasonArrival {
        self.begin(caller, path);
        self.open(session, path)
    }

    fn reject(&mut self, session: SessionId, path: &str) -> Option<Rejection> {
        let rejected = self.conversation.rejected(session, path, path.to_owned().into(), 1)?;
        self.conversation.notes_mut().set_sent(rejected.note, Digest::of("sent"));
        Some(rejected.rejection)
    }

    fn deliver(&mut self, due: &Due) -> Vec<String> {
        let Some(delivery) = self.conversation.deliver(due) else { return Vec::new() };
        let texts = texts(due);
        assert!(matches!(self.conversation.confirm(delivery.number), Confirmation::Taken(_)));
        texts
    }

    /// What the model gets with a prompt.
    fn prompt(&mut self, caller: &Caller<'_>) -> Vec<String> {
        self.now += 1;
        let due = self.conversation.due_before_agent(caller, self.now);
        self.deliver(&due)
    }

    /// What the model gets after a tool.
    fn result(&mut self, caller: &Caller<'_>, path: &str) -> Vec<String> {
        self.now += 1;
        let due = self.conversation.due_after_tool(caller, path, self.now);
        self.deliver(&due)
    }

    fn comment(&mut self, id: &str, line: u32, text: &str) -> CommentOutcome {
        self.conversation.notes_mut().set_comment(Comment {
            id: id.into(),
            path: "/1".into(),
            line,
            end_line: line,
            content: String::new().into(),
            text: text.to_owned().into(),
            since: 1,
        })
    }
}

fn texts(due: &Due) -> Vec<String> {
    let text = |note: &Note| match note {
        Note::Reason(reason) => reason.text.to_string(),
        Note::Comment(comment) => comment.text.to_string(),
        Note::Revert(revert) => format!("reverted {}", revert.paths.join(" ")),
    };
    due.iter().map(|(_, note)| text(note)).collect()
}

#[test]
fn each_cli_gets_its_own_reasons() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!([cast.edit(&cli("x"), a, "/1"), cast.edit(&cli("y"), b, "/1")], [Now, Now]);
    let keep = Some(Rejection::KeepText(original()));
    assert_eq!([cast.reject(a, "/1"), cast.reject(b, "/1")], [keep, keep]);
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
    let due = cast.conversation.due_after_tool(&cli("x"), "/1", cast.now);
    let delivery = cast.conversation.deliver(&due).unwrap();
    cast.comment("c", 1, "second");
    let confirmation = cast.conversation.confirm(delivery.number);
    assert!(matches!(confirmation, Confirmation::Taken(_)), "{confirmation:?}");
    assert_eq!(texts(&due), ["/1"]);
    assert_eq!(cast.result(&cli("x"), "/1"), ["second"]);
}

#[test]
fn an_edit_that_two_clis_have_begun_belongs_to_none() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.begin(&cli("x"), "/1");
    cast.begin(&cli("y"), "/1");
    assert_eq!([cast.open(a, "/1"), cast.open(b, "/1")], [Never, Never]);
    assert_eq!(cast.reject(a, "/1"), None);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
    // Once they are known, they are told apart.
    assert_eq!([cast.edit(&cli("x"), a, "/2"), cast.edit(&cli("y"), b, "/3")], [Now, Now]);
    cast.begin(&cli("x"), "/1");
    cast.begin(&cli("y"), "/1");
    assert_eq!([cast.open(a, "/1"), cast.open(b, "/1")], [Now, Now]);
}

#[test]
fn connections_of_a_process_decide_between_two_clis() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let x = Caller { session: "x", process: Some("1"), connected: Connected::To(vec![a]) };
    let y = Caller { session: "y", process: Some("2"), connected: Connected::To(vec![b]) };
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
    cast.conversation.accepted(b, "/1");
    cast.conversation.accepted(a, "/2");
    cast.result(&of_process("x", "1"), "/1");
    cast.begin(&of_process("x", "1"), "/1");
    assert_eq!(cast.open_beside(a, "/1", &both), Never);
    cast.conversation.accepted(a, "/1");
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
    cast.conversation.bridged(a, started("1"));
    cast.begin(&x, "/1");
    cast.begin(&y, "/1");
    cast.conversation.bridged(b, started("2"));
    assert_eq!(cast.open_beside(b, "/1", &both), Now);
    assert_eq!(cast.open_beside(b, "/1", &both), NextPrompt);
    assert_eq!(cast.open_beside(a, "/1", &both), Now);
    // A diff whose own hook is not heard.
    cast.begin(&x, "/2");
    assert_eq!(cast.open_beside(b, "/2", &both), NextPrompt);
    let third = SessionId::new();
    assert_eq!(cast.open_beside(third, "/2", &[a, b, third]), Never);
    cast.conversation.bridged(third, started("3"));
    cast.begin(&of_process("z", "4"), "/3");
    assert_eq!(cast.open_beside(third, "/3", &[a, b, third]), Never);
}

#[test]
fn a_bridge_that_another_program_starts_is_matched_by_its_diff() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let through = |process: &str| vec!["npx".into(), process.into()];
    cast.conversation.bridged(a, through("1"));
    cast.conversation.bridged(b, through("2"));
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
    cast.conversation.session_started(&new);
    assert_eq!(cast.edit(&new, a, "/1"), Now);
    cast.reject(a, "/1");
    assert_eq!(cast.result(&new, "/1"), ["/1"]);
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
    cast.conversation.session_started(&new);
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
    assert_eq!(cast.reject(a, "/1"), Some(Rejection::KeepText(original())));
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
    cast.conversation.session_started(&again);
    assert_eq!(cast.prompt(&again), ["/1"]);
    assert_eq!(cast.edit(&again, b, "/1"), Now);
}

#[test]
fn every_session_of_a_connected_process_can_be_reviewed() {
    let mut cast = Cast::new();
    let a = cast.a;
    let connected =
        |cast: &Cast, caller: &Caller<'_>| cast.conversation.clis().is_connected(caller, &[a]);
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
    cast.conversation.before_edit_of_absent(&cli("x"), "/p/foo.txt", 1);
    let opened = cast.conversation.opened(a, "/p/src/foo.txt", &[], 2);
    assert!(opened.needs_look);
    let clis = cast.conversation.clis_mut();
    assert_eq!(clis.looked_at(a, "/p/src/foo.txt", Some(original())), Now);
    assert_eq!(cast.reject(a, "/p/src/foo.txt"), Some(Rejection::KeepText(original())));
    // The result of an edit that failed names the file as the model did.
    assert_eq!(cast.result(&cli("x"), "/p/foo.txt"), ["/p/src/foo.txt"]);
    cast.conversation.before_edit_of_absent(&cli("x"), "/p/@src/new.txt", 3);
    assert_eq!(cast.conversation.opened(a, "/p/src/new.txt", &[], 4).arrival, NextPrompt);
    cast.begin(&cli("y"), "/p/there.txt");
    assert_eq!(cast.open(cast.b, "/p/src/there.txt"), Never, "the file is there");
}

#[test]
fn a_diff_without_a_hook_of_its_own_waits_for_the_prompt() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    assert_eq!(cast.open(a, "/1"), NextPrompt, "that was another edit");
    assert_eq!(cast.open(a, "/2"), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Some(Rejection::Plain));
    cast.conversation.clis_mut().gone(a);
    assert_eq!(cast.open(a, "/2"), Never);
    assert_eq!(cast.prompt(&cli("x")), ["/2"], "the CLI may have connected again");
}

#[test]
fn a_cli_whose_hook_follows_the_diff_is_known_after_an_acceptance() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let text = Some(original());
    assert_eq!(cast.conversation.clis_mut().opened_without_hook(a, "/1", text, 1), Never);
    cast.conversation.clis_mut().accepted(&cli("x"), a);
    let clis = cast.conversation.clis();
    assert!(clis.knows(a) && !clis.knows(b));
    assert_eq!(cast.conversation.clis_mut().opened_without_hook(a, "/2", text, 1), Now);
    assert_eq!(cast.conversation.clis_mut().opened_without_hook(a, "/3", None, 1), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Some(Rejection::KeepText(original())));
    let due = cast.conversation.due_before_write(&cli("x"), "/2", Digest::of("other"));
    assert_eq!(texts(&due), [""; 0]);
    let due = cast.conversation.due_before_write(&cli("x"), "/2", Digest::of("sent"));
    assert_eq!(cast.deliver(&due), ["/2"]);
    // The CLI begins a new session: the text that it writes shows that.
    cast.reject(a, "/3");
    let due = cast.conversation.due_before_write(&cli("y"), "/3", Digest::of("sent"));
    assert_eq!(cast.deliver(&due), ["/3"]);
    cast.reject(a, "/1");
    assert_eq!([cast.prompt(&cli("x")).len(), cast.prompt(&cli("y")).len()], [0, 1]);
}

#[test]
fn a_cli_with_an_open_diff_outlives_any_number_of_short_runs() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit(&cli("x"), a, "/1"), Now);
    for number in 0..200 {
        cast.prompt(&cli(&format!("run {number}")));
    }
    assert_eq!(cast.reject(a, "/1"), Some(Rejection::KeepText(original())));
    assert_eq!(cast.prompt(&cli("x")), ["/1"]);
}

#[test]
fn a_note_that_nobody_confirms_waits_again() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit(&cli("x"), a, "/1");
    cast.reject(a, "/1");
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let lost = cast.conversation.deliver(&due).unwrap();
    assert_eq!(cast.prompt(&cli("x")), [""; 0], "it is under way");
    cast.conversation.notes_mut().give_back(lost.number);
    assert_eq!(cast.conversation.confirm(lost.number), Confirmation::Refused, "it is too late");
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let delivery = cast.conversation.deliver(&due).unwrap();
    assert!(matches!(cast.conversation.confirm(delivery.number), Confirmation::Taken(_)));
    assert_eq!(cast.conversation.confirm(delivery.number), Confirmation::Repeated);
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
}

#[test]
fn a_comment_that_is_under_way_can_be_removed_changed_and_moved() {
    let deliver = |cast: &mut Cast| {
        let due = cast.conversation.due_after_turn(&cli("x"), cast.now);
        cast.conversation.deliver(&due).unwrap().number
    };
    let mut cast = Cast::new();
    cast.comment("1", 1, "one");
    cast.comment("2", 1, "two");
    let number = deliver(&mut cast);
    assert!(cast.conversation.notes_mut().remove_comment("1").is_some());
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
    cast.conversation.reverted("x".into(), paths, 1);
    let due = cast.conversation.due_before_agent(&cli("x"), 1);
    let delivery = cast.conversation.deliver(&due).unwrap();
    cast.conversation.notes_mut().drop_revert("x", "/1");
    assert_eq!(cast.conversation.confirm(delivery.number), Confirmation::Refused);
    assert_eq!(cast.prompt(&cli("x")), ["reverted /2"]);
    assert!(cast.conversation.notes_mut().drop_revert("x", "/2").is_empty());
}

#[test]
fn comments_of_the_last_process_wait_for_the_editor() {
    let mut last = Cast::new();
    last.comment("1", 1, "old");
    last.comment("2", 1, "removed");
    let mut cast = Cast::new();
    for (id, note) in last.conversation.due_after_turn(&cli("x"), 1) {
        cast.conversation.notes_mut().restore(id, note, 0);
    }
    cast.now = 10;
    assert_eq!(cast.prompt(&cli("x")), [""; 0]);
    cast.comment("1", 1, "new");
    cast.conversation.notes_mut().remove_comment("2");
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
    let notes = cast.conversation.notes_mut();
    assert_eq!((notes.oldest(), notes.expire(4 + age).len()), (Some(5), 0));
    assert_eq!((notes.expire(6 + age).len(), notes.oldest()), (1, Some(7)));
    assert_eq!(cast.prompt(&cli("x")), ["new", "comment"]);
}

#[test]
fn the_oldest_of_too_many_reasons_is_reported() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit(&cli("x"), a, "/1");
    for number in 0..=MAX_REASONS {
        let rejected = cast.conversation.rejected(a, "/1", number.to_string().into(), 1).unwrap();
        let dropped = rejected.dropped.map(|dropped| texts(&vec![dropped]));
        assert_eq!(dropped, (number == MAX_REASONS).then(|| vec!["0".to_owned()]));
    }
}
