//! Tests the list of changes without a disk.

use companion_protocol::editor::{ChangeKind, ChangedFile, CliChanged};

use super::tool_calls::{MAX_BYTES_OF_CALLS, MAX_CALLS};
use super::*;

pub(super) const CLI: &str = "cli";

const MAIN: Agent<'_> = Agent { cli: CLI, subagent: None };

pub(super) fn text(text: &str) -> FileText {
    FileText::Text(text.into())
}

fn command() -> Digest {
    Digest::of("make")
}

fn file(path: &str, text: FileText) -> FileSnapshot {
    FileSnapshot { path: path.into(), text, access: Access::Shared }
}

pub(super) fn begin(changes: &mut CliChanges) -> PromptId {
    let (id, gone) = changes.begin_prompt(CLI, "title".to_owned(), 1000);
    assert_eq!((changes.current(CLI), gone), (Some(&id), Vec::new()));
    id
}

/// An edit of a CLI, with the file before and after it.
pub(super) fn edit(changes: &mut CliChanges, path: &str, before: FileText, after: FileText) {
    changes.begin_call(MAIN, None, vec![file(path, before)]);
    changes.edited(MAIN, None, file(path, after));
}

/// A command of the main model ends.
fn end_command(changes: &mut CliChanges, after: Vec<FileSnapshot>) -> BTreeSet<PromptId> {
    let ended = changes.calls.end_command(MAIN, command());
    ended.map(|ended| changes.command_ended(MAIN, &ended, after)).unwrap_or_default()
}

fn list(changes: &CliChanges, id: &PromptId) -> Vec<String> {
    let CliChanged { files, .. } = changes.to_editor(id);
    let words = |file: &ChangedFile| {
        let kind = match file.kind {
            ChangeKind::Changed => "changed",
            ChangeKind::Created => "created",
            ChangeKind::Deleted => "deleted",
        };
        let facts = [
            (!file.revertible).then_some(" not revertible"),
            file.reverted.then_some(" reverted"),
            file.private.then_some(" private"),
            file.mixed.then_some(" mixed"),
        ];
        format!("{kind} {}{}", file.path, facts.into_iter().flatten().collect::<String>())
    };
    files.iter().map(words).collect()
}

#[test]
fn the_text_before_the_first_edit_and_the_one_after_the_last_are_kept() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    edit(&mut changes, "/a", text("two"), text("three"));
    edit(&mut changes, "/b", FileText::Absent, text("new"));
    edit(&mut changes, "/c", text("old"), FileText::Absent);
    assert_eq!(list(&changes, &id), ["changed /a", "created /b", "deleted /c"]);
    let kept = changes.texts(&id, "/a").unwrap();
    assert_eq!((kept.before.as_deref(), kept.after.as_deref()), (Some("one"), Some("three")));
    assert_eq!(changes.texts(&id, "/b").unwrap().before, None);
    assert_eq!(changes.texts(&id, "/c").unwrap().after, None);
    assert_eq!(changes.texts(&id, "/d"), None);
}

#[test]
fn an_edit_that_the_cli_takes_back_is_none() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    edit(&mut changes, "/a", text("two"), text("one"));
    edit(&mut changes, "/b", text("same"), text("same"));
    assert_eq!(list(&changes, &id), [""; 0]);
}

#[test]
fn a_change_by_the_user_between_two_edits_is_remembered() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    edit(&mut changes, "/a", text("two by the user"), text("three"));
    assert_eq!(list(&changes, &id), ["changed /a mixed"]);
}

#[test]
fn a_change_by_the_user_while_the_cli_asks_is_not_that_of_the_cli() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    changes.begin_call(MAIN, None, vec![file("/a", text("one\r\n"))]);
    changes.edited(MAIN, Some(FileText::Text("of the user\n".into())), file("/a", text("two\r\n")));
    let before = changes.texts(&id, "/a").unwrap().before;
    assert_eq!(before.as_deref(), Some("of the user\r\n"), "with the line endings of the file");
}

#[test]
fn a_text_of_the_cli_does_not_replace_the_bytes_of_the_file() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let before = "\u{feff}one\r\nmixed\n";
    changes.begin_call(MAIN, None, vec![file("/a", text(before))]);
    changes.edited(
        MAIN,
        Some(FileText::Text("one\nmixed\n".into())),
        file("/a", text("\u{feff}two\r\n")),
    );
    assert_eq!(changes.texts(&id, "/a").unwrap().before.as_deref(), Some(before));
}

