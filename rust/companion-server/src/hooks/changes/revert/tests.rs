//! Tests what a revert writes, and what the user is asked first.

use companion_protocol::editor::PromptOfSession;

use super::super::tests::{CLI, begin, edit, text};
use super::super::{Access, Agent, FileSnapshot, FileText, MAX_BYTES};
use super::*;

fn file(path: &str, prompts: &[&PromptId], disk: Option<&str>) -> FileToRevert {
    let prompt = |id: &&PromptId| PromptOfSession { session: id.0.to_string(), prompt: id.1 };
    let prompts = prompts.iter().map(prompt).collect();
    FileToRevert {
        path: path.to_owned(),
        prompts,
        disk: disk.map(str::to_owned),
        unsaved: None,
        hunk: None,
    }
}

fn plan_of(changes: &CliChanges, files: Vec<FileToRevert>) -> RevertPlan {
    let wanted = PlanRevert { files, undoes_deletions: false };
    let reversals: Vec<_> = wanted.files.iter().map(|file| changes.reversal(file)).collect();
    plan(&wanted, &reversals, |path| path[1..].to_owned())
}

fn action(plan: &RevertPlan) -> String {
    match &plan.files[0].action {
        RevertAction::Write { text } => format!("write {text}"),
        RevertAction::Delete => "delete".to_owned(),
        RevertAction::Nothing => "nothing".to_owned(),
        RevertAction::Refuse { reason } => format!("refuse: {reason}"),
    }
}

/// A change of `/a` from `before` to `after`, and the plan of its revert with these texts now.
fn one(
    before: Option<&str>,
    after: Option<&str>,
    disk: Option<&str>,
    unsaved: Option<&str>,
) -> RevertPlan {
    let kept = |of: Option<&str>| of.map_or(FileText::Absent, text);
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", kept(before), kept(after));
    let unsaved = unsaved.map(str::to_owned);
    plan_of(&changes, vec![FileToRevert { unsaved, ..file("/a", &[&id], disk) }])
}

#[test]
fn each_state_of_a_file_has_its_action_and_its_question() {
    let (old, new) = (Some("one\n"), Some("two\n"));
    for (before, after, disk, unsaved, expected, question) in [
        (old, new, new, None, "write one\n", None),
        (old, new, new, new, "write one\n", None),
        (old, new, old, None, "nothing", None),
        (old, new, old, old, "nothing", None),
        (old, new, new, old, "write one\n", None),
        (
            old,
            new,
            Some("three\n"),
            old,
            "write one\n",
            Some("a has changed since (+1 −1). Revert it?"),
        ),
        (
            old,
            new,
            Some("two\nmine\n"),
            None,
            "write one\n",
            Some("a has changed since (+1 −0). Revert it?"),
        ),
        (
            old,
            new,
            new,
            Some("mine\n"),
            "write one\n",
            Some("a has other, unsaved changes (+1 −1). Revert it?"),
        ),
        (old, new, None, None, "write one\n", Some("a was deleted since. Revert it?")),
        (None, new, new, None, "delete", Some("a was created by the CLI. Delete it?")),
        (None, new, None, None, "nothing", None),
        (
            None,
            new,
            Some("mine\n"),
            None,
            "delete",
            Some("a has changed since (+1 −1). Delete it?"),
        ),
        (old, None, None, None, "write one\n", None),
        (old, None, Some("mine\n"), None, "write one\n", Some("a exists again. Revert it?")),
    ] {
        let plan = one(before, after, disk, unsaved);
        let case = format!("{before:?} {after:?} {disk:?} {unsaved:?}");
        assert_eq!(
            (action(&plan).as_str(), plan.question.as_deref()),
            (expected, question),
            "{case}"
        );
    }
}

#[test]
fn a_comparison_with_the_text_of_the_cli_is_offered_where_there_are_two_texts() {
    let (old, new) = (Some("one\n"), Some("two\n"));
    for (before, after, disk, unsaved, expected) in [
        (old, new, new, None, false),
        (old, new, Some("mine\n"), None, true),
        (old, new, new, Some("mine\n"), true),
        (old, new, None, None, false),
        (old, None, Some("mine\n"), None, false),
        (None, new, Some("mine\n"), None, true),
    ] {
        assert_eq!(one(before, after, disk, unsaved).files[0].differs, expected);
    }
}

