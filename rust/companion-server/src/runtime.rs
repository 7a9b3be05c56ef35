//! The one thread on which all servers of a process run.
//!
//! One thread is enough: a request costs microseconds. It keeps order (requests to the editor
//! arise in the order of their causes) and memory (one allocator arena, one stack).

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .thread_name("gemini-companion-disk")
            .max_blocking_threads(4)
            .build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread =
            std::thread::Builder::new().name("gemini-companion".to_owned()).spawn(move || {
                runtime.block_on(stopped.cancelled());
                // A look at a file on a dead network drive may never return.
                runtime.shutdown_timeout(Duration::from_millis(100));
            })?;
        Ok(Self { handle, stop, thread: Some(thread) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the server's thread panicked");
        }
    }
}
