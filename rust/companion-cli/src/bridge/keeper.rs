//! Keeps the connection to the companion.
//!
//! The keeper connects as the client does, and reads the stream of notifications. If the connection
//! is lost, it reconnects, or connects to the next companion.

use std::sync::Arc;
use std::time::Duration;

use companion_client::http::{Error, Events, Initialized, Session, Stage, initialize};
use companion_protocol::ide::{IdeContext, context_update};
use companion_protocol::jsonrpc::{Id, Request};
use companion_protocol::tool::Tool;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::link::Up;
use super::relay::{Begin, Bridge};
use crate::find::Finder;

/// Timeout of the bridge's own requests to a companion.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The time for companions to answer one search. A later search tries all again, also those that have
/// started meanwhile.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for the last search before the deadline.
const MIN_SEARCH_TIMEOUT: Duration = Duration::from_millis(500);

/// After such a silence of a companion, the next one is tried, too.
const PATIENCE: Duration = Duration::from_millis(500);

/// The longest silence of a stream. The client gives up a stream after the same time. Companions
/// send something at least every 300 s.
const SILENCE: Duration = Duration::from_secs(330);

/// The time for which only the old session is tried if no diff waits. A restarting companion is back
/// by then, so no other companion replaces it.
const SAME_SESSION_GRACE: Duration = Duration::from_secs(1);

/// The same while a diff waits for its decision, because an editor takes longer to restart. But requests
/// wait for at least as long again, so that another companion can answer them.
const WAITING_DIFF_GRACE: Duration = Duration::from_secs(5);

/// The first pause between two attempts to connect. It doubles with each attempt, …
const MIN_RETRY_DELAY: Duration = Duration::from_millis(50);
/// … up to this pause.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(2);

/// A stream counts as a success if it lasts so long.
const STEADY: Duration = Duration::from_secs(5);

/// Keeps the connection of one client.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) bridge: Arc<Bridge>,
    pub(super) finder: Arc<Finder>,
    /// The processes that have started this one, the nearest first.
    pub(super) ancestors: Vec<String>,
    /// How long the client's `initialize` waits for a companion.
    pub(super) startup_wait: Duration,
}

/// The client's first messages, for every later session.
#[derive(Debug)]
struct Hello {
    initialize: Vec<u8>,
    ready: Vec<u8>,
}

/// A session that has begun.
#[derive(Debug)]
struct Known {
    session: Session,
    last_event_id: Option<String>,
}

impl Known {
    async fn stream(&self) -> Result<(Events, Session), Error> {
        let events = self.session.stream(self.last_event_id.as_deref()).await?;
        Ok((events, self.session.clone()))
    }
}

impl Keeper {
    /// Runs while the client is connected. `hellos` has the client's first messages.
    pub(super) async fn run(self, mut hellos: mpsc::Receiver<Begin>) {
        let Some((hello, session)) = self.begin(&mut hellos).await else { return };
        let refuse = async {
            while let Some(hello) = hellos.recv().await {
                if let Begin::Initialize(id, _) = hello {
                    self.begun_already(&id).await;
                }
            }
        };
        tokio::join!(self.keep(&hello, session), self.outages(), refuse);
    }

    /// Connects to a companion, and waits until the client is ready. Returns `None` if the client
    /// leaves before.
    async fn begin(&self, hellos: &mut mpsc::Receiver<Begin>) -> Option<(Hello, Session)> {
        let (initialize, begun) = loop {
            let Begin::Initialize(id, initialize) = hellos.recv().await? else { continue };
            match self.first(&initialize).await {
                Ok(begun) => break (initialize, begun),
                Err(why) => {
                    log::warn!("no companion: {why}");
                    self.bridge.fail(&id, &format!("No companion can be reached: {why}")).await;
                }
            }
        };
        *self.bridge.session.lock() = Some(begun.session.clone());
        self.bridge.deliver(&begun.response).await;
        loop {
            match hellos.recv().await? {
                Begin::Ready(ready) => break Some((Hello { initialize, ready }, begun.session)),
                Begin::Initialize(id, _) => self.begun_already(&id).await,
            }
        }
    }

    async fn begun_already(&self, id: &Id) {
        self.bridge.fail(id, "Invalid Request: the connection has begun already").await;
    }

