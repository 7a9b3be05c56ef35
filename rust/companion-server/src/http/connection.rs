//! Connections: from accept to the last byte.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::yield_now;
use tokio::time::{Instant, Sleep, sleep};

use super::route::route;
use crate::core::Core;

/// How long to wait after `accept` failed, which it does for lack of file descriptors.
const BACK_OFF: Duration = Duration::from_millis(100);

/// How often it is told that `accept` fails, while it does.
const TELL_AGAIN: Duration = Duration::from_mins(1);

/// The largest head of a request, give or take one read, and what is read ahead of a body: so
/// much memory anybody can have who connects. Twice what Node allows, and the client's is 1 KB.
const HEAD: usize = 32 << 10;

/// Accepts connections until the server stops. While it can't, peers wait in the system's queue.
pub(crate) async fn accept(listener: TcpListener, core: Arc<Core>) {
    let mut told: Option<Instant> = None;
    while let Some(accepted) = core.stopping.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _)) => {
                // Without, an answer waits for the peer's delayed ACK.
                if let Err(error) = stream.set_nodelay(true) {
                    log::debug!("could not set TCP_NODELAY: {error}");
                }
                core.tasks.spawn(serve(stream, Arc::clone(&core)));
                // It is heard before the next one comes, who may be in need of its place.
                yield_now().await;
            }
            Err(_) if core.places.make_room() => yield_now().await,
            Err(error) => {
                if told.is_none_or(|told| told.elapsed() >= TELL_AGAIN) {
                    log::warn!("could not accept a connection, and will go on trying: {error}");
                    told = Some(Instant::now());
                }
                core.stopping.run_until_cancelled(sleep(BACK_OFF)).await;
            }
        }
    }
}

/// Serves one connection until its peer closes it, or the server stops and what it has begun
/// is done.
pub(crate) async fn serve<S>(stream: S, core: Arc<Core>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let place = Arc::new(core.places.take());
    let service = service_fn(|request| {
        let (core, place) = (Arc::clone(&core), Arc::clone(&place));
        async move { Ok::<_, std::convert::Infallible>(route(core, request, &place).await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(core.config.limits.header_timeout)
            .max_buf_size(HEAD)
            .serve_connection(TokioIo::new(Lingering::new(stream)), service)
    );
    let served = tokio::select! {
        served = &mut connection => served,
        () = place.lost() => return log::debug!("a connection without a token made room"),
        () = core.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                served = connection => served,
                () = core.aborting.cancelled() => return,
            }
        }
    };
    if let Err(error) = served {
        // A broken client is not our error, and its text may hold what it sent.
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

/// How long a peer is heard out after our last byte.
const LINGER: Duration = Duration::from_millis(500);

/// A stream that is closed in two steps: first our side, then, once the peer has closed its
/// own or some time has passed, all of it. To close with unread bytes at hand would send a RST,
/// and with it the peer would lose the reply that told it why (413, 401).
struct Lingering<S> {
    stream: S,
    /// Once our side is closed: until when the peer is heard out.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    fn new(stream: S) -> Self {
        Self { stream, deadline: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, deadline } = &mut *self;
        if deadline.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let deadline = deadline.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        // First, because a peer that never stops sending leaves no turn for what comes after.
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
