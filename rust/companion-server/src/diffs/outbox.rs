//! Keeps the decisions that one client has not acknowledged, oldest first.
//!
//! A decision is an event and must arrive: it is kept until the client has shown that it got it,
//! and sent again if the stream broke. There are two ways to show it. Behind each decision goes a
//! `ping`, and its answer says that all before it has arrived. And the id of an event names all
//! ends that the client was told, so that a client that comes back says which they were by its
//! `last-event-id`, to this process or to the next one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::{Decision, DiffId};
use crate::host::CallId;
use crate::text::Text;

/// How many bytes of decisions that were sent long ago are kept for a client that answers no ping,
/// besides the newest.
const MAX_SENT_BYTES: usize = 1 << 20;
/// How many sent decisions are kept for it: as many as may wait for a client that comes back.
const MAX_SENT_EVENTS: usize = 256;
/// How many diffs that are over event ids name besides, should the disk never take the records.
const MAX_SETTLING: usize = 64;

/// The `id:` of an event: the diffs of whose end its client has been told, as far as that is not
/// settled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct EventId(Vec<DiffId>);

impl EventId {
    /// Reads a `last-event-id`. What was not given out here names no diff.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.split('.').filter_map(DiffId::parse).collect())
    }

    fn names(&self, diff: DiffId) -> bool {
        self.0.contains(&diff)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An empty id would be none, and would take the last one away from the client.
        let Some((first, more)) = self.0.split_first() else { return f.write_str("-") };
        write!(f, "{first}")?;
        more.iter().try_for_each(|diff| write!(f, ".{diff}"))
    }
}

/// What a stream sends next of it: a decision, and usually behind it a ping that has the diff's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outgoing {
    pub(crate) ping: bool,
    pub(crate) diff: DiffId,
    pub(crate) path: Arc<str>,
    /// With the content that the client receives.
    pub(crate) decision: Decision,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Outbox {
    stream: Option<OpenStream>,
    /// Oldest first; those that were sent before those that were not.
    queue: VecDeque<Queued>,
    /// Diffs that are over for this client, each with the number of the record that says so.
    settling: Vec<(DiffId, u64)>,
    closing: Vec<Closing>,
}

/// A call of closeDiff that is answered once it is known whether a decision has arrived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Closing {
    pub(super) diff: DiffId,
    pub(super) call: CallId,
    pub(super) wants: Wants,
}

/// How the caller wants to hear of the decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wants {
    /// By the answer, and not again.
    Answer,
    /// By the notification, and then the answer, with this text.
    Notification(Option<Text>),
}

/// A stream that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OpenStream {
    number: u64,
    /// It is the answer to a request, without event ids.
    is_answer: bool,
}

