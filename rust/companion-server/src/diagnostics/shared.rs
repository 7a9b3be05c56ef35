//! Reports the diagnostics of files that may be shared with clients.

use std::sync::Arc;
use std::time::Duration;

use companion_protocol::diagnostics::{DiagnosticsReport, DiagnosticsRequest, Severity};
use tokio::time::Instant;

use super::EditorDiagnostics;
use crate::context::EditorContext;
use crate::host::EditorHost;
use crate::workspace::{DISK_TIMED_OUT, Workspace};

/// The most open files whose diagnostics are reported: the files that had the focus last.
const MAX_FILES: usize = 100;

/// The time to check again which files may be shared, even if the editor answers late.
const LAST_CHECK_TIME: Duration = Duration::from_millis(250);

pub(crate) struct SharedDiagnostics {
    editor: EditorDiagnostics,
    context: Arc<EditorContext>,
    workspace: Arc<Workspace>,
    /// The time for the editor to answer.
    timeout: Duration,
}

impl SharedDiagnostics {
    pub(crate) fn new(
        host: Arc<dyn EditorHost>,
        context: Arc<EditorContext>,
        workspace: Arc<Workspace>,
        timeout: Duration,
    ) -> Self {
        Self { editor: EditorDiagnostics::new(host), context, workspace, timeout }
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
        let mut report = self.editor.report(request, only_new, deadline).await?;
        // The user may have changed this setting in the meantime.
        self.check_sharing()?;
        let deadline = deadline.max(Instant::now() + LAST_CHECK_TIME);
        for path in paths {
            match self.check_shared(&path, deadline).await {
                Err(why) if is_one || why == DISK_TIMED_OUT => return Err(refusal(why)),
                Err(_) => report.files.retain(|file| file.found.path != path),
                Ok(()) => {}
            }
        }
        Ok(Some(report))
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
}

fn refusal(why: &str) -> String {
    format!("getDiagnostics: {why}")
}
