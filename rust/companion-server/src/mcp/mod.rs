//! Speaks MCP: methods, tools, the sessions of clients, and monitors, which watch all of them.

pub(crate) mod dispatch;
pub(crate) mod monitor;
pub(crate) mod result;
pub(crate) mod session;
pub(crate) mod tools;
