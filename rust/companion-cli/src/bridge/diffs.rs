//! Remembers the diffs that went through a bridge: the client's spelling of each path, and whether
//! the client waits for a decision.

use std::sync::Arc;

use companion_protocol::ide::diff_rejected;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::find::is_same_file;

/// The most diffs that are remembered: more than a companion has for one client
/// (`MAX_DIFFS_PER_SESSION` in `companion-core`).
const MAX_DIFFS: usize = 512;

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    /// The client has its answer, from the companion or an error.
    Answered,
    /// An `openDiff` that no companion has received.
    NeverOpened,
}

/// The effect of a request on the remembered diffs, and whether it can be repeated.
#[derive(Debug)]
pub(super) enum DiffStep {
    None,
    Unrepeatable,
    Open { client: String, companion: String, withdrawn: Arc<Notify> },
    Close { companion: String },
}

/// The state of a diff, as far as the bridge knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The client waits for a decision.
    Waiting,
    /// The client waits. The answer to `openDiff` was lost, so the companion may show the diff or
    /// not.
    Unsure,
    /// The client no longer waits: the call failed, or the client opened the file again. The
    /// companion may still show the diff, but the client must not receive its decision.
    GivenUp,
    /// The companion knows that the client gave up, or has reported the decision.
    Withdrawn,
    /// The diff has ended. A late notification may still name it.
    Over,
}

#[derive(Debug)]
struct RelayedDiff {
    /// The JSON string that the client sent.
    client: Box<RawValue>,
    /// The path that was sent to the companion.
    companion: String,
    /// The number of earlier diffs.
    number: u64,
    state: State,
}

/// All diffs, in the order of the client's requests.
#[derive(Debug, Default)]
pub(super) struct RelayedDiffs {
    all: Vec<RelayedDiff>,
    opened: u64,
}

impl RelayedDiffs {
    /// Notes that the client is about to open a diff. `client` is its path as a JSON string,
    /// `companion` the path for the companion.
    pub(super) fn opened(&mut self, client: &str, companion: &str) {
        self.all.retain(|diff| diff.companion != companion);
        if self.all.len() >= MAX_DIFFS {
            let over = self.all.iter().position(|diff| diff.state == State::Over);
            self.all.remove(over.unwrap_or(0));
        }
        let client = RawValue::from_string(client.to_owned()).expect("it was read from JSON");
        let companion = companion.to_owned();
        let number = self.opened;
        self.opened += 1;
        self.all.push(RelayedDiff { client, companion, number, state: State::Waiting });
    }

    /// Notes that the diff has ended: decided, closed, or never opened.
    pub(super) fn ended(&mut self, companion: &str) {
        if let Some(diff) = self.find(companion) {
            diff.state = State::Over;
        }
    }

    /// Notes that the companion reported the end. Returns whether the client must receive the
    /// decision.
    pub(super) fn decided(&mut self, companion: &str) -> bool {
        let Some(diff) = self.find(companion) else { return true };
        let is_for_client = match diff.state {
            State::Waiting | State::Unsure | State::Over => true,
            State::GivenUp | State::Withdrawn => false,
        };
        diff.state = if is_for_client { State::Over } else { State::Withdrawn };
        is_for_client
    }

    /// Notes that the answer to `openDiff` was lost.
    pub(super) fn unsure(&mut self, companion: &str) {
        self.step(companion, &[State::Waiting], State::Unsure);
    }

    /// Notes that `openDiff` is not repeated. If the companion may have received it, the client
    /// waits for a decision.
    pub(super) fn left_to_terminal(&mut self, companion: &str, may_have_arrived: bool) {
        let state = if may_have_arrived { State::Waiting } else { State::Over };
        self.step(companion, &[State::Unsure], state);
    }

    /// Returns whether the diff was decided after its answer was lost.
    pub(super) fn is_over(&mut self, companion: &str) -> bool {
        self.find(companion).is_some_and(|diff| diff.state == State::Over)
    }

    /// Returns whether the client waits for a decision.
    pub(super) fn is_any_waiting(&self) -> bool {
        self.all.iter().any(|diff| diff.state == State::Waiting)
    }

    /// Notes that the client no longer waits. Returns whether the companion may still show the
    /// diff.
    pub(super) fn give_up(&mut self, companion: &str) -> bool {
        self.step(companion, &[State::Waiting, State::Unsure], State::GivenUp);
        self.find(companion).is_some_and(|diff| diff.state == State::GivenUp)
    }

    /// Returns the paths and the unique numbers of the diffs that were given up.
    pub(super) fn given_up(&self) -> Vec<(String, u64)> {
        let given_up = self.all.iter().filter(|diff| diff.state == State::GivenUp);
        given_up.map(|diff| (diff.companion.clone(), diff.number)).collect()
    }

    /// Records that the companion knows that the client gave up.
    pub(super) fn withdrawn(&mut self, companion: &str) {
        self.step(companion, &[State::GivenUp], State::Withdrawn);
    }

