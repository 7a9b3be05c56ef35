//! Describes failed requests, with one variant per cause that a user can fix, and what each means for
//! its callers.

use std::io;

use hyper::StatusCode;

/// The stage of a request that timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The connection: no program answers at that address, or a firewall drops the packets.
    Connect,
    /// The answer: a program listens there and sends nothing.
    Answer,
}

/// The cause of a failed request. Texts contain the host and the server's message, never the token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host's name has no address here.
    #[error("the name {host} has no address here")]
    UnknownHost {
        /// The name.
        host: String,
    },
    /// No program listens on that port.
    #[error("nothing listens at {authority}")]
    Refused {
        /// `host:port`.
        authority: String,
    },
    /// There is no route to that address.
    #[error("{authority} can't be reached: {source}")]
    Unreachable {
        /// `host:port`.
        authority: String,
        /// The system's error.
        source: io::Error,
    },
    /// A timeout.
    #[error("{authority} {}", match stage {
        Stage::Connect => "did not take the connection in time",
        Stage::Answer => "took the connection but did not answer in time",
    })]
    Timeout {
        /// `host:port`.
        authority: String,
        /// The stage that timed out.
        stage: Stage,
    },
    /// 401: the token is missing or wrong.
    #[error("the token was refused (401)")]
    Unauthorized {
        /// The server's message.
        message: String,
    },
    /// 403 by a companion, because of the `Host` header or an `Origin`.
    #[error("the request was refused (403): {message}")]
    Forbidden {
        /// The server's message.
        message: String,
    },
    /// 404 or 400 for a known session: it has ended.
    #[error("the session has ended")]
    SessionEnded,
    /// Any other status.
    #[error("the server answered {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Status {
        /// The status.
        status: u16,
        /// The server's message; may be empty.
        message: String,
    },
    /// The answer to a request is a JSON-RPC error.
    #[error("the server refused: {message} ({code})")]
    Rpc {
        /// The JSON-RPC code.
        code: i32,
        /// The server's message.
        message: String,
    },
    /// A program other than a companion listens there.
    #[error("the program at that port is not a companion: {reason}")]
    NotACompanion {
        /// The evidence.
        reason: String,
    },
    /// The server sent a message that is longer than [`super::MAX_MESSAGE`].
    #[error("the server sent a message that is too long")]
    TooLong,
    /// The connection broke after the request was sent. The server may have received it.
    #[error("the connection broke: {reason}")]
    Broken {
        /// The reason.
        reason: String,
    },
    /// The client could not be set up.
    #[error("{0}")]
    Local(#[from] io::Error),
}

impl Error {
    /// Returns the error for the status of a refused request, with the server's message.
    pub(super) fn of_status(status: StatusCode, message: String) -> Self {
        match status {
            StatusCode::UNAUTHORIZED => Self::Unauthorized { message },
            StatusCode::FORBIDDEN => Self::Forbidden { message },
            status => Self::Status { status: status.as_u16(), message },
        }
    }

    /// Returns what the error means for a request of a session. MCP requires 404 if the server does not
    /// know the session. The VS Code companion answers 400 with a text about the session.
    pub(super) fn in_session(self) -> Self {
        match self {
            Self::Status { status: 404, .. } => Self::SessionEnded,
            Self::Status { status: 400, message }
                if message.to_ascii_lowercase().contains("session") =>
            {
                Self::SessionEnded
            }
            error => error,
        }
    }

    /// Describes a failed connection to `authority`, for the user.
    pub fn explain(&self, authority: &str) -> String {
        match self {
            Self::Unauthorized { .. } => format!(
                "{authority} refused the token; it may be that of a companion that has ended"
            ),
            // These name it.
            Self::UnknownHost { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Timeout { .. } => self.to_string(),
            error => format!("{authority}: {error}"),
        }
    }

    /// Returns whether the companion did not answer at all.
    pub fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::UnknownHost { .. }
                | Self::Refused { .. }
                | Self::Unreachable { .. }
                | Self::Timeout { .. }
                | Self::Broken { .. }
        )
    }

    /// Returns whether the server certainly did not act on the request, so that it can be repeated.
    pub fn is_safe_to_retry(&self) -> bool {
        matches!(
            self,
            Self::UnknownHost { .. }
                | Self::Refused { .. }
                | Self::Unreachable { .. }
                | Self::Timeout { stage: Stage::Connect, .. }
                | Self::Unauthorized { .. }
                | Self::Forbidden { .. }
                | Self::SessionEnded
                | Self::Local(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_explained_with_the_servers_message_if_there_is_one() {
        let text = |message: &str| {
            Error::of_status(StatusCode::BAD_GATEWAY, message.to_owned()).explain("here:1")
        };
        assert_eq!(text("no"), "here:1: the server answered 502: no");
        assert_eq!(text(""), "here:1: the server answered 502");
    }
}
