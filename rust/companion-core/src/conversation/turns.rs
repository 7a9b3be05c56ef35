//! Finds the notes that a model has forgotten.
//!
//! A CLI takes messages out of its model's history, with the notes in them, and no hook says so:
//!
//! | CLI | Event | Forgotten | Seen by |
//! | --- | --- | --- | --- |
//! | Gemini CLI | the user cancels an answer, or the model fails (`geminiChat.js`) | the turn, with all that it has gone on with | the answer at the end of the turn, which is the one from before |
//! | Gemini CLI | the user rejects or cancels a tool (`interactiveCli.js`, `handleCompletedTools`) | the last prompt or results, and what the turn has gone on with since | a tool that has begun and not ended before the next prompt |
//! | Qwen Code | the user cancels a prompt before the model's first output (`AppContainer.tsx`) | the prompt | the next prompt, without a result or an end of the turn between |

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cli::{Caller, CliSessionId, MAX_CLIS};
use crate::notes::{Delivery, Note};
use crate::text::Digest;

/// The answer of a model that has not said anything, as the hook of Gemini CLI has it (`client.js`).
const NO_ANSWER: &str = "[no response text]";

/// A CLI, to find its turn.
pub(super) struct Owner<'a> {
    pub(super) caller: &'a Caller<'a>,
    /// The processes of the other CLIs with the same session.
    pub(super) others: Vec<Arc<str>>,
}

/// The turns of CLIs, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Turns(VecDeque<Turn>);

/// A turn, from a prompt to the last answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Turn {
    session: CliSessionId,
    /// `None` if it is not known.
    process: Option<Arc<str>>,
    /// The answer so far.
    answer: Digest,
    /// What has happened last.
    state: State,
    /// The notes since the prompt.
    deliveries: Vec<TurnDelivery>,
    /// Whether the last message to the model is the first prompt of the CLI session.
    is_at_first_prompt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// The session has begun, and the model has no prompt yet.
    New,
    /// The model has a prompt, and the CLI runs no hook if the user cancels it. If nothing follows until the
    /// next prompt, the user has done so.
    Prompted,
    Runs,
    /// The model has called a tool. If it does not end, the user has rejected or cancelled it.
    Calls,
    /// The hook at the end of the turn has run.
    Ended,
    /// It has run without a new answer: the user has cancelled the turn, or the model has failed.
    Unanswered,
    /// The model gets a note after that, as another prompt of the same turn.
    GoesOn,
}

/// Notes with a message to the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TurnDelivery {
    number: u64,
    /// Empty until the hook has confirmed them.
    notes: Vec<Note>,
    /// No results of tools have followed.
    is_last: bool,
    /// Gemini CLI keeps the first prompt of a session in the history if the user rejects a tool.
    is_with_first_prompt: bool,
}

impl Turn {
    fn new(caller: &Caller<'_>) -> Self {
        Self {
            session: caller.session.into(),
            process: caller.process.map(Arc::from),
            answer: Digest::of(NO_ANSWER),
            state: State::Runs,
            deliveries: Vec::new(),
            is_at_first_prompt: false,
        }
    }

    fn is_of(&self, owner: &Owner<'_>) -> bool {
        *self.session == *owner.caller.session
            && !self.process.as_ref().is_some_and(|process| owner.others.contains(process))
    }

    /// Takes the notes since the prompt.
    fn take_notes(&mut self) -> Vec<Note> {
        self.deliveries.drain(..).flat_map(|delivery| delivery.notes).collect()
    }
}

impl Turns {
    /// A CLI has begun a session whose model has no message yet.
    pub(super) fn session_begun(&mut self, owner: &Owner<'_>) {
        self.0.retain(|turn| !turn.is_of(owner));
        let mut turn = Turn::new(owner.caller);
        turn.state = State::New;
        self.push(turn);
    }

    /// A CLI is about to send its model a prompt. Returns the notes that the model has forgotten.
    /// `ends_cancelled_turns`: the CLI runs a hook if the user cancels the prompt.
    pub(super) fn begin(&mut self, owner: &Owner<'_>, ends_cancelled_turns: bool) -> Vec<Note> {
        let index = self.0.iter().position(|turn| turn.is_of(owner));
        let last = index.and_then(|index| self.0.remove(index));
        let mut turn = Turn::new(owner.caller);
        if !ends_cancelled_turns {
            turn.state = State::Prompted;
        }
        let mut forgotten = Vec::new();
        match last {
            Some(last) if last.state == State::New => turn.is_at_first_prompt = true,
            Some(last) if last.state == State::GoesOn => {
                turn = Turn { state: State::Runs, ..last };
            }
            Some(mut last) if last.state == State::Prompted => {
                forgotten.extend(last.take_notes());
            }
            Some(last) if last.state == State::Calls => {
                for delivery in last.deliveries {
                    if delivery.is_last && !delivery.is_with_first_prompt {
                        forgotten.extend(delivery.notes);
                    }
                }
            }
            _ => {}
        }
        self.push(turn);
        forgotten
    }

