//! Decides which CLI a hook belongs to, and which model gets which note.
//!
//! The crate does no IO. It has no lock, no clock and no thread: a caller passes the time, looks at
//! files, and saves the records. So every order of events can be tried without a process.
//!
//! A rejection with a reason, from the CLI's edit to its model:
//!
//! ```
//! use companion_core::cli::{Caller, Connected};
//! use companion_core::conversation::{Conversation, Rejection};
//! use companion_core::notes::Confirmation;
//! use companion_core::session::SessionId;
//! use companion_core::text::Digest;
//! use companion_protocol::editor::ReasonArrival;
//!
//! let mut conversation = Conversation::new(1);
//! let mcp = SessionId::new();
//! let cli = Caller { session: "c0ffee", process: Some("4711"), connected: Connected::To(vec![mcp]) };
//!
//! // The hook before the edit runs, and then the client opens the diff.
//! let text = Digest::of("old");
//! conversation.before_edit(&cli, "/project/a", Some(text), 0);
//! let opened = conversation.opened(mcp, "/project/a", 200);
//! assert_eq!(opened.arrival, ReasonArrival::Now);
//!
//! // The user rejects it. The client gets the file's text in place of the rejection.
//! let rejected = conversation.rejected(mcp, "/project/a", "use const".to_owned().into(), 0);
//! assert_eq!(rejected.unwrap().rejection, Rejection::KeepText(text));
//!
//! // The hook after the edit gets the reason, and confirms it.
//! let due = conversation.due_after_tool(&cli, "/project/a", 900);
//! let delivery = conversation.deliver(&due).unwrap();
//! assert_eq!(&*delivery.reasons().next().unwrap().text, "use const");
//! assert_eq!(conversation.confirm(delivery.number), Confirmation::Taken(delivery));
//! assert!(conversation.due_before_agent(&cli, 1000).is_empty());
//! ```

pub mod cli;
pub mod conversation;
pub mod notes;
pub mod session;
pub mod text;
