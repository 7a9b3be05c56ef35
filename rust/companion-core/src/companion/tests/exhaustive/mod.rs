//! Tests every order of a few inputs, over a restart at each step, or over the end of a process whose
//! clients another one takes over.
//!
//! - No client receives a decision about another question.
//! - No decision is lost.
//! - No client waits for ever.
//! - No text is written that the user has not accepted.
//! - The file's text that stands for a rejection arrives at once or not at all.
//! - An edit whose client got the text of the file in place of a rejection is denied.
//! - A model gets each reason once, or the user sees that it is lost.
//! - A model gets each comment once, as the user wrote it last, or it waits.
//! - The editor gets no request about a path while a view for it opens, and shows no view for nobody.
//!
//! The [`Companion`](crate::companion::Companion) and its records are the real ones. [`world`] models
//! their environment: the editor, the disk and the network, and another client that asks about the
//! same file. [`client`] models the real client, and its hooks.

mod client;
mod world;

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use world::{Script, Step, World};

/// Tries every order and returns how many states there are.
fn explore(script: &Script) -> usize {
    let hasher = RandomState::default();
    let first = World::new(script);
    let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
    seen.insert(hasher.hash_one(&first));
    // Depth first: the path then shows the steps that led to a state, and costs little memory.
    let steps = first.steps(script);
    let mut path = vec![(first, Step::Send, steps)];
    while let Some((world, step, rest)) = path.last_mut() {
        let Some(next) = rest.pop() else {
            path.pop();
            continue;
        };
        let after = world.take(script, next);
        *step = next;
        if !seen.insert(hasher.hash_one(&after)) {
            continue;
        }
        let steps = after.steps(script);
        if let Err(wrong) = after.check(script, steps.is_empty()) {
            let steps: Vec<_> = path.iter().map(|(world, step, _)| world.describe(*step)).collect();
            panic!("{wrong}, after\n  {}\n{after:#?}", steps.join("\n  "));
        }
        path.push((after, Step::Send, steps));
    }
    seen.len()
}

const NONE: &[&str] = &[];
const ONE: &[&str] = &["/p"];
const TWO: &[&str] = &["/p", "/p"];
const THREE: &[&str] = &["/p", "/q", "/p"];

/// A client that asks about these paths, and the numbers of its troubles.
fn script(paths: &'static [&'static str], breaks: u8, kills: u8, stops: u8, closes: u8) -> Script {
    Script {
        paths,
        at_once: false,
        breaks,
        kills,
        stops,
        closes,
        others: 0,
        rejections_with_reason: 0,
        failures: 0,
        timeouts: 0,
        comments: 0,
        prompts: 0,
        has_hooks: false,
        begins_at_once: false,
        corrects: false,
        hands_over: false,
        keeps_views: false,
        unchanged: 0,
    }
}

/// Tries these scripts, and if `COMPANION_TEST_LONG=1` the long ones: more than 50 million states in all.
/// The user changes the first proposal of a script, and then in another round the second one.
fn explore_all(scripts: Vec<Script>, long: Vec<Script>) {
    let mut all = scripts;
    if std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1") {
        all.extend(long);
    }
    for script in all {
        let has_rounds = script.others == 0 && !script.paths.is_empty();
        for unchanged in 0..=usize::from(has_rounds) {
            let script = Script { unchanged, ..script };
            let states = explore(&script);
            // Printed with `--nocapture`.
            eprintln!("{states} states: {script:?}");
        }
    }
}

#[test]
fn decisions() {
    let scripts = vec![
        script(ONE, 2, 0, 0, 1),
        script(ONE, 1, 1, 0, 1),
        script(ONE, 1, 0, 1, 1),
        script(ONE, 2, 1, 0, 1),
        script(ONE, 2, 0, 1, 1),
        script(TWO, 0, 0, 0, 1),
        script(TWO, 1, 0, 0, 0),
        script(TWO, 0, 1, 0, 0),
        script(TWO, 0, 0, 1, 0),
        script(THREE, 0, 0, 0, 0),
        Script { failures: 1, timeouts: 1, ..script(TWO, 1, 0, 0, 1) },
    ];
    let mut long = Vec::new();
    for closes in 0..=1 {
        long.push(script(TWO, 2, 1, 0, closes));
        long.push(script(TWO, 2, 0, 1, closes));
        long.push(Script { at_once: true, ..script(THREE, 0, 1, 0, closes) });
        long.push(Script { at_once: true, ..script(THREE, 0, 0, 1, closes) });
        long.push(script(THREE, 2, 1, 0, closes));
        long.push(script(THREE, 2, 0, 1, closes));
    }
    explore_all(scripts, long);
}