    fn step(&mut self, companion: &str, from: &[State], to: State) {
        if let Some(diff) = self.find(companion).filter(|diff| from.contains(&diff.state)) {
            diff.state = to;
        }
    }

    /// Returns the client's spelling of the path `companion`, as JSON.
    pub(super) fn spelling(&mut self, companion: &str) -> Option<String> {
        self.find(companion).map(|diff| diff.client.get().to_owned())
    }

    fn find(&mut self, companion: &str) -> Option<&mut RelayedDiff> {
        let exact = self.all.iter().position(|diff| diff.companion == companion);
        let similar = || self.all.iter().rposition(|diff| is_same_file(&diff.companion, companion));
        let index = exact.or_else(similar)?;
        self.all.get_mut(index)
    }

    /// Forgets the diffs of a lost companion, and returns the notifications for the client. Forgets
    /// a diff in state `Unsure` without a notification, because its request is repeated to the next
    /// companion.
    pub(super) fn lose_all(&mut self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        self.all.retain(|diff| diff.state != State::Unsure);
        for diff in &mut self.all {
            let before = std::mem::replace(&mut diff.state, State::Over);
            if before == State::Waiting {
                let rejected = serde_json::to_vec(&diff_rejected(&diff.client));
                messages.push(rejected.expect("our messages are JSON"));
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(messages: Vec<Vec<u8>>) -> Vec<String> {
        messages.into_iter().map(|message| String::from_utf8(message).unwrap()).collect()
    }

    #[test]
    fn the_client_gets_back_what_it_wrote() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened(r#""c:\\P\/\u00e9""#, "/p/é");
        diffs.opened(r#""/w/A""#, r"C:\P\A");
        assert_eq!(diffs.spelling("/p/é").as_deref(), Some(r#""c:\\P\/\u00e9""#));
        assert_eq!(diffs.spelling("c:/p/a").as_deref(), Some(r#""/w/A""#), "VS Code's drives");
        assert_eq!(diffs.spelling("/p/É"), None);
        diffs.ended("/p/é");
        assert!(diffs.spelling("/p/é").is_some(), "a decision may arrive twice");
        diffs.opened(r#""C:\\p\\é""#, "/p/é");
        assert_eq!(diffs.spelling("/p/é").as_deref(), Some(r#""C:\\p\\é""#), "the newest asker");
    }

    #[test]
    fn each_that_waits_is_lost_once() {
        let mut diffs = RelayedDiffs::default();
        for name in ["a", "b", "c"] {
            diffs.opened(&format!("\"/w/{name}\""), &format!("/p/{name}"));
        }
        diffs.ended("/p/b");
        diffs.give_up("/p/c");
        let expected =
            r#"{"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"/w/a"}}"#;
        assert_eq!(texts(diffs.lose_all()), [expected]);
        assert!(diffs.lose_all().is_empty());
        assert!(diffs.given_up().is_empty(), "it is nowhere any more");
    }

    #[test]
    fn a_decision_is_not_for_a_client_that_received_a_failure() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened("\"/w/a\"", "/p/a");
        assert!(diffs.give_up("/p/a"));
        let first = diffs.given_up();
        assert_eq!(first[0].0, "/p/a");
        assert_eq!(diffs.given_up(), first, "until the companion has received it");
        diffs.withdrawn("/p/a");
        assert!(diffs.given_up().is_empty());
        assert!(!diffs.decided("/p/a"));
        assert!(!diffs.decided("/p/a"), "it may arrive twice");
        assert!(!diffs.give_up("/p/a"), "it shows no more");
        diffs.opened("\"/w/a\"", "/p/a");
        assert!(diffs.give_up("/p/a"));
        assert_ne!(diffs.given_up(), first, "it is another one");
        diffs.opened("\"/w/a\"", "/p/a");
        assert!(diffs.decided("/p/a"), "it is another one");
        assert!(diffs.decided("/p/b"), "the client knows better");
    }

    #[test]
    fn what_may_show_is_given_up_with_the_client_and_lost_with_the_companion() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened("\"/w/a\"", "/p/a");
        diffs.unsure("/p/a");
        assert!(diffs.give_up("/p/a"), "all attempts have failed");
        diffs.opened("\"/w/a\"", "/p/a");
        diffs.unsure("/p/a");
        assert!(!diffs.is_over("/p/a"));
        assert!(diffs.lose_all().is_empty(), "the next one is asked");
        assert!(!diffs.is_over("/p/a"));
        diffs.opened("\"/w/a\"", "/p/a");
        diffs.unsure("/p/a");
        diffs.left_to_terminal("/p/a", true);
        assert!(diffs.decided("/p/a"));
        assert!(diffs.is_over("/p/a"));
    }

    #[test]
    fn memory_is_bounded_and_what_waits_is_kept() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened("\"/w/first\"", "/p/first");
        for number in 0..2 * MAX_DIFFS {
            diffs.opened("\"/w/x\"", &format!("/p/{number}"));
            diffs.ended(&format!("/p/{number}"));
        }
        assert_eq!(diffs.all.len(), MAX_DIFFS);
        assert_eq!(diffs.lose_all().len(), 1);
    }
}
