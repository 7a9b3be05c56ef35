//! Connects to a client by stdin and stdout: one message per line.
//!
//! Each direction has a thread. Both wait if the other side is slow, so no messages pile up.

use std::io::{self, BufRead, Read, Write};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

/// The longest line of a client or an editor, in bytes.
pub(crate) const MAX_LINE: u64 = 256 << 20;

/// The output to the client.
#[derive(Clone, Debug)]
pub(crate) struct Output(mpsc::Sender<Vec<u8>>);

impl Output {
    /// Starts to write to stdout. The output closes when the client stops reading. The thread ends then,
    /// or when it has written all messages and the output is dropped.
    pub(crate) fn start() -> io::Result<(Self, JoinHandle<()>)> {
        let (output, mut lines) = Self::new();
        let writer = std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            let mut stdout = io::stdout();
            while let Some(mut line) = lines.blocking_recv() {
                line.push(b'\n');
                if let Err(error) = stdout.write_all(&line).and_then(|()| stdout.flush()) {
                    log::info!("the client does not read any more: {error}");
                    return;
                }
            }
        })?;
        Ok((output, writer))
    }

    /// Creates the output, and the queue of its messages.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (sender, lines) = mpsc::channel(4);
        (Self(sender), lines)
    }

    /// Sends a message without line breaks. Waits until the client has room for it.
    pub(crate) async fn send(&self, message: Vec<u8>) {
        // Without a receiver the client is gone, and this program ends soon.
        let _ = self.0.send(message).await;
    }

    /// Waits until the client stops reading.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

/// Returns the client's lines, until the client closes its end.
pub(crate) fn input() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (lines, receiver) = mpsc::channel(1);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let read = read_lines(io::stdin().lock(), |line| {
            let Some(line) = line else {
                // The sender is unknown, because the message is not parsed.
                log::warn!("the client sent a line of more than {MAX_LINE} bytes; it is skipped");
                return true;
            };
            lines.blocking_send(line).is_ok()
        });
        if let Err(error) = read {
            log::warn!("could not read stdin: {error}");
        }
    })?;
    Ok(receiver)
}

/// Passes each line to `take`, or `None` for one that is longer than [`MAX_LINE`]. Ends with the input,
/// or when `take` returns false.
pub(crate) fn read_lines(
    mut input: impl BufRead,
    mut take: impl FnMut(Option<Vec<u8>>) -> bool,
) -> io::Result<()> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let goes_on = if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            take(None)
        } else {
            line.trim_ascii().is_empty() || take(Some(line))
        };
        if !goes_on {
            return Ok(());
        }
    }
}
