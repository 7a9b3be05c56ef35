//! Describes prompts, commands and changed files for the editor, and for the list of changes.

use companion_protocol::editor::{ChangeKind, ChangedFile, ChangedText, CliChanged, CliCommand};

use super::{Change, CliChanges, FileText, Prompt, PromptId};

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
            reverted: self.is_reverted(),
            private: self.is_private,
            mixed: self.is_mixed,
        }
    }
}

/// What the hooks of a CLI show of a shell command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandState {
    Begins,
    HasEnded,
    /// No hook has reported its end.
    Lost,
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

    /// The prompts that have changed a file, the oldest first, with the texts of their files that are kept.
    pub(super) fn listed(&self) -> Vec<(CliChanged, Vec<Option<ChangedText>>)> {
        let mut listed = Vec::new();
        for Prompt { id, files, .. } in &self.prompts {
            let files = files.iter().filter(|of| !of.is_kept);
            let texts: Vec<_> = files.map(|of| of.is_revertible().then(|| of.texts())).collect();
            if !texts.is_empty() {
                listed.push((self.to_editor(id), texts));
            }
        }
        listed
    }

    /// A command of a prompt for the editor. Without the title if the prompt has left the list.
    pub(crate) fn command_to_editor(&self, id: &PromptId, state: CommandState) -> CliCommand {
        let (title, time) =
            self.prompt(id).map_or((String::new(), 0), |of| (of.title.clone(), of.time));
        CliCommand {
            session: id.0.to_string(),
            prompt: id.1,
            title,
            time,
            running: state == CommandState::Begins,
            lost: state == CommandState::Lost,
        }
    }
}
