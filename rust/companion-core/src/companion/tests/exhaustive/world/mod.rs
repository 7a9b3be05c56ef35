//! Simulates the environment of a companion.

mod answers;
mod check;
mod comments;
mod editor;
mod others;
mod processes;
mod reasons;
mod steps;
mod writes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::editor::{CompanionNotification, ReasonArrival};
use companion_protocol::jsonrpc::Id;

use super::client::{Client, text};
use crate::calls::{Attempt, CallId, CallOrigin};
use crate::companion::{Action, Companion, DiskCheck, Input, Limits, Now, Output, Outputs};
use crate::diffs::{Answer, Decision, DiffId, EditorCommand, EventId, Outgoing, Proposed};
use crate::notes::NoteId;
use crate::record::{Left, Record};
use crate::session::{ClientTraits, SessionId};
use crate::text::Text;
use comments::Commenting;
use reasons::Reason;
pub(super) use steps::{Script, Step};

/// The number of a question, in the order of the questions.
pub(super) type Question = usize;

/// The traits of the real client.
const CLIENT: ClientTraits = ClientTraits {
    replays_edits: true,
    empty_is_unchanged: true,
    confirms_after_hook: true,
    repeats_requests: false,
    is_one_request: false,
};

/// The time for the editor to name its views, in milliseconds.
const RESUME_TIMEOUT: u64 = 10_000;

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Request {
    Open(Question),
    Close(Question, bool),
    Pong(DiffId),
    Get(EventId),
    /// A request of the other client.
    OfOther,
}

/// The answer to a request; `None` if the server ended before it answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reply {
    pub(super) request: Request,
    pub(super) answer: Option<Answer>,
}

/// An event on a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Event {
    Reply(Reply),
    Context(EventId),
    Decision(EventId, Outgoing),
    Ping(DiffId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wire {
    number: u64,
    is_answer: bool,
    is_open: bool,
    /// The stream begins when this number of records is saved.
    begins: u64,
    events: VecDeque<Event>,
}

/// The user's decision in the editor, and whether the client must receive it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fate {
    /// No decision yet.
    Open,
    Accepted,
    Rejected,
    /// It was rejected with a reason, and the client gets the file's text on this stream.
    RejectedWithReason(u64),
    /// Its view closed with its process.
    Ended,
    /// The user accepted, but the process ended before that was saved.
    Unsaved,
}

