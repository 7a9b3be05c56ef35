//! Models the client (`ide-client.js`, `streamableHttp.js`). It has one waiter per path. The first
//! notification for that path ends the waiter, even if it is for another question.

use std::collections::BTreeMap;

use super::world::{Question, Reply, Request, Script};
use crate::diffs::{Answer, EventId, Outgoing};
use crate::text::Text;

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// Accepted with that text, or with the proposed text.
    Accepted(Option<Text>),
    Rejected,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stream {
    /// It reads this stream. Its last received id is this one.
    Up(u64, EventId),
    /// It will reconnect with that id.
    Down(EventId),
    /// It has requested the next stream with that id. The server gave the stream this number.
    Coming(EventId, Option<u64>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Client {
    asked: usize,
    pub(super) waiters: BTreeMap<&'static str, Question>,
    pub(super) outcomes: Vec<Option<Outcome>>,
    /// Questions that the user has answered in the terminal,
    pub(super) terminal: Vec<Question>,
    /// and those that it is reporting to the server.
    pub(super) closing: Vec<Question>,
    /// The questions whose edits have ended. Their hooks have not run.
    pub(super) ended: Vec<Question>,
    stream: Stream,
    /// A request failed. The client proposes again only after its user types `/ide enable`.
    pub(super) is_cut: bool,
}

impl Client {
    pub(super) fn new(questions: usize, stream: u64) -> Self {
        Self {
            asked: 0,
            waiters: BTreeMap::new(),
            outcomes: vec![None; questions],
            terminal: Vec::new(),
            closing: Vec::new(),
            ended: Vec::new(),
            stream: Stream::Up(stream, EventId::default()),
            is_cut: false,
        }
    }

    /// Returns whether the client may ask the next question. It has at most one open question per
    /// path. It does not ask about a path while its answer in the terminal is under way, because
    /// the CLI waits for that.
    pub(super) fn can_ask(&self, script: &Script) -> bool {
        let Some(path) = script.paths.get(self.asked) else { return false };
        let is_busy = |question: &Question| script.paths[*question] == *path;
        !self.is_cut
            && self.ended.is_empty()
            && !self.waiters.contains_key(path)
            && !self.closing.iter().any(is_busy)
            && (script.at_once || self.waiters.is_empty())
    }

    pub(super) fn ask(&mut self, script: &Script) -> Request {
        self.waiters.insert(script.paths[self.asked], self.asked);
        self.asked += 1;
        Request::Open(self.asked - 1)
    }

    pub(super) fn has_asked(&self, question: Question) -> bool {
        question < self.asked
    }

    /// Answers a question in the terminal for the user.
    pub(super) fn close(&mut self, question: Question, accept: bool) -> Request {
        self.closing.push(question);
        self.terminal.push(question);
        Request::Close(question, accept)
    }

    /// Takes a decision. Returns the question that it ends.
    pub(super) fn take(&mut self, outgoing: &Outgoing) -> Option<Question> {
        let question = self.waiters.remove(&*outgoing.path)?;
        let accepted = outgoing.decision.sent_text().cloned();
        let accepted = accepted.map(|text| Outcome::Accepted(Some(text)));
        self.end(question, accepted.unwrap_or(Outcome::Rejected));
        Some(question)
    }

    /// Receives the id of an event.
    pub(super) fn take_id(&mut self, stream: u64, id: EventId) {
        self.reads(stream);
        if let Stream::Up(number, last) = &mut self.stream
            && *number == stream
        {
            *last = id;
        }
    }

    /// Handles the answer to a request; `None` means that the request failed.
    pub(super) fn answered(&mut self, script: &Script, reply: &Reply) {
        let Reply { request, answer } = reply;
        self.is_cut |= answer.is_none();
        match (request, answer) {
            (Request::Open(question), None | Some(Answer::Failed(_))) => {
                self.waiters.remove(script.paths[*question]);
                self.end(*question, Outcome::Failed);
            }
            (Request::Close(question, accept), answer) => {
                let content = match answer {
                    Some(Answer::Closed(closed)) => closed.as_ref().map(|of| of.content.clone()),
                    _ => None,
                };
                self.closing.retain(|closing| closing != question);
                self.waiters.remove(script.paths[*question]);
                let outcome = if *accept { Outcome::Accepted(content) } else { Outcome::Rejected };
                self.end(*question, outcome);
            }
            _ => {}
        }
    }

    /// Ends a question. Only its first outcome counts, as a promise is settled once.
    fn end(&mut self, question: Question, outcome: Outcome) {
        if self.outcomes[question].is_none() {
            self.outcomes[question] = Some(outcome);
            self.ended.push(question);
        }
    }

    /// Ends a stream that was read completely.
    pub(super) fn ended(&mut self, stream: u64) {
        self.reads(stream);
        if let Stream::Up(number, last) = &self.stream
            && *number == stream
        {
            self.stream = Stream::Down(last.clone());
        }
    }

    pub(super) fn is_down(&self) -> bool {
        matches!(self.stream, Stream::Down(_))
    }

    pub(super) fn come_back(&mut self) -> Request {
        let Stream::Down(last) = &self.stream else { panic!("it has a stream") };
        let last = last.clone();
        self.stream = Stream::Coming(last.clone(), None);
        Request::Get(last)
    }

    /// The request for a stream failed. The client repeats it, but its user sees the lost
    /// connection.
    pub(super) fn failed_to_come_back(&mut self) {
        if let Stream::Coming(last, _) = &self.stream {
            self.stream = Stream::Down(last.clone());
            self.is_cut = true;
        }
    }

    /// The server has opened the requested stream.
    pub(super) fn will_read(&mut self, stream: u64) {
        if let Stream::Coming(_, number) = &mut self.stream {
            *number = Some(stream);
        }
    }

    /// Receives an event on a stream.
    fn reads(&mut self, stream: u64) {
        if let Stream::Coming(_, Some(number)) = self.stream
            && number == stream
        {
            self.stream = Stream::Up(stream, EventId::default());
        }
    }
}

/// Returns the user's final text of a question.
pub(super) fn text(question: Question) -> Text {
    format!("text {question}").into()
}

impl Script {
    pub(super) fn is_unchanged(self, question: Question) -> bool {
        question % 2 == self.unchanged
    }

    /// The path that the model names, if the client corrects it.
    pub(super) fn wrong_path(self, question: Question) -> &'static str {
        if self.paths[question] == "/p" { "/wrong/p" } else { "/wrong/q" }
    }

    /// Returns the text that the client proposes.
    pub(super) fn proposed(self, question: Question) -> String {
        if self.is_unchanged(question) { text(question).to_string() } else { "proposed".to_owned() }
    }

    /// Returns the content of the acceptance.
    pub(super) fn content(self, question: Question) -> Text {
        if self.is_unchanged(question) { Text::default() } else { text(question) }
    }
}
