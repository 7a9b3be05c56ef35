//! Keeps the decisions that one client has not acknowledged, oldest first.
//!
//! A decision is an event and must arrive. It is kept until the client has acknowledged it, and
//! resent if the stream broke. A client acknowledges in two ways. A `ping` follows each decision;
//! its answer says that all before it has arrived. The id of an event names all diffs whose end
//! was sent, so a returning client acknowledges them by its `last-event-id`, to this process or
//! the next one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::calls::CallId;
use crate::diffs::{Accepted, Decision, DiffId, MAX_DIFFS_PER_SESSION};

/// The most bytes of long-sent decisions that are kept for a client that answers no ping, besides
/// the newest.
const MAX_SENT_BYTES: usize = 1 << 20;
/// The most ended diffs that event ids name in addition, in case the disk never takes the
/// records.
const MAX_SETTLING: usize = 64;

/// The `id:` of an event: the diffs whose end was sent to the client and is not settled. A client that
/// returns sends the last id that it has got, so it says which decisions have arrived, also to a process
/// that never sent them.
///
/// ```
/// # use companion_core::diffs::EventId;
/// assert_eq!(EventId::parse("-").to_string(), "-");
/// let id = EventId::parse("2a.2b");
/// assert_eq!(EventId::parse(&id.to_string()), id);
/// assert_eq!(EventId::parse("of another server"), EventId::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventId(Vec<DiffId>);

impl EventId {
    /// Reads a `last-event-id`. A foreign id names no diff.
    pub fn parse(text: &str) -> Self {
        Self(text.split('.').filter_map(DiffId::parse).collect())
    }

    pub(crate) fn names(&self, diff: DiffId) -> bool {
        self.0.contains(&diff)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An empty id would reset the client's last id.
        let Some((first, more)) = self.0.split_first() else { return f.write_str("-") };
        write!(f, "{first}")?;
        more.iter().try_for_each(|diff| write!(f, ".{diff}"))
    }
}

/// A decision to send, usually with a ping that has the diff's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outgoing {
    /// A ping follows.
    pub ping: bool,
    /// The diff.
    pub diff: DiffId,
    /// Its file, as the client wrote it.
    pub path: Arc<str>,
    /// Includes the content that the client receives.
    pub decision: Decision,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Outbox {
    stream: Option<OpenStream>,
    /// Oldest first; sent ones before unsent ones.
    queue: VecDeque<Queued>,
    /// Diffs that have ended for this client, each with the number of its record, which is not saved yet.
    settling: Vec<(DiffId, u64)>,
    closing: Vec<Closing>,
    /// The next process does not know the client.
    pub(crate) ends_with_process: bool,
}

/// A `closeDiff` call that waits until it is known whether a decision has arrived.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Closing {
    pub diff: DiffId,
    pub(crate) call: CallId,
    pub(crate) route: DecisionRoute,
}

/// How the caller receives the decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DecisionRoute {
    /// By the answer only.
    Answer,
    /// By the notification, followed by this answer.
    Notification(Option<Accepted>),
}

/// A stream that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct OpenStream {
    number: u64,
    /// It is the answer to a request, without event ids.
    is_answer: bool,
}

