//! Tests the end of a runtime, with running servers and with threads that wait for a disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

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

/// Counts how often it is stopped.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Guest for Counting {
    fn stop(&self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn all_that_are_still_on_it_are_stopped_once_and_those_that_are_gone_are_forgotten() {
    let runtime = Runtime::start().unwrap();
    let guests = [(); 3].map(|()| Arc::new(Counting::default()));
    for guest in &guests {
        let gone: Arc<dyn Guest> = Arc::new(Counting::default());
        runtime.host(Arc::downgrade(&gone));
        drop(gone);
        let guest: Weak<Counting> = Arc::downgrade(guest);
        runtime.host(guest);
    }
    assert_eq!(runtime.guests.lock().len(), guests.len());
    assert!(runtime.end().is_none());
    assert_eq!(guests.map(|guest| guest.0.load(SeqCst)), [1; 3]);
}
