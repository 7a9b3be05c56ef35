//! Keeps the files as they were before the calls of tools that have not ended.

use std::collections::VecDeque;
use std::sync::Arc;

use companion_core::cli::CliSessionId;

use super::{FileSnapshot, MAX_BYTES};
use companion_core::text::Digest;

/// The most bytes of texts. Above it the oldest are forgotten.
pub(super) const MAX_BYTES_OF_CALLS: usize = MAX_BYTES / 2;

/// The most calls, of all CLIs.
pub(super) const MAX_CALLS: usize = 256;

/// The calls, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Calls(VecDeque<ToolCall>);

/// A tool's call that may change files.
#[derive(Debug)]
struct ToolCall {
    agent: CliSessionId,
    /// The subagent of the CLI that calls the tool.
    subagent: Option<Arc<str>>,
    /// The digest of the command; `None` for an edit.
    command: Option<Digest>,
    files: Vec<FileSnapshot>,
}

impl ToolCall {
    fn is_edit(&self, agent: &str, path: &str) -> bool {
        self.command.is_none() && &*self.agent == agent && &*self.files[0].path == path
    }

    fn is_command(&self, agent: &str, command: Digest) -> bool {
        &*self.agent == agent && self.command == Some(command)
    }
}

impl Calls {
    /// A tool is about to edit a file, or to run a command, which may change any of `files`.
    pub(super) fn begin(
        &mut self,
        agent: &str,
        subagent: Option<&str>,
        command: Option<Digest>,
        files: Vec<FileSnapshot>,
    ) {
        let subagent = subagent.map(Arc::from);
        self.0.push_back(ToolCall { agent: agent.into(), subagent, command, files });
        while self.0.len() > MAX_CALLS || self.bytes() > MAX_BYTES_OF_CALLS {
            self.0.pop_front();
        }
    }

    /// The bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().flat_map(|call| &call.files).map(|file| file.text.size()).sum()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets the calls of a CLI, except those of the subagents that `runs` accepts. Returns the number of
    /// commands among them.
    pub(super) fn end_all(&mut self, agent: &str, runs: impl Fn(&str) -> bool) -> usize {
        let commands = self.commands(agent);
        self.0.retain(|call| &*call.agent != agent || call.subagent.as_deref().is_some_and(&runs));
        commands - self.commands(agent)
    }

    /// The number of commands of a CLI that have not ended.
    pub(super) fn commands(&self, agent: &str) -> usize {
        self.0.iter().filter(|call| &*call.agent == agent && call.command.is_some()).count()
    }

    /// The files that a command may have changed: those that were looked at before it.
    pub(super) fn files_of_command(&self, agent: &str, command: Digest) -> Vec<Arc<str>> {
        let call = self.0.iter().find(|call| call.is_command(agent, command));
        let files = call.map_or(&[][..], |call| &call.files);
        files.iter().map(|file| Arc::clone(&file.path)).collect()
    }

    /// Ends the newest edit of a file. Returns the file before it.
    pub(super) fn end_edit(&mut self, agent: &str, path: &str) -> Option<FileSnapshot> {
        let index = self.0.iter().rposition(|call| call.is_edit(agent, path))?;
        self.0.remove(index)?.files.pop()
    }

    /// Forgets all edits of a file.
    pub(super) fn forget_edits(&mut self, agent: &str, path: &str) {
        self.0.retain(|call| !call.is_edit(agent, path));
    }

    /// Ends a command. Returns the files before it.
    pub(super) fn end_command(
        &mut self,
        agent: &str,
        command: Digest,
    ) -> Option<Vec<FileSnapshot>> {
        let index = self.0.iter().position(|call| call.is_command(agent, command))?;
        Some(self.0.remove(index)?.files)
    }
}
