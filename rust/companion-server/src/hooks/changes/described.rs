//! Describes prompts, commands and changed files for the editor, and for the list of changes.

use companion_protocol::editor::{ChangeKind, ChangedFile, ChangedText, CliChanged, CliCommand};

use super::{Change, CliChanges, FileText, Prompt, PromptId};

/// A prompt with all facts of its changes.
pub(super) struct ListedPrompt {
    pub(super) session: String,
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) time: u64,
    /// With their texts, if these are kept.
    pub(super) files: Vec<(ChangedFile, Option<ChangedText>)>,
}

impl Change {
    fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (FileText::Absent, _) => ChangeKind::Created,
            (_, FileText::Absent) => ChangeKind::Deleted,
            _ => ChangeKind::Changed,
        }
    }

    fn to_editor(&self) -> ChangedFile {
        let counts = self.counts.filter(|_| !self.is_private);
        ChangedFile {
            path: self.path.to_string(),
            kind: self.kind(),
            added: counts.map(|counts| counts.added),
            removed: counts.map(|counts| counts.removed),
            revertible: self.is_revertible(),
            reverted: self.is_reverted,
            private: self.is_private,
            mixed: self.is_mixed,
        }
    }
}

impl CliChanges {
    /// The changes of a prompt for the editor. With the time 0 if the prompt has left the list.
    pub(crate) fn to_editor(&self, id: &PromptId) -> CliChanged {
        let (session, prompt) = (id.0.to_string(), id.1);
        match self.prompt(id) {
            Some(Prompt { title, time, files, .. }) => CliChanged {
                session,
                prompt,
                title: title.clone(),
                time: *time,
                files: files.iter().filter(|of| !of.is_kept).map(Change::to_editor).collect(),
            },
            None => {
                CliChanged { session, prompt, title: String::new(), time: 0, files: Vec::new() }
            }
        }
    }

    /// The prompts that have changed a file, the oldest first.
    pub(super) fn listed(&self) -> Vec<ListedPrompt> {
        let mut listed = Vec::new();
        for Prompt { id, title, time, files, .. } in &self.prompts {
            let texts = |change: &Change| change.is_revertible().then(|| change.texts());
            let files = files.iter().filter(|of| !of.is_kept);
            let files: Vec<_> = files.map(|of| (of.to_editor(), texts(of))).collect();
            if !files.is_empty() {
                let (session, title) = (id.0.to_string(), title.clone());
                listed.push(ListedPrompt { session, number: id.1, title, time: *time, files });
            }
        }
        listed
    }

    /// A command of a prompt for the editor. Without the title if the prompt has left the list.
    pub(crate) fn command_to_editor(&self, id: &PromptId, running: bool) -> CliCommand {
        let (title, time) =
            self.prompt(id).map_or((String::new(), 0), |of| (of.title.clone(), of.time));
        CliCommand { session: id.0.to_string(), prompt: id.1, title, time, running }
    }
}
