//! Finds companions by the same rules as Gemini CLI, and connects to them over HTTP.

pub mod diagnose;
pub mod discover;
pub mod http;
