//! Simulates hours of use in a short time. Clients connect, leave and break off at random; the
//! editor is slow and fails at random. The test checks these invariants:
//!
//! - Each diff ends exactly once, and only for its client.
//! - In the end every client knows the open files of the editor.
//! - When all have left, nothing stays; memory does not grow.
//!
//! It takes 20 s; with `COMPANION_TEST_LONG=1` 30 minutes; `COMPANION_SOAK_SECONDS` changes that.
//! It prints its seed, which `COMPANION_SOAK_SEED` sets: clients and editor then make the same
//! choices, though not at the same moments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

mod client;
#[path = "../common/mod.rs"]
mod common;
mod context;
mod editor;
mod world;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use companion_server::Limits;
use tokio::sync::{Mutex, RwLock};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use client::{Client, SESSION_AWAY};
use common::{Rig, is_long, process, until, variable};
use context::{Files, without_times};
use editor::{Editor, Link};
use world::World;

const CLIENTS: usize = 20;
/// The time between two checks.
const STRETCH: Duration = Duration::from_secs(4);

#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn random_use_loses_nothing_and_leaves_nothing() {
    let seconds = variable("COMPANION_SOAK_SECONDS").unwrap_or(if is_long() { 1800 } else { 20 });
    let seed = variable("COMPANION_SOAK_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("{seconds} s, COMPANION_SOAK_SEED={seed}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let soak = soak(Duration::from_secs(seconds), fastrand::Rng::with_seed(seed));
    let report = LocalSet::new().block_on(&runtime, soak);
    println!("{report}");
}

async fn soak(duration: Duration, mut rng: fastrand::Rng) -> String {
    let mut limits = Limits::default();
    limits.host_timeout = Duration::from_millis(500);
    limits.keep_alive = Duration::from_secs(1);
    limits.session_away = SESSION_AWAY;
    limits.session_gone = 2 * SESSION_AWAY;
    // Otherwise sessions that left with undelivered decisions would evict returning clients.
    limits.idle_sessions = 1024;
    let (link, asked) = Link::new();
    let rig = Rig::of(Arc::new(link), |config| {
        config.settings.workspace = vec!["/".into()];
        config.limits = limits;
    });
    let descriptors = process::descriptors();
    let world = World::default();
    let editor = Editor::start(rig.server.clone(), world.clone(), rng.fork(), asked);
    let files = Rc::new(Mutex::new(Files::new(rig.server.clone(), rng.fork())));
    // Every action holds this for reading. A writer therefore sees all actions at rest.
    let rest = Rc::new(RwLock::new(()));

    let mut tasks = vec![spawn_local(use_editor(
        Rc::clone(&files),
        Rc::clone(&rest),
        world.clone(),
        rng.fork(),
    ))];
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let paths = (0..4).map(|file| format!("/p/{number}/{file}"));
        let shared = (0..2).map(|_| format!("/p/shared/{}", rng.u32(0..6)));
        let paths = paths.chain(shared).collect();
        let client = Client::connect(rig.target(), world.clone(), rng.fork(), paths).await;
        let client = Rc::new(Mutex::new(client));
        clients.push(Rc::clone(&client));
        let rest = Rc::clone(&rest);
        tasks.push(spawn_local(async move {
            loop {
                let _busy = rest.read().await;
                client.lock().await.step().await;
            }
        }));
    }

    // A panic of any thread, also of the server's, ends the test.
    let panicked = Arc::new(AtomicBool::new(false));
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new({
        let panicked = Arc::clone(&panicked);
        move |panic| {
            panicked.store(true, Ordering::Relaxed);
            tell(panic);
        }
    }));

    let begun = Instant::now();
    let mut memory = Vec::new();
    while begun.elapsed() < duration {
        sleep(STRETCH.min(duration)).await;
        assert!(!panicked.load(Ordering::Relaxed), "see above");
        let alone = rest.write().await;
        look(&rig, &editor, &clients, &mut *files.lock().await, &world).await;
        memory.push((begun.elapsed().as_secs_f64(), process::memory()));
        drop(alone);
    }
    for task in tasks {
        task.abort();
        let _ = task.await;
    }
    for client in clients.drain(..) {
        client.lock().await.leave().await;
    }
    until("all connections have ended", || rig.server.status().tasks == 0).await;
    until("all sockets are closed", || process::are_closed(descriptors)).await;
    assert!(!panicked.load(Ordering::Relaxed), "see above");
    format!("{}\n{}", world.counts(), growth(&memory))
}

/// Simulates the use of the editor.
async fn use_editor(
    files: Rc<Mutex<Files>>,
    rest: Rc<RwLock<()>>,
    world: World,
    mut rng: fastrand::Rng,
) {
    loop {
        let busy = rest.read().await;
        for _ in 0..rng.u32(1..30) {
            files.lock().await.step();
            world.count(|counts| counts.editor_events += 1);
        }
        drop(busy);
        sleep(Duration::from_millis(rng.u64(0..150))).await;
    }
}

/// Checks the invariants while no action runs: every open diff ends for its client, and all clients
/// know the context.
async fn look(
    rig: &Rig<Link>,
    editor: &Editor,
    clients: &[Rc<Mutex<Client>>],
    files: &mut Files,
    world: &World,
) {
    for client in clients {
        client.lock().await.settle().await;
    }
    until("every diff has ended", || {
        editor.decide_all();
        editor.is_idle() && rig.server.status().open_diffs == 0
    })
    .await;
    for client in clients {
        let client = client.lock().await;
        until("every asker knows how its diff ended", || client.open_waiters().is_empty()).await;
    }
    // A client's events are in order: with this context, all earlier events have arrived.
    files.move_caret();
    let expected = files.expected();
    for client in clients {
        let client = client.lock().await;
        until("every client has the newest context", || {
            without_times(&client.inbox.context.borrow()) == expected
        })
        .await;
        client.forget();
    }
    until("the editor knows how many are connected", || rig.editor.connected() == clients.len())
        .await;
    world.forget();
    world.count(|counts| counts.checks += 1);
}

/// Returns the slope of the memory in use, by least squares, without the start-up phase.
#[expect(clippy::cast_precision_loss, reason = "a few numbers, none large")]
fn growth(memory: &[(f64, u64)]) -> String {
    let settled = &memory[memory.len() / 5..];
    let points = || settled.iter().map(|(time, kb)| (time / 60.0, *kb as f64));
    let count = settled.len() as f64;
    let time = points().map(|point| point.0).sum::<f64>() / count;
    let size = points().map(|point| point.1).sum::<f64>() / count;
    let (mut above, mut below) = (0.0, f64::EPSILON);
    for point in points() {
        above += (point.0 - time) * (point.1 - size);
        below += (point.0 - time).powi(2);
    }
    let (first, last) = (settled[0].1, settled[settled.len() - 1].1);
    assert!(last < first + 64 * 1024, "memory grew from {first} to {last} KB");
    format!("memory {first} KB, in the end {last} KB; slope {:.1} KB per minute", above / below)
}
