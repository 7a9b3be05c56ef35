//! Tests every order of a few inputs, over a restart at each step, or over the end of a process whose
//! clients another one takes over.
//!
//! - No client receives a decision about another question.
//! - No decision is lost.
//! - No client waits for ever.
//! - No text is written that the user has not accepted.
//! - The file's text that stands for a rejection arrives at once or not at all.
//! - A model gets each reason once, or the user hears that it is lost.
//! - The editor gets no request about a path while a view for it opens, and shows no view for nobody.
//!
//! The [`Companion`](crate::companion::Companion) and its records are the real ones. [`world`] models
//! their environment: the editor, the disk and the network, and another client that asks about the
//! same file. [`client`] models the real client, and its hooks.

mod client;
mod world;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use world::{Script, Step, World};

/// Tries every order and returns how many states there are.
fn explore(script: &Script) -> usize {
    let hasher = RandomState::new();
    let first = World::new(script);
    let mut seen = HashSet::from([hasher.hash_one(&first)]);
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
        has_hooks: false,
        corrects: false,
        hands_over: false,
        keeps_views: false,
        unchanged: 0,
    }
}

/// The editor keeps its views over a restart.
fn with_kept_views() -> Vec<Script> {
    vec![
        Script { keeps_views: true, ..script(ONE, 1, 1, 0, 1) },
        Script { keeps_views: true, ..script(ONE, 1, 0, 1, 1) },
        Script { keeps_views: true, ..script(ONE, 0, 1, 1, 0) },
        Script { keeps_views: true, ..script(ONE, 0, 2, 0, 0) },
        Script { keeps_views: true, ..script(TWO, 0, 1, 0, 0) },
        Script { keeps_views: true, ..script(TWO, 0, 0, 1, 0) },
        Script { keeps_views: true, others: 1, ..script(ONE, 0, 1, 0, 0) },
        Script {
            keeps_views: true,
            rejections_with_reason: 1,
            has_hooks: true,
            ..script(ONE, 0, 1, 0, 0)
        },
    ]
}

/// Usually tests some thousand states of each kind. `COMPANION_TEST_LONG=1` tests tens of millions,
/// which takes hours; `--release` is ten times faster.
#[test]
fn in_any_order_nothing_is_lost_invented_or_replayed() {
    let mut scripts = vec![
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
        Script { others: 2, ..script(ONE, 0, 0, 0, 1) },
        Script { others: 1, ..script(ONE, 1, 0, 0, 1) },
        Script { others: 1, ..script(ONE, 0, 1, 0, 1) },
        Script { others: 1, ..script(TWO, 0, 0, 0, 0) },
        Script { failures: 1, timeouts: 1, others: 1, ..script(ONE, 0, 0, 0, 1) },
        Script { failures: 1, timeouts: 1, ..script(TWO, 1, 0, 0, 1) },
        Script { rejections_with_reason: 1, has_hooks: true, ..script(ONE, 2, 0, 0, 1) },
        Script { rejections_with_reason: 1, has_hooks: true, ..script(ONE, 1, 1, 0, 1) },
        Script { rejections_with_reason: 1, has_hooks: true, ..script(ONE, 1, 0, 1, 1) },
        Script { rejections_with_reason: 2, has_hooks: true, ..script(TWO, 1, 0, 0, 0) },
        Script {
            rejections_with_reason: 1,
            has_hooks: true,
            corrects: true,
            ..script(ONE, 1, 0, 0, 1)
        },
        Script {
            rejections_with_reason: 1,
            has_hooks: true,
            corrects: true,
            ..script(ONE, 0, 1, 0, 1)
        },
        Script {
            rejections_with_reason: 1,
            has_hooks: true,
            corrects: true,
            ..script(ONE, 0, 0, 1, 1)
        },
        Script { rejections_with_reason: 1, ..script(ONE, 1, 0, 0, 1) },
        Script { hands_over: true, ..script(ONE, 1, 1, 0, 1) },
        Script { hands_over: true, ..script(ONE, 1, 0, 1, 1) },
        Script { hands_over: true, others: 1, ..script(ONE, 0, 1, 0, 1) },
        Script { hands_over: true, ..script(ONE, 0, 2, 0, 1) },
        Script { hands_over: true, ..script(TWO, 0, 1, 0, 0) },
        Script {
            hands_over: true,
            rejections_with_reason: 1,
            has_hooks: true,
            ..script(ONE, 0, 1, 0, 1)
        },
        Script { rejections_with_reason: 1, others: 1, has_hooks: true, ..script(ONE, 1, 0, 0, 1) },
        Script {
            rejections_with_reason: 1,
            others: 1,
            has_hooks: true,
            corrects: true,
            ..script(ONE, 0, 0, 0, 1)
        },
    ];
    scripts.extend(with_kept_views());
    if std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1") {
        scripts.push(Script { keeps_views: true, others: 1, ..script(ONE, 1, 1, 0, 1) });
        scripts.push(Script { keeps_views: true, others: 1, ..script(ONE, 1, 0, 1, 1) });
        scripts.push(Script { keeps_views: true, ..script(TWO, 1, 1, 1, 1) });
        scripts.push(Script { others: 1, ..script(ONE, 0, 0, 1, 1) });
        scripts.push(Script { others: 2, ..script(ONE, 1, 1, 0, 1) });
        for closes in 0..=1 {
            scripts.push(script(TWO, 2, 1, 0, closes));
            scripts.push(script(TWO, 2, 0, 1, closes));
            scripts.push(Script { at_once: true, ..script(THREE, 0, 1, 0, closes) });
            scripts.push(Script { at_once: true, ..script(THREE, 0, 0, 1, closes) });
            scripts.push(script(THREE, 2, 1, 0, closes));
            scripts.push(script(THREE, 2, 0, 1, closes));
        }
    }
    let changed = scripts.iter().filter(|script| script.others == 0);
    let changed: Vec<_> = changed.map(|script| Script { unchanged: 1, ..*script }).collect();
    for script in scripts.into_iter().chain(changed) {
        let states = explore(&script);
        // Printed with `--nocapture`.
        eprintln!("{states} states: {script:?}");
    }
}
