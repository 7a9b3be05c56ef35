//! Installs the plugin into the editors of a machine, the program and its completions where terminals
//! find them, and the extension into the clients. Turns on IDE mode in the clients.
//!
//! [`Machine`] describes the machine as a value, so that tests can describe machines of every system.
//! [`Setup::plan`] plans the steps without changes, [`Setup::carry_out`] carries them out, and
//! [`Setup::remove`] removes the installed items.

mod client;
mod content;
mod documents;
mod extension;
mod files;
mod ide_mode;
mod install;
mod installed_ide;
mod lock;
mod machine;
mod neovim;
mod package;
mod plugins_dir;
mod program;
mod record;
mod report;
mod setup;
mod staging;

pub use client::Client;
pub use documents::Documents;
pub use installed_ide::{Build, Ide};
pub use machine::{Machine, Os};
pub use neovim::Neovim;
pub use package::{Package, PackageError};
pub use report::{Outcome, Report, Step};
pub use setup::{Installed, Setup};