impl OpenStream {
    /// Whether a decision needs its ping even if the server is stopping. A client whose answer
    /// comes when the server has gone takes that for the end of the connection. So a rejection
    /// has none then, of which the event's id says enough.
    fn must_ping(self, queued: &Queued) -> bool {
        self.is_answer || queued.decision.is_accepted()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Queued {
    pub(super) diff: DiffId,
    pub(super) path: Arc<str>,
    pub(super) decision: Decision,
    /// It was taken in the last process, and may have arrived from there.
    is_restored: bool,
    /// The stream that it was sent on.
    sent: Option<u64>,
    /// On how many streams it was sent.
    attempts: u32,
    /// A ping went behind it there.
    is_pinged: bool,
    /// It was sent there long ago.
    is_old: bool,
}

impl Queued {
    fn new(diff: DiffId, path: Arc<str>, decision: Decision, is_restored: bool) -> Self {
        Self {
            diff,
            path,
            decision,
            is_restored,
            sent: None,
            // The last process may have sent it.
            attempts: is_restored.into(),
            is_pinged: false,
            is_old: false,
        }
    }

    fn len(&self) -> usize {
        self.decision.text().map_or(0, |text| text.len())
    }
}

impl Outbox {
    pub(super) fn push(&mut self, diff: DiffId, path: Arc<str>, decision: Decision) {
        self.queue.push_back(Queued::new(diff, path, decision, false));
    }

    /// A decision of the last process.
    pub(super) fn restore(&mut self, diff: DiffId, path: Arc<str>, decision: Decision) {
        self.queue.push_back(Queued::new(diff, path, decision, true));
    }

    pub(super) fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// The number of the decisions that were not sent, and the bytes of all.
    pub(super) fn backlog(&self) -> (usize, usize) {
        let unsent = self.queue.iter().filter(|queued| queued.sent.is_none());
        (unsent.count(), self.queue.iter().map(Queued::len).sum())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the client waits for a decision that was taken in this process.
    pub(super) fn is_due(&self) -> bool {
        self.queue.iter().any(|queued| queued.sent.is_none() && !queued.is_restored)
    }

    /// The decision for `path`, of which there is one at most: who asks again forgets the last.
    pub(super) fn find(&self, path: &str) -> Option<&Queued> {
        self.queue.iter().find(|queued| &*queued.path == path)
    }

    /// Whether the decision for `path` is one of the last process.
    pub(super) fn is_left(&self, path: &str) -> bool {
        self.find(path).is_some_and(|queued| queued.is_restored)
    }

    /// Whether a decision has yet to arrive, and there is a stream for it.
    pub(super) fn may_tell(&self, diff: DiffId) -> bool {
        self.has_stream() && self.queue.iter().any(|queued| queued.diff == diff)
    }

    /// Whether a decision may be on its way: it was sent, and nobody knows whether it has arrived.
    pub(super) fn is_on_its_way(&self, diff: DiffId) -> bool {
        self.queue.iter().any(|queued| queued.diff == diff && queued.sent.is_some())
    }

    /// Whether the client is to answer a ping behind a decision, even if the server is stopping.
    pub(super) fn has_any_on_its_way(&self) -> bool {
        self.stream.is_some_and(|stream| {
            let is_pinged = |of: &Queued| of.is_pinged && of.sent == Some(stream.number);
            self.queue.iter().any(|of| stream.must_ping(of) || is_pinged(of))
        })
    }

    /// The acceptance for `path`, unless the client may have received it.
    pub(super) fn unsent(&mut self, path: &str) -> Option<&mut Queued> {
        let mut unsent = self.queue.iter_mut().filter(|queued| queued.attempts == 0);
        unsent.find(|queued| &*queued.path == path && queued.decision.is_accepted())
    }

    /// Takes a decision out.
    pub(super) fn take(&mut self, diff: DiffId) -> Option<Queued> {
        let index = self.queue.iter().position(|queued| queued.diff == diff)?;
        self.queue.remove(index)
    }

    /// A new stream, which replaces the one that there was. Returns the decisions of which `last`
    /// says that they have arrived; the others are sent again.
    pub(super) fn attach(&mut self, number: u64, last: &EventId, is_answer: bool) -> Vec<Queued> {
        // An answer that is a stream ends in order when the client's own comes, so what was sent
        // on it arrives, though the client can't say so.
        let arriving = self.stream.filter(|stream| stream.is_answer).map(|stream| stream.number);
        self.stream = Some(OpenStream { number, is_answer });
        let (arrived, queue): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(|queued| last.names(queued.diff));
        self.queue = queue.into();
        for queued in &mut self.queue {
            queued.sent = queued.sent.filter(|stream| Some(*stream) == arriving);
        }
        arrived
    }

    /// The stream `number` has ended. Returns the calls that have waited for it to tell.
    pub(super) fn detach(&mut self, number: u64) -> Vec<Closing> {
        if self.stream.is_none_or(|stream| stream.number != number) {
            return Vec::new();
        }
        self.stream = None;
        let is_told = |closing: &mut Closing| matches!(closing.wants, Wants::Notification(_));
        self.closing.extract_if(.., is_told).collect()
    }

    /// What the stream `number` sends next, if the server is stopping or not.
    pub(super) fn next(&mut self, number: u64, stopping: bool) -> Option<Outgoing> {
        let stream = self.stream.filter(|stream| stream.number == number)?;
        // Of what the last process told, a client speaks only when it opens a stream of its own.
        let may = |queued: &Queued| !(stream.is_answer && queued.is_restored);
        let mut queue = self.queue.iter_mut();
        let queued = queue.find(|queued| queued.sent.is_none() && may(queued))?;
        queued.sent = Some(number);
        queued.attempts += 1;
        let ping = !stopping || stream.must_ping(queued);
        queued.is_pinged = ping;
        queued.is_old = false;
        let Queued { diff, path, decision, .. } = queued.clone();
        Some(Outgoing { ping, diff, path, decision })
    }

    /// The oldest of the decisions that were sent, if there are too many: a client that answers no
    /// ping and never comes back costs no more memory than that.
    pub(super) fn excess(&self) -> Option<DiffId> {
        let mut sent = self.queue.iter().filter(|queued| queued.sent.is_some());
        let oldest = sent.next()?;
        (sent.count() >= MAX_SENT_EVENTS).then_some(oldest.diff)
    }

    /// A long time has passed. Returns the decisions whose texts are too many by now: a client that
    /// listens has shown long ago that it got them, if it shows that at all.
    pub(super) fn prune_sent(&mut self) -> Vec<DiffId> {
        let mut bytes = 0;
        let mut excess = Vec::new();
        let Some(stream) = self.stream else { return excess };
        let sent = self.queue.iter_mut().filter(|queued| queued.sent == Some(stream.number));
        for (index, queued) in sent.rev().enumerate() {
            bytes += if index == 0 { 0 } else { queued.len() };
            if bytes > MAX_SENT_BYTES && queued.is_old {
                excess.push(queued.diff);
            }
            queued.is_old = true;
        }
        excess
    }

    /// The id of the event that is sent next.
    pub(super) fn event_id(&self) -> EventId {
        let told = self.queue.iter().filter(|queued| queued.sent.is_some());
        let told = told.map(|queued| queued.diff);
        EventId(told.chain(self.settling.iter().map(|(diff, _)| *diff)).collect())
    }

    /// A diff is over for this client, as the record of that number says. Until that is saved, the
    /// next process would bring it up again, so the event ids name it.
    pub(super) fn settle(&mut self, diff: DiffId, record: u64) {
        if self.settling.len() == MAX_SETTLING {
            self.settling.remove(0);
        }
        self.settling.push((diff, record));
    }

    /// All records up to that number are saved.
    pub(super) fn saved(&mut self, record: u64) {
        self.settling.retain(|(_, number)| *number > record);
    }

    /// Has a call wait for what becomes of a decision.
    pub(super) fn close_later(&mut self, closing: Closing) {
        self.closing.push(closing);
    }

    /// The calls that wait for what becomes of that decision.
    pub(super) fn closing(&mut self, diff: DiffId) -> Vec<Closing> {
        self.closing.extract_if(.., |closing| closing.diff == diff).collect()
    }

    /// Takes a call out that waits, if it does.
    pub(super) fn give_up(&mut self, call: CallId) -> Option<Closing> {
        let index = self.closing.iter().position(|closing| closing.call == call)?;
        Some(self.closing.remove(index))
    }

    /// The diffs whose decisions have yet to arrive.
    pub(super) fn diffs(&self) -> Vec<DiffId> {
        self.queue.iter().map(|queued| queued.diff).collect()
    }
}
