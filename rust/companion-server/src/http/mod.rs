//! Serves HTTP/1.1: accepts connections, routes requests, writes replies.
//!
//! It decides statuses and headers. [`dispatch`](crate::mcp::dispatch) interprets the messages.

mod connection;
mod reply;
mod route;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use connection::accept;
#[cfg(test)]
pub(crate) use {reply::ReplyBody, route::route};
