//! Defines the messages that a companion exchanges with clients and with an editor.
//!
//! This crate contains only types, and it does no IO. An optional member is an [`Option`] that is
//! left out of the JSON: the client's schemas refuse `null`, and one refused message closes the
//! client's connection permanently.
//!
//! - [`jsonrpc`]: the envelope of every message, in both directions.
//! - [`mcp`]: handshake and tools, from the Model Context Protocol.
//! - [`ide`]: Gemini CLI's additions to MCP: context, diffs, the discovery file.
//! - [`diagnostics`]: the errors and warnings that an editor found in its files.
//! - [`changes`]: the changes of CLIs, for scripts.
//! - [`profile`]: how each client finds a companion.
//! - [`editor`]: the messages between `gemini-companion serve` and an editor.
//! - [`hook`]: the messages between a CLI's hook and a companion.
//! - [`settings`]: the settings of a server.
//! - [`tool`]: the tools that a companion offers.
//! - [`status`]: the state of a server, for the editor.

pub mod changes;
pub mod diagnostics;
pub mod editor;
pub mod hook;
pub mod ide;
pub mod jsonrpc;
pub mod mcp;
pub mod profile;
pub mod settings;
pub mod stateless;
pub mod status;
pub mod text;
pub mod tool;
