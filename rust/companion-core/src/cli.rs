//! Recognizes CLIs: which hooks, sessions and connections belong to the same CLI.
//!
//! Three things name a CLI, and none of them alone is enough:
//!
//! | Name | Comes with | Lasts |
//! | --- | --- | --- |
//! | its process | each hook, which knows its ancestors; not known if the system does not expose it | as long as the CLI |
//! | its session | each hook | until `/clear` or `/resume` |
//! | its connection, an MCP session | each `openDiff` | until the CLI reconnects |
//!
//! A hook also says which connections its process has, if it can see them, and a bridge which process
//! has started it. Then process and connection belong together for sure. Otherwise they are matched
//! when an `openDiff` follows a hook before the edit of the same file within seconds. If two CLIs or
//! two connections fit, none is matched. But if the user accepts that diff and the hook after the edit
//! follows, the next edit is recognized.
//!
//! A process is one CLI, whatever its session: `/clear` begins another one, and `/resume` returns to an
//! old one without any hook. Two processes may run the same session at the same time.

mod bridges;
mod caller;
mod edit;
mod ending;
mod processes;
mod state;

use std::collections::VecDeque;
use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use crate::record::RecognizedCli;
use crate::session::SessionId;
use crate::text::Digest;
use bridges::Bridges;
pub use caller::{Caller, Connected};
pub(crate) use edit::Edit;
pub use edit::{FileBefore, Opened};
pub(crate) use state::Cli;

/// The `session_id` of a CLI's hooks. It stays the same over restarts of the companion.
pub type CliSessionId = Arc<str>;

/// The most CLIs that are kept.
pub const MAX_CLIS: usize = 64;

/// The longest time between the hook before an edit and the `openDiff` of this edit, in milliseconds,
/// if nothing but the file shows that they belong together.
const OPEN_TIMEOUT: u64 = 10_000;

/// The longest time from an acceptance until a CLI makes the edit, in milliseconds.
pub(crate) const ACCEPTED_TIME: u64 = 5000;

/// The CLIs that have run a hook.
///
/// A CLI that is taken for another one would get that one's reasons. So a match that is not certain is
/// none, and at most [`MAX_CLIS`] are kept, those that ran a hook last.
///
/// ```
/// # use companion_core::cli::{Caller, Clis, Connected};
/// # use companion_core::companion::{Companion, Hook, Input, Limits, Now};
/// # use companion_core::diffs::DiffId;
/// # use companion_core::record::Left;
/// # use companion_core::session::{Client, SessionId};
/// # let mut companion = Companion::new(Limits::default(), DiffId(1), 1, false, Left::default());
/// # let session = SessionId::new();
/// # companion.handle(Now::default(), Input::Connected(session, Client::default()), &mut Vec::new());
/// assert!(!companion.clis().knows(session));
/// let connected = Connected::To(vec![session]);
/// let started = Hook::SessionStart { is_new: true };
/// let cli = Caller { session: "c0ffee", process: Some("4711"), connected };
/// companion.handle(Now::default(), Input::Hook(&cli, started), &mut Vec::new());
/// assert!(companion.clis().knows(session));
/// // After `/clear` the process is the same, and so is the CLI.
/// let cleared = Caller { session: "decaf", ..cli };
/// companion.handle(Now::default(), Input::Hook(&cleared, started), &mut Vec::new());
/// assert_eq!(companion.clis().connections(), [session]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clis {
    /// The one that ran the last hook is last.
    known: VecDeque<Cli>,
    bridges: Bridges,
    /// The CLIs of known processes that were recognized in the present step, for the next process.
    pub(crate) recognized: Vec<(SessionId, RecognizedCli)>,
}

impl Clis {
    /// Finds the CLI that has run a hook, or adds it. Puts it last, with all that the hook says of it.
    pub(crate) fn identify(&mut self, caller: &Caller<'_>) -> &mut Cli {
        let index = match self.index_of(caller) {
            Some(index) => index,
            None => self.add(caller.session.into()),
        };
        let mut cli = self.known.remove(index).expect("it is there");
        cli.take_names(caller);
        let is_connected = cli.connection.is_some();
        self.known.push_back(cli);
        match &caller.connected {
            Connected::To(sessions) if sessions.len() == 1 => self.connect_last(sessions[0]),
            Connected::To(_) => {}
            Connected::Unknown | Connected::No => {
                if !is_connected && let Some(session) = self.bridges.of(caller.process) {
                    self.connect_last(session);
                }
            }
        }
        self.last()
    }

