//! Installs the plugin into the JetBrains IDEs of a machine, and turns the IDE mode of the clients on.
//!
//! [`Machine`] is what the machine looks like, as a value, so that tests make up machines of every
//! system. [`Setup::plan`] says what would be done, without touching anything; [`Setup::carry_out`]
//! does it, and [`Setup::remove`] takes away what was brought.

mod client;
mod files;
mod ide;
mod install;
mod machine;
mod package;
mod plugins_dir;
mod record;
mod report;
mod setup;

pub use client::Client;
pub use ide::{Build, Ide};
pub use machine::{Machine, Os};
pub use package::{Package, PackageError};
pub use report::{Outcome, Report, Step};
pub use setup::Setup;
