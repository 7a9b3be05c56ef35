//! Simulates the environment of a ledger.

mod check;
mod others;
mod processes;
mod steps;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::client::{Client, text};
use crate::diffs::ledger::{EditorCommand, Effect, Ledger};
use crate::diffs::proposed::Proposed;
use crate::diffs::tests::decision;
use crate::diffs::{Answer, Decision, DiffId, EventId, Left, Outgoing, Record};
use crate::host::CallId;
use crate::mcp::session::{ClientTraits, SessionId};
use crate::text::Text;
pub(super) use steps::{Script, Step};

/// The number of a question, in the order of the questions.
pub(super) type Question = usize;

/// The traits of the real client.
const CLIENT: ClientTraits =
    ClientTraits { replays_edits: true, empty_is_unchanged: true, repeats_requests: false };

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
    /// It was rejected with a reason, while the client had this stream.
    Declined(u64),
    /// Its view closed with its process.
    Ended,
    /// The user accepted, but the process ended before that was saved.
    Unsaved,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    ledger: Ledger,
    session: SessionId,
    last_call: u64,
    /// The request of each call.
    calls: BTreeMap<CallId, Request>,
    /// Calls that wait for the arrival of a decision, with a short deadline.
    hurried: BTreeSet<CallId>,
    /// Answers that wait until this number of records is saved.
    held: Vec<(u64, Reply)>,
    unsaved: VecDeque<Record>,
    saved: u64,
    disk: Left,
    asks: VecDeque<(Option<CallId>, EditorCommand)>,
    views: BTreeMap<Arc<str>, Question>,
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
    declines: u8,
    other: SessionId,
    /// Whether the view of the other client's proposal is shown.
    is_others_shown: bool,
}

/// The file's text, in place of a rejected proposal.
fn present() -> Text {
    "the text of the file".to_owned().into()
}

impl World {
    pub(super) fn new(script: &Script) -> Self {
        let session = SessionId::new();
        let mut world = Self {
            ledger: Ledger::new(DiffId(1), true),
            session,
            last_call: 0,
            calls: BTreeMap::new(),
            hurried: BTreeSet::new(),
            held: Vec::new(),
            unsaved: VecDeque::new(),
            saved: 0,
            disk: Left::default(),
            asks: VecDeque::new(),
            views: BTreeMap::new(),
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
            declines: script.declines,
            other: SessionId::new(),
            is_others_shown: false,
        };
        for session in [session, world.other] {
            let effects = world.ledger.session_begun(session, CLIENT);
            world.carry_out(effects);
        }
        world.save_all();
        world.attach(&EventId::default(), false);
        world
    }

    fn serve(&mut self, script: &Script, index: usize) {
        let request = self.requests.remove(index);
        self.last_call += 1;
        let call = CallId(self.last_call);
        let effects = match &request {
            Request::Get(last) => {
                self.is_returning = false;
                self.attach(last, false);
                self.client.will_read(self.last_stream);
                return;
            }
            Request::Pong(diff) => self.ledger.ping_answered(self.session, *diff),
            Request::Open(question) => {
                let path = Arc::from(script.paths[*question]);
                let proposed = Proposed::new(&script.proposed(*question), CLIENT);
                self.ledger.open(self.session, &path, proposed, call)
            }
            Request::OfOther => panic!("it is served at once"),
            Request::Close(question, _) => {
                self.ledger.close(self.session, &Arc::from(script.paths[*question]), true, call)
            }
        };
        if !matches!(request, Request::Pong(_)) {
            self.calls.insert(call, request);
        }
        self.carry_out(effects);
    }

