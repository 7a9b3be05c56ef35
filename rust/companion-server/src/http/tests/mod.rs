//! Tests the HTTP side without sockets: replies, streams, sessions and timeouts.

mod bodies;
mod changes;
mod fuzz;
mod replies;
mod sessions;
mod stateless;
mod streams;
mod timing;
