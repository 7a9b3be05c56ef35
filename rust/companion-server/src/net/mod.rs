//! Carries bytes: listens, reads and writes HTTP, and admits only who may talk to the server.

pub(crate) mod bodies;
pub(crate) mod guard;
pub(crate) mod http;
pub(crate) mod json;
pub(crate) mod listen;
pub(crate) mod slots;
pub(crate) mod sse;
