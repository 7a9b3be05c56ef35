//! Recognizes CLIs: which hooks, sessions and connections belong to the same CLI.
//!
//! Three things name a CLI, and none of them alone is enough:
//!
//! | Name | Comes with | Lasts |
//! | --- | --- | --- |
//! | its process | each hook, which knows its ancestors; not known if the system does not tell | as long as the CLI |
//! | its session | each hook | until `/clear` or `/resume` |
//! | its connection, an MCP session | each `openDiff` | until the CLI reconnects |
//!
//! A hook also says which connections its process has, if it can see them. Then process and
//! connection belong together for sure. Otherwise they are matched when an `openDiff` follows a hook
//! before the edit of the same file within seconds. If two CLIs fit, none is matched.
//!
//! A process is one CLI, whatever its session: `/clear` begins another one, and `/resume` returns to an
//! old one without any hook. Two processes may run the same session at the same time.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use companion_protocol::editor::ReasonArrival;

use crate::session::SessionId;
use crate::text::Digest;

/// The `session_id` of a CLI's hooks. It stays the same over restarts of the companion.
pub type CliSessionId = Arc<str>;

/// The most CLIs that are kept.
pub const MAX_CLIS: usize = 64;

/// The most edits of one CLI between two prompts.
const MAX_EDITS: usize = 64;

/// The most earlier sessions of one CLI that are kept.
const MAX_EARLIER: usize = 16;

/// The longest time between the hook before an edit and the `openDiff` of this edit, in milliseconds,
/// if nothing but the file shows that they belong together.
const OPEN_TIMEOUT: u64 = 10_000;

/// The connections of a CLI's process, as its hook sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Connected {
    /// The hook can't see them, or they lead through another program.
    #[default]
    Unknown,
    /// The process has no connection to this companion.
    No,
    /// They belong to these MCP sessions.
    To(Vec<SessionId>),
}

/// The CLI that has run a hook.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// Its session.
    pub session: &'a str,
    /// Its process; `None` if it is not known.
    pub process: Option<&'a str>,
    /// Its connections.
    pub connected: Connected,
}

/// A CLI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cli {
    /// Its present session.
    pub(crate) session: CliSessionId,
    /// Its sessions before.
    pub(crate) earlier: Vec<CliSessionId>,
    pub(crate) process: Option<Arc<str>>,
    connection: Option<SessionId>,
    /// As the last hook has seen it.
    connected: Connected,
    /// The edits that have begun and not ended.
    pub(crate) edits: Vec<Edit>,
    /// The present session has ended.
    has_ended: bool,
}

/// An edit that a CLI has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Edit {
    /// The file, as the model named it.
    pub(crate) path: Arc<str>,
    /// The client that has opened its diff, and the file as `openDiff` named it.
    opened: Option<(SessionId, Arc<str>)>,
    /// The file before the edit. `None` if the client could change the file by writing it again.
    pub(crate) original: Option<Digest>,
    /// The file did not exist, so the client may correct its path.
    is_absent: bool,
    /// When the hook before the edit ran.
    begun: u64,
}

impl Edit {
    /// When the model would get a reason.
    fn arrival(&self) -> ReasonArrival {
        self.original.map_or(ReasonArrival::NextPrompt, |_| ReasonArrival::Now)
    }

    /// Whether a client has opened its diff. Then the diff may still wait for a decision.
    pub(crate) fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    fn is_opened(&self, session: SessionId, path: &str) -> bool {
        self.opened.as_ref().is_some_and(|(by, opened)| *by == session && **opened == *path)
    }

    fn is_of(&self, path: &str) -> bool {
        *self.path == *path || self.opened.as_ref().is_some_and(|(_, opened)| **opened == *path)
    }

    /// Whether the client may open the diff of this edit at `path`. Gemini CLI looks for a file that
    /// does not exist in all folders of the workspace (`pathCorrector.js`), and drops a leading `@`.
    fn may_open(&self, path: &str) -> bool {
        if self.opened.is_some() {
            return false;
        }
        let name = |path: &str| {
            let name = Path::new(path).file_name()?.to_str()?;
            Some(name.trim_start_matches('@').to_owned())
        };
        *self.path == *path || self.is_absent && name(&self.path) == name(path)
    }
}

