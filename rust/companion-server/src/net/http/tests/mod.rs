//! The HTTP side, without sockets: every reply, streams, and all that takes time.

mod bodies;
mod fuzz;
mod replies;
mod sessions;
mod streams;
mod timing;
