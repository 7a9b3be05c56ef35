//! A companion as seen from the other side: found by the same rules as Gemini CLI's, and talked
//! to over HTTP.

pub mod diagnose;
pub mod discover;
pub mod http;
