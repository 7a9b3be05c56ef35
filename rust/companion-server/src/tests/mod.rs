//! Provides a server without sockets, files and threads to the unit tests of all modules.

mod editor;
mod log_lines;
mod rig;
mod stream;

pub(crate) use editor::{EditorCall, unsupported};
pub(crate) use log_lines::logged;
pub(crate) use rig::{PEER, PORT, Rig, TOKEN, tool_call};
pub(crate) use stream::Stream;