#[test]
fn an_editor_whose_undo_restores_files_does_not_ask_about_deletions() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", FileText::Absent, text("new"));
    let files = vec![file("/a", &[&id], Some("new"))];
    let wanted = PlanRevert { files, undoes_deletions: true };
    let reversals = [changes.reversal(&wanted.files[0])];
    let plan = plan(&wanted, &reversals, str::to_owned);
    assert_eq!((action(&plan).as_str(), plan.question), ("delete", None));
}

#[test]
fn a_later_prompt_is_asked_about_unless_it_is_reverted_too() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    let second = begin(&mut changes);
    edit(&mut changes, "/a", text("two"), text("three"));
    let plan_both = plan_of(&changes, vec![file("/a", &[&second, &first], Some("three"))]);
    assert_eq!((action(&plan_both).as_str(), plan_both.question), ("write one", None));
    let plan_first = plan_of(&changes, vec![file("/a", &[&first], Some("three"))]);
    let expected = "a has changed since, by a later prompt as well (+1 −1). Revert it?";
    assert_eq!(plan_first.question.as_deref(), Some(expected));
    let plan_same = plan_of(&changes, vec![file("/a", &[&first], Some("two"))]);
    let expected = "a was changed by a later prompt as well. Revert it?";
    assert_eq!(plan_same.question.as_deref(), Some(expected));
    changes.reverted(&second, "/a", None);
    assert_eq!(plan_of(&changes, vec![file("/a", &[&first], Some("two"))]).question, None);
}

#[test]
fn an_edit_by_something_else_between_two_prompts_is_asked_about() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    edit(&mut changes, "/a", text("one"), text("two"));
    let second = begin(&mut changes);
    edit(&mut changes, "/a", text("mine"), text("three"));
    let plan = plan_of(&changes, vec![file("/a", &[&first, &second], Some("three"))]);
    let expected = "a may have been changed by something else during the prompt. Revert it?";
    assert_eq!(plan.question.as_deref(), Some(expected));
}

#[test]
fn a_text_that_is_not_kept_refuses_its_file_alone() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", FileText::Unkept(None), text("two"));
    edit(&mut changes, "/b", text("one"), text("two"));
    let files = vec![file("/a", &[&id], Some("two")), file("/b", &[&id], Some("mine"))];
    let plan = plan_of(&changes, files);
    assert_eq!(action(&plan), "refuse: the earlier text is no longer available");
    assert_eq!(plan.question.as_deref(), Some("b has changed since (+1 −1). Revert it?"));
    let other = (CLI.into(), 9);
    let unknown = [file("/b", &[&other], None), file("/c", &[&id], None), file("/b", &[], None)];
    for file in unknown {
        assert_eq!(
            action(&plan_of(&changes, vec![file])),
            "refuse: the earlier text is no longer available"
        );
    }
}

#[test]
fn a_question_about_many_files_names_ten() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    let mut files = Vec::new();
    for number in 0..14 {
        let path = format!("/{number}");
        edit(&mut changes, &path, FileText::Absent, text("new"));
        files.push(file(&path, &[&id], Some(if number == 0 { "mine" } else { "new" })));
    }
    let question = plan_of(&changes, files).question.unwrap();
    let lines: Vec<_> = question.lines().collect();
    assert_eq!(lines[0], "0 has changed since (+1 −1), and will be deleted");
    assert_eq!(lines[1], "1 was created by the CLI, and will be deleted");
    assert_eq!(lines[10..], ["… and 4 more", "Revert all 14 files?"]);
}