impl Cli {
    pub(crate) fn has_session(&self, session: &str) -> bool {
        *self.session == *session || self.earlier.iter().any(|of| **of == *session)
    }

    /// Its sessions, the present one last.
    pub(crate) fn sessions(&self) -> Vec<CliSessionId> {
        let mut sessions = self.earlier.clone();
        sessions.push(Arc::clone(&self.session));
        sessions
    }

    fn begin(&mut self, edit: Edit) {
        self.edits.retain(|other| other.path != edit.path);
        if self.edits.len() == MAX_EDITS {
            self.edits.remove(0);
        }
        self.edits.push(edit);
    }

    /// Goes on with another session.
    fn switch_to(&mut self, session: CliSessionId) {
        self.earlier.retain(|of| *of != session);
        if self.session != session {
            if self.earlier.len() == MAX_EARLIER {
                self.earlier.remove(0);
            }
            self.earlier.push(std::mem::replace(&mut self.session, session));
        }
        self.has_ended = false;
    }

    /// Whether its process is known not to have this connection.
    fn has_other_connection(&self, session: SessionId) -> bool {
        match &self.connected {
            Connected::Unknown => self.connection.is_some_and(|of| of != session),
            Connected::No => self.connection != Some(session),
            // The process may have connected again.
            Connected::To(sessions) => !sessions.contains(&session),
        }
    }

    /// Whether the CLI is known to run.
    fn is_running(&self) -> bool {
        !self.has_ended && self.connection.is_some()
    }
}

/// The answer to an `openDiff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// When the model would get a reason.
    pub arrival: ReasonArrival,
    /// The client has corrected the path of the edit, so nobody has looked at the file. Look at it, and
    /// report it by [`Clis::looked_at`].
    pub needs_look: bool,
}

impl Opened {
    const NEVER: Self = Self { arrival: ReasonArrival::Never, needs_look: false };
    const NEXT_PROMPT: Self = Self { arrival: ReasonArrival::NextPrompt, needs_look: false };
}

/// The CLIs that have run a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clis {
    /// The one that ran the last hook is last.
    clis: VecDeque<Cli>,
}

impl Clis {
    /// A CLI has run a hook. Adds it, or puts it last.
    pub(crate) fn heard(&mut self, caller: &Caller<'_>) -> &mut Cli {
        let index = match self.index_of(caller) {
            Some(index) => index,
            None => self.add(caller.session.into()),
        };
        let mut cli = self.clis.remove(index).expect("it is there");
        cli.switch_to(caller.session.into());
        if let Some(process) = caller.process
            && cli.process.as_deref() != Some(process)
        {
            // A new process goes on with the session, over a connection of its own.
            if cli.process.is_some() {
                cli.connection = None;
            }
            cli.process = Some(process.into());
        }
        cli.connected.clone_from(&caller.connected);
        self.clis.push_back(cli);
        if let Connected::To(sessions) = &caller.connected
            && let [session] = sessions[..]
        {
            self.connect_last(session);
        }
        self.last()
    }

    /// The CLI that has run a hook, if it is known.
    fn index_of(&self, caller: &Caller<'_>) -> Option<usize> {
        if caller.process.is_some() {
            let process = self.clis.iter().position(|cli| cli.process.as_deref() == caller.process);
            if process.is_some() {
                return process;
            }
        }
        self.clis.iter().position(|cli| {
            // Another process goes on with the session, by `--resume`, unless that is still running.
            let is_free = cli.process.is_none() || caller.process.is_none() || !cli.is_running();
            cli.has_session(caller.session) && is_free
        })
    }

