//! Speaks MCP: methods and tools.

pub(crate) mod dispatch;
pub(crate) mod result;
pub(crate) mod tools;