    /// Connects to the first companion that it finds. Retries for `startup_wait`.
    async fn first(&self, initialize: &[u8]) -> Result<Initialized, String> {
        let deadline = Instant::now() + self.startup_wait;
        let mut pause = MIN_RETRY_DELAY;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = left.clamp(MIN_SEARCH_TIMEOUT, SEARCH_TIMEOUT);
            let begun = self.any(initialize, limit).await;
            let left = deadline.saturating_duration_since(Instant::now());
            if begun.is_ok() || left.is_zero() {
                return begun;
            }
            // The last attempt is at the deadline.
            sleep(pause.min(left)).await;
            pause = (pause * 2).min(MAX_RETRY_DELAY);
        }
    }

    /// Connects to one of the running companions, the likeliest first. A companion that is silent may
    /// be suspended, so the next one is tried beside it. Takes at most `limit`.
    async fn any(&self, message: &[u8], limit: Duration) -> Result<Initialized, String> {
        let deadline = Instant::now() + limit;
        let finder = Arc::clone(&self.finder);
        let found = tokio::task::spawn_blocking(move || finder.find()).await;
        let endpoints = found.map_err(|error| error.to_string())??.concat();
        // However many are silent, the last one has its turn.
        let turns = u32::try_from(endpoints.len()).unwrap_or(u32::MAX).saturating_add(1);
        let patience = PATIENCE.min(limit / turns);
        let mut endpoints = endpoints.into_iter();
        let mut attempts = JoinSet::new();
        let mut why = Vec::new();
        loop {
            if let Some(endpoint) = endpoints.next() {
                let (message, ancestors) = (message.to_vec().into(), self.ancestors.clone());
                attempts.spawn(async move {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let begun = initialize(&endpoint, message, &ancestors, left).await;
                    begun.map_err(|error| error.explain(&endpoint.authority()))
                });
            }
            let patience = if endpoints.len() == 0 { limit } else { patience };
            match timeout(patience, attempts.join_next()).await {
                Ok(Some(Ok(Ok(begun)))) => {
                    let server = &begun.server.server_info;
                    let authority = begun.session.endpoint().authority();
                    log::info!("connected to {} {} at {authority}", server.name, server.version);
                    tokio::spawn(end_all(attempts));
                    return Ok(begun);
                }
                Ok(Some(Ok(Err(error)))) => why.push(error),
                Ok(None) => return Err(why.join("; ")),
                Ok(Some(Err(_panicked))) => {}
                Err(_silent) => {}
            }
        }
    }

    /// Keeps a stream open until the session ends.
    async fn keep(&self, hello: &Hello, session: Session) {
        let mut known = match say(&session, session.post(hello.ready.clone().into())).await {
            Ok(()) => Some(Known { session, last_event_id: None }),
            Err(error) => {
                log::info!("the companion went away at once: {error}");
                None
            }
        };
        let mut pause = MIN_RETRY_DELAY;
        let mut left = Instant::now();
        for number in 0.. {
            match self.connect(hello, &mut known, left.elapsed()).await {
                Ok((events, session)) => {
                    let begun = Instant::now();
                    let use_it = self.use_until_suspected(session, number);
                    let why = self.read(events, use_it, known.as_mut()).await;
                    log::info!("the connection to the companion was lost: {why}");
                    self.bridge.link.set_down(&why);
                    left = Instant::now();
                    if begun.elapsed() >= STEADY {
                        pause = MIN_RETRY_DELAY;
                    }
                }
                Err(why) => {
                    log::debug!("not connected: {why}");
                    self.bridge.link.set_down(&why);
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_DELAY);
        }
    }

    /// Reopens the stream of the known session, or begins another session.
    async fn connect(
        &self,
        hello: &Hello,
        known: &mut Option<Known>,
        away: Duration,
    ) -> Result<(Events, Session), String> {
        let mut absent = None;
        if let Some(known) = known.as_ref() {
            match known.stream().await {
                Ok(stream) => return Ok(stream),
                Err(error) if error.is_absence() && away < self.same_session_grace() => {
                    return Err(error.explain(&known.session.endpoint().authority()));
                }
                Err(error) => {
                    log::debug!("the session did not go on: {error}");
                    absent = error.is_absence().then_some(known);
                }
            }
        }
        let session = self.any(&hello.initialize, SEARCH_TIMEOUT).await?.session;
        // This may be the same companion, which was unreachable a moment ago and still has the
        // diffs.
        let absent = absent.filter(|known| known.session.endpoint() == session.endpoint());
        if let Some(known) = absent {
            match known.stream().await {
                Err(error) if !error.is_absence() => log::debug!("it has ended: {error}"),
                again => {
                    end(&session).await;
                    let authority = session.endpoint().authority();
                    return again.map_err(|error| error.explain(&authority));
                }
            }
        }
        let stream = async {
            say(&session, session.post(hello.ready.clone().into())).await?;
            session.stream(None).await
        };
        let events = match stream.await {
            Ok(events) => events,
            Err(error) => {
                end(&session).await;
                return Err(error.explain(&session.endpoint().authority()));
            }
        };

        // The diffs of the last session ended with it.
        let rejected = self.bridge.diffs.lock().lose_all();
        for message in rejected {
            self.bridge.output.send(message).await;
        }
        *self.bridge.session.lock() = Some(session.clone());
        *known = Some(Known { session: session.clone(), last_event_id: None });
        Ok((events, session))
    }

    /// Returns how long only the old session is tried. A companion that quits in order has rejected
    /// its diffs. So one whose diffs wait was killed, or it restarts, and its editor still shows them:
    /// another companion would only reject them.
    fn same_session_grace(&self) -> Duration {
        if self.bridge.diffs.lock().is_any_waiting() {
            WAITING_DIFF_GRACE.min(self.bridge.reconnect_wait / 2).max(SAME_SESSION_GRACE)
        } else {
            SAME_SESSION_GRACE
        }
    }

    /// Relays the stream to the client, and returns the reason for its end.
    async fn read(
        &self,
        mut events: Events,
        suspected: impl Future<Output = ()>,
        known: Option<&mut Known>,
    ) -> String {
        let known = known.expect("a stream belongs to a session");
        tokio::pin!(suspected);
        loop {
            let next = tokio::select! {
                next = timeout(SILENCE, events.next()) => next,
                () = &mut suspected => return "a request failed".to_owned(),
            };
            match next {
                Ok(Ok(Some(event))) => {
                    self.bridge.deliver(&event.data).await;
                    if event.id.is_some() {
                        known.last_event_id = event.id;
                    }
                }
                Ok(Ok(None)) => return "the companion ended its stream".to_owned(),
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return "the companion was silent for too long".to_owned(),
            }
        }
    }

    /// Sends the client an empty context whenever the companion has been away for too long. Keeps
    /// the diffs, because they may have been decided, and the terminal asks as well.
    async fn outages(&self) {
        loop {
            self.bridge.link.lost(self.bridge.reconnect_wait).await;
            let nothing = IdeContext::default();
            let nothing = serde_json::to_vec(&context_update(&nothing));
            let nothing = nothing.expect("our messages are JSON");
            self.bridge.output.send(nothing).await;
        }
    }

    /// Closes the views of diffs that were given up while the companion was unreachable, so that
    /// their results do not answer later requests. Then lets requests use this session until one
    /// fails.
    async fn use_until_suspected(&self, session: Session, number: u64) {
        let up = Arc::new(Up { session, number });
        self.bridge.link.set_reconnecting(Arc::clone(&up));
        loop {
            let given_up = self.bridge.diffs.lock().given_up();
            if given_up.is_empty() {
                break;
            }
            if let Err(error) = self.withdraw(&up.session, given_up).await {
                log::debug!("the view of an abandoned proposal may stay open: {error}");
                return;
            }
        }
        self.bridge.link.set_up(up);
        self.bridge.link.left(number).await;
    }

    /// Closes the views of diffs. Each request has the id of its diff. So if it arrives after its
    /// repetition, it can't close the client's next view.
    async fn withdraw(&self, session: &Session, diffs: Vec<(String, u64)>) -> Result<(), Error> {
        let mut closings = JoinSet::new();
        for (path, number) in diffs {
            // Without `suppressNotification` the editor keeps the text, which no client takes.
            let params = json!({
                "name": Tool::CloseDiff.name(),
                "arguments": { (Tool::PATH_ARGUMENT): path },
            });
            let message = Request::new(Id::from(u64::MAX - number), "tools/call", params);
            let message = serde_json::to_vec(&message).expect("our messages are JSON");
            let session = session.clone();
            closings.spawn(async move {
                let sent = session.post_again(message.into());
                (say(&session, sent).await, path)
            });
        }
        while let Some(closing) = closings.join_next().await {
            let Ok((closed, path)) = closing else { continue };
            closed.or_else(|error| if error.is_absence() { Err(error) } else { Ok(()) })?;
            self.bridge.diffs.lock().withdrawn(&path);
        }
        Ok(())
    }
}

/// Ends a session, so that the companion does not count its client.
async fn end(session: &Session) {
    let ended = timeout(ANSWER_TIMEOUT, session.end()).await;
    log::debug!("a session that is not needed was ended: {ended:?}");
}

/// Ends the sessions of companions that have answered too late.
async fn end_all(mut attempts: JoinSet<Result<Initialized, String>>) {
    while let Some(attempt) = attempts.join_next().await {
        if let Ok(Ok(begun)) = attempt {
            end(&begun.session).await;
        }
    }
}

/// Sends a message and ignores the answer.
async fn say(
    session: &Session,
    sent: impl Future<Output = Result<Events, Error>>,
) -> Result<(), Error> {
    let said = timeout(ANSWER_TIMEOUT, async {
        let mut events = sent.await?;
        while events.next().await?.is_some() {}
        Ok(())
    });
    said.await.unwrap_or_else(|_| {
        let authority = session.endpoint().authority();
        Err(Error::Timeout { authority, stage: Stage::Answer })
    })
}
