//! Decides how diffs end, which CLI a hook belongs to, and which model gets which note.
//!
//! The crate does no IO. It has no lock, no clock and no thread: a caller passes what happens with its
//! time, and carries out what comes back. So every order of events can be tried without a process.
//!
//! An `openDiff`, from the call to the decision:
//!
//! ```
//! # use companion_core::calls::{Attempt, CallId, CallOrigin};
//! # use companion_core::companion::{Action, Companion, Delivery, Input, Limits, Now, Output};
//! # use companion_core::diffs::{Accepted, Answer, Decision, DiffId, EditorCommand, EventId, Proposed};
//! # use companion_core::record::Left;
//! # use companion_core::session::{ClientTraits, SessionId};
//! # use companion_protocol::editor::ReasonArrival;
//! # use companion_protocol::jsonrpc::Id;
//! # let mut companion = Companion::new(Limits::default(), DiffId(1), 1, false, Left::default());
//! # let (session, client) = (SessionId::new(), ClientTraits::default());
//! let mut handle = |input: Input<'_>| {
//!     let mut out = Vec::new();
//!     companion.handle(Now::default(), input, &mut out);
//!     out
//! };
//! handle(Input::Connected(session, client.into()));
//! handle(Input::StreamOpened { session, stream: 1, last: &EventId::default(), is_answer: false });
//!
//! // The editor is asked to show the proposal. No model would get a reason. When the view shows, the
//! // call is answered.
//! let (call, path) = (CallId(1), "/project/a");
//! let from = CallOrigin { session, id: &Id::from(1), sent: Attempt::OnceForAll };
//! let proposed = Proposed::new("the proposed text", client);
//! let action = Action::Open { proposed, held: 0, is_editor_busy: false, is_shared: true };
//! let out = handle(Input::Call { call, from, path: path.into(), action });
//! assert_eq!(out[0], Output::Arrival(call, ReasonArrival::Never));
//! assert_eq!(out[1], Output::Ask(Some(call), EditorCommand::Open(path.into(), DiffId(1))));
//! assert_eq!(handle(Input::EditorDid(call, None)), [Output::Answer(call, Answer::Opened)]);
//!
//! // The user accepts it, and the client's stream takes the decision.
//! let accepted = Accepted { content: "the final text".to_owned().into() };
//! let out = handle(Input::Accepted(path, accepted.clone()));
//! assert_eq!(out[0], Output::Delivery(Delivery::Delivered));
//! assert_eq!(out[1], Output::Decided(session, path.into(), Decision::Accepted(accepted)));
//! let sent = companion.next_event(Now::default(), session, 1, &mut Vec::new()).unwrap();
//! companion.handle(Now::default(), Input::Pong(session, sent.diff), &mut Vec::new());
//! assert!(!companion.diffs().is_awaited_by(session));
//! ```
//!
//! A rejection with a reason, from the CLI's edit to its model:
//!
//! ```
//! # use companion_core::calls::{Attempt, CallId, CallOrigin};
//! # use companion_core::cli::{Caller, Connected, FileBefore};
//! # use companion_core::companion::*;
//! # use companion_core::diffs::{DiffId, EventId, Proposed};
//! # use companion_core::record::Left;
//! # use companion_core::session::{ClientTraits, SessionId};
//! # use companion_core::text::{Digest, Text};
//! # use companion_protocol::jsonrpc::Id;
//! # let mut companion = Companion::new(Limits::default(), DiffId(1), 1, false, Left::default());
//! # let gemini = ClientTraits { replays_edits: true, confirms_after_hook: true, ..ClientTraits::default() };
//! # let (session, client) = (SessionId::new(), gemini);
//! # let (call, path, now) = (CallId(1), "/project/a", Now::default());
//! # let mut out = Vec::new();
//! # companion.handle(now, Input::Connected(session, client.into()), &mut out);
//! # let (stream, last) = (1, &EventId::default());
//! # companion.handle(now, Input::StreamOpened { session, stream, last, is_answer: false }, &mut out);
//! // The hook before the edit runs, and then the client opens the diff.
//! let connected = Connected::To(vec![session]);
//! let cli = Caller { session: "c0ffee", process: Some("4711"), connected };
//! let before = Hook::BeforeEdit(path, FileBefore::Text(Digest::of("old")));
//! companion.handle(now, Input::Hook(&cli, before), &mut out);
//! # let from = CallOrigin { session, id: &Id::from(1), sent: Attempt::OnceForAll };
//! # let action = Action::Open { proposed: Proposed::new("new", client), held: 0, is_editor_busy: false, is_shared: true };
//! # companion.handle(now, Input::Call { call, from, path: path.into(), action }, &mut out);
//! # companion.handle(now, Input::EditorDid(call, None), &mut out);
//!
//! // The user rejects it. The driver checks the file, twice, before the client is notified.
//! let mut handle = |input: Input<'_>| {
//!     let mut out = Vec::new();
//!     companion.handle(now, input, &mut out);
//!     out
//! };
//! let out = handle(Input::RejectedWithReason(path, "use const".to_owned().into()));
//! assert_eq!(out[1], Output::CheckDisk(DiskCheck::Access(DiffId(1), path.into())));
//! let out = handle(Input::AccessChecked(DiffId(1), None));
//! let read = DiskCheck::Read(DiffId(1), session, path.into(), Some(Digest::of("old")));
//! assert_eq!(out, [Output::CheckDisk(read)]);
//! handle(Input::Present(DiffId(1), Some("old".to_owned().into())));
//!
//! // The client's stream takes the file's text in place of the rejection.
//! companion.next_event(now, session, stream, &mut Vec::new()).unwrap();
//!
//! // The hook after the edit gets the reason, and confirms it.
//! # let mut handle = |input: Input<'_>| {
//! #     let mut out = Vec::new();
//! #     companion.handle(now, input, &mut out);
//! #     out
//! # };
//! let out = handle(Input::Hook(&cli, Hook::AfterTool(path)));
//! let [Output::EditRejected, Output::Due(due)] = &out[..] else { panic!("{out:?}") };
//! let out = handle(Input::Deliver(&cli, due));
//! let [Output::Deliver(delivery)] = &out[..] else { panic!("{out:?}") };
//! assert_eq!(&*delivery.reasons().next().unwrap().text, "use const");
//! handle(Input::Confirm(delivery.number));
//! let prompt = Hook::BeforeAgent { ends_cancelled_turns: true };
//! assert!(handle(Input::Hook(&cli, prompt)).is_empty());
//! ```
//!
//! A restart. What the records leave is all that the next process knows:
//!
//! ```
//! # use companion_core::companion::{Companion, Input, Limits, Now, Output};
//! # use companion_core::diffs::{Decision, DiffId, EventId};
//! # use companion_core::record::{Left, Record};
//! # use companion_core::session::{Client, SessionId};
//! # let session = SessionId::new();
//! let mut left = Left::default();
//! left.apply(Record::Session(session, Client::default()));
//! left.apply(Record::Opened(DiffId(1), session, "/project/a".into()));
//!
//! // This editor closes its views with the companion, so the diff is rejected. The client gets the
//! // rejection on its next stream.
//! let mut companion = Companion::new(Limits::default(), DiffId(2), 2, true, left);
//! let (stream, last) = (1, &EventId::default());
//! let opened = Input::StreamOpened { session, stream, last, is_answer: false };
//! companion.handle(Now::default(), opened, &mut Vec::new());
//! let sent = companion.next_event(Now::default(), session, 1, &mut Vec::new()).unwrap();
//! assert_eq!(sent.decision, Decision::Rejected);
//!
//! // The client has got it, and the process after this one has nothing to send.
//! let mut out = Vec::new();
//! companion.handle(Now::default(), Input::Pong(session, sent.diff), &mut out);
//! assert_eq!(out, [Output::Record(Record::Settled(DiffId(1)))]);
//! ```

pub mod calls;
pub mod cli;
pub mod companion;
pub mod conversation;
pub mod diffs;
pub mod notes;
pub mod record;
pub mod session;
pub mod text;
