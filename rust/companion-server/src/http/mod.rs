//! HTTP/1.1: accepts connections, routes requests, writes replies.
//!
//! Owns statuses and headers. What a message means is none of its business: that is
//! [`dispatch`](crate::dispatch)'s.

mod connection;
mod reply;
mod route;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use connection::accept;
#[cfg(test)]
pub(crate) use {reply::ReplyBody, route::route};
