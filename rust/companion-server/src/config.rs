//! Declares the settings and the limits of a server.

use std::path::PathBuf;
use std::time::Duration;

use companion_core::companion;
use companion_protocol::settings::Settings;

/// The configuration of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The user's settings.
    pub settings: Settings,
    /// The folder for discovery files. `None` means the folders where the clients look.
    pub discovery_dir: Option<PathBuf>,
    /// The bounds of the server.
    pub limits: Limits,
}

impl Config {
    /// The usual configuration for these settings. Some settings are limits.
    pub fn new(settings: Settings) -> Self {
        let limits = Limits::of(&settings);
        Self { settings, discovery_dir: None, limits }
    }

    /// The limits of the core.
    pub(crate) fn of_core(&self) -> companion::Limits {
        let Limits { body, host_timeout, resume_timeout, session_away, .. } = self.limits;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        companion::Limits {
            host_timeout: ms(host_timeout),
            resume_timeout: if self.settings.keep_proposals { ms(resume_timeout) } else { 0 },
            session_away: ms(session_away),
            diffs_per_session: self.limits.diffs_per_session,
            queued_bytes: self.limits.queued_bytes,
            held_bytes: self.limits.held_bytes,
            kept_bytes: body.saturating_mul(2),
        }
    }
}

/// Bounds of time, space and number.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body, in bytes. A larger one is answered with 413.
    pub body: usize,
    /// The time to send the head of a request, and the time that a connection stays open between
    /// two requests. Above the 4 s that the client keeps a connection.
    pub header_timeout: Duration,
    /// The longest pause of a peer while it sends a body.
    pub body_timeout: Duration,
    /// The time to send a body.
    pub body_total: Duration,
    /// The time for the editor to answer a request.
    pub host_timeout: Duration,
    /// The time for the editor to name the proposals that it shows after a restart. Then the companion
    /// rejects the others.
    pub resume_timeout: Duration,
    /// The time for the editor to report diagnostics.
    pub diagnostics_timeout: Duration,
    /// The interval of comments on a quiet stream. The client gives up after 300 s of silence.
    pub keep_alive: Duration,
    /// The delay before the client reopens an ended stream. A restart may take that long without
    /// being noticed.
    pub retry: Duration,
    /// The most sessions. A new one evicts the oldest idle session. If the only idle sessions wait
    /// for a decision, the server refuses the new client with 503.
    pub sessions: usize,
    /// The most sessions without a stream. Their clients have probably ended without a word. Above
    /// this, the same applies.
    pub idle_sessions: usize,
    /// The time that the views of a client stay open while it has no stream. After that its diffs
    /// are rejected. Until then no new client evicts the session.
    pub session_away: Duration,
    /// The time that a session may stay without a stream.
    pub session_gone: Duration,
    /// The most diffs that a session may have open, or decided and not delivered.
    pub diffs_per_session: usize,
    /// The most bytes of decisions that a session may leave unacknowledged. Above this it may open
    /// no further diff.
    pub queued_bytes: usize,
    /// The most bytes of texts of all sessions: open proposals, and decisions and answers that
    /// clients have not read. Above this no further diff opens, unless it is the only one.
    pub held_bytes: usize,
    /// The most streams of `GET /events`.
    pub monitors: usize,
}

impl Limits {
    /// The limits of these settings, and the defaults.
    fn of(settings: &Settings) -> Self {
        let core = companion::Limits::default();
        Self {
            body: usize::from(settings.body_limit) << 20,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            body_total: Duration::from_mins(5),
            host_timeout: Duration::from_millis(core.host_timeout),
            resume_timeout: Duration::from_secs(10),
            diagnostics_timeout: Duration::from_secs(3),
            keep_alive: Duration::from_secs(20),
            retry: Duration::from_secs(20),
            sessions: 2048,
            idle_sessions: 64,
            session_away: Duration::from_millis(core.session_away),
            session_gone: Duration::from_hours(1),
            diffs_per_session: core.diffs_per_session,
            queued_bytes: core.queued_bytes,
            held_bytes: core.held_bytes,
            monitors: 16,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&Settings::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A default as the document writes it: whole megabytes, and the largest unit of time.
    fn written(value: &str) -> String {
        let Some(seconds) = value.strip_suffix('s') else {
            let number: usize = value.parse().unwrap();
            let megabytes = number >> 20;
            return if megabytes > 0 { format!("{megabytes} MB") } else { number.to_string() };
        };
        let seconds: u64 = seconds.parse().unwrap();
        match (seconds % 3600, seconds % 60) {
            (0, _) => format!("{} h", seconds / 3600),
            (_, 0) => format!("{} min", seconds / 60),
            _ => format!("{seconds} s"),
        }
    }

    #[test]
    fn the_document_has_the_defaults() {
        let document = include_str!("../../../docs/architecture/limits.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
        let documented: Vec<_> = rows
            .map(|row| {
                let (field, rest) = row.split_once("` | ").unwrap();
                (field.to_owned(), rest.split(" | ").next().unwrap().to_owned())
            })
            .collect();
        let limits = format!("{:#?}", Limits::default());
        let defaults: Vec<_> = limits
            .lines()
            .filter_map(|line| line.trim().trim_end_matches(',').split_once(": "))
            .map(|(field, value)| (field.to_owned(), written(value)))
            .collect();
        assert_eq!(documented, defaults);
    }
}
