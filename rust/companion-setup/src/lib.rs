//! Installs the plugin into the editors of a machine, puts the program where terminals find it, and
//! turns the IDE mode of the clients on.
//!
//! [`Machine`] is what the machine looks like, as a value, so that tests make up machines of every
//! system. [`Setup::plan`] says what would be done, without touching anything; [`Setup::carry_out`]
//! does it, and [`Setup::remove`] takes away what was brought.

mod client;
mod content;
mod extension;
mod files;
mod ide;
mod install;
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
pub use ide::{Build, Ide};
pub use machine::{Machine, Os};
pub use neovim::Neovim;
pub use package::{Package, PackageError};
pub use report::{Outcome, Report, Step};
pub use setup::Setup;