#[test]
fn another_client_asks_about_the_same_file() {
    let scripts = vec![
        Script { others: 2, ..script(ONE, 0, 0, 0, 1) },
        Script { others: 1, ..script(ONE, 1, 0, 0, 1) },
        Script { others: 1, ..script(ONE, 0, 1, 0, 1) },
        Script { others: 1, ..script(TWO, 0, 0, 0, 0) },
        Script { failures: 1, timeouts: 1, others: 1, ..script(ONE, 0, 0, 0, 1) },
    ];
    let long = vec![
        Script { others: 1, ..script(ONE, 0, 0, 1, 1) },
        Script { others: 2, ..script(ONE, 1, 1, 0, 1) },
    ];
    explore_all(scripts, long);
}

#[test]
fn rejections_with_a_reason() {
    let rejected = Script { rejections_with_reason: 1, has_hooks: true, ..script(ONE, 1, 0, 0, 1) };
    let corrected = Script { corrects: true, ..rejected };
    let scripts = vec![
        Script { breaks: 2, ..rejected },
        Script { kills: 1, ..rejected },
        Script { stops: 1, ..rejected },
        Script { rejections_with_reason: 2, paths: TWO, closes: 0, ..rejected },
        Script {
            rejections_with_reason: 2,
            paths: TWO,
            closes: 0,
            begins_at_once: true,
            ..rejected
        },
        corrected,
        Script { breaks: 0, kills: 1, ..corrected },
        Script { breaks: 0, stops: 1, ..corrected },
        Script { has_hooks: false, ..rejected },
        Script { others: 1, ..rejected },
        Script { others: 1, breaks: 0, ..corrected },
    ];
    explore_all(scripts, Vec::new());
}

#[test]
fn another_process_takes_the_clients_over() {
    let killed = Script { hands_over: true, ..script(ONE, 0, 1, 0, 1) };
    let scripts = vec![
        Script { breaks: 1, ..killed },
        Script { breaks: 1, kills: 0, stops: 1, ..killed },
        Script { others: 1, ..killed },
        Script { kills: 2, ..killed },
        Script { paths: TWO, closes: 0, ..killed },
        Script { rejections_with_reason: 1, has_hooks: true, ..killed },
    ];
    explore_all(scripts, Vec::new());
}

#[test]
fn the_editor_keeps_its_views_over_a_restart() {
    let killed = Script { keeps_views: true, ..script(ONE, 0, 1, 0, 0) };
    let scripts = vec![
        Script { breaks: 1, closes: 1, ..killed },
        Script { breaks: 1, kills: 0, stops: 1, closes: 1, ..killed },
        Script { stops: 1, ..killed },
        Script { kills: 2, ..killed },
        Script { paths: TWO, ..killed },
        Script { paths: TWO, kills: 0, stops: 1, ..killed },
        Script { others: 1, ..killed },
        Script { rejections_with_reason: 1, has_hooks: true, ..killed },
    ];
    let long = vec![
        Script { others: 1, breaks: 1, closes: 1, ..killed },
        Script { others: 1, breaks: 1, kills: 0, stops: 1, closes: 1, ..killed },
        Script { paths: TWO, breaks: 1, stops: 1, closes: 1, ..killed },
    ];
    explore_all(scripts, long);
}

#[test]
fn the_user_comments_and_prompts_two_clis() {
    let commented = Script { comments: 2, prompts: 2, ..script(NONE, 0, 0, 0, 0) };
    let proposed = Script { paths: ONE, has_hooks: true, ..commented };
    let scripts = vec![
        Script { comments: 3, ..commented },
        Script { kills: 1, ..commented },
        Script { stops: 1, ..commented },
        Script { kills: 1, hands_over: true, ..commented },
        Script { comments: 1, prompts: 1, ..proposed },
        Script { comments: 1, prompts: 1, rejections_with_reason: 1, ..proposed },
    ];
    let long = vec![
        Script { kills: 1, rejections_with_reason: 1, ..proposed },
        Script { kills: 1, others: 1, ..proposed },
        Script { kills: 1, keeps_views: true, ..proposed },
    ];
    explore_all(scripts, long);
}
