//! Shows the editor the questions that CLIs ask in their terminals, until they are answered.

use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::Connected;
use companion_core::companion::{Companion, Hook, Input};
use companion_platform::find_process;
use companion_protocol::editor::{CliWaiting, CompanionNotification};
use tokio::time::{Instant, sleep};

use super::Hooks;
use super::event::{HookEvent, Notice};

/// The longest time until the proposal of an edit that a CLI asks about. The hook of its question may
/// arrive before its `openDiff`, and the file is read first.
const PROPOSAL_TIMEOUT: Duration = Duration::from_secs(2);

/// The time between two looks for that proposal. No user decides faster.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The time to the first check of the process of a CLI that asks something. It doubles with each check.
const FIRST_CHECK: Duration = Duration::from_secs(2);

/// The longest time between two checks.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(30);

impl Hooks {
    /// The CLI notifies its user, or asks something in the terminal.
    pub(super) fn notified(self: &Arc<Self>, event: HookEvent) {
        let caller = event.caller(&self.sessions);
        // A program around a single hook, such as `timeout`, is a new process each time, and ends with it.
        let has_process = self.driver.ask(|companion| companion.clis().has_process(&caller));
        let process: Option<Arc<str>> = caller.process.filter(|_| has_process).map(Arc::from);
        let may_be_edit = match event.notice {
            Notice::Statement => return,
            Notice::AsksAboutEdit | Notice::AsksAboutTool => {
                self.driver.handle(Input::Hook(&caller, Hook::BeforeTool));
                event.notice == Notice::AsksAboutEdit
            }
            Notice::Asks => {
                if event.subagent.is_none() {
                    self.driver.handle(Input::Hook(&caller, Hook::Answers));
                }
                true
            }
        };
        let question = self.state.lock().turns.ask(&event.session);
        if let Some(process) = process {
            let (hooks, session) = (Arc::clone(self), event.session.clone());
            self.follow(async move { hooks.follow_process(&session, question, &process).await });
        }
        if !may_be_edit {
            return self.announce(&event, question);
        }
        let hooks = Arc::clone(self);
        self.follow(async move {
            if !hooks.is_proposed(&event).await {
                hooks.announce(&event, question);
            }
        });
    }

    /// Waits until the editor shows an edit of the CLI as a proposal. False if it does not.
    async fn is_proposed(&self, event: &HookEvent) -> bool {
        let end = Instant::now() + PROPOSAL_TIMEOUT;
        loop {
            let caller = event.caller(&self.sessions);
            let is_shown = |companion: &Companion| match companion.clis().connection(&caller) {
                Some(connection) => companion.diffs().count(connection) > 0,
                None => caller.connected != Connected::No && companion.diffs().open_count() > 0,
            };
            if self.driver.ask(is_shown) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(LOOK_INTERVAL).await;
        }
    }

    /// Shows the editor a question that still waits for its answer.
    fn announce(&self, event: &HookEvent, question: u64) {
        if !self.state.lock().turns.announce(&event.session, question) {
            return;
        }
        let waiting = CliWaiting { session: event.session.clone(), message: event.message.clone() };
        self.host.notify(CompanionNotification::CliWaiting(waiting));
    }

    /// Follows the process of a CLI that asks something, until the user has answered or the server stops.
    /// No hook follows from a CLI that was killed. A process that this server can't see may run
    /// elsewhere, so its question stays.
    async fn follow_process(&self, session: &str, question: u64, process: &Arc<str>) {
        if self.runs(process).await != Some(true) {
            return;
        }
        let mut interval = FIRST_CHECK;
        loop {
            sleep(interval).await;
            if !self.state.lock().turns.waits_for(session, question) {
                return;
            }
            if self.runs(process).await == Some(false) {
                break;
            }
            interval = (interval * 2).min(MAX_CHECK_INTERVAL);
        }
        if self.state.lock().turns.waits_for(session, question) {
            self.go_on(session);
        }
    }

    /// Runs a task until the server stops.
    fn follow(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopping = self.lifecycle.stopping.clone();
        tokio::spawn(async move { stopping.run_until_cancelled(task).await });
    }

    /// Whether this server sees the process. `None` if the server ends.
    async fn runs(&self, process: &Arc<str>) -> Option<bool> {
        let process = Arc::clone(process);
        let turn = self.processes.turn().await;
        turn.run(move || find_process(&process).is_some()).await.ok()
    }
}