/// A query to the disk that has not been answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum DiskQuery {
    Access(DiffId),
    /// Whether there is a text to read.
    Read(DiffId, bool),
    /// For a proposal.
    Original(CallId),
    Comment(NoteId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(super) struct World {
    companion: Companion,
    session: SessionId,
    last_call: u64,
    /// The request of each call.
    calls: BTreeMap<CallId, Request>,
    /// Answers that wait until this number of records is saved.
    held: Vec<(u64, Reply)>,
    unsaved: VecDeque<Record>,
    saved: u64,
    disk: Left,
    /// The requests that the editor has not carried out.
    asks: VecDeque<(Option<CallId>, EditorCommand)>,
    /// The opens among them, by call,
    opens: BTreeMap<CallId, Request>,
    /// and those that have timed out.
    late: BTreeSet<CallId>,
    disk_queries: VecDeque<DiskQuery>,
    reasons: Vec<Reason>,
    /// The questions of the diffs that were rejected with a reason.
    rejected: BTreeMap<DiffId, Question>,
    views: BTreeMap<Arc<str>, Question>,
    /// The diffs of the questions that the editor has shown.
    diffs: BTreeMap<Question, DiffId>,
    others_diff: Option<DiffId>,
    /// The editor has not named its views after a restart.
    is_resuming: bool,
    restarts: u64,
    fates: Vec<Fate>,
    requests: Vec<Request>,
    replies: Vec<Reply>,
    wires: Vec<Wire>,
    last_stream: u64,
    is_returning: bool,
    is_stopping: bool,
    client: Client,
    breaks: u8,
    kills: u8,
    stops: u8,
    closes: u8,
    others: u8,
    rejections_with_reason: u8,
    failures: u8,
    timeouts: u8,
    other: SessionId,
    /// The client of the process that takes the clients over.
    neighbor: SessionId,
    /// Whether the view of the other client's proposal is shown.
    is_others_shown: bool,
    /// The texts that the editor keeps until it knows whether a client has written them.
    kept: u8,
    /// The queries whether such texts are written.
    text_queries: BTreeSet<DiffId>,
    commenting: Commenting,
}

/// The file's text, in place of a rejected proposal.
fn present() -> Text {
    "the text of the file".to_owned().into()
}

/// The companion after this number of restarts.
fn companion(script: &Script, restarts: u64, left: Left) -> Companion {
    let resume_timeout = if script.keeps_views { RESUME_TIMEOUT } else { 0 };
    let resume_timeout = Duration::from_millis(resume_timeout);
    let limits = Limits { resume_timeout, ..Limits::default() };
    let first = first_diff(restarts);
    Companion::new(limits, first, first.0, true, left)
}

fn first_diff(restarts: u64) -> DiffId {
    DiffId(1000 * restarts + 1)
}

fn open(proposed: Proposed) -> Action {
    Action::Open { proposed, held: 0, is_editor_busy: false, is_shared: true }
}

impl World {
    pub(super) fn new(script: &Script) -> Self {
        let session = SessionId::new();
        let mut world = Self {
            companion: companion(script, 0, Left::default()),
            session,
            last_call: 0,
            calls: BTreeMap::new(),
            held: Vec::new(),
            unsaved: VecDeque::new(),
            saved: 0,
            disk: Left::default(),
            asks: VecDeque::new(),
            opens: BTreeMap::new(),
            late: BTreeSet::new(),
            disk_queries: VecDeque::new(),
            reasons: vec![Reason::None; script.paths.len()],
            rejected: BTreeMap::new(),
            views: BTreeMap::new(),
            diffs: BTreeMap::new(),
            others_diff: None,
            is_resuming: false,
            restarts: 0,
            fates: vec![Fate::Open; script.paths.len()],
            requests: Vec::new(),
            replies: Vec::new(),
            wires: Vec::new(),
            last_stream: 0,
            is_returning: false,
            is_stopping: false,
            client: Client::new(script.paths.len(), 1),
            breaks: script.breaks,
            kills: script.kills,
            stops: script.stops,
            closes: script.closes,
            others: script.others,
            rejections_with_reason: script.rejections_with_reason,
            failures: script.failures,
            timeouts: script.timeouts,
            other: SessionId::new(),
            neighbor: SessionId::new(),
            is_others_shown: false,
            kept: 0,
            text_queries: BTreeSet::new(),
            commenting: Commenting::new(script),
        };
        for session in [session, world.other] {
            world.handle(Input::Connected(session, CLIENT.into()));
        }
        world.save_all();
        world.attach(&EventId::default(), false);
        world
    }

    fn serve(&mut self, script: &Script, index: usize) {
        let request = self.requests.remove(index);
        self.last_call += 1;
        let call = CallId(self.last_call);
        let (question, action) = match &request {
            Request::Get(last) => {
                self.is_returning = false;
                self.attach(last, false);
                self.client.will_read(self.last_stream);
                return;
            }
            Request::Pong(diff) => {
                self.handle(Input::Pong(self.session, *diff));
                return;
            }
            Request::Open(question) => {
                let proposed = Proposed::new(&script.proposed(*question), CLIENT);
                (*question, open(proposed))
            }
            Request::OfOther => panic!("it is served at once"),
            Request::Close(question, _) => (*question, others::CLOSE),
        };
        if let Request::Open(_) = request {
            self.opens.insert(call, request.clone());
        }
        let is_open = matches!(request, Request::Open(_)) && !self.is_stopping;
        self.calls.insert(call, request);
        let out = self.call(self.session, call, Arc::from(script.paths[question]), action);
        let now = Output::Arrival(call, ReasonArrival::Now);
        assert!(!script.begins_at_once || !is_open || out.contains(&now), "the edit is not known");
    }

    fn call(
        &mut self,
        session: SessionId,
        call: CallId,
        path: Arc<str>,
        action: Action,
    ) -> Outputs {
        let id = Id::from(call.0);
        let from = CallOrigin { session, id: &id, sent: Attempt::OnceForAll };
        self.handle(Input::Call { call, from, path, action })
    }

    fn handle(&mut self, input: Input<'_>) -> Outputs {
        self.handle_at(Now::default(), input)
    }

    /// Hands in an input, and carries out the outputs.
    fn handle_at(&mut self, now: Now, input: Input<'_>) -> Outputs {
        let mut out = Outputs::new();
        self.companion.handle(now, input, &mut out);
        self.carry_out(out.clone());
        out
    }

    fn attach(&mut self, last: &EventId, is_answer: bool) {
        for wire in &mut self.wires {
            wire.is_open = false;
        }
        self.last_stream += 1;
        let (session, stream) = (self.session, self.last_stream);
        let mut out = Outputs::new();
        let opened = Input::StreamOpened { session, stream, last, is_answer };
        self.companion.handle(Now::default(), opened, &mut out);
        let context = Event::Context(self.companion.event_id(self.session));
        let begins = if is_answer { 0 } else { self.companion.diffs().records() };
        self.wires.push(Wire {
            number: self.last_stream,
            is_answer,
            is_open: true,
            begins,
            events: VecDeque::from([context]),
        });
        self.carry_out(out);
    }

    fn read(&mut self, script: &Script, index: usize) {
        let wire = &mut self.wires[index];
        let number = wire.number;
        match wire.events.pop_front() {
            None => {}
            Some(Event::Reply(reply)) => self.client.answered(script, &reply),
            Some(Event::Context(_)) if wire.is_answer => {}
            Some(Event::Context(id)) => self.client.take_id(number, id),
            Some(Event::Decision(id, outgoing)) => {
                if !wire.is_answer {
                    self.client.take_id(number, id);
                }
                let ended = self.client.take(&outgoing);
                if let (Some(question), Decision::RejectedWithReason(_)) =
                    (ended, &outgoing.decision)
                {
                    assert_eq!(
                        self.fates[question],
                        Fate::RejectedWithReason(number),
                        "the text is stale"
                    );
                }
            }
            Some(Event::Ping(diff)) => self.requests.push(Request::Pong(diff)),
        }
    }

    /// Reads all events. They arrive long before the next process begins.
    fn read_all(&mut self, script: &Script) {
        for index in 0..self.wires.len() {
            while !self.wires[index].events.is_empty() {
                self.read(script, index);
            }
        }
    }

    fn send(&mut self) -> bool {
        let Some(wire) = self.wires.last_mut().filter(|wire| wire.is_open) else { return false };
        let mut out = Outputs::new();
        let next = self.companion.next_event(Now::default(), self.session, wire.number, &mut out);
        let Some(outgoing) = next else { return false };
        let id = self.companion.event_id(self.session);
        let ping = outgoing.ping.then_some(Event::Ping(outgoing.diff));
        wire.events.push_back(Event::Decision(id, outgoing));
        wire.events.extend(ping);
        self.carry_out(out);
        true
    }

    fn save(&mut self) {
        if let Some(record) = self.unsaved.pop_front() {
            self.disk.apply(record);
            self.saved += 1;
            self.handle(Input::Saved(self.saved));
        }
    }

    fn save_all(&mut self) {
        while !self.unsaved.is_empty() {
            self.save();
        }
    }

    fn decide(&mut self, script: &Script, question: Question, accept: bool) {
        let path = script.paths[question];
        self.views.remove(path);
        let accepted = crate::diffs::Accepted { content: text(question) };
        let input = if accept { Input::Accepted(path, accepted) } else { Input::Rejected(path) };
        let out = self.handle(input);
        // The last process was killed before it saved the end of this diff, which the client knows. So the
        // decision has no effect.
        let has_ended = self.fates[question] == Fate::Ended;
        if out.iter().any(|output| matches!(output, Output::Decided(..))) && !has_ended {
            self.fates[question] = if accept { Fate::Accepted } else { Fate::Rejected };
        }
        if accept {
            self.keep_accepted(!script.is_unchanged(question), &out);
        }
    }

    /// Whether the user may answer in the terminal.
    fn is_answerable(&self, question: Question) -> bool {
        // The user can't answer while the question or the result of its view is under way.
        let open = Request::Open(question);
        let is_under_way = self.requests.contains(&open)
            || self.replies.iter().any(|reply| reply.request == open)
            || self.held.iter().any(|(_, reply)| reply.request == open);
        let is_answered = self.client.closing.contains(&question);
        self.closes > 0 && !self.client.is_cut && !is_under_way && !is_answered
    }

    /// Returns whether time has passed: everything that was sent has arrived and is saved.
    fn is_quiet(&self) -> bool {
        self.unsaved.is_empty()
            && self.wires.iter().all(|wire| wire.events.is_empty())
            && !self.requests.iter().any(|request| matches!(request, Request::Pong(_)))
    }

    fn carry_out(&mut self, out: Outputs) {
        for output in &out {
            if let Output::Record(record) = output {
                self.unsaved.push_back(record.clone());
            }
        }
        let records = self.companion.diffs().records();
        for output in out {
            match output {
                Output::Ask(call, ask) => {
                    assert!(!self.is_opening(ask.path()), "{ask:?} while a view opens");
                    self.asks.push_back((call, ask));
                }
                Output::CheckDisk(DiskCheck::Access(diff, _)) => {
                    self.disk_queries.push_back(DiskQuery::Access(diff));
                }
                Output::CheckDisk(DiskCheck::Read(diff, .., original)) => {
                    self.disk_queries.push_back(DiskQuery::Read(diff, original.is_some()));
                }
                Output::CheckDisk(DiskCheck::Original(call, _)) => {
                    self.disk_queries.push_back(DiskQuery::Original(call));
                }
                Output::CheckComment(note) => self.disk_queries.push_back(DiskQuery::Comment(note)),
                Output::CheckDisk(DiskCheck::ForText(text)) => {
                    self.text_queries.insert(text.diff);
                }
                Output::Notification(
                    CompanionNotification::Written(_) | CompanionNotification::Unwritten(_),
                ) => self.kept = self.kept.checked_sub(1).expect("a text has one outcome"),
                Output::Notification(CompanionNotification::ReasonLost(lost)) => {
                    self.reasons[reasons::question_of(&lost.reason)] = Reason::Lost;
                }
                Output::Notification(CompanionNotification::CommentsDelivered(_)) => {
                    self.commenting.is_delivered();
                }
                Output::Notification(CompanionNotification::CommentRefused(_)) => {
                    self.commenting.is_refused();
                }
                Output::Answer(call, answer) => {
                    let request = self.calls.remove(&call).expect("a call is answered once");
                    if request != Request::OfOther {
                        self.held.push((records, Reply { request, answer: Some(answer) }));
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes the steps that are forced and happen at once.
    fn settle_down(&mut self, script: &Script) {
        self.release();
        self.print_confirmed();
        // If it came after the answer to a later request, it would end the client's next question.
        let is_failed_open = |reply: &mut Reply| {
            matches!(reply.request, Request::Open(_))
                && matches!(reply.answer, Some(Answer::Failed(_)))
        };
        for reply in self.replies.extract_if(.., is_failed_open) {
            self.client.answered(script, &reply);
        }
        // The client ignores this answer.
        self.replies.retain(|reply| reply.answer != Some(Answer::Opened));
        let ended = self.wires.extract_if(.., |wire| !wire.is_open && wire.events.is_empty());
        for wire in ended {
            self.client.ended(wire.number);
        }
    }
}