#[test]
fn a_command_changes_the_files_that_were_looked_at() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let files = vec![file("/a", text("one")), file("/b", text("same"))];
    changes.begin_call(MAIN, Some(command()), files);
    assert_eq!(changes.calls.files_of_command(MAIN, command()), ["/a".into(), "/b".into()]);
    let after = vec![file("/a", FileText::Absent), file("/b", text("same"))];
    assert_eq!(end_command(&mut changes, after), BTreeSet::from([id.clone()]));
    assert_eq!(list(&changes, &id), ["deleted /a mixed"], "the user may have done it");
    assert_eq!(end_command(&mut changes, Vec::new()), BTreeSet::new());
}

#[test]
fn a_subagent_works_for_the_prompt_in_which_it_began() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    let subagent = Agent { cli: CLI, subagent: Some("Explore-1") };
    changes.begin_call(subagent, Some(command()), Vec::new());
    let second = begin(&mut changes);
    changes.begin_call(MAIN, Some(command()), Vec::new());
    let ended = |changes: &mut CliChanges, caller| {
        changes.calls.end_command(caller, command()).map(|call| call.prompt)
    };
    assert_eq!(ended(&mut changes, MAIN).as_ref(), Some(&second));
    assert_eq!(ended(&mut changes, subagent).as_ref(), Some(&first));
    changes.begin_call(subagent, None, vec![file("/a", text("one"))]);
    changes.begin_call(MAIN, None, vec![file("/a", text("one"))]);
    changes.calls.forget_edits(MAIN, "/a");
    changes.edited(subagent, None, file("/a", text("two")));
    assert_eq!(list(&changes, &first), ["changed /a"]);
    assert_eq!(list(&changes, &second), [""; 0]);
}

#[test]
fn the_changes_of_a_file_stay_in_order_if_a_subagent_makes_the_last_one() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    let subagent = Agent { cli: CLI, subagent: Some("Explore-1") };
    changes.begin_call(subagent, None, vec![file("/a", text("one"))]);
    changes.edited(subagent, None, file("/a", text("two")));
    let second = begin(&mut changes);
    edit(&mut changes, "/a", text("two"), text("three"));
    changes.begin_call(subagent, None, vec![file("/a", text("three"))]);
    changes.edited(subagent, None, file("/a", text("four")));
    let assert_texts = |id, before: &str, after: &str| {
        let texts = changes.texts(id, "/a").unwrap();
        assert_eq!((texts.before.as_deref(), texts.after.as_deref()), (Some(before), Some(after)));
    };
    assert_texts(&first, "one", "two");
    assert_texts(&second, "two", "four");
}

#[test]
fn a_command_ends_for_the_editor_when_it_is_forgotten() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let mut forgotten = || changes.begin_call(MAIN, Some(command()), Vec::new()).unwrap().1;
    for _ in 0..MAX_CALLS {
        assert!(forgotten().is_empty());
    }
    let [call] = &forgotten()[..] else { panic!("one command") };
    assert_eq!(call.prompt, id);
}

#[test]
fn an_edit_that_failed_leaves_no_text() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    changes.begin_call(MAIN, None, vec![file("/a", text("one"))]);
    changes.calls.forget_edits(MAIN, "/a");
    assert_eq!(changes.calls.len(), 0);
    assert_eq!(list(&changes, &id), [""; 0]);
}

#[test]
fn calls_that_do_not_end_keep_no_more_than_half_of_the_texts() {
    let mut changes = CliChanges::default();
    begin(&mut changes);
    let text = text(&"x".repeat(MAX_BYTES_OF_CALLS / 4));
    for number in 0..10 {
        changes.begin_call(MAIN, None, vec![file(&format!("/{number}"), text.clone())]);
    }
    assert_eq!(changes.calls.len(), 4);
}

#[test]
fn without_a_look_before_there_is_no_way_back() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    changes.edited(MAIN, None, file("/a", text("two")));
    assert_eq!(list(&changes, &id), ["changed /a not revertible"]);
    changes.edited(MAIN, Some(FileText::Text("one".into())), file("/b", text("two")));
    assert_eq!(changes.texts(&id, "/b").unwrap().before.as_deref(), Some("one"));
}

