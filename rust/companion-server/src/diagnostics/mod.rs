//! Asks the editor for the diagnostics of files that may be shared with clients, and finds the new ones.

mod known;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::diagnostics::{
    Diagnostics, DiagnosticsReport, DiagnosticsRequest, FileDiagnostics, Severity,
};
use parking_lot::Mutex;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::context::EditorContext;
use crate::host::{Asker, EditorHost, EditorRequest, Responder};
use crate::workspace::{DISK_TIMED_OUT, Workspace};
use known::KnownProblems;

/// The most requests to the editor at a time. Each may cost an analysis.
const MAX_REQUESTS: usize = 4;

/// The most open files whose diagnostics are reported: the files that had the focus last.
const MAX_FILES: usize = 100;

/// The time to check again which files may be shared, even if the editor answers late.
const LAST_CHECK_TIME: Duration = Duration::from_millis(250);

/// The time that the editor's protocol gives an editor for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(2500);

pub(crate) struct SharedDiagnostics {
    host: Arc<dyn EditorHost>,
    context: Arc<EditorContext>,
    workspace: Arc<Workspace>,
    /// The time for the editor to answer.
    timeout: Duration,
    asking: Semaphore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: KnownProblems,
    /// The oldest question that the editor has not answered and whose call has given up.
    unanswered: Option<Question>,
}

struct Question {
    asked: Instant,
    request: DiagnosticsRequest,
    /// A problem that is not reported stays new.
    only_new: bool,
    answer: oneshot::Receiver<Result<Diagnostics, String>>,
}

impl SharedDiagnostics {
    pub(crate) fn new(
        host: Arc<dyn EditorHost>,
        context: Arc<EditorContext>,
        workspace: Arc<Workspace>,
        timeout: Duration,
    ) -> Self {
        let (asking, state) = (Semaphore::new(MAX_REQUESTS), Mutex::default());
        Self { host, context, workspace, timeout, asking, state }
    }

    /// Reports the diagnostics of a file of the workspace, or of the open files; `None` if no file of
    /// the workspace is open. With `only_new` without those of the last report.
    ///
    /// # Errors
    ///
    /// A sentence for the model.
    pub(crate) async fn report(
        &self,
        file_path: Option<String>,
        severity: Severity,
        only_new: bool,
    ) -> Result<Option<DiagnosticsReport>, String> {
        self.check_sharing()?;
        let deadline = Instant::now() + self.timeout;
        let is_one = file_path.is_some();
        let mut paths = Vec::new();
        if let Some(path) = file_path {
            self.check_shared(&path, deadline).await.map_err(refusal)?;
            paths.push(path);
        } else {
            let mut open = self.context.all_open_paths();
            open.truncate(MAX_FILES);
            for path in open {
                match self.check_shared(&path, deadline).await {
                    Ok(()) => paths.push(path),
                    Err(DISK_TIMED_OUT) => return Err(refusal(DISK_TIMED_OUT)),
                    Err(_) => {}
                }
            }
        }
        if paths.is_empty() {
            return Ok(None);
        }
        let request = DiagnosticsRequest { paths: paths.clone(), severity };
        let found = timeout_at(deadline, self.ask(request, only_new)).await;
        let found = found.map_err(|_elapsed| "The editor did not answer in time.")??;
        let deadline = deadline.max(Instant::now() + LAST_CHECK_TIME);
        let mut shared = Vec::new();
        for path in paths {
            match self.check_shared(&path, deadline).await {
                Err(why) if is_one || why == DISK_TIMED_OUT => return Err(refusal(why)),
                Err(_) => {}
                Ok(()) => shared.push(path),
            }
        }
        // The user may have changed this setting in the meantime.
        self.check_sharing()?;
        // A problem that is not reported stays new.
        Ok(Some(self.compare(&shared, found, severity, only_new)))
    }

    fn check_sharing(&self) -> Result<(), String> {
        if !self.context.is_shared() {
            return Err(refusal("the user shares nothing of this project with CLIs"));
        }
        Ok(())
    }

    async fn check_shared(&self, path: &str, deadline: Instant) -> Result<(), &'static str> {
        let limit = deadline.saturating_duration_since(Instant::now());
        self.workspace.check_shared(path, limit).await
    }

    async fn ask(
        &self,
        request: DiagnosticsRequest,
        only_new: bool,
    ) -> Result<Diagnostics, String> {
        let _turn = self.asking.acquire().await;
        self.take_late_answer();
        if self.is_overdue() {
            return Err("The editor has not answered an earlier question yet.".to_owned());
        }
        let (answer, answered) = oneshot::channel();
        let asked = EditorRequest::Diagnostics(request.clone());
        self.host.request(asked, Responder(Asker::Diagnostics(answer)));
        let question =
            Some(Question { asked: Instant::now(), request, only_new, answer: answered });
        let mut waiting = WaitingCall { diagnostics: self, question };
        let question = waiting.question.as_mut().expect("it is there until the answer comes");
        let answer = (&mut question.answer).await;
        waiting.question = None;
        self.state.lock().unanswered = None;
        answer.unwrap_or_else(|_| Err("The editor could not list its problems.".to_owned()))
    }

    /// Takes an answer that came after its call had given up. If that was the hook before an edit, the answer
    /// still has the problems that the file had before.
    fn take_late_answer(&self) {
        let State { known, unanswered } = &mut *self.state.lock();
        let Some(question) = unanswered else { return };
        match question.answer.try_recv() {
            Err(TryRecvError::Empty) => return,
            Ok(Ok(found)) if !question.only_new => {
                let DiagnosticsRequest { paths, severity } = &question.request;
                for file in found.files.iter().filter(|file| paths.contains(&file.path)) {
                    known.replace(file, *severity);
                }
            }
            _ => {}
        }
        *unanswered = None;
    }

    /// Whether the editor has left a question unanswered for too long, so that a further call would
    /// wait in vain.
    fn is_overdue(&self) -> bool {
        let oldest = &self.state.lock().unanswered;
        oldest.as_ref().is_some_and(|question| question.asked.elapsed() >= ANSWER_TIMEOUT)
    }

    /// Remembers the problems of these files. With `only_new` the report is without the known ones.
    fn compare(
        &self,
        paths: &[String],
        found: Diagnostics,
        severity: Severity,
        only_new: bool,
    ) -> DiagnosticsReport {
        // Only the requested files: the answer may contain others.
        let mut found: HashMap<_, _> =
            found.files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let known = &mut self.state.lock().known;
        DiagnosticsReport::new(paths.iter().map(|path| {
            let mut file = found.remove(path).unwrap_or_else(|| FileDiagnostics {
                path: path.clone(),
                diagnostics: Vec::new(),
                incomplete: Some("the editor says nothing about this file".to_owned()),
            });
            let new = known.replace(&file, severity);
            let all = file.diagnostics.len();
            if only_new {
                file.diagnostics = new;
            }
            let known = all - file.diagnostics.len();
            (file, known)
        }))
    }
}

/// A call that waits. If it gives up, its question stays known.
struct WaitingCall<'a> {
    diagnostics: &'a SharedDiagnostics,
    question: Option<Question>,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        let oldest = &mut self.diagnostics.state.lock().unanswered;
        *oldest = oldest.take().or(self.question.take());
    }
}

fn refusal(why: &str) -> String {
    format!("getDiagnostics: {why}")
}