#[test]
fn one_hunk_is_reverted_where_its_lines_are_now() {
    let (before, after) = ("1\n2\n3\n", "1\nTWO\n3\n");
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text(before), text(after));
    let hunk = Some(hunks::hunks(before, after).remove(0));
    let plan = |disk: Option<&str>, unsaved: Option<&str>| {
        let unsaved = unsaved.map(str::to_owned);
        let hunk = hunk.clone();
        plan_of(&changes, vec![FileToRevert { unsaved, hunk, ..file("/a", &[&id], disk) }])
    };
    let refused = "refuse: these lines have changed since; compare the whole file";
    let unsaved = "a has unsaved changes, which the revert also saves. Revert it?";
    for (disk, edited, expected, question) in [
        (Some(after), None, "write 1\n2\n3\n", None),
        (Some("mine\n1\nTWO\n3\n"), None, "write mine\n1\n2\n3\n", None),
        (Some("1\nTwo\n3\n"), None, refused, None),
        (None, None, "refuse: the file was deleted since", None),
        (Some(after), Some("1\nTWO\n3\nmine\n"), "write 1\n2\n3\nmine\n", Some(unsaved)),
        (Some(after), Some("mine\n"), refused, None),
    ] {
        let plan = plan(disk, edited);
        assert_eq!((action(&plan).as_str(), plan.question.as_deref()), (expected, question));
    }
}

#[test]
fn a_created_file_is_deleted_with_its_only_hunk() {
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", FileText::Absent, text("new\n"));
    let hunk = hunks::hunks("", "new\n").remove(0);
    let of = FileToRevert { hunk: Some(hunk.clone()), ..file("/a", &[&id], Some("new\n")) };
    assert_eq!(action(&plan_of(&changes, vec![of])), "delete");
    assert_eq!(changes.reverted(&id, "/a", Some(&hunk)).len(), 1);
    assert_eq!(changes.notice_of(CLI, "/a"), Some(false));
}

/// A change with two hunks.
fn two_hunks() -> (CliChanges, PromptId, Vec<Hunk>) {
    let before: String = (1..=20).map(|line| line.to_string() + "\n").collect();
    let after = before.replacen("2\n", "two\n", 1).replace("19\n", "");
    let mut changes = CliChanges::default();
    let id = begin(&mut changes);
    edit(&mut changes, "/a", text(&before), text(&after));
    let counts = LineCounts { added: 1, removed: 2 };
    changes.counted(&id, "/a", &text(&after), counts);
    (changes, id, hunks::hunks(&before, &after))
}

/// The user undoes the revert of a hunk. Returns whether others of the file stand.
fn undo(changes: &mut CliChanges, id: &PromptId, hunk: Option<&Hunk>) -> Option<bool> {
    let undone = changes.revert_undone(id, "/a", hunk);
    (!undone.is_empty()).then(|| changes.notice_of(CLI, "/a").is_some())
}

fn counts(changes: &CliChanges, id: &PromptId) -> (usize, usize) {
    let file = changes.to_editor(id).files.remove(0);
    (file.added.unwrap(), file.removed.unwrap())
}

#[test]
fn a_reverted_hunk_leaves_the_change_and_comes_back() {
    let (mut changes, id, of) = two_hunks();
    let original = changes.texts(&id, "/a").unwrap();
    assert_eq!(changes.notice_of(CLI, "/a"), None);
    assert_eq!(changes.reverted(&id, "/a", Some(&of[0])).len(), 1);
    assert_eq!(changes.reverted(&id, "/a", Some(&of[0])), [], "it is reverted already");
    assert_eq!(changes.notice_of(CLI, "/a"), Some(true));
    assert_eq!(counts(&changes, &id), (0, 1));
    let left = text(original.after.as_ref().unwrap());
    assert_eq!(changes.undone_reverts("/a", &left), std::slice::from_ref(&id));
    // The rest of the change is reverted without a question.
    let now = changes.texts(&id, "/a").unwrap().after;
    assert_eq!(plan_of(&changes, vec![file("/a", &[&id], now.as_deref())]).question, None);
    assert_eq!(changes.reverted(&id, "/a", Some(&of[1])).len(), 1);
    assert_eq!(changes.notice_of(CLI, "/a"), Some(false));
    assert_eq!(undo(&mut changes, &id, Some(&of[1])), Some(true));
    assert_eq!(undo(&mut changes, &id, Some(&of[1])), None, "it is not the latest");
    assert_eq!(undo(&mut changes, &id, Some(&of[0])), Some(false));
    assert_eq!(changes.texts(&id, "/a").unwrap(), original);
    assert_eq!(counts(&changes, &id), (1, 2));
    assert_eq!(changes.notice_of(CLI, "/a"), None);
}

