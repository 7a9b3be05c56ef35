//! Tests the end of a runtime with threads that wait for a disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::*;

#[test]
fn a_thread_that_waits_for_a_disk_is_left_behind_and_can_be_waited_for() {
    let runtime = Runtime::start().unwrap();
    let (disk, answer) = mpsc::channel::<()>();
    let done = Arc::new(AtomicBool::new(false));
    let at_end = Arc::clone(&done);
    let wait = move || {
        let _ = answer.recv();
        // Long enough for a wrong `wait` that returns at once.
        (0..10_000).for_each(|_| thread::yield_now());
        at_end.store(true, SeqCst);
    };
    runtime.alive().spawn("disk", wait).unwrap();
    let remaining = runtime.end().expect("the thread is still there");
    drop(disk);
    remaining.wait();
    assert!(done.load(SeqCst));
}
