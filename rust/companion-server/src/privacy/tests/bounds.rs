//! Tests the limits of ignore files at their exact values: size, depth, memory and time.

use std::ffi::OsStr;

use super::*;
use crate::privacy::files::MAX_CHANGES;
use crate::privacy::rules::{COMPILED_BYTE, RULE_SIZE};
use crate::privacy::watched::POLL_INTERVAL;

const RULES: &str = "project/.geminiignore";

#[test]
fn a_file_may_lie_deep_but_not_deeper() {
    let scene = Scene::new(&[]);
    let at = |depth: usize| format!("project/{}x", "d/".repeat(depth - 1));
    scene.check(&[&at(MAX_DEPTH + 1)], &[&at(MAX_DEPTH)]);
}

#[tokio::test(start_paused = true)]
async fn ignore_files_may_take_all_of_their_memory_and_no_more() {
    let scene = Scene::new(&[(RULES, "*.hid")]);
    scene.check(&["project/x.hid"], &[]);
    let rule = "a".repeat(100) + "\n";
    let size = RULE_SIZE + COMPILED_BYTE * 100 + rule.len();
    let many = rule.repeat(MAX_COMPILED / size / 3);
    // Uses all remaining memory.
    let last =
        many.clone() + "#" + &"#".repeat(MAX_COMPILED - size * (many.len() / rule.len()) * 3 - 1);
    for (folder, text) in [("project", &many), ("project/b", &many), ("project/b/c", &last)] {
        scene.write(&format!("{folder}/.geminiignore"), text);
    }
    scene.check(&[], &["project/b/c/x"]);
    // All rules fit without dropping others, even the rule that was replaced.
    scene.check(&["project/x.hid"], &[]);
    scene.write("project/b/c/.geminiignore", &(last + "#"));
    scene.check(&["project/b/c/x"], &["project/b/x"]);
}

#[test]
fn a_few_long_rules_take_as_much_memory_as_many_short_ones() {
    let scene = Scene::new(&[]);
    let rules = format!("{}\n", "?".repeat(1000)).repeat(40);
    for depth in 0..12 {
        scene.write(&format!("project/{}.geminiignore", "d/".repeat(depth)), &rules);
    }
    scene.check(&[&format!("project/{}x", "d/".repeat(11))], &["project/d/x"]);
}

#[test]
fn a_rule_that_is_compiled_three_times_takes_the_memory_of_three() {
    let scene = Scene::new(&[]);
    let rule = "a**/b\n";
    let count = MAX_COMPILED / (3 * (RULE_SIZE + COMPILED_BYTE * 5) + rule.len());
    scene.write(RULES, &rule.repeat(count));
    scene.check(&[], &["project/x"]);
    scene.write(RULES, &rule.repeat(count + 1));
    scene.check(&["project/x"], &[]);
}

#[test]
fn below_a_rule_that_is_too_long_everything_is_private() {
    let scene = Scene::new(&[("project/a/.aiignore", &"a".repeat(1025))]);
    scene.check(&["project/a/x"], &["project/x"]);
}

#[tokio::test(start_paused = true)]
async fn a_file_may_change_often_but_not_more_often() {
    let scene = Scene::new(&[]);
    let keys: Vec<_> = (0..=MAX_CHANGES).map(|number| format!("{number}.hid")).collect();
    for key in &keys {
        scene.write(RULES, key);
        scene.check(&[], &["project/x"]);
    }
    for key in &keys {
        scene.check(&[&format!("project/{key}")], &[]);
    }
    scene.write(RULES, "");
    scene.check(&["project/x"], &[]);
}

#[test]
fn a_file_that_is_found_has_nothing_to_settle() {
    let scene = Scene::new(&[(RULES, "*.hid")]);
    let mut scan = scene.privacy.scan();
    assert!(scan.is_private(&scene.at("project/x.hid")).unwrap());
    assert_eq!(scan.again(), None);
}

/// Windows watches whole roots, so this does not apply there.
#[cfg(not(windows))]
#[tokio::test(start_paused = true)]
async fn folders_that_can_not_be_watched_are_tried_again_but_not_all_the_time() {
    let scene = Scene::new(&[]);
    let mut scan = scene.privacy.scan();
    scan.is_private(&scene.at("project/that/is/not/there")).unwrap();
    let mut watched = Watched::default();
    for _ in 0..2 {
        assert!(watched.follow(&scene.privacy, &scan, None));
        assert_eq!(watched.again(), Some(Instant::now() + POLL_INTERVAL));
        advance(POLL_INTERVAL / 2).await;
        assert!(!watched.follow(&scene.privacy, &scan, None));
        advance(POLL_INTERVAL / 2).await;
    }
}

/// On some disks of Windows no path can be resolved. Here the name is too long for that.
#[cfg(unix)]
#[test]
fn below_a_root_that_can_not_be_followed_a_file_is_judged_by_its_name() {
    let scene = Scene::new(&[]);
    let long = "a".repeat(300);
    let in_root = format!("{long}/x");
    scene.roots(&["project", &long]);
    scene.check(&[], &[&in_root]);
    scene.roots(&["project"]);
    assert!(scene.privacy.scan().is_private(&scene.at(&in_root)).is_err());
}

#[test]
fn names_are_compared_as_the_system_does() {
    let name = |name| Component::Normal(OsStr::new(name));
    for (one, other, case_counts, expected) in [
        ("a", "a", true, true),
        ("a", "A", true, false),
        ("a", "A", false, true),
        ("ä", "Ä", false, true),
        ("a", "b", false, false),
    ] {
        let same = is_same(name(one), name(other), case_counts);
        assert_eq!(same, expected, "{one} {other}, {case_counts}");
    }
}

#[test]
fn folders_beyond_those_that_are_watched_are_looked_at_from_time_to_time() {
    let deep = |name: &str| format!("project/{name}{}/a", "/d".repeat(150));
    let scene = Scene::new(&[(&deep("a"), ""), (&deep("b"), "")]);
    let mut watched = Watched::default();
    let mut again = |paths: &[&str]| {
        let mut scan = scene.privacy.scan();
        for path in paths {
            assert!(!scan.is_private(&scene.at(&deep(path))).unwrap());
        }
        watched.follow(&scene.privacy, &scan, None);
        watched.again()
    };
    assert_eq!(again(&["a"]), None);
    assert!(again(&["a", "b"]).is_some());
}
