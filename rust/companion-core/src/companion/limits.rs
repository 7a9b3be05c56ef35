//! Limits the waits and the memory of a companion.

/// The limits of a companion.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The time for the editor to answer a request, in milliseconds.
    pub host_timeout: u64,
    /// The time for the editor to name the views that it still shows after a restart, in milliseconds. If
    /// it is 0, the editor closes its views with the companion.
    pub resume_timeout: u64,
    /// The time that a client may be away and come back, in milliseconds.
    pub session_away: u64,
    /// The most diffs that a session may have open, or decided and not delivered.
    pub diffs_per_session: usize,
    /// The most bytes of decisions that a session may leave unacknowledged.
    pub queued_bytes: usize,
    /// The most bytes of open proposals, and of texts that clients have not received.
    pub held_bytes: usize,
    /// The most bytes of calls that are kept for clients that repeat them.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            host_timeout: 30_000,
            resume_timeout: 0,
            session_away: 300_000,
            diffs_per_session: 256,
            queued_bytes: 128 << 20,
            held_bytes: 256 << 20,
            kept_bytes: 64 << 20,
        }
    }
}
