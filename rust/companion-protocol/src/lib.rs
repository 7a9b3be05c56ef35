//! The messages that a companion exchanges with Gemini CLI and with an editor.
//!
//! This crate owns their shapes and nothing else: it does no IO and knows no runtime.
//! What can be absent is an [`Option`] that is left out of the JSON, because the client's
//! schemas refuse `null`, and one refused message ends its connection for good.
//!
//! - [`jsonrpc`]: the envelope of every message, in both directions.
//! - [`mcp`]: what the Model Context Protocol adds: handshake and tools.
//! - [`ide`]: what Gemini CLI adds to that: context, diffs, the discovery file.
//! - [`diagnostics`]: the problems that an editor knows of its files.
//! - [`dialect`]: how a client finds a companion.
//! - [`editor`]: what `gemini-companion serve` and an editor say to each other.
//! - [`settings`]: what a server is started with.
//! - [`tool`]: the tools.
//! - [`status`]: what a server has to say about itself.

pub mod diagnostics;
pub mod dialect;
pub mod editor;
pub mod ide;
pub mod jsonrpc;
pub mod mcp;
pub mod settings;
pub mod status;
mod text;
pub mod tool;
