//! The companion server that Gemini CLI connects to.
//!
//! It speaks MCP over Streamable HTTP with the CLI, tells it the editor's context, and keeps
//! the books on the diffs that the editor shows. It belongs to no editor: one implements
//! [`EditorHost`], feeds a [`Server`] with its events, and has a companion.
//!
//! Requests go down through the modules, one rule in each:
//! `http` (bytes, routes, statuses) → `guard` (who may talk) → `session` (who talks) →
//! `dispatch` (methods) → `tools` (arguments) → `diffs` (which diff ends how) → the editor.
//! Notifications go up: the editor → `diffs` or `context` → `session` (what waits for whom) →
//! `http`.

mod config;
mod context;
mod diagnostics;
mod diffs;
mod discovery;
mod disk;
mod host;
mod mcp;
mod net;
mod privacy;
mod resume;
mod runtime;
mod server;
mod shutdown;
mod state;
#[cfg(test)]
mod testing;
mod text;

pub use config::{Config, Limits};
pub use host::{
    Delivery, DiagnosticsResponder, DiffResponder, EditorHost, EditorRequest, Proposal, Responder,
    Responders,
};
pub use net::listen::Listeners;
pub use resume::remove_left;
pub use runtime::{Remaining, Runtime};
pub use server::Server;