#[test]
fn a_private_file_is_listed_by_its_name() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let private = |text| FileSnapshot { access: Access::Private, ..file("/a", text) };
    changes.begin_call(MAIN, None, vec![private(FileText::Unkept(None))]);
    changes.edited(MAIN, None, private(FileText::Unkept(None)));
    assert_eq!(list(&changes, &id), ["changed /a not revertible private"]);
}

#[test]
fn a_private_text_that_the_cli_reports_is_not_kept() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let private = FileSnapshot { access: Access::Private, ..file("/a", FileText::Unkept(None)) };
    changes.edited(MAIN, Some(FileText::Text("secret".into())), private);
    assert!(!format!("{changes:?}").contains("secret"));
    assert_eq!(changes.texts(&id, "/a"), None);
}

#[test]
fn a_text_is_forgotten_when_its_file_becomes_private() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("secret one"), text("secret two"));
    let private =
        |path| FileSnapshot { access: Access::Private, ..file(path, FileText::Unkept(None)) };
    changes.begin_call(MAIN, None, vec![file("/a", text("secret two"))]);
    changes.edited(MAIN, None, private("/a"));
    changes.begin_call(MAIN, None, vec![file("/b", text("secret"))]);
    changes.edited(MAIN, None, private("/b"));
    let expected = ["changed /a not revertible private", "changed /b not revertible private"];
    assert_eq!(list(&changes, &id), expected);
    assert!(!format!("{changes:?}").contains("secret"));
}

#[test]
fn an_edit_during_a_command_is_not_the_commands() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    changes.begin_call(MAIN, Some(command()), vec![file("/a", text("one"))]);
    edit(&mut changes, "/a", text("one"), text("two"));
    assert_eq!(end_command(&mut changes, vec![file("/a", text("two"))]), BTreeSet::new());
    assert_eq!(list(&changes, &id), ["changed /a"]);
}

#[test]
fn reverts_of_two_prompts_during_a_command_are_not_the_commands() {
    for order in [[0, 1], [1, 0]] {
        let mut changes = CliChanges::default();
        let first = begin(&mut changes);
        edit(&mut changes, "/a", text("one"), text("two"));
        let second = begin(&mut changes);
        edit(&mut changes, "/a", text("two"), text("three"));
        changes.begin_call(MAIN, Some(command()), vec![file("/a", text("three"))]);
        let ids = [first, second];
        for index in order {
            assert!(!changes.reverted(&ids[index], "/a", None).is_empty());
        }
        assert_eq!(end_command(&mut changes, vec![file("/a", text("one"))]), BTreeSet::new());
        assert_eq!(ids.map(|id| list(&changes, &id)), [["changed /a reverted"]; 2]);
    }
}

#[test]
fn a_command_that_undoes_a_revert_is_a_change() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    changes.reverted(&id, "/a", None);
    changes.begin_call(MAIN, Some(command()), vec![file("/a", text("one"))]);
    end_command(&mut changes, vec![file("/a", text("two"))]);
    assert_eq!(list(&changes, &id), ["changed /a mixed"]);
}

#[test]
fn a_revert_is_reported_once_unless_it_is_undone() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    edit(&mut changes, "/b", text("one"), text("two"));
    for is_new in [true, false] {
        let reverted = ["/a", "/b", "/c"].map(|path| !changes.reverted(&id, path, None).is_empty());
        assert_eq!(reverted, [is_new, is_new, false]);
    }
    assert_eq!(changes.undone_reverts("/a", &text("one")), []);
    assert_eq!(changes.undone_reverts("/a", &text("two")), std::slice::from_ref(&id));
    changes.reverts_undone(&id, "/a", &text("two"));
    assert_eq!(list(&changes, &id), ["changed /a", "changed /b reverted"]);
    changes.remove(&id, &["/b"]);
    assert_eq!(list(&changes, &id), ["changed /a"]);
}

#[test]
fn an_edit_after_a_revert_in_the_same_prompt_is_no_mixture() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    changes.reverted(&id, "/a", None);
    edit(&mut changes, "/a", text("one"), text("three"));
    assert_eq!(list(&changes, &id), ["changed /a"]);
}

