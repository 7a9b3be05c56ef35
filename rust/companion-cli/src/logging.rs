//! Writes the log to stderr from a thread, so that an unread stderr blocks nobody.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use companion_protocol::ide::log_line;
use env_logger::Target;
use log::LevelFilter;

/// The most lines that wait to be written. Further lines are dropped.
const MAX_LINES: usize = 1024;

/// The longest wait for a reader at the end of the program.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

static LINES: OnceLock<SyncSender<Line>> = OnceLock::new();

enum Line {
    Text(Vec<u8>),
    /// Reports when all earlier lines are written.
    Flush(SyncSender<()>),
}

/// Starts the log of this program. It omits libraries, because they may log data of peers.
pub(crate) fn start(level: LevelFilter) -> io::Result<()> {
    let (sender, lines) = sync_channel(MAX_LINES);
    let dropped = Arc::<AtomicUsize>::default();
    let queue = Queue { lines: sender.clone(), dropped: Arc::clone(&dropped) };
    std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&lines, &dropped))?;
    let _ = LINES.set(sender);
    env_logger::Builder::new()
        .filter_module("companion", level)
        .filter_module("gemini_companion", level)
        .format_indent(None)
        .target(Target::Pipe(Box::new(queue)))
        .init();
    Ok(())
}

/// Waits until the log is written. Gives up if stderr is not read.
pub(crate) fn flush() {
    let (flushed, wait) = sync_channel(1);
    if LINES.get().is_some_and(|lines| lines.try_send(Line::Flush(flushed)).is_ok()) {
        let _ = wait.recv_timeout(FLUSH_TIMEOUT);
    }
}

struct Queue {
    lines: SyncSender<Line>,
    dropped: Arc<AtomicUsize>,
}

impl Write for Queue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = log_line(String::from_utf8_lossy(bytes).trim_end_matches('\n')) + "\n";
        if self.lines.try_send(Line::Text(line.into_bytes())).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(lines: &Receiver<Line>, dropped: &AtomicUsize) {
    let mut stderr = io::stderr();
    for line in lines {
        // Without a reader the error can't be reported.
        let _ = match line {
            Line::Text(line) => stderr.write_all(&line),
            Line::Flush(flushed) => flushed.send(()).map_err(io::Error::other),
        };
        let count = dropped.swap(0, Ordering::Relaxed);
        if count > 0 {
            let _ =
                writeln!(stderr, "[{count} lines of the log were dropped: stderr was not read]");
        }
    }
}
