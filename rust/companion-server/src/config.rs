//! Declares the settings and the limits of a server.

use std::path::PathBuf;
use std::time::Duration;

use companion_protocol::settings::Settings;

/// What a server is told when it starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// What its user has set.
    pub settings: Settings,
    /// Where discovery files go; `None`: where clients look for them.
    pub discovery_dir: Option<PathBuf>,
    /// Bounds on time, space and number.
    pub limits: Limits,
}

impl Config {
    /// The usual one for these settings, of which some are limits.
    pub fn new(settings: Settings) -> Self {
        let limits = Limits::of(&settings);
        Self { settings, discovery_dir: None, limits }
    }
}

/// Bounds on time, space and number.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body, in bytes. A larger one is answered with 413.
    pub body: usize,
    /// How long a peer may take to send the head of a request; also how long a connection
    /// stays open between two requests. Above the 4 s for which the client keeps one.
    pub header_timeout: Duration,
    /// How long a peer may pause while it sends a body.
    pub body_timeout: Duration,
    /// How long a body may take in all.
    pub body_total: Duration,
    /// How long the editor may take to answer a request.
    pub host_timeout: Duration,
    /// How long the editor may take to tell the problems of files.
    pub diagnostics_timeout: Duration,
    /// How often a quiet stream gets a comment. The client gives up after 300 s of silence.
    pub keep_alive: Duration,
    /// How long the client waits before it comes back to a stream that ended, and so how long a
    /// restart may take that it does not notice.
    pub retry: Duration,
    /// The most sessions. When they are reached, the oldest idle one goes; if none is idle but those
    /// that wait for a decision, a new client is refused with 503.
    pub sessions: usize,
    /// The most sessions without a stream, whose clients have probably gone without saying so. Beyond,
    /// the same happens.
    pub idle_sessions: usize,
    /// How long the views of a client wait for it while it has no stream. Then they are closed, and
    /// should it come back, it hears that its diffs are rejected. Until then no new client evicts it.
    pub session_away: Duration,
    /// How long a session may stay without a stream.
    pub session_gone: Duration,
    /// The most diffs that one session may have open or decided but not yet delivered.
    pub diffs_per_session: usize,
    /// How many bytes of decisions one session may leave without showing that it got them, before
    /// it may open no further diff.
    pub queued_bytes: usize,
    /// The most bytes of texts of all sessions: of proposals that are open, and of decisions and
    /// answers that clients have not read. Beyond that no further diff opens, unless it is the
    /// only one.
    pub held_bytes: usize,
    /// The most streams of `GET /events`, and of notifications that wait for a slow one.
    pub monitors: usize,
}

impl Limits {
    /// Those that the settings say, and the usual ones.
    fn of(settings: &Settings) -> Self {
        Self {
            body: usize::from(settings.body_limit) << 20,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            body_total: Duration::from_mins(5),
            host_timeout: Duration::from_secs(30),
            diagnostics_timeout: Duration::from_secs(3),
            keep_alive: Duration::from_secs(settings.keep_alive.into()),
            retry: Duration::from_secs(20),
            sessions: 2048,
            idle_sessions: 64,
            session_away: Duration::from_mins(5),
            session_gone: Duration::from_hours(1),
            diffs_per_session: 256,
            queued_bytes: 128 << 20,
            held_bytes: 256 << 20,
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
