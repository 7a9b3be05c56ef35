//! Runs the companion server, which Gemini CLI connects to.
//!
//! The server speaks MCP over Streamable HTTP with clients. It sends them the editor's context and
//! keeps track of the diffs that the editor shows. It does not depend on an editor: a host
//! implements [`EditorHost`], passes editor events to a [`Server`], and has a companion.
//!
//! Requests go down through the modules, and each decides one thing: `http` (bytes, routes,
//! statuses) → `net::guard` (admission) → `session` (the client) → `mcp::dispatch` (methods) →
//! `mcp::tools` (arguments) → `driver` (the core, which decides) → the editor. Notifications go up: the
//! editor → `driver` or `context` → `session` (waiting items per client) → `http`.
//!
//! The modules stand in layers, and each uses only lower ones (`LAYERS` in `rust/xtask/tests/tidy.rs`).
//! A module takes the parts that it needs. `parts` builds all of them, for the start and the end of a server.

mod clients;
mod clock;
mod config;
mod context;
mod diagnostics;
mod discovery;
mod disk;
mod driver;
mod hand_over;
mod hooks;
mod host;
mod http;
mod journal;
mod lifecycle;
mod mcp;
mod monitor;
mod net;
mod parts;
mod privacy;
mod resume;
mod runtime;
mod server;
mod session;
mod shutdown;
mod signal;
#[cfg(test)]
mod tests;
mod workspace;
mod worktrees;

pub use config::{Config, Limits};
pub use host::{Delivery, EditorHost, EditorRequest, Proposal, Responder, Responders};
pub use resume::remove_left;
pub use runtime::Runtime;
pub use server::Server;