    fn add(&mut self, session: CliSessionId) -> usize {
        if self.clis.len() == MAX_CLIS {
            let gone = self.clis.iter().position(|cli| cli.connection.is_none());
            self.clis.remove(gone.unwrap_or(0));
        }
        self.clis.push_back(Cli {
            session,
            earlier: Vec::new(),
            process: None,
            connection: None,
            connected: Connected::Unknown,
            edits: Vec::new(),
            has_ended: false,
        });
        self.clis.len() - 1
    }

    fn last(&mut self) -> &mut Cli {
        self.clis.back_mut().expect("a CLI was just heard")
    }

    /// The CLI that was heard last has this connection.
    fn connect_last(&mut self, session: SessionId) {
        self.disconnected(session);
        self.last().connection = Some(session);
    }

    /// A CLI has ended its session. It may begin another one.
    pub(crate) fn session_ended(&mut self, caller: &Caller<'_>) {
        let cli = self.heard(caller);
        cli.edits.clear();
        cli.has_ended = true;
    }

    /// Whether a note for the CLI session `session` in `process` is one for this CLI. A session that
    /// runs in two processes is that of both, but each note belongs to one of them.
    pub(crate) fn is_for(&self, caller: &Caller<'_>, session: &str, process: Option<&str>) -> bool {
        let Some(index) = self.index_of(caller) else { return *session == *caller.session };
        let cli = &self.clis[index];
        if process.is_some() && cli.process.is_some() {
            let is_running =
                |other: &Cli| other.process.as_deref() == process && other.is_running();
            return cli.process.as_deref() == process
                || cli.has_session(session) && !self.clis.iter().any(is_running);
        }
        cli.has_session(session)
    }

    /// The sessions of the CLI with this session.
    pub fn sessions_of(&self, session: &str) -> Vec<CliSessionId> {
        let cli = self.clis.iter().find(|cli| cli.has_session(session));
        cli.map_or_else(|| vec![session.into()], Cli::sessions)
    }

    /// The connection of the CLI with this session.
    pub(crate) fn connection_of(&self, session: &str) -> Option<SessionId> {
        self.clis.iter().find(|cli| cli.has_session(session))?.connection
    }

    /// A CLI begins an edit. It opens a diff next, if the user has to confirm the edit.
    pub(crate) fn before_edit(
        &mut self,
        caller: &Caller<'_>,
        path: &str,
        original: Option<Digest>,
        is_absent: bool,
        now: u64,
    ) {
        let edit = Edit { path: path.into(), opened: None, original, is_absent, begun: now };
        self.heard(caller).begin(edit);
    }

    /// A client has opened a diff.
    pub fn opened(&mut self, session: SessionId, path: &str, now: u64) -> Opened {
        let Some((index, at)) = self.edit_of(session, path, now) else {
            return if self.knows(session) { Opened::NEXT_PROMPT } else { Opened::NEVER };
        };
        let cli = self.clis.remove(index).expect("it is there");
        self.clis.push_back(cli);
        self.connect_last(session);
        let edit = &mut self.last().edits[at];
        edit.opened = Some((session, path.into()));
        let needs_look = *edit.path != *path;
        Opened { arrival: edit.arrival(), needs_look }
    }