    /// The CLI that has run a hook, if it is known.
    fn index_of(&self, caller: &Caller<'_>) -> Option<usize> {
        if caller.process.is_some() {
            let process =
                self.known.iter().position(|cli| cli.process.as_deref() == caller.process);
            if process.is_some() {
                return process;
            }
        }
        self.known.iter().position(|cli| {
            if cli.process.is_none() || caller.process.is_none() {
                return cli.has_session(caller.session);
            }
            // Another process goes on with the session, by `--resume`, unless that is still running.
            *cli.session == *caller.session && !cli.is_running()
        })
    }

    fn add(&mut self, session: CliSessionId) -> usize {
        if self.known.len() == MAX_CLIS {
            let gone = self.known.iter().position(|cli| cli.connection.is_none());
            self.known.remove(gone.unwrap_or(0));
        }
        self.known.push_back(Cli { session, ..Cli::default() });
        self.known.len() - 1
    }

    fn last(&mut self) -> &mut Cli {
        self.known.back_mut().expect("a CLI was just identified")
    }

    /// The last CLI has this connection.
    fn connect_last(&mut self, session: SessionId) {
        self.connect(self.known.len() - 1, session);
    }

    fn connect(&mut self, index: usize, session: SessionId) {
        if self.known[index].connection == Some(session) {
            return;
        }
        self.disconnected(session);
        let cli = &mut self.known[index];
        cli.connection = Some(session);
        if let Some(process) = cli.process.clone() {
            let recognized = RecognizedCli { session: Arc::clone(&cli.session), process };
            self.recognized.push((session, recognized));
        }
    }

    /// Adds a CLI that the last process has recognized.
    pub(crate) fn restore(&mut self, session: SessionId, cli: RecognizedCli) {
        let RecognizedCli { session: of, process } = cli;
        let caller =
            Caller { session: &of, process: Some(&process), connected: Connected::Unknown };
        let index = self.index_of(&caller).unwrap_or_else(|| self.add(Arc::clone(&of)));
        let known = &mut self.known[index];
        known.process = Some(process);
        known.connection = Some(session);
        // A hook may have seen that the CLI had no connection to this process.
        known.connected = Connected::Unknown;
    }

    /// The bridge of an MCP session has these ancestors, the nearest first.
    pub fn bridged(&mut self, session: SessionId, ancestors: Vec<Arc<str>>) {
        let Some(nearest) = ancestors.first().cloned() else { return };
        self.bridges.insert(session, ancestors);
        let own = self.known.iter().position(|cli| cli.process.as_ref() == Some(&nearest));
        if let Some(own) = own
            && !self.has_other_connection(&self.known[own], session)
        {
            self.connect(own, session);
        }
    }

    /// Whether a CLI is known not to have this connection. What its hook has seen counts before the word
    /// of a bridge.
    fn has_other_connection(&self, cli: &Cli, session: SessionId) -> bool {
        let process = cli.process.as_deref();
        match &cli.connected {
            Connected::To(_) => cli.rules_out(session),
            _ if self.bridges.is_of(process, session) => false,
            _ => self.bridges.is_of_other(process, session) || cli.rules_out(session),
        }
    }

    /// Whether the edit of a CLI may be one of another client in `connected` than `session`.
    fn is_ambiguous(
        &self,
        cli: &Cli,
        session: SessionId,
        connected: impl IntoIterator<Item = SessionId>,
    ) -> bool {
        let is_sure = cli.connection == Some(session)
            || self.bridges.is_of(cli.process.as_deref(), session)
            || matches!(&cli.connected, Connected::To(sessions) if sessions.contains(&session));
        let may_be = |other: SessionId| {
            other != session && !self.knows(other) && !self.has_other_connection(cli, other)
        };
        !is_sure && connected.into_iter().any(may_be)
    }

    /// A CLI has ended its session. It may begin another one.
    pub(crate) fn session_ended(&mut self, caller: &Caller<'_>) {
        let cli = self.identify(caller);
        cli.edits.clear();
        cli.has_ended = true;
    }

