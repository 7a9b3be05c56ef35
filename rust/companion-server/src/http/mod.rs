//! Serves HTTP/1.1: accepts connections, routes requests, writes replies.
//!
//! It decides statuses and headers. [`dispatch`](crate::mcp::dispatch) interprets the messages.

mod connection;
mod read_end;
mod reply;
mod route;
mod stateless;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::clients::Clients;
use crate::config::Config;
use crate::context::EditorContext;
use crate::driver::Driver;
use crate::hooks::Hooks;
use crate::lifecycle::Lifecycle;
use crate::mcp::dispatch::Dispatcher;
use crate::net::bodies::BodyBudget;
use crate::net::guard::Endpoint;
use crate::net::slots::UnauthenticatedSlots;
pub(crate) use connection::accept;
#[cfg(test)]
pub(crate) use {connection::serve, read_end::ReadEnd, reply::ReplyBody, route::route};

/// An HTTP server: what admits a request, and what answers it.
pub(crate) struct HttpServer {
    pub(crate) config: Arc<Config>,
    /// Where the discovery file leads.
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) slots: UnauthenticatedSlots,
    pub(crate) bodies: BodyBudget,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) clients: Arc<Clients>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) context: Arc<EditorContext>,
    pub(crate) hooks: Arc<Hooks>,
}
