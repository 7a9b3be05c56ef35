//! Defines the settings of a server, which the user or the editor chooses.
//!
//! `serve` has a flag for each setting. Across JNI, all settings are one JSON text.

mod allowed_host;
mod listen_address;

use std::fmt;
use std::path::PathBuf;

use log::LevelFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ide::IdeInfo;
use crate::profile::{self, ClientProfile};
pub use allowed_host::AllowedHost;
pub use listen_address::ListenAddress;

/// The settings of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Settings {
    /// The workspace's roots, absolute. If empty, the client asks the user to open a folder.
    pub workspace: Vec<PathBuf>,
    /// The editor's name for programs.
    pub ide_name: String,
    /// The editor's name for people.
    pub ide_display_name: String,
    /// The editor's process id. A CLI in the editor's terminal finds the server by it. The default
    /// is this process.
    pub ide_pid: u32,
    /// The clients that can find the server.
    pub clients: Vec<&'static ClientProfile>,
    /// Whether the user trusts the workspace; `None` leaves that to the client. After `true`, the
    /// client no longer asks.
    pub trusted: Option<bool>,
    /// Whether the other worktrees of the workspace's Git repository belong to the workspace.
    pub worktrees: bool,
    /// Whether the files that Git ignores are private, too.
    pub git_ignored_private: bool,
    /// Whether edits are reviewed in the editor. Otherwise the client gets only the context.
    pub review: bool,
    /// Whether clients may request the editor's diagnostics.
    pub diagnostics: bool,
    /// Whether clients get context and diagnostics. If not, edits are still reviewed.
    pub share_context: bool,
    /// Whether the user reviews each edit, even if the client does not ask for it.
    pub review_all: bool,
    /// Whether the server resumes its predecessor's sessions in this workspace, and stores its own.
    pub resume: bool,
    /// Whether the editor keeps its proposals over a restart, and names them by `diff/resume`.
    pub keep_proposals: bool,
    /// The port on all addresses; 0 lets the system pick one.
    pub port: u16,
    /// Addresses to listen on besides loopback.
    pub listen: Vec<ListenAddress>,
    /// Whether `listen` may contain an address that means all addresses of this machine.
    pub listen_on_all_addresses: bool,
    /// Whether a missing address of `listen` is an error. Otherwise the server starts without it,
    /// and its status names the address.
    pub listen_or_fail: bool,
    /// Hosts that clients may use for the server, besides the usual ones and the addresses where it
    /// listens.
    pub allowed_hosts: Vec<AllowedHost>,
    /// The largest request, in megabytes.
    pub body_limit: u16,
    /// The least severe log lines that the server writes.
    pub log_level: LevelFilter,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspace: Vec::new(),
            ide_name: "companion".to_owned(),
            ide_display_name: "Companion for Gemini CLI".to_owned(),
            ide_pid: std::process::id(),
            clients: profile::ALL.to_vec(),
            trusted: None,
            worktrees: true,
            git_ignored_private: false,
            review: true,
            diagnostics: true,
            share_context: true,
            review_all: false,
            resume: false,
            keep_proposals: false,
            port: 0,
            listen: Vec::new(),
            listen_on_all_addresses: false,
            listen_or_fail: false,
            allowed_hosts: Vec::new(),
            body_limit: 64,
            log_level: LevelFilter::Warn,
        }
    }
}

impl Settings {
    /// Reads a JSON object. Absent settings have their defaults.
    ///
    /// Also returns the unknown names, because another version may have more or fewer settings.
    ///
    /// # Errors
    /// If `text` is not a JSON object, or if a setting has the wrong type. Call [`Settings::check`] for
    /// the values.
    pub fn from_json(text: &str) -> Result<(Self, Vec<String>), WrongSetting> {
        let wrong = |setting: &str, problem: &dyn fmt::Display| WrongSetting {
            setting: setting.to_owned(),
            problem: problem.to_string(),
        };
        let given: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| wrong("settings", &error))?;
        let mut read = serde_json::to_value(Self::default()).expect("the defaults are JSON");
        let mut settings = Self::default();
        let mut unknown = Vec::new();
        // One by one, because serde's error does not name the field.
        for (name, value) in given {
            let Some(setting) = read.get_mut(&name) else {
                unknown.push(name);
                continue;
            };
            *setting = value;
            settings = Self::deserialize(&read).map_err(|error| wrong(&name, &error))?;
        }
        settings.check()?;
        Ok((settings, unknown))
    }

    /// Checks the values.
    ///
    /// # Errors
    /// With the first setting whose value is out of range.
    pub fn check(&self) -> Result<(), WrongSetting> {
        let everywhere = self.listen.iter().find(|address| address.is_everywhere());
        if let Some(address) = everywhere
            && !self.listen_on_all_addresses
        {
            let problem = format!(
                "\"{address}\": every machine that reaches this one could try to connect; give one \
                 address, such as 172.17.0.1"
            );
            return Err(WrongSetting { setting: "listen".to_owned(), problem });
        }
        if self.body_limit == 0 {
            let problem = "0 is not from 1 to 65535".to_owned();
            return Err(WrongSetting { setting: "bodyLimit".to_owned(), problem });
        }
        Ok(())
    }

    /// The editor that the server belongs to.
    pub fn ide_info(&self) -> IdeInfo {
        IdeInfo { name: self.ide_name.clone(), display_name: self.ide_display_name.clone() }
    }
}

/// A setting with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSetting {
    /// The setting's name in JSON.
    pub setting: String,
    /// The problem with its value, for the user.
    pub problem: String,
}

impl fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, problem } = self;
        write!(f, "{setting}: {problem}")
    }
}

impl std::error::Error for WrongSetting {}