    fn attach(&mut self, last: &EventId, is_answer: bool) {
        for wire in &mut self.wires {
            wire.is_open = false;
        }
        self.last_stream += 1;
        let effects = self.ledger.attach(self.session, self.last_stream, last, is_answer);
        let context = Event::Context(self.ledger.event_id(self.session));
        let begins = if is_answer { 0 } else { self.ledger.records() };
        self.wires.push(Wire {
            number: self.last_stream,
            is_answer,
            is_open: true,
            begins,
            events: VecDeque::from([context]),
        });
        self.carry_out(effects);
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
                if let (Some(question), Decision::Declined(_)) = (ended, &outgoing.decision) {
                    assert_eq!(self.fates[question], Fate::Declined(number), "the text is stale");
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
        let (next, effects) = self.ledger.next(self.session, wire.number);
        let Some(outgoing) = next else { return false };
        let id = self.ledger.event_id(self.session);
        let ping = outgoing.ping.then_some(Event::Ping(outgoing.diff));
        wire.events.push_back(Event::Decision(id, outgoing));
        wire.events.extend(ping);
        self.carry_out(effects);
        true
    }

    fn save(&mut self) {
        if let Some(record) = self.unsaved.pop_front() {
            self.disk.apply(record);
            self.saved += 1;
            self.ledger.saved(self.saved);
        }
    }

    fn save_all(&mut self) {
        while !self.unsaved.is_empty() {
            self.save();
        }
    }

    fn edit(&mut self, script: &Script) {
        let Some((call, ask)) = self.asks.pop_front() else { return };
        let effects = match (call, ask) {
            (Some(call), EditorCommand::Open(path)) => {
                if self.calls.get(&call) == Some(&Request::OfOther) {
                    return self.show_other(&path, call);
                }
                let Some(Request::Open(question)) = self.calls.get(&call) else { return };
                self.is_others_shown &= script.paths[0] != &*path;
                assert_eq!(script.paths[*question], &*path);
                self.views.insert(path, *question);
                self.ledger.completed(call, None)
            }
            (Some(call), EditorCommand::Close(path) | EditorCommand::Abandon(path)) => {
                match self.views.remove(&path) {
                    Some(question) => self.ledger.completed(call, Some(text(question))),
                    None if self.is_others_shown && script.paths[0] == &*path => {
                        self.is_others_shown = false;
                        self.ledger.completed(call, Some(others::text()))
                    }
                    None => self.ledger.failed(call, "no such view"),
                }
            }
            (None, EditorCommand::Abandon(path)) => {
                self.views.remove(&path);
                self.is_others_shown &= script.paths[0] != &*path;
                Vec::new()
            }
            (_, ask) => panic!("{ask:?}"),
        };
        self.carry_out(effects);
    }

    fn request_decision(&mut self, script: &Script, question: Question, accept: bool) {
        let path = script.paths[question];
        self.views.remove(path);
        let effects = self.ledger.user_decided(path, decision(accept.then(|| text(question))));
        if effects.iter().any(|effect| matches!(effect, Effect::Decided(..))) {
            self.fates[question] = if accept { Fate::Accepted } else { Fate::Rejected };
        }
        self.carry_out(effects);
    }

    /// The server has read the file by now, and the user's view is closed.
    fn decline(&mut self, script: &Script, question: Question) {
        self.declines -= 1;
        let path = script.paths[question];
        self.views.remove(path);
        let Some((diff, _)) = self.ledger.begin_decline(path) else { return };
        let effects = self.ledger.decline(diff, present());
        if effects.iter().any(|effect| matches!(effect, Effect::Decided(..))) {
            self.fates[question] = Fate::Declined(self.last_stream);
        }
        self.carry_out(effects);
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

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in &effects {
            if let Effect::Record(record) = effect {
                self.unsaved.push_back(record.clone());
            }
        }
        let records = self.ledger.records();
        for effect in effects {
            match effect {
                Effect::Ask(call, ask) => self.asks.push_back((call, ask)),
                Effect::ShortenDeadline(call) => {
                    self.hurried.insert(call);
                }
                Effect::Answer(call, answer) => {
                    self.hurried.remove(&call);
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
    fn settle_down(&mut self) {
        self.release();
        // The client ignores this answer.
        self.replies.retain(|reply| reply.answer != Some(Answer::Opened));
        let ended = self.wires.extract_if(.., |wire| !wire.is_open && wire.events.is_empty());
        for wire in ended {
            self.client.ended(wire.number);
        }
    }

    /// Sends the answers whose records are saved.
    fn release(&mut self) {
        for (_, reply) in
            self.held.extract_if(.., |(records, _)| *records <= self.saved).collect::<Vec<_>>()
        {
            let is_due = self.ledger.is_anything_due(self.session);
            if self.is_returning && !self.ledger.has_stream(self.session) && is_due {
                self.attach(&EventId::default(), true);
                let wire = self.wires.last_mut().expect("it was just made");
                wire.events.push_front(Event::Reply(reply));
            } else {
                self.replies.push(reply);
            }
        }
    }
}
