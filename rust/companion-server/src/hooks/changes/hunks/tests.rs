//! Tests that hunks come and go without another change of the text.

use proptest::prelude::*;

use super::*;

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
const AFTER: &str = "1\n2\nthree\n4\n5\n6\n7\n8\n9\n10\nnew\n11\n12";

#[test]
fn a_hunk_has_three_lines_around_it() {
    let hunks = hunks(BEFORE, AFTER);
    let first = [" 1\n", " 2\n", "-3\n", "+three\n", " 4\n", " 5\n", " 6\n"];
    assert_eq!(hunks.len(), 2);
    assert_eq!((hunks[0].before, hunks[0].after), (1, 1));
    assert_eq!(hunks[0].lines, first);
    assert_eq!((hunks[1].before, hunks[1].after), (8, 8));
    assert_eq!(hunks[1].lines, [" 8\n", " 9\n", " 10\n", "+new\n", " 11\n", "-12\n", "+12"]);
}

#[test]
fn a_reverted_hunk_leaves_the_others() {
    let of = hunks(BEFORE, AFTER);
    let first = revert(AFTER, &of[0]).unwrap();
    assert_eq!(first, AFTER.replace("three", "3"));
    assert_eq!(revert(&first, &of[0]), None, "it is not there any more");
    assert_eq!(apply(BEFORE, &of[0]).unwrap(), BEFORE.replace("3\n", "three\n"));
    assert_eq!(hunks(&first, AFTER).len(), 1);
    assert_eq!(revert("", &of[0]), None);
    let wrong = [(0, vec![]), (usize::MAX, of[0].lines.clone()), (99, of[0].lines.clone())];
    for (after, lines) in wrong {
        assert_eq!(revert(AFTER, &Hunk { before: 1, after, lines }), None);
    }
}

#[test]
fn a_hunk_is_found_where_other_edits_have_moved_it() {
    let of = hunks(BEFORE, AFTER);
    let moved = format!("mine\nmine\n{AFTER}");
    let expected = format!("mine\nmine\n{}", AFTER.replace("three", "3"));
    assert_eq!(revert_in(&moved, AFTER, &of[0]), Some(expected));
    // An edit two lines away.
    let edited = AFTER.replacen("1\n", "one\n", 1);
    assert_eq!(revert_in(&edited, AFTER, &of[0]), Some(edited.replace("three", "3")));
    for changed in [
        AFTER.replace("three", "THREE"),
        AFTER.replace("2\nthree", "two\nthree"),
        AFTER.replace("three\n4", "three\nfour"),
        AFTER.replace("three\n", "three\nmine\n"),
        String::new(),
    ] {
        assert_eq!(revert_in(&changed, AFTER, &of[0]), None, "{changed}");
    }
}

#[test]
fn a_hunk_that_only_removes_lines_needs_the_lines_next_to_it() {
    let (before, after) = ("a\nb\nc\n", "a\nc\n");
    let of = hunks(before, after);
    assert_eq!(revert_in("x\na\nc\n", after, &of[0]).unwrap(), "x\na\nb\nc\n");
    assert_eq!(revert_in("a\nx\nc\n", after, &of[0]), None);
    let all = hunks("a\nb\n", "");
    assert_eq!(revert_in("", "", &all[0]).unwrap(), "a\nb\n");
    assert_eq!(revert_in("mine\n", "", &all[0]), None);
}

#[test]
fn a_hunk_at_an_end_of_the_file_is_put_in_once() {
    for (before, after) in [("a\nb\nnew\n", "a\nb\n"), ("new\na\nb\n", "a\nb\n")] {
        let removal = hunks(before, after);
        assert_eq!(revert_in(after, after, &removal[0]).unwrap(), before);
        assert_eq!(revert_in(before, after, &removal[0]), None, "it is back already");
    }
    let (before, after) = ("a\nb\n", "a\nb\nnew\n");
    let addition = hunks(before, after);
    assert_eq!(apply(before, &addition[0]).unwrap(), after);
    assert_eq!(apply(after, &addition[0]), None, "it is kept already");
    assert_eq!(revert(before, &hunks(after, before)[0]).unwrap(), after);
    assert_eq!(revert(after, &hunks(after, before)[0]), None, "it is reverted already");
    // Lines that the user has added below are no part of the CLI's addition.
    assert_eq!(revert_in("a\nb\nnew\nmine\n", after, &addition[0]).unwrap(), "a\nb\nmine\n");
}

proptest! {
    #[test]
    fn all_hunks_together_are_the_change(
        before in "([ab]{0,2}\r?\n){0,40}[ab]?",
        after in "([ab]{0,2}\r?\n){0,40}[ab]?",
    ) {
        let of = hunks(&before, &after);
        // From the last one, so that the numbers of the others hold.
        let reverted = of.iter().rev().try_fold(after.clone(), |text, hunk| revert(&text, hunk));
        prop_assert_eq!(reverted.as_deref(), Some(&*before));
        let applied = of.iter().rev().try_fold(before.clone(), |text, hunk| apply(&text, hunk));
        prop_assert_eq!(applied.as_deref(), Some(&*after));
        for hunk in &of {
            prop_assert_eq!(revert_in(&after, &after, hunk), revert(&after, hunk));
        }
    }
}