    /// Whether a note for the CLI session `session` in `process` is one for this CLI. A session that
    /// runs in two processes is that of both, but each note belongs to one of them.
    pub(crate) fn is_for(&self, caller: &Caller<'_>, session: &str, process: Option<&str>) -> bool {
        let Some(index) = self.index_of(caller) else { return *session == *caller.session };
        let cli = &self.known[index];
        if process.is_some() && cli.process.is_some() {
            let is_running =
                |other: &Cli| other.process.as_deref() == process && other.is_running();
            return cli.process.as_deref() == process
                || cli.has_session(session) && !self.known.iter().any(is_running);
        }
        cli.has_session(session)
    }

    /// The sessions of the CLI with this session.
    pub fn sessions_of(&self, session: &str) -> Vec<CliSessionId> {
        self.with_session(session).map_or_else(|| vec![session.into()], Cli::sessions)
    }

    /// The connection of a CLI.
    pub fn connection(&self, caller: &Caller<'_>) -> Option<SessionId> {
        self.known[self.index_of(caller)?].connection
    }

    /// A CLI begins an edit. It opens a diff next, if the user has to confirm the edit.
    pub(crate) fn before_edit(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        before: FileBefore,
        now: u64,
    ) {
        self.identify(caller).begin(Edit::new(path.into(), before, now));
    }

    /// A client has opened a diff. `connected` are the clients of its kind that are connected. Returns
    /// when the model would get a reason.
    pub fn opened(
        &mut self,
        session: SessionId,
        path: &str,
        connected: impl IntoIterator<Item = SessionId>,
        now: u64,
    ) -> Opened {
        self.end_opened(session, path);
        let Some((index, at)) = self.edit_of(session, path, now) else {
            return if self.knows(session) { Opened::NEXT_PROMPT } else { Opened::NEVER };
        };
        if self.is_ambiguous(&self.known[index], session, connected) {
            self.known[index].edits[at].guess(session, path);
            return Opened::NEVER;
        }
        let cli = self.known.remove(index).expect("it is there");
        self.known.push_back(cli);
        self.connect_last(session);
        let edit = &mut self.last().edits[at];
        edit.opened = Some((Some(session), path.into()));
        let needs_original = *edit.path != *path;
        Opened { arrival: edit.arrival(), needs_original }
    }

    /// The edit of the client's last diff there has ended, also if no hook has said so. Only one whose client
    /// got the file's text in place of a rejection needs its hook.
    pub(crate) fn end_opened(&mut self, session: SessionId, path: &str) {
        for cli in &mut self.known {
            cli.edits.retain(|edit| !edit.is_opened(session, path) || edit.present.is_some());
            cli.edits.iter_mut().for_each(|edit| edit.drop_guess(path));
        }
    }

    /// The CLI and its edit that an `openDiff` belongs to.
    fn edit_of(&self, session: SessionId, path: &str, now: u64) -> Option<(usize, usize)> {
        let owner = self.known.iter().find(|cli| cli.connection == Some(session));
        let mut own: Option<(u64, (usize, usize))> = None;
        let mut others = Vec::new();
        for (index, cli) in self.known.iter().enumerate() {
            // The newest one, because an edit that was cancelled has no end.
            let Some(at) = cli.edits.iter().rposition(|edit| edit.may_open(path)) else { continue };
            let edit = &cli.edits[at];
            let is_own = cli.connection == Some(session);
            let has_other = self.has_other_connection(cli, session);
            if is_own && !has_other {
                if own.is_none_or(|(begun, _)| begun <= edit.begun) {
                    own = Some((edit.begun, (index, at)));
                }
            } else if !has_other && now.saturating_sub(edit.begun) <= OPEN_TIMEOUT {
                others.push((index, at));
            }
        }
        match (own, &others[..], owner) {
            (Some((_, found)), ..) => Some(found),
            (None, [found], None) => Some(*found),
            // A CLI that has another session now, whose process is not known.
            (None, [found], Some(owner)) if owner.process.is_none() => Some(*found),
            _ => None,
        }
    }

    /// The file of a diff that a client has opened at a path that it has corrected. Returns when the
    /// model would get a reason.
    pub fn original_read(
        &mut self,
        session: SessionId,
        path: &str,
        original: Option<Digest>,
    ) -> ReasonArrival {
        let mut edits = self.known.iter_mut().flat_map(|cli| &mut cli.edits);
        let Some(edit) = edits.rfind(|edit| edit.is_opened(session, path)) else {
            return ReasonArrival::NextPrompt;
        };
        edit.original = original;
        edit.arrival()
    }

