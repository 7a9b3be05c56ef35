//! The discovery file, by which the CLI finds this server.
//!
//! Owns the file from its first byte to its removal, and clears away those that dead processes
//! left. It never reads a token: what it wrote is what it knows.

mod sweep;
#[cfg(test)]
mod tests;
mod workspace;

use std::io;
use std::path::{Path, PathBuf};

use companion_protocol::ide::DiscoveryFile;

use companion_platform::{Platform, PrivateDir, temp_dir};
pub(crate) use workspace::workspace_path;

/// The directories below the folder for temporary files, of which others may be the owner.
const DIRS: [&str; 2] = ["gemini", "ide"];

/// The file, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Discovery {
    dir: PrivateDir,
    name: String,
    content: DiscoveryFile,
}

impl Discovery {
    /// Clears away what is stale and writes the file. `dir` is where the client looks, by
    /// default; `pid` is the editor's.
    pub(crate) fn publish(
        dir: Option<&Path>,
        pid: u32,
        content: DiscoveryFile,
    ) -> io::Result<Self> {
        let dir = match dir {
            Some(dir) => PrivateDir::open(dir, &[])?,
            None => PrivateDir::open(&default_parent(), &DIRS)?,
        };
        sweep::sweep(&dir, pid, content.port);
        let name = file_name(pid, content.port);
        let discovery = Self { dir, name, content };
        discovery.write()?;
        Ok(discovery)
    }

    /// Puts another workspace into the file.
    pub(crate) fn set_workspace_path(&mut self, workspace_path: String) -> io::Result<()> {
        self.content.workspace_path = workspace_path;
        self.write()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    fn write(&self) -> io::Result<()> {
        let json = serde_json::to_vec(&self.content).expect("strings and numbers are JSON");
        self.dir.write(&self.name, &json)
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        if let Err(error) = self.dir.remove(&self.name) {
            log::warn!("could not remove {}: {error}", self.path().display());
        }
    }
}

/// As the client matches it: `^gemini-ide-server-(\d+)-\d+\.json$`.
fn file_name(pid: u32, port: u16) -> String {
    format!("gemini-ide-server-{pid}-{port}.json")
}

fn default_parent() -> PathBuf {
    temp_dir(Platform::CURRENT, |name| std::env::var(name).ok()).into()
}
