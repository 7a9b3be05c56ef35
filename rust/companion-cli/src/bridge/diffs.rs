//! The diffs that went through a bridge: how the client wrote their paths, and which of them
//! still wait for a decision.

use companion_protocol::jsonrpc::Notification;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::find::is_same_file;

/// How many are remembered. A companion has at most 256 open for one client.
const MAX_DIFFS: usize = 512;

/// How a diff stands, as far as the bridge knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The client waits for a decision.
    Waiting,
    /// The client has heard that the call failed, and waits no more, but the companion may show it.
    GivenUp,
    /// The companion was told so. A decision that was on its way is not for the client, which may
    /// have asked for the same file again.
    Withdrawn,
    /// It is over; a late notification may still name it.
    Over,
}

#[derive(Debug)]
struct RelayedDiff {
    /// The JSON string that the client sent.
    client: Box<RawValue>,
    /// The path that the companion was sent.
    companion: String,
    state: State,
}

/// All diffs, in the order in which the client asked for them.
#[derive(Debug, Default)]
pub(super) struct RelayedDiffs(Vec<RelayedDiff>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rejected<'a> {
    file_path: &'a RawValue,
}

impl RelayedDiffs {
    /// The client's `client`, a JSON string, is about to be opened as `companion`.
    pub(super) fn opened(&mut self, client: &str, companion: &str) {
        self.0.retain(|diff| diff.companion != companion);
        if self.0.len() >= MAX_DIFFS {
            let over = self.0.iter().position(|diff| diff.state == State::Over);
            self.0.remove(over.unwrap_or(0));
        }
        let client = RawValue::from_string(client.to_owned()).expect("it was read from JSON");
        let companion = companion.to_owned();
        self.0.push(RelayedDiff { client, companion, state: State::Waiting });
    }

    /// The diff is over: decided, closed, or never opened.
    pub(super) fn ended(&mut self, companion: &str) {
        if let Some(diff) = self.find(companion) {
            diff.state = State::Over;
        }
    }

    /// The companion says that the diff has ended. Whether that is for the client.
    pub(super) fn decided(&mut self, companion: &str) -> bool {
        let Some(diff) = self.find(companion) else { return true };
        let is_for_client = matches!(diff.state, State::Waiting | State::Over);
        diff.state = if is_for_client { State::Over } else { State::Withdrawn };
        is_for_client
    }

    /// The client heard that `openDiff` or `closeDiff` failed, but the companion may show the diff.
    pub(super) fn failed(&mut self, companion: &str) {
        if let Some(diff) = self.find(companion).filter(|diff| diff.state == State::Waiting) {
            diff.state = State::GivenUp;
        }
    }

    /// How the client wrote the path that the companion calls `companion`, as JSON.
    pub(super) fn spelling(&mut self, companion: &str) -> Option<String> {
        self.find(companion).map(|diff| diff.client.get().to_owned())
    }

    fn find(&mut self, companion: &str) -> Option<&mut RelayedDiff> {
        let exact = self.0.iter().position(|diff| diff.companion == companion);
        let similar = || self.0.iter().rposition(|diff| is_same_file(&diff.companion, companion));
        let index = exact.or_else(similar)?;
        self.0.get_mut(index)
    }

    /// The companion that had them is gone: returns the notifications that tell the client.
    pub(super) fn lose_all(&mut self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for diff in &mut self.0 {
            let before = std::mem::replace(&mut diff.state, State::Over);
            if before == State::Waiting {
                let rejected =
                    Notification::new("ide/diffRejected", Rejected { file_path: &diff.client });
                messages.push(serde_json::to_vec(&rejected).expect("our messages are JSON"));
            }
        }
        messages
    }

    /// The paths that the companion may still show though the client does not wait.
    pub(super) fn withdraw_given_up(&mut self) -> Vec<String> {
        let given_up = self.0.iter_mut().filter(|diff| diff.state == State::GivenUp);
        given_up
            .map(|diff| {
                diff.state = State::Withdrawn;
                diff.companion.clone()
            })
            .collect()
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
        diffs.failed("/p/c");
        let expected =
            r#"{"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"/w/a"}}"#;
        assert_eq!(texts(diffs.lose_all()), [expected]);
        assert!(diffs.lose_all().is_empty());
        assert!(diffs.withdraw_given_up().is_empty(), "it is nowhere any more");
    }

    #[test]
    fn a_decision_is_not_for_a_client_that_heard_of_a_failure() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened("\"/w/a\"", "/p/a");
        diffs.failed("/p/a");
        assert_eq!(diffs.withdraw_given_up(), ["/p/a"]);
        assert!(diffs.withdraw_given_up().is_empty());
        assert!(!diffs.decided("/p/a"));
        assert!(!diffs.decided("/p/a"), "it may arrive twice");
        diffs.opened("\"/w/a\"", "/p/a");
        assert!(diffs.decided("/p/a"), "it is another one");
        assert!(diffs.decided("/p/b"), "the client knows better");
    }

    #[test]
    fn memory_is_bounded_and_what_waits_is_kept() {
        let mut diffs = RelayedDiffs::default();
        diffs.opened("\"/w/first\"", "/p/first");
        for number in 0..2 * MAX_DIFFS {
            diffs.opened("\"/w/x\"", &format!("/p/{number}"));
            diffs.ended(&format!("/p/{number}"));
        }
        assert_eq!(diffs.0.len(), MAX_DIFFS);
        assert_eq!(diffs.lose_all().len(), 1);
    }
}
