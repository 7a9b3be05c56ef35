//! Lists the changes of all CLIs for the user's scripts.

use std::collections::HashMap;
use std::sync::Arc;

use companion_platform::Platform;
use companion_protocol::changes::{ChangeList, FileChange, PromptChanges, VERSION};
use companion_protocol::editor::{ChangedText, CliChanged};

use super::super::{LineCounts, patch};
use super::{PRIVATE, UNSETTLED};
use crate::config::DISK_TIMEOUT;
use crate::hooks::Hooks;
use crate::net::json::Json;

impl Hooks {
    /// Lists all changes with their diffs. Without the text of a file that has become private since, and
    /// of one for which the disk can't say that. Empty if the server ends. Without prompts if the user stops
    /// sharing meanwhile.
    pub(crate) async fn list_changes(&self) -> Json {
        let turn = self.listing.turn().await;
        let mut prompts = self.changes().listed();
        let files = prompts.iter().flat_map(|(prompt, _)| &prompt.files);
        let mut paths: Vec<Arc<str>> = files.map(|file| file.path.as_str().into()).collect();
        paths.sort_unstable();
        paths.dedup();
        let checked = self.check_in_parts(&paths, DISK_TIMEOUT).await;
        let checked: HashMap<_, _> = paths.into_iter().zip(checked).collect();
        let mut relative = HashMap::new();
        for path in checked.keys() {
            relative.insert(Arc::clone(path), self.relative_path(path));
        }
        for (prompt, texts) in &mut prompts {
            for (file, texts) in prompt.files.iter_mut().zip(texts) {
                let access = checked[&*file.path];
                file.private |= matches!(access, Err(PRIVATE | UNSETTLED));
                if file.private || access.is_err() {
                    *texts = None;
                    (file.added, file.removed) = (None, None);
                }
            }
        }
        let compare = move || {
            let prompts = prompts.into_iter();
            let prompts = prompts.map(|(of, texts)| with_diffs(of, texts, &relative)).collect();
            Json::new(&ChangeList { version: VERSION, prompts })
        };
        let list = turn.run(compare).await.unwrap_or_default();
        if self.context.is_shared() {
            list
        } else {
            Json::new(&ChangeList { version: VERSION, prompts: Vec::new() })
        }
    }

    fn relative_path(&self, path: &str) -> String {
        let path = self.workspace.relative(path);
        match Platform::CURRENT {
            Platform::Unix => path,
            Platform::Windows => path.replace('\\', "/"),
        }
    }
}

fn with_diffs(
    CliChanged { session, prompt, title, time, files }: CliChanged,
    texts: Vec<Option<ChangedText>>,
    relative: &HashMap<Arc<str>, String>,
) -> PromptChanges {
    let mut listed = Vec::new();
    for (mut file, texts) in files.into_iter().zip(texts) {
        let relative_path = relative[&*file.path].clone();
        let diff = texts.map(|texts| {
            if file.added.is_none() {
                // The editor's report counts the lines at the same time.
                let counts = LineCounts::of_texts(texts.before.as_deref(), texts.after.as_deref());
                (file.added, file.removed) = (Some(counts.added), Some(counts.removed));
            }
            patch::unified(&relative_path, &texts)
        });
        listed.push(FileChange { file, relative_path, diff });
    }
    PromptChanges { session, prompt, title, time, files: listed }
}