    /// The CLI and its edit that an `openDiff` belongs to.
    fn edit_of(&self, session: SessionId, path: &str, now: u64) -> Option<(usize, usize)> {
        let owner = self.clis.iter().find(|cli| cli.connection == Some(session));
        let mut own: Option<(u64, (usize, usize))> = None;
        let mut others = Vec::new();
        for (index, cli) in self.clis.iter().enumerate() {
            // The newest one, because an edit that was cancelled has no end.
            let Some(at) = cli.edits.iter().rposition(|edit| edit.may_open(path)) else { continue };
            let edit = &cli.edits[at];
            let is_own = cli.connection == Some(session);
            if is_own && !cli.has_other_connection(session) {
                if own.is_none_or(|(begun, _)| begun <= edit.begun) {
                    own = Some((edit.begun, (index, at)));
                }
            } else if !cli.has_other_connection(session)
                && now.saturating_sub(edit.begun) <= OPEN_TIMEOUT
            {
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
    pub fn looked_at(
        &mut self,
        session: SessionId,
        path: &str,
        original: Option<Digest>,
    ) -> ReasonArrival {
        let mut edits = self.clis.iter_mut().flat_map(|cli| &mut cli.edits);
        let Some(edit) = edits.find(|edit| edit.is_opened(session, path)) else {
            return ReasonArrival::NextPrompt;
        };
        edit.original = original;
        edit.arrival()
    }

    /// Whether the CLI of an MCP session is known.
    pub fn knows(&self, session: SessionId) -> bool {
        self.clis.iter().any(|cli| cli.connection == Some(session))
    }

    /// The clients whose CLIs are known.
    pub fn connections(&self) -> Vec<SessionId> {
        self.clis.iter().filter_map(|cli| cli.connection).collect()
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
        let mut clis = self.clis.iter_mut();
        let Some(cli) = clis.find(|cli| cli.connection == Some(session)) else {
            return ReasonArrival::Never;
        };
        let path: Arc<str> = path.into();
        let opened = Some((session, Arc::clone(&path)));
        let edit = Edit { path, opened, original, is_absent: false, begun: now };
        let arrival = edit.arrival();
        cli.begin(edit);
        arrival
    }

    /// A CLI that runs its hook after its diff makes an edit that the user has just accepted for
    /// this MCP session.
    pub fn accepted(&mut self, caller: &Caller<'_>, session: SessionId) {
        let cli = self.heard(caller);
        // The CLI may have connected again.
        if cli.connected == Connected::Unknown || !cli.has_other_connection(session) {
            self.connect_last(session);
        }
    }

    /// The CLI of a diff, and the digest of the file before the edit.
    pub(crate) fn rejected(
        &self,
        session: SessionId,
        path: &str,
    ) -> Option<(&Cli, Option<Digest>)> {
        for cli in &self.clis {
            if let Some(edit) = cli.edits.iter().find(|edit| edit.is_opened(session, path)) {
                return Some((cli, edit.original));
            }
        }
        let cli = self.clis.iter().find(|cli| cli.connection == Some(session))?;
        Some((cli, None))
    }

    /// An edit of a CLI has ended. Returns the names of its file: the client may have corrected it.
    pub(crate) fn edit_ended(&mut self, caller: &Caller<'_>, path: &str) -> Vec<Arc<str>> {
        let mut names = vec![path.into()];
        self.heard(caller).edits.retain(|edit| {
            let is_of = edit.is_of(path);
            if is_of && let Some((_, opened)) = &edit.opened {
                names.push(Arc::clone(opened));
            }
            !is_of
        });
        names
    }

    /// Whether the CLI has one of the connections in `connected`, as far as it is known.
    pub fn is_connected(&self, caller: &Caller<'_>, connected: &[SessionId]) -> bool {
        let own = self.index_of(caller).map(|index| &self.clis[index]);
        let known = own.and_then(|own| own.connection);
        if known.is_some_and(|session| connected.contains(&session)) {
            return true;
        }
        match &caller.connected {
            Connected::No => false,
            Connected::To(sessions) => sessions.iter().any(|session| connected.contains(session)),
            Connected::Unknown => connected.iter().any(|session| {
                let owner = self.clis.iter().find(|cli| cli.connection == Some(*session));
                owner.is_none_or(|owner| own.is_some_and(|own| own == owner))
            }),
        }
    }

    /// Only these MCP sessions have a client. A CLI with another one has connected again.
    pub fn expect_only(&mut self, sessions: &[SessionId]) {
        for cli in &mut self.clis {
            cli.connection = cli.connection.filter(|of| sessions.contains(of));
        }
    }

    /// The process of the CLI with this session.
    pub(crate) fn process_of(&self, session: &str) -> Option<Arc<str>> {
        self.clis.iter().find(|cli| cli.has_session(session))?.process.clone()
    }

    /// An MCP session has ended, or belongs to another CLI.
    pub fn disconnected(&mut self, session: SessionId) {
        for cli in &mut self.clis {
            cli.connection = cli.connection.filter(|of| *of != session);
        }
    }
}