    /// The result of a tool is the next message to the model of a CLI.
    pub(super) fn tool_ended(&mut self, owner: &Owner<'_>) {
        let Some(turn) = self.turn(owner) else { return };
        turn.state = State::Runs;
        turn.is_at_first_prompt = false;
        // A hook that has not confirmed yet still runs, so its result belongs to the same message.
        for delivery in turn.deliveries.iter_mut().filter(|of| !of.notes.is_empty()) {
            delivery.is_last = false;
        }
    }

    /// The model has begun to answer a prompt, so the CLI keeps the prompt.
    pub(super) fn answered(&mut self, owner: &Owner<'_>) {
        if let Some(turn) = self.turn(owner).filter(|turn| turn.state == State::Prompted) {
            turn.state = State::Runs;
        }
    }

    /// A CLI calls a tool, or asks its user about the call.
    pub(super) fn tool_begun(&mut self, owner: &Owner<'_>) {
        if let Some(turn) = self.turn(owner).filter(|turn| turn.state == State::Runs) {
            turn.state = State::Calls;
        }
    }

    /// A CLI has ended its session. A tool that has not ended says nothing then. Returns the notes of a prompt
    /// that the user has cancelled.
    pub(super) fn session_ended(&mut self, owner: &Owner<'_>) -> Vec<Note> {
        let Some(turn) = self.turn(owner) else { return Vec::new() };
        match std::mem::replace(&mut turn.state, State::Runs) {
            State::Prompted => turn.take_notes(),
            State::Calls => Vec::new(),
            state => {
                turn.state = state;
                Vec::new()
            }
        }
    }

    /// A delivery for the model of a CLI has begun.
    pub(super) fn delivers(&mut self, owner: &Owner<'_>, number: u64) {
        let turn = self.turn_or_begun(owner);
        turn.deliveries.push(TurnDelivery {
            number,
            notes: Vec::new(),
            is_last: true,
            is_with_first_prompt: turn.is_at_first_prompt,
        });
    }

    /// The CLI gives its model a delivery.
    pub(super) fn confirmed(&mut self, delivery: &Delivery) {
        for turn in &mut self.0 {
            for of_turn in &mut turn.deliveries {
                if of_turn.number == delivery.number {
                    of_turn.notes = delivery.notes.iter().map(|(_, note)| note.clone()).collect();
                    if turn.state == State::Ended {
                        turn.state = State::GoesOn;
                    }
                }
            }
        }
    }

    /// The user has removed a comment.
    pub(super) fn forget_comment(&mut self, id: &str) {
        let is_other = |note: &Note| !matches!(note, Note::Comment(comment) if *comment.id == *id);
        for delivery in self.0.iter_mut().flat_map(|turn| &mut turn.deliveries) {
            delivery.notes.retain(is_other);
        }
    }

    /// The user has undone the revert of a file.
    pub(super) fn forget_revert(&mut self, cli: &str, path: &str) {
        for delivery in self.0.iter_mut().flat_map(|turn| &mut turn.deliveries) {
            delivery.notes.retain_mut(|note| {
                note.drop_revert(cli, path);
                !note.paths().is_empty()
            });
        }
    }

    /// A turn has ended with this answer; `None` if the CLI does not report it. Returns the notes that the
    /// model has forgotten.
    pub(super) fn end(&mut self, owner: &Owner<'_>, answer: Option<Digest>) -> Vec<Note> {
        let turn = self.turn_or_begun(owner);
        turn.is_at_first_prompt = false;
        if answer != Some(turn.answer) {
            turn.state = State::Ended;
            turn.answer = answer.unwrap_or(turn.answer);
            return Vec::new();
        }
        if matches!(turn.state, State::Ended | State::GoesOn) {
            // The hook of this end runs again.
            return Vec::new();
        }
        turn.state = State::Unanswered;
        turn.take_notes()
    }

    /// Whether the model has answered in the turn that has ended.
    pub(super) fn is_answered(&self, owner: &Owner<'_>) -> bool {
        self.0.iter().any(|turn| turn.is_of(owner) && turn.state == State::Ended)
    }

    fn turn(&mut self, owner: &Owner<'_>) -> Option<&mut Turn> {
        self.0.iter_mut().find(|turn| turn.is_of(owner))
    }

    /// The turn of a CLI, which may have begun before this process.
    fn turn_or_begun(&mut self, owner: &Owner<'_>) -> &mut Turn {
        let index = self.0.iter().position(|turn| turn.is_of(owner));
        let index = index.unwrap_or_else(|| self.push(Turn::new(owner.caller)));
        &mut self.0[index]
    }

    /// Adds a turn, and returns its index. Of too many the oldest one without deliveries is dropped: its model
    /// can forget none.
    fn push(&mut self, turn: Turn) -> usize {
        if self.0.len() == MAX_CLIS {
            let without = self.0.iter().position(|turn| turn.deliveries.is_empty());
            self.0.remove(without.unwrap_or(0));
        }
        self.0.push_back(turn);
        self.0.len() - 1
    }
}
