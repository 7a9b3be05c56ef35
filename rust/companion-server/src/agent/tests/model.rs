//! Tests which CLI gets which note.

use companion_protocol::editor::ReasonArrival::{self, Never, NextPrompt, Now};

use crate::agent::model::{AgentModel, NotesForModel, Rejection};
use crate::mcp::session::SessionId;
use crate::text::Digest;

/// Two CLIs, `x` with the session `a`, and `y` with `b`.
struct Cast {
    model: AgentModel,
    a: SessionId,
    b: SessionId,
}

impl Cast {
    fn new() -> Self {
        let (a, b) = (SessionId::new(), SessionId::new());
        Self { model: AgentModel::default(), a, b }
    }

    /// The CLI `agent` begins an edit of a file, and the client opens its diff.
    fn edit(&mut self, agent: &str, session: SessionId, path: &str) -> ReasonArrival {
        self.model.before_edit(agent, path, Some(Digest::of("text")));
        self.model.opened(session, path)
    }

    fn reject(&mut self, session: SessionId, path: &str) -> Rejection {
        let (rejection, kept, _) = self.model.rejected(session, path, path.to_owned().into(), 1);
        if let Some((note, _)) = kept {
            self.model.sent(note, "sent");
        }
        rejection
    }
}

/// The texts of the reasons that a model gets.
fn texts(delivery: &NotesForModel) -> Vec<&str> {
    delivery.reasons.iter().map(|(_, reason)| &*reason.text).collect()
}

#[test]
fn each_cli_gets_its_own_reasons() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!([cast.edit("x", a, "/1"), cast.edit("y", b, "/1")], [Now, Now]);
    let keep = Rejection::KeepText(Digest::of("text"));
    assert_eq!([cast.reject(a, "/1"), cast.reject(b, "/1")], [keep, keep]);
    assert_eq!(texts(&cast.model.after_tool("y", "/1")), ["/1"]);
    assert_eq!(texts(&cast.model.before_agent("y")), [""; 0]);
    assert_eq!(texts(&cast.model.before_agent("x")), ["/1"]);
}

#[test]
fn an_edit_that_two_clis_have_begun_belongs_to_none() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    cast.model.before_edit("x", "/1", None);
    cast.model.before_edit("y", "/1", None);
    assert_eq!([cast.model.opened(a, "/1"), cast.model.opened(b, "/1")], [Never, Never]);
    assert_eq!(cast.reject(a, "/1"), Rejection::Plain);
    assert_eq!(texts(&cast.model.before_agent("x")), [""; 0]);
    // Once they are known, they are told apart.
    assert_eq!([cast.edit("x", a, "/2"), cast.edit("y", b, "/3")], [Now, Now]);
    cast.model.before_edit("x", "/1", None);
    cast.model.before_edit("y", "/1", None);
    assert_eq!([cast.model.opened(a, "/1"), cast.model.opened(b, "/1")], [NextPrompt; 2]);
}

#[test]
fn a_diff_of_a_client_without_hooks_is_not_taken_for_the_edit_of_another() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    assert_eq!(cast.edit("x", a, "/1"), Now);
    cast.model.before_edit("x", "/2", None);
    assert_eq!(cast.model.opened(b, "/2"), Never);
}

#[test]
fn a_cli_may_begin_a_new_session() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit("x", a, "/1"), Now);
    assert_eq!(cast.edit("new", a, "/1"), Now);
    cast.reject(a, "/1");
    assert_eq!(texts(&cast.model.before_agent("x")), [""; 0]);
    assert_eq!(texts(&cast.model.before_agent("new")), ["/1"]);
}

#[test]
fn a_diff_without_a_hook_of_its_own_waits_for_the_prompt() {
    let mut cast = Cast::new();
    let a = cast.a;
    assert_eq!(cast.edit("x", a, "/1"), Now);
    assert_eq!(cast.model.opened(a, "/1"), NextPrompt, "that was another edit");
    assert_eq!(cast.model.opened(a, "/2"), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Rejection::Plain);
    cast.model.mcp_session_gone(a);
    assert_eq!(cast.model.opened(a, "/2"), Never);
    assert_eq!(texts(&cast.model.before_agent("x")), ["/2"], "the CLI may have connected again");
}

#[test]
fn a_cli_whose_hook_follows_the_diff_is_known_after_an_acceptance() {
    let mut cast = Cast::new();
    let (a, b) = (cast.a, cast.b);
    let text = Some(Digest::of("text"));
    assert_eq!(cast.model.opened_first(a, "/1", text), Never);
    cast.model.accepted("x", a);
    assert!(cast.model.knows(a) && !cast.model.knows(b));
    assert_eq!(cast.model.opened_first(a, "/2", text), Now);
    assert_eq!(cast.model.opened_first(a, "/3", None), NextPrompt);
    assert_eq!(cast.reject(a, "/2"), Rejection::KeepText(Digest::of("text")));
    let sent = Digest::of("sent");
    assert_eq!(texts(&cast.model.before_write("x", "/2", Digest::of("other"))), [""; 0]);
    assert_eq!(texts(&cast.model.before_write("x", "/2", sent)), ["/2"]);
    // The CLI begins a new session: the text that it writes tells.
    cast.reject(a, "/3");
    assert_eq!(texts(&cast.model.before_write("y", "/3", sent)), ["/3"]);
    cast.reject(a, "/1");
    assert_eq!(texts(&cast.model.before_agent("x")), [""; 0]);
    assert_eq!(texts(&cast.model.before_agent("y")), ["/1"]);
}

#[test]
fn two_edits_of_one_file_get_their_own_decisions() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.model.accepted("x", a);
    cast.model.opened_first(a, "/1", Some(Digest::of("text")));
    // The first edit was accepted; the second one is rejected before the first one is made.
    cast.reject(a, "/1");
    assert_eq!(texts(&cast.model.before_write("x", "/1", Digest::of("first"))), [""; 0]);
    assert_eq!(texts(&cast.model.before_write("x", "/1", Digest::of("sent"))), ["/1"]);
}

#[test]
fn what_nobody_confirms_waits_again() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit("x", a, "/1");
    cast.reject(a, "/1");
    let ack = cast.model.after_tool("x", "/1").ack.unwrap();
    assert_eq!(texts(&cast.model.before_agent("x")), [""; 0], "it is under way");
    cast.model.give_back(ack);
    let ack = cast.model.before_agent("x").ack.unwrap();
    assert_eq!(cast.model.confirm(ack).unwrap().reasons.len(), 1);
    cast.model.give_back(ack);
    assert_eq!(cast.model.before_agent("x").ack, None);
}

#[test]
fn a_reason_that_waits_for_too_long_is_forgotten() {
    let mut cast = Cast::new();
    let a = cast.a;
    cast.edit("x", a, "/1");
    cast.model.rejected(a, "/1", "old".to_owned().into(), 5);
    cast.model.rejected(a, "/1", "new".to_owned().into(), 7);
    assert_eq!(cast.model.oldest_reason(), Some(5));
    assert_eq!(cast.model.expire_reasons(4), []);
    assert_eq!(cast.model.expire_reasons(6).len(), 1);
    assert_eq!(cast.model.oldest_reason(), Some(7));
    assert_eq!(texts(&cast.model.before_agent("x")), ["new"]);
}
