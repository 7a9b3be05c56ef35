//! Asks the disk about paths, on threads that can wait for a disk that does not answer.

pub(crate) mod paths;
pub(crate) mod pool;
pub(crate) mod written;