#[test]
fn the_oldest_texts_go_first() {
    let mut changes = CliChanges::default();
    let big = |letter: &str| text(&letter.repeat(MAX_BYTES / 4));
    let first = begin(&mut changes);
    edit(&mut changes, "/a", big("a"), big("b"));
    let second = begin(&mut changes);
    edit(&mut changes, "/b", big("c"), big("d"));
    assert!(changes.shrink().is_empty());
    edit(&mut changes, "/c", text("e"), text("f"));
    assert_eq!(changes.shrink(), std::slice::from_ref(&first));
    assert_eq!(list(&changes, &first), ["changed /a not revertible"]);
    assert_eq!(list(&changes, &second), ["changed /b", "changed /c"]);
}

#[test]
fn a_created_file_stays_one_without_its_text() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", FileText::Absent, text(&"a".repeat(MAX_BYTES)));
    edit(&mut changes, "/b", text("b"), FileText::Absent);
    changes.shrink();
    assert_eq!(list(&changes, &id), ["created /a not revertible", "deleted /b"]);
}

#[test]
fn prompts_without_changes_leave_before_those_with_changes() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    for number in 0..=MAX_PROMPTS {
        changes.begin_prompt(&format!("other {number}"), String::new(), 1);
    }
    assert_eq!(list(&changes, &id), ["changed /a"]);
}

#[test]
fn a_current_prompt_stays_longer_than_earlier_ones_with_commands() {
    let mut changes = CliChanges::default();
    let (current, _) = changes.begin_prompt("other", String::new(), 1);
    for _ in 0..=MAX_PROMPTS {
        changes.begin_prompt(CLI, String::new(), 1);
        changes.begin_call(MAIN, Some(command()), Vec::new());
    }
    assert_eq!(changes.current("other"), Some(&current));
}

#[test]
fn old_prompts_and_empty_ones_leave_the_list() {
    let mut changes = CliChanges::default();
    let mut ids = Vec::new();
    for number in 0..MAX_PROMPTS {
        ids.push(begin(&mut changes));
        edit(&mut changes, "/a", text("one"), text(&number.to_string()));
    }
    assert_eq!(changes.begin_prompt(CLI, String::new(), 2000).1, ids[..1]);
    assert!(changes.begin_prompt(CLI, String::new(), 2000).1.is_empty(), "the last one was empty");
    let day = u64::try_from(MAX_AGE.as_millis()).unwrap();
    assert_eq!((changes.oldest(), changes.expire(999 + day)), (Some(1000), Vec::new()));
    assert_eq!(changes.expire(1000 + day), ids[1..]);
    assert!(changes.to_editor(&ids[1]).files.is_empty());
}

#[test]
fn two_clis_have_their_own_prompts() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let (other, _) = changes.begin_prompt("other", String::new(), 1);
    edit(&mut changes, "/a", text("one"), text("two"));
    assert_eq!((list(&changes, &id).len(), list(&changes, &other).len()), (1, 0));
}

#[test]
fn lines_are_counted() {
    let counts = |before, after| LineCounts::of(&before, &after);
    assert_eq!(
        counts(text("a\nb\nc\n"), text("a\nB\nc\nd\n")),
        LineCounts { added: 2, removed: 1 }
    );
    assert_eq!(counts(FileText::Absent, text("a\nb")), LineCounts { added: 2, removed: 0 });
    assert_eq!(counts(text("a\n"), FileText::Absent), LineCounts { added: 0, removed: 1 });
}

#[test]
fn what_somebody_else_has_reverted_is_dropped_and_what_the_cli_has_is_not() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    edit(&mut changes, "/own", text("one"), text("two"));
    let second = begin(&mut changes);
    edit(&mut changes, "/a", text("two"), text("three"));
    edit(&mut changes, "/own", text("two"), text("one"));
    edit(&mut changes, "/reverted", text("one"), text("two"));
    changes.reverted(&second, "/reverted", None);
    let mut dropped = |now: &str, of: &[&str]| {
        let now: Vec<_> = of.iter().map(|path| file(path, text(now))).collect();
        let left = changes.left_by(&[CLI.into()]);
        changes.drop_reverted_by_others(&[CLI.into()], &left, &now)
    };
    assert_eq!(dropped("one", &["/own", "/reverted"]), BTreeSet::new());
    assert_eq!(dropped("four", &["/a"]), BTreeSet::new());
    assert_eq!(dropped("two", &["/a"]), BTreeSet::from([second.clone()]));
    assert_eq!(dropped("one", &["/a"]), BTreeSet::from([first.clone()]));
    assert_eq!(list(&changes, &first), ["changed /own"]);
    assert_eq!(list(&changes, &second), ["changed /own", "changed /reverted reverted"]);
}