impl OpenStream {
    /// Whether a decision needs its ping even if the server is stopping. A client that answers
    /// after the server has ended takes that for the end of the connection. So a rejection has no
    /// ping then; the event's id is enough.
    fn must_ping(self, queued: &Queued) -> bool {
        self.is_answer || queued.decision.accepted().is_some()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Queued {
    pub diff: DiffId,
    pub path: Arc<str>,
    pub decision: Decision,
    /// Taken by the last process, which may have sent it.
    is_restored: bool,
    /// The stream that carried it.
    sent: Option<u64>,
    /// The number of streams that carried it.
    attempts: u32,
    /// A ping followed it on that stream.
    is_pinged: bool,
    /// It was sent there long ago.
    is_old: bool,
}

impl Queued {
    fn len(&self) -> usize {
        self.decision.sent_text().map_or(0, |text| text.len())
    }
}

impl Outbox {
    /// Adds a decision, perhaps one of the last process.
    pub(crate) fn push(
        &mut self,
        diff: DiffId,
        path: Arc<str>,
        decision: Decision,
        is_restored: bool,
    ) {
        self.queue.push_back(Queued {
            diff,
            path,
            decision,
            is_restored,
            sent: None,
            // The last process may have sent it.
            attempts: is_restored.into(),
            is_pinged: false,
            is_old: false,
        });
    }

    pub(crate) fn has_stream(&self) -> bool {
        self.stream.is_some()
    }

    /// The number of unsent decisions.
    pub(crate) fn unsent_count(&self) -> usize {
        self.queue.iter().filter(|queued| queued.sent.is_none()).count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the client waits for a decision of this process.
    pub(crate) fn is_due(&self) -> bool {
        self.queue.iter().any(|queued| queued.sent.is_none() && !queued.is_restored)
    }

    /// The decision for `path`. There is at most one: a new question discards the last decision.
    pub(crate) fn find(&self, path: &str) -> Option<&Queued> {
        self.queue.iter().find(|queued| &*queued.path == path)
    }

    /// Whether the decision for `path` comes from the last process.
    pub(crate) fn is_left(&self, path: &str) -> bool {
        self.find(path).is_some_and(|queued| queued.is_restored)
    }

    /// Whether a decision must still arrive and has a stream.
    pub(crate) fn may_notify(&self, diff: DiffId) -> bool {
        self.has_stream() && self.queue.iter().any(|queued| queued.diff == diff)
    }

    /// Whether a decision may be under way: it was sent, and its arrival is unknown.
    pub(crate) fn is_on_its_way(&self, diff: DiffId) -> bool {
        self.queue.iter().any(|queued| queued.diff == diff && queued.sent.is_some())
    }

    /// Whether a decision must still be sent.
    pub(crate) fn is_unsent(&self, diff: DiffId) -> bool {
        self.queue.iter().any(|queued| queued.diff == diff && queued.sent.is_none())
    }

    /// Whether the client must answer a ping, even if the server is stopping.
    pub(crate) fn has_any_on_its_way(&self) -> bool {
        self.stream.is_some_and(|stream| {
            let is_pinged = |of: &Queued| of.is_pinged && of.sent == Some(stream.number);
            self.queue.iter().any(|of| stream.must_ping(of) || is_pinged(of))
        })
    }

    /// The acceptance for `path`, unless the client may have received it.
    pub(crate) fn unsent(&mut self, path: &str) -> Option<&mut Queued> {
        let mut unsent = self.queue.iter_mut().filter(|queued| queued.attempts == 0);
        unsent.find(|queued| &*queued.path == path && queued.decision.accepted().is_some())
    }

    /// Removes a decision.
    pub(crate) fn take(&mut self, diff: DiffId) -> Option<Queued> {
        let index = self.queue.iter().position(|queued| queued.diff == diff)?;
        self.queue.remove(index)
    }

    /// Begins a stream, which replaces the last one. Returns the decisions that arrived according
    /// to `last`; the others are resent.
    pub(crate) fn attach(&mut self, number: u64, last: &EventId, is_answer: bool) -> Vec<Queued> {
        // A response stream ends in order when the client's own begins, so everything sent on it
        // arrives, although the client cannot acknowledge it.
        let arriving = self.stream.filter(|stream| stream.is_answer).map(|stream| stream.number);
        self.stream = Some(OpenStream { number, is_answer });
        let (arrived, queue): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(|queued| last.names(queued.diff));
        self.queue = queue.into();
        for queued in &mut self.queue {
            queued.sent = queued.sent.filter(|stream| Some(*stream) == arriving);
        }
        self.reject_unsent_texts();
        arrived
    }

    /// Rejects the rejected with a reason diffs whose texts are not sent. The file may change until then, and the
    /// client would undo that.
    pub(crate) fn reject_unsent_texts(&mut self) {
        let unsent = self.queue.iter_mut().filter(|queued| queued.sent.is_none());
        for queued in unsent {
            if matches!(queued.decision, Decision::RejectedWithReason(_)) {
                queued.decision = Decision::Rejected;
            }
        }
    }

    /// Ends the stream `number`. Returns the calls that waited for its notifications.
    pub(crate) fn detach(&mut self, number: u64) -> Vec<Closing> {
        if self.stream.is_none_or(|stream| stream.number != number) {
            return Vec::new();
        }
        self.stream = None;
        let is_notified =
            |closing: &mut Closing| matches!(closing.route, DecisionRoute::Notification(_));
        self.closing.extract_if(.., is_notified).collect()
    }

    /// Returns the next decision for the stream `number`.
    pub(crate) fn next(&mut self, number: u64, stopping: bool) -> Option<Outgoing> {
        let stream = self.stream.filter(|stream| stream.number == number)?;
        // A client acknowledges decisions of the last process only when it opens its own stream.
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

    /// The oldest sent decision, if too many are kept. This limits the memory of a client that
    /// answers no ping and never returns.
    pub(crate) fn excess(&self) -> Option<DiffId> {
        let mut sent = self.queue.iter().filter(|queued| queued.sent.is_some());
        let oldest = sent.next()?;
        (sent.count() >= MAX_DIFFS_PER_SESSION).then_some(oldest.diff)
    }

    /// Returns the sent decisions whose texts exceed the limit. A connected client would have
    /// acknowledged them long ago.
    pub(crate) fn prune_sent(&mut self) -> Vec<DiffId> {
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

    /// Returns the id of the next event.
    pub(crate) fn event_id(&self) -> EventId {
        let sent = self.queue.iter().filter(|queued| queued.sent.is_some());
        let sent = sent.map(|queued| queued.diff);
        EventId(sent.chain(self.settling.iter().map(|(diff, _)| *diff)).collect())
    }

    /// Notes that the record of this number ends a diff for this client. Until it is saved, the
    /// event ids name the diff, because the next process would send its decision again.
    pub(crate) fn settle(&mut self, diff: DiffId, record: u64) {
        if self.settling.len() == MAX_SETTLING {
            self.settling.remove(0);
        }
        self.settling.push((diff, record));
    }

    /// All records up to that number are saved.
    pub(crate) fn saved(&mut self, record: u64) {
        self.settling.retain(|(_, number)| *number > record);
    }

    /// Lets a call wait for the arrival of a decision.
    pub(crate) fn close_later(&mut self, closing: Closing) {
        self.closing.push(closing);
    }

    /// Removes the calls that wait for the arrival of that decision.
    pub(crate) fn closing(&mut self, diff: DiffId) -> Vec<Closing> {
        self.closing.extract_if(.., |closing| closing.diff == diff).collect()
    }

    /// Removes a waiting call.
    pub(crate) fn give_up(&mut self, call: CallId) -> Option<Closing> {
        let index = self.closing.iter().position(|closing| closing.call == call)?;
        Some(self.closing.remove(index))
    }

    /// The diffs whose decisions must still arrive.
    pub(crate) fn diffs(&self) -> Vec<DiffId> {
        self.queue.iter().map(|queued| queued.diff).collect()
    }
}
