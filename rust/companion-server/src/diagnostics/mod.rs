//! Asks the editor for the diagnostics of files, and finds the new ones.

mod known;
mod shared;
#[cfg(test)]
mod tests;
mod unanswered;

use std::collections::HashMap;
use std::sync::Arc;

use companion_protocol::diagnostics::{
    Diagnostics, DiagnosticsReport, DiagnosticsRequest, FileDiagnostics,
};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::host::{DiagnosticsResponder, EditorHost, EditorRequest};
use known::KnownProblems;
pub(crate) use shared::SharedDiagnostics;
use unanswered::Unanswered;

/// The most requests to the editor at a time. Each may cost an analysis.
const MAX_REQUESTS: usize = 4;

struct EditorDiagnostics {
    host: Arc<dyn EditorHost>,
    asking: Semaphore,
    unanswered: Unanswered,
    known: Mutex<KnownProblems>,
}

impl EditorDiagnostics {
    fn new(host: Arc<dyn EditorHost>) -> Self {
        let asking = Semaphore::new(MAX_REQUESTS);
        Self { host, asking, unanswered: Unanswered::default(), known: Mutex::default() }
    }

    /// Reports the diagnostics of these files that the editor sends by `deadline`; with `only_new`
    /// without those of the last report.
    ///
    /// # Errors
    ///
    /// A sentence for the model.
    async fn report(
        &self,
        request: DiagnosticsRequest,
        only_new: bool,
        deadline: Instant,
    ) -> Result<DiagnosticsReport, String> {
        let (paths, severity) = (request.paths.clone(), request.severity);
        let answered = timeout_at(deadline, async {
            let _turn = self.asking.acquire().await;
            self.ask(request).await
        });
        let found = answered.await.map_err(|_| "The editor did not answer in time.")??;
        // Only the requested files: the answer may contain others.
        let mut found: HashMap<_, _> =
            found.files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let mut known = self.known.lock();
        let files = paths.into_iter().map(|path| {
            let mut file = found.remove(&path).unwrap_or_else(|| FileDiagnostics {
                path,
                diagnostics: Vec::new(),
                incomplete: Some("the editor says nothing about this file".to_owned()),
            });
            let were = known.replace(&file, severity);
            let all = file.diagnostics.len();
            if only_new {
                file.diagnostics = were.without(file.diagnostics);
            }
            let known = all - file.diagnostics.len();
            (file, known)
        });
        Ok(DiagnosticsReport::new(files))
    }

    async fn ask(&self, request: DiagnosticsRequest) -> Result<Diagnostics, String> {
        if self.unanswered.is_overdue() {
            return Err("The editor has not answered an earlier question yet.".to_owned());
        }
        let (answer, answered) = oneshot::channel();
        let request = EditorRequest::Diagnostics(request);
        self.host.request(request, DiagnosticsResponder::new(answer).into());
        let answered = self.unanswered.wait(answered).await;
        answered.unwrap_or_else(|_| Err("The editor could not list its problems.".to_owned()))
    }
}
