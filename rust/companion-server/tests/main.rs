//! Tests a server with real sockets. One test program links faster than one for each file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(target_os = "linux")]
mod addresses;
mod common;
mod drops;
mod hostile;
mod raw_sockets;
