//! Declares the settings and the limits of a server.

use std::path::PathBuf;
use std::time::Duration;

use companion_core::companion;
use companion_protocol::settings::Settings;

/// The time for a disk to answer, while a call, a hook, the editor or the end of the server waits for it.
/// Most disks answer within microseconds.
pub(crate) const DISK_TIMEOUT: Duration = Duration::from_millis(500);

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
}

/// Bounds of time, space and number.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The bounds of what the core decides.
    pub core: companion::Limits,
    /// The largest request body, in bytes. A larger one is answered with 413.
    pub body: usize,
    /// The time to send the head of a request, and the time that a connection stays open between
    /// two requests. Above the 4 s that the client keeps a connection.
    pub header_timeout: Duration,
    /// The longest pause of a peer while it sends a body.
    pub body_timeout: Duration,
    /// The time to send a body.
    pub body_total: Duration,
    /// The time for a call about diagnostics. The editor's protocol gives the editor 2.5 s of it.
    pub diagnostics_timeout: Duration,
    /// The interval of comments on a quiet stream. The client gives up after 300 s of silence.
    pub keep_alive: Duration,
    /// The delay before the client reopens an ended stream. A restart may take that long without
    /// being noticed.
    pub retry: Duration,
    /// The most sessions. A new one evicts the oldest idle session. If the only idle sessions wait
    /// for a decision, the server refuses the new client with 503.
    pub sessions: usize,
    /// The most sessions without a stream. Their clients have probably ended without a word. A new
    /// one above this evicts the oldest. For a while, one that waits for a decision does not count.
    pub idle_sessions: usize,
    /// The time that a session may stay without a stream.
    pub session_gone: Duration,
    /// The most streams of `GET /events`.
    pub monitors: usize,
}

impl Limits {
    /// The limits of these settings, and the defaults.
    fn of(settings: &Settings) -> Self {
        let body = usize::from(settings.body_limit) << 20;
        let resume_timeout =
            if settings.keep_proposals { Duration::from_secs(10) } else { Duration::ZERO };
        let core = companion::Limits {
            resume_timeout,
            kept_bytes: body.saturating_mul(2),
            ..companion::Limits::default()
        };
        Self {
            core,
            body,
            header_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            body_total: Duration::from_mins(5),
            diagnostics_timeout: Duration::from_secs(3),
            keep_alive: Duration::from_secs(20),
            retry: Duration::from_secs(20),
            sessions: 2048,
            idle_sessions: 64,
            session_gone: Duration::from_hours(1),
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
        let settings = Settings { keep_proposals: true, ..Settings::default() };
        let limits = format!("{:#?}", Limits::of(&settings));
        let defaults: Vec<_> = limits
            .lines()
            .filter_map(|line| line.trim().trim_end_matches(',').split_once(": "))
            .filter(|(_, value)| !value.ends_with('{'))
            .map(|(field, value)| (field.to_owned(), written(value)))
            .collect();
        assert_eq!(documented, defaults);
    }
}
