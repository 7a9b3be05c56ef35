//! Lists the features that need the hooks of a client, and all that can stop them.
//!
//! `docs/troubleshooting.md` has these tables, and a test compares them.

use companion_protocol::hook::HookEventKind::{
    self, AfterAgent, AfterTool, BeforeAgent, BeforeTool, Notification,
};
use companion_protocol::profile::ClientProfile;

use super::hook_program::RunnerProblem;
use super::hooks::{HookObstacle, Hooks};

/// The name of a feature for users, and the hooks that it needs.
type Feature = (&'static str, &'static [HookEventKind]);

/// The features. A connection is enough for all others: context, and the review of edits that the CLI
/// asks about.
static FEATURES: [Feature; 7] = [
    ("a rejection with a reason, and the CLI goes on", &[BeforeTool, AfterTool, BeforeAgent]),
    ("comments on lines, with the next prompt", &[BeforeAgent]),
    ("problems for the model after an edit", &[BeforeTool, AfterTool]),
    ("the list of changes by prompt, and their revert", &[BeforeTool, AfterTool, BeforeAgent]),
    (REVIEW_ALL, &[BeforeTool]),
    ("the names of unsaved files for the model", &[BeforeAgent]),
    ("the notice that the CLI waits or has finished", &[BeforeAgent, AfterAgent, Notification]),
];

/// Only a client that asks the user after its hook has this feature.
const REVIEW_ALL: &str = "the review of every edit, also in YOLO mode";

/// Returns the features that a client has.
pub(super) fn features(client: &ClientProfile) -> impl Iterator<Item = &'static Feature> {
    let confirms = client.hooks.confirms_after_hook;
    FEATURES.iter().filter(move |(name, _)| confirms || *name != REVIEW_ALL)
}

/// Returns the names of the features that do not work.
pub(super) fn missing(client: &ClientProfile, hooks: &Hooks) -> impl Iterator<Item = &'static str> {
    let runs = |event_kind: &HookEventKind| hooks.events.contains(event_kind);
    features(client).filter(move |(_, needed)| !needed.iter().all(runs)).map(|(name, _)| *name)
}

impl HookObstacle {
    /// The reason, as the end of a sentence.
    pub fn reason(&self, client: &ClientProfile) -> String {
        let name = client.name;
        match self {
            Self::NotInstalled => "the companion's extension is not installed".to_owned(),
            Self::Incomplete { file, .. } => {
                format!("{} is of an earlier version and lacks some hooks", file.display())
            }
            Self::Broken { file, .. } => {
                format!("the extension's file {} is missing or invalid", file.display())
            }
            Self::SafeMode(variable) => format!("{variable} turns extensions and hooks off"),
            Self::SourceNotAllowed(setting, file, _) => format!(
                "{name} does not start: {setting} in {} requires a source of the companion's \
                 extension, which setup has copied",
                file.display()
            ),
            Self::Disabled(rule, file) => {
                format!(
                    "the extension is disabled in this folder, by \"{rule}\" in {}",
                    file.display()
                )
            }
            Self::SwitchedOff(setting, file) => {
                format!("all are off by {setting} in {}", file.display())
            }
            Self::NamesOff(setting, file, names) => {
                format!("these are off by {setting} in {}: {}", file.display(), names.join(", "))
            }
            Self::Program(program, problem) => {
                format!("they run {}, which {}", program.display(), problem.reason())
            }
        }
    }

    /// Whether some hooks do not run because of it.
    pub fn stops_hooks(&self) -> bool {
        !matches!(self, Self::Program(_, RunnerProblem::ProgramOfOtherVersion))
    }

    /// The fix, as a sentence.
    pub fn fix(&self, client: &ClientProfile) -> String {
        match self {
            Self::NotInstalled => "Run gemini-companion setup.".to_owned(),
            Self::Broken { is_linked: true, .. } | Self::Incomplete { is_linked: true, .. } => {
                "Link or install your own extension again.".to_owned()
            }
            // Setup keeps an extension that the user has installed.
            Self::Broken { .. } | Self::Incomplete { .. } => {
                "Run gemini-companion setup, or install your own extension again.".to_owned()
            }
            Self::SafeMode(variable) => format!("Unset {variable}."),
            Self::SourceNotAllowed(setting, file, folder) => format!(
                "Remove the folder {}; setup then leaves the extension out. If {setting} in {} allows \
                 its source, install it by {} extensions install.",
                folder.display(),
                file.display(),
                client.id
            ),
            Self::Disabled(..) => {
                format!("Run {} extensions enable gemini-companion.", client.id)
            }
            Self::SwitchedOff(setting, file) | Self::NamesOff(setting, file, _) => {
                format!("Take {setting} out of {}, and start {} again.", file.display(), client.id)
            }
            Self::Program(..) => {
                "Run gemini-companion setup, or correct the program in the extension.".to_owned()
            }
        }
    }
}

impl RunnerProblem {
    fn reason(&self) -> String {
        match self {
            Self::NoFile => "does not exist".to_owned(),
            Self::NotInPath => "is not in the PATH".to_owned(),
            Self::NotExecutable => "can't be run".to_owned(),
            Self::Fails(why) => format!("does not work: {why}"),
            Self::ProgramOfOtherVersion => "has another version than this program".to_owned(),
        }
    }
}
