//! Reads bodies, writes JSON and events, and admits only who may talk to the server.

pub(crate) mod bodies;
pub(crate) mod guard;
pub(crate) mod json;
pub(crate) mod listen;
pub(crate) mod slots;
pub(crate) mod sse;
