//! HTTP/1.1: accepts connections, routes requests, writes replies.
//!
//! Owns statuses and headers. What a message means is none of its business: that is
//! [`dispatch`](crate::dispatch)'s.

mod body;
mod connection;
mod places;
mod reply;
mod route;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use body::Bodies;
pub(crate) use connection::accept;
pub(crate) use places::Places;
#[cfg(test)]
pub(crate) use {reply::ReplyBody, route::route};