    /// Whether the CLI of an MCP session is known.
    pub fn knows(&self, session: SessionId) -> bool {
        self.known.iter().any(|cli| cli.connection == Some(session))
    }

    /// The clients whose CLIs are known.
    pub fn connections(&self) -> Vec<SessionId> {
        self.known.iter().filter_map(|cli| cli.connection).collect()
    }

    /// A client that runs no hook before its diff has opened one. `original` is the file by now.
    /// Returns when the model would get a reason.
    pub fn opened_without_hook(
        &mut self,
        session: SessionId,
        path: &str,
        original: Option<Digest>,
        now: u64,
    ) -> ReasonArrival {
        self.end_opened(session, path);
        let mut clis = self.known.iter_mut();
        let Some(cli) = clis.find(|cli| cli.connection == Some(session)) else {
            return ReasonArrival::Never;
        };
        let path: Arc<str> = path.into();
        let before = original.map_or(FileBefore::Unknown, FileBefore::Text);
        let mut edit = Edit::new(Arc::clone(&path), before, now);
        edit.opened = Some((Some(session), path));
        let arrival = edit.arrival();
        cli.begin(edit);
        arrival
    }

    /// A CLI that runs its hook after its diff makes an edit that the user has just accepted for
    /// this MCP session. `connected` are the clients whose edit it could be as well.
    pub fn accepted(
        &mut self,
        caller: &Caller<'_>,
        session: SessionId,
        connected: impl IntoIterator<Item = SessionId>,
    ) {
        self.identify(caller);
        let mut others = self.known.iter();
        let cli = others.next_back().expect("a CLI was just identified");
        let is_of_other =
            |other: &Cli| other.connection == Some(session) && other.process.is_some();
        if !self.has_other_connection(cli, session)
            && !others.any(is_of_other)
            && !self.is_ambiguous(cli, session, connected)
        {
            self.connect_last(session);
        }
    }

    /// The CLI of a diff that the user rejects, and the index of its edit.
    pub(crate) fn rejected(
        &mut self,
        session: SessionId,
        path: &str,
    ) -> Option<(&mut Cli, Option<usize>)> {
        let is_own = |edit: &Edit| edit.is_opened(session, path) && edit.present.is_none();
        let mut edits =
            self.known.iter().enumerate().filter_map(|(index, cli)| {
                Some((index, Some(cli.edits.iter().rposition(is_own)?)))
            });
        let connected = || {
            let index = self.known.iter().position(|cli| cli.connection == Some(session))?;
            Some((index, None))
        };
        let (index, edit) = edits.next().or_else(connected)?;
        Some((&mut self.known[index], edit))
    }

    /// Whether the CLI has one of the connections in `connected`, as far as it is known.
    pub fn is_connected(&self, caller: &Caller<'_>, connected: &[SessionId]) -> bool {
        let own = self.index_of(caller).map(|index| &self.known[index]);
        let known = own.and_then(|own| own.connection);
        if known.is_some_and(|session| connected.contains(&session)) {
            return true;
        }
        match &caller.connected {
            Connected::No => false,
            Connected::To(sessions) => sessions.iter().any(|session| connected.contains(session)),
            Connected::Unknown => connected.iter().any(|session| {
                if self.bridges.is_of_other(caller.process, *session) {
                    return false;
                }
                let owner = self.known.iter().find(|cli| cli.connection == Some(*session));
                owner.is_none_or(|owner| own.is_some_and(|own| own == owner))
            }),
        }
    }

    /// Forgets the connections that have no client. Their CLIs have connected again.
    pub(crate) fn keep_connections(&mut self, has_client: impl Fn(SessionId) -> bool) {
        for cli in &mut self.known {
            cli.connection = cli.connection.filter(|of| has_client(*of));
        }
    }

    /// An MCP session has ended.
    pub fn gone(&mut self, session: SessionId) {
        self.bridges.remove(session);
        self.disconnected(session);
        let edits = self.known.iter_mut().flat_map(|cli| &mut cli.edits);
        edits.for_each(|edit| edit.client_gone(session));
    }

    /// An MCP session belongs to no CLI, or to another one.
    fn disconnected(&mut self, session: SessionId) {
        for cli in &mut self.known {
            cli.connection = cli.connection.filter(|of| *of != session);
        }
    }
}
