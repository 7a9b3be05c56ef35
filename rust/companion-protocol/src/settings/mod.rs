//! What a server is started with, as its user or the user's editor sets it. `serve` has a flag for
//! each setting, and across JNI all go as one JSON text.

mod allowed_host;
mod listen_address;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use log::LevelFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::dialect::{self, Dialect};
use crate::ide::IdeInfo;
pub use allowed_host::AllowedHost;
pub use listen_address::ListenAddress;

/// What a server is started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Settings {
    /// The workspace's roots, absolute. None: the client asks the user to open a folder.
    pub workspace: Vec<PathBuf>,
    /// The editor's name for programs.
    pub ide_name: String,
    /// The editor's name for people.
    pub ide_display_name: String,
    /// The editor's process, by which a CLI in its terminal finds the server; this one, unless it
    /// is set.
    pub ide_pid: u32,
    /// The clients that are to find the server.
    pub clients: Vec<&'static Dialect>,
    /// Whether the user trusts the workspace; absent leaves that to the CLI. A client that is told
    /// `true` no longer asks.
    pub trusted: Option<bool>,
    /// Whether edits are reviewed in the editor. Without, the client gets the context only.
    pub diffs: bool,
    /// Whether clients may ask for the problems that the editor knows.
    pub diagnostics: bool,
    /// Whether clients are told nothing of files and problems, for now. Edits are still reviewed.
    pub silent: bool,
    /// Whether the server continues what the last one of this workspace has left, and leaves the same.
    pub resume: bool,
    /// The port on all addresses; 0 lets the system pick one.
    pub port: u16,
    /// Addresses to listen on besides loopback.
    pub listen: Vec<ListenAddress>,
    /// Whether `listen` may have an address that means all of this machine's.
    pub listen_on_all_addresses: bool,
    /// Whether an address of `listen` that is not there is an error. Otherwise the server starts
    /// without, and its status says so.
    pub listen_or_fail: bool,
    /// Hosts by which clients may call the server, besides the usual ones and the addresses on
    /// which it listens.
    pub allowed_hosts: Vec<AllowedHost>,
    /// The largest request, in megabytes.
    pub body_limit: u16,
    /// How often a quiet stream gets a comment, in seconds. The client gives up after 300 s.
    pub keep_alive: u16,
    /// How much is logged.
    pub log_level: LevelFilter,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspace: Vec::new(),
            ide_name: "companion".to_owned(),
            ide_display_name: "Companion for Gemini CLI".to_owned(),
            ide_pid: std::process::id(),
            clients: dialect::ALL.to_vec(),
            trusted: None,
            diffs: true,
            diagnostics: true,
            silent: false,
            resume: false,
            port: 0,
            listen: Vec::new(),
            listen_on_all_addresses: false,
            listen_or_fail: false,
            allowed_hosts: Vec::new(),
            body_limit: 64,
            keep_alive: 20,
            log_level: LevelFilter::Warn,
        }
    }
}

impl Settings {
    /// What [`Settings::body_limit`] can be.
    pub const BODY_LIMITS: RangeInclusive<u16> = 1..=u16::MAX;

    /// What [`Settings::keep_alive`] can be: two comments come before the client gives up.
    pub const KEEP_ALIVES: RangeInclusive<u16> = 1..=150;

    /// Reads a JSON object. What it does not name has its default. Returned as well are the names
    /// that are no settings: those of a neighbouring version, which has more or fewer of them.
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
        // One after the other, because an error of serde's does not name the field.
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

    /// Whether each value is one that the setting can have.
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
        in_range("bodyLimit", self.body_limit, &Self::BODY_LIMITS)?;
        in_range("keepAlive", self.keep_alive, &Self::KEEP_ALIVES)
    }

    /// Which editor it is.
    pub fn ide_info(&self) -> IdeInfo {
        IdeInfo { name: self.ide_name.clone(), display_name: self.ide_display_name.clone() }
    }
}

fn in_range(setting: &str, value: u16, range: &RangeInclusive<u16>) -> Result<(), WrongSetting> {
    if range.contains(&value) {
        return Ok(());
    }
    let problem = format!("{value} is not from {} to {}", range.start(), range.end());
    Err(WrongSetting { setting: setting.to_owned(), problem })
}

/// A setting that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSetting {
    /// The setting's name in JSON.
    pub setting: String,
    /// What is wrong with its value, for the user.
    pub problem: String,
}

impl fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, problem } = self;
        write!(f, "{setting}: {problem}")
    }
}

impl std::error::Error for WrongSetting {}
