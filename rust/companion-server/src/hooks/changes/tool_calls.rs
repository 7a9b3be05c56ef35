//! Keeps the files as they were before the calls of tools that have not ended.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::{FileSnapshot, FileText, MAX_BYTES, PromptId};
use companion_core::text::Digest;

/// The most bytes of texts. Above it the oldest are forgotten.
pub(super) const MAX_BYTES_OF_CALLS: usize = MAX_BYTES / 2;

/// The most calls, of all CLIs.
pub(super) const MAX_CALLS: usize = 256;

/// The calls, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ToolCalls(VecDeque<ToolCall>);

/// The agent of a CLI session whose model calls a tool and gets notes: the main one, or a subagent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agent<'a> {
    pub(crate) cli: &'a str,
    pub(crate) subagent: Option<&'a str>,
}

/// A tool's call that may change files.
#[derive(Debug)]
pub(super) struct ToolCall {
    /// The prompt that the model works for, with the session of its CLI.
    pub(super) prompt: PromptId,
    subagent: Option<Arc<str>>,
    /// The digest of the command; `None` for an edit.
    command: Option<Digest>,
    pub(super) files: Vec<FileSnapshot>,
}

impl ToolCall {
    fn is_of_cli(&self, cli: &str) -> bool {
        *self.prompt.0 == *cli
    }

    fn is_of(&self, caller: Agent<'_>) -> bool {
        self.is_of_cli(caller.cli) && self.subagent.as_deref() == caller.subagent
    }

    fn is_edit(&self, caller: Agent<'_>, path: &str) -> bool {
        self.is_of(caller) && self.command.is_none() && &*self.files[0].path == path
    }

    fn is_command(&self, caller: Agent<'_>, command: Digest) -> bool {
        self.is_of(caller) && self.command == Some(command)
    }
}

impl ToolCalls {
    /// A tool is about to edit a file, or to run a command, which may change any of `files`. Returns the
    /// commands that are forgotten, because there are too many calls.
    pub(super) fn begin(
        &mut self,
        prompt: PromptId,
        subagent: Option<&str>,
        command: Option<Digest>,
        files: Vec<FileSnapshot>,
    ) -> Vec<ToolCall> {
        let subagent = subagent.map(Arc::from);
        self.0.push_back(ToolCall { prompt, subagent, command, files });
        let mut forgotten = Vec::new();
        while self.0.len() > MAX_CALLS || self.bytes() > MAX_BYTES_OF_CALLS {
            forgotten.extend(self.0.pop_front().filter(|call| call.command.is_some()));
        }
        forgotten
    }

    /// The bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().flat_map(|call| &call.files).map(|file| file.text.size()).sum()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets the calls of a CLI, except those of the subagents that `runs` accepts. Returns the commands
    /// among them.
    pub(super) fn end_all(&mut self, cli: &str, runs: impl Fn(&str) -> bool) -> Vec<ToolCall> {
        let mut commands = Vec::new();
        for call in mem::take(&mut self.0) {
            if !call.is_of_cli(cli) || call.subagent.as_deref().is_some_and(&runs) {
                self.0.push_back(call);
            } else if call.command.is_some() {
                commands.push(call);
            }
        }
        commands
    }

    /// A tool has changed a file from `before` to `after`, so the other calls have not: those of the CLI, or
    /// without one those of all.
    pub(super) fn file_changed(
        &mut self,
        cli: Option<&str>,
        path: &str,
        before: &FileText,
        after: &FileText,
    ) {
        let calls = self.0.iter_mut().filter(|call| cli.is_none_or(|cli| call.is_of_cli(cli)));
        for file in calls.flat_map(|call| &mut call.files) {
            if *file.path == *path && file.text == *before {
                file.text = after.clone();
            }
        }
    }

    /// The user has reverted a change of a file, or has undone that. So nobody knows what the running
    /// commands do to it.
    pub(super) fn forget_in_commands(&mut self, path: &str) {
        for call in self.0.iter_mut().filter(|call| call.command.is_some()) {
            call.files.retain(|file| *file.path != *path);
        }
    }

    /// The files that a command may have changed: those that were looked at before it.
    pub(super) fn files_of_command(&self, caller: Agent<'_>, command: Digest) -> Vec<Arc<str>> {
        let call = self.0.iter().find(|call| call.is_command(caller, command));
        let files = call.map_or(&[][..], |call| &call.files);
        files.iter().map(|file| Arc::clone(&file.path)).collect()
    }

    /// Ends the newest edit of a file. Returns the file before it.
    pub(super) fn end_edit(&mut self, caller: Agent<'_>, path: &str) -> Option<FileSnapshot> {
        let index = self.0.iter().rposition(|call| call.is_edit(caller, path))?;
        self.0.remove(index)?.files.pop()
    }

    /// Forgets all edits of a file.
    pub(super) fn forget_edits(&mut self, caller: Agent<'_>, path: &str) {
        self.0.retain(|call| !call.is_edit(caller, path));
    }

    /// Ends a command. Returns it, with the files before it.
    pub(super) fn end_command(&mut self, caller: Agent<'_>, command: Digest) -> Option<ToolCall> {
        let index = self.0.iter().position(|call| call.is_command(caller, command))?;
        self.0.remove(index)
    }
}