#[test]
fn a_revert_can_be_undone_after_its_texts_were_dropped() {
    let (mut changes, id, of) = two_hunks();
    changes.reverted(&id, "/a", Some(&of[0]));
    let second = begin(&mut changes);
    edit(&mut changes, "/b", FileText::Absent, text(&"b".repeat(MAX_BYTES)));
    assert_eq!(changes.shrink(), std::slice::from_ref(&id));
    assert_eq!(changes.notice_of(CLI, "/a"), Some(true));
    let undone = changes.undone_reverts("/a", &FileText::Unkept(None));
    assert_eq!(undone, [], "the disk does not answer");
    assert_eq!(undo(&mut changes, &id, Some(&of[1])), None);
    assert_eq!(undo(&mut changes, &id, Some(&of[0])), Some(false));
    assert_eq!(changes.notice_of(CLI, "/a"), None);
    assert_eq!(counts(&changes, &id), (1, 2));
    assert!(changes.texts(&second, "/b").is_some());
}

#[test]
fn once_a_reverted_hunk_is_reported_the_rest_stays_in_the_list() {
    let (mut changes, id, of) = two_hunks();
    changes.reverted(&id, "/a", Some(&of[0]));
    changes.reverts_reported(CLI, &["/a".into()]);
    assert_eq!(changes.notice_of(CLI, "/a"), None);
    assert_eq!(counts(&changes, &id), (0, 1));
    changes.hunk_kept(&id, "/a", &of[1]);
    assert!(changes.to_editor(&id).files.is_empty(), "nothing of the change is left");
}

#[test]
fn a_hunk_that_the_user_keeps_is_not_reverted_with_an_earlier_prompt() {
    let (mut changes, first, _) = two_hunks();
    let after = changes.texts(&first, "/a").unwrap().after.unwrap();
    let second = begin(&mut changes);
    let later = after.replacen("5\n", "five\n", 1).replacen("15\n", "fifteen\n", 1);
    edit(&mut changes, "/a", text(&after), text(&later));
    changes.hunk_kept(&second, "/a", &hunks::hunks(&after, &later)[0]);
    let plan = plan_of(&changes, vec![file("/a", &[&first, &second], Some(&later))]);
    assert!(action(&plan).starts_with("refuse: "), "{}", action(&plan));
    let reverted = changes.reverted(&first, "/a", None);
    assert_eq!(reverted, [(first, Some(false)), (second, Some(true))]);
}

#[test]
fn to_keep_a_created_or_deleted_file_keeps_all_of_it() {
    for (before, after) in [(FileText::Absent, text("new\n")), (text("old\n"), FileText::Absent)] {
        let mut changes = CliChanges::default();
        let id = begin(&mut changes);
        edit(&mut changes, "/a", before, after);
        let hunk = Hunk { before: 1, after: 1, lines: vec!["-old\n".to_owned()] };
        changes.hunk_kept(&id, "/a", &hunk);
        assert!(changes.to_editor(&id).files.is_empty());
    }
}

#[test]
fn the_changes_of_two_clis_are_reverted_in_the_order_of_their_edits() {
    let mut changes = CliChanges::default();
    let first = begin(&mut changes);
    let (second, _) = changes.begin_prompt("other", String::new(), 0);
    let other = Agent { cli: "other", subagent: None };
    let after = |text| FileSnapshot { path: "/a".into(), text, access: Access::Shared };
    changes.begin_call(other, None, vec![after(text("A"))]);
    changes.edited(other, None, after(text("B")));
    edit(&mut changes, "/a", text("B"), text("C"));
    let plan = |prompts: &[&PromptId]| plan_of(&changes, vec![file("/a", prompts, Some("C"))]);
    assert_eq!(plan(&[&first]).question, None);
    assert_eq!(action(&plan(&[&first, &second])), "write A");
}
