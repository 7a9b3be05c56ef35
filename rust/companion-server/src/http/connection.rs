//! Serves connections, from accept to the last byte.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::yield_now;
use tokio::time::{Instant, Sleep, sleep};

use super::HttpServer;
use super::read_end::ReadEnd;
use super::route::{MAX_HEAD, route};
use crate::net::guard::Endpoint;

/// The wait after `accept` has failed, for example for lack of file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// The interval of the log line while `accept` fails.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Accepts connections until the endpoint closes. While it can't accept, peers wait in the system's
/// queue.
pub(crate) async fn accept(
    listener: TcpListener,
    endpoint: Arc<Endpoint>,
    server: Arc<HttpServer>,
) {
    let mut logged: Option<Instant> = None;
    while let Some(accepted) = endpoint.closing.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => {
                // Otherwise an answer waits for the peer's delayed ACK.
                if let Err(error) = stream.set_nodelay(true) {
                    log::debug!("could not set TCP_NODELAY: {error}");
                }
                let serve = serve(stream, peer, Arc::clone(&endpoint), Arc::clone(&server));
                server.lifecycle.tasks.spawn(serve);
                // Lets the connection send its token before the next one, which may need the slot.
                yield_now().await;
            }
            Err(_) if server.slots.make_room() => yield_now().await,
            Err(error) => {
                if logged.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL) {
                    log::warn!("could not accept a connection, and will go on trying: {error}");
                    logged = Some(Instant::now());
                }
                endpoint.closing.run_until_cancelled(sleep(ACCEPT_RETRY_DELAY)).await;
            }
        }
    }
}

/// Serves one connection until its peer closes it. If the server stops, it finishes the request
/// that has begun.
pub(crate) async fn serve<S>(
    stream: S,
    peer: SocketAddr,
    endpoint: Arc<Endpoint>,
    server: Arc<HttpServer>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let slot = Arc::new(server.slots.take());
    let end = ReadEnd::default();
    let service = service_fn(|request: Request<Incoming>| {
        let (server, slot) = (Arc::clone(&server), Arc::clone(&slot));
        let (endpoint, end) = (Arc::clone(&endpoint), end.clone());
        async move {
            let reply = route(server, &endpoint, request, &slot, &end, peer).await;
            Ok::<_, std::convert::Infallible>(reply.map(|body| body.delaying(&end)))
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(server.config.limits.header_timeout)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(Lingering::new(stream, end.clone())), service)
    );
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        () = slot.evicted() => return log::debug!("a connection without a token made room"),
        () = server.lifecycle.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                outcome = connection => outcome,
                () = server.lifecycle.aborting.cancelled() => return,
            }
        }
    };
    if let Err(error) = outcome {
        // A broken client is not an error of the server, and the error's text may contain the
        // client's bytes.
        log::debug!("a connection ended early: {}", kind(&error));
    }
}

fn kind(error: &hyper::Error) -> &'static str {
    match error {
        error if error.is_timeout() => "the peer was too slow",
        error if error.is_parse() => "the peer does not speak HTTP",
        error if error.is_incomplete_message() => "the peer left within a message",
        _ => "the peer is gone",
    }
}

/// The time for a peer to read the last bytes.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// Closes a stream in two steps: first the server's side, then the whole stream, when the peer has
/// closed its side or after [`LINGER_TIMEOUT`].
///
/// A close with unread bytes sends an RST. The peer would lose the reply with the reason (413,
/// 401).
struct Lingering<S> {
    stream: S,
    end: ReadEnd,
    /// The peer has closed its side.
    is_ended: bool,
    /// The end of the second step, once the server's side is closed.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    fn new(stream: S, end: ReadEnd) -> Self {
        Self { stream, end, is_ended: false, deadline: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() == before {
            if !std::mem::replace(&mut self.is_ended, true) {
                // The last bytes may complete a request, which begins to be answered before the next poll.
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            ready!(self.end.poll(cx));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.end.written();
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.end.written();
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.end.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, deadline, .. } = &mut *self;
        if deadline.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let deadline = deadline.get_or_insert_with(|| Box::pin(sleep(LINGER_TIMEOUT)));
        // Checked first, because a peer that never stops sending leaves no turn for later checks.
        if deadline.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut scratch = [std::mem::MaybeUninit::uninit(); 4096];
        loop {
            let mut unread = ReadBuf::uninit(&mut scratch);
            match Pin::new(&mut *stream).poll_read(cx, &mut unread) {
                Poll::Ready(Ok(())) if !unread.filled().is_empty() => {}
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, duplex};
    use tokio::time::timeout;

    use super::*;
    use crate::tests::{Rig, logged};

    #[tokio::test(start_paused = true)]
    async fn the_log_says_why_a_connection_ended_early() {
        let rig = Rig::start();
        for (sent, stays, why) in [
            ("", true, "the peer was too slow"),
            ("GET / HTTP/1.1\r\n", true, "the peer was too slow"),
            ("no HTTP\r\n\r\n", true, "the peer does not speak HTTP"),
            ("GET / HTTP/1.1\r\n", false, "the peer left within a message"),
            // With more bytes at hand, hyper does not see the end, and answers.
            ("GET / HTTP/1.1\r\n\r\nmore", false, "the peer is gone"),
        ] {
            let (mut ours, theirs) = duplex(1 << 16);
            ours.write_all(sent.as_bytes()).await.unwrap();
            let _ours = stays.then_some(ours);
            logged();
            rig.serve(theirs).await;
            assert_eq!(logged(), [format!("DEBUG a connection ended early: {why}")], "{sent:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_sends_what_it_is_given_and_at_once_when_flushed() {
        let (mut ours, theirs) = duplex(64);
        let mut stream = Lingering::new(BufWriter::new(theirs), ReadEnd::default());
        assert!(stream.is_write_vectored(), "or each text were copied once more");
        stream.write_all(b"written").await.unwrap();
        stream.flush().await.unwrap();
        let mut read = [0; 7];
        timeout(LINGER_TIMEOUT, ours.read_exact(&mut read)).await.unwrap().unwrap();
        assert_eq!(&read, b"written");
    }

    /// A socket that does not listen: each `accept` fails.
    #[cfg(target_os = "linux")]
    fn deaf() -> TcpListener {
        use socket2::{Domain, Socket, Type};
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        TcpListener::from_std(socket.into()).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn while_nobody_can_be_accepted_strangers_make_room_and_the_log_says_so_once_a_minute() {
        let rig = Rig::start();
        let _strangers = [rig.parts.http.slots.take(), rig.parts.http.slots.take()];
        logged();
        let http = &rig.parts.http;
        tokio::spawn(accept(deaf(), Arc::clone(&http.endpoint), Arc::clone(http)));
        for _ in 0..100 {
            yield_now().await;
        }
        assert!(!rig.parts.http.slots.make_room(), "they had to go");
        let warnings = || {
            let lines = logged();
            assert!(
                lines.iter().all(|line| line.starts_with("WARN could not accept")),
                "{lines:?}"
            );
            lines.len()
        };
        assert_eq!(warnings(), 1);
        for (seconds, count) in [(59, 0), (2, 1), (58, 0)] {
            sleep(Duration::from_secs(seconds)).await;
            assert_eq!(warnings(), count);
        }
    }
}
