//! Provides the developer's commands, each a few lines over the real tools.

#![expect(clippy::print_stdout, reason = "these commands talk to people")]

mod bare;
mod changelog;
mod current_api;
mod display;
mod dist;
mod e2e;
mod installed;
mod kotlin;
mod natives;
mod needs;
mod platform;
mod plugin;
mod run;
mod test;
mod test_ide;
mod tools;
mod workflows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use needs::Needs;
use xshell::Shell;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Commands for working on Companion for Gemini CLI.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
    /// Install Debian packages that are missing without asking.
    #[arg(long, global = true)]
    yes: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run all checks and all tests: formatting, lints, licences, Rust, Kotlin, the real client.
    Test {
        /// Also run long tests: half an hour of random use, fuzzers with a million inputs each,
        /// the demo in an IDE.
        #[arg(long)]
        long: bool,
        /// Run only the steps whose names contain this, such as "window".
        #[arg(long, value_name = "STEP", conflicts_with = "portable")]
        only: Option<String>,
        /// Run only the steps for Windows and macOS, too: Rust, and the program with the client.
        #[arg(long, conflicts_with = "long")]
        portable: bool,
        /// Run only the end-to-end tests, with another version of a CLI from npm: gemini@latest,
        /// qwen@0.24.4. Can be repeated.
        #[arg(long, value_name = "CLI@VERSION", value_parser = e2e::packages)]
        #[arg(conflicts_with_all = ["long", "only", "portable"])]
        client_version: Vec<String>,
    },
    /// Play the main job: the real Gemini CLI proposes edits, and a scripted user reviews them, first
    /// in Neovim, then in a real IDE. Pictures of it go to target/demo.
    Demo {
        /// Play it only in Neovim: two minutes the first time.
        #[arg(long, conflicts_with = "screenshots")]
        quick: bool,
        /// Also renew all pictures of the documents.
        #[arg(long)]
        screenshots: bool,
    },
    /// Run the demo and the tests on a bare Debian machine, as a new user; as root. 40 minutes or more
    /// on two cores.
    Bare {
        /// Only these.
        #[arg(default_values = ["demo", "test"])]
        commands: Vec<String>,
        /// Run them as root, as in a container, without an agreement to install what is missing.
        #[arg(long)]
        as_root: bool,
    },
    /// Measure the cost of the plugin in a window.
    BenchIde {
        /// Only this part: typing, waits, or events (the use of the event thread).
        #[arg(long, value_name = "PART", value_parser = ["typing", "waits", "events"])]
        only: Option<String>,
    },
    /// Open an IDE with the plugin: the platform of 2018.3, or one that is installed.
    Run {
        /// The folder to open; the default is this checkout.
        #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))]
        project: PathBuf,
        /// The home of an installed IDE, 2024.2 or newer.
        #[arg(long, value_name = "HOME")]
        ide: Option<PathBuf>,
    },
    /// Run the window tests on an installed IDE, with the plugin compiled for it. A page with the
    /// results and pictures goes to target/test-ide. Nothing of the user's settings is touched.
    TestIde {
        /// The home of the IDE, 2024.2 or newer, or the platform that `cargo xtask platform` builds.
        #[arg(long, value_name = "HOME")]
        ide: PathBuf,
        /// Run only the tests in this file of e2e/ide-tests, such as "review".
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
    },
    /// Make the zip of the plugin for the platform of 2018.3.
    Plugin {
        /// For 2024.2 and newer, without Gradle, with the library of this machine. It is checked as the
        /// Marketplace does on an upload.
        #[arg(long)]
        release: bool,
    },
    /// Check that each library of a plugin is of its system and is the one that the Kotlin calls.
    CheckLibraries {
        /// The folder that has `<os>-<arch>/` with a library each.
        native: PathBuf,
        /// Fail if there is a system without one.
        #[arg(long)]
        all: bool,
    },
    /// Build all that is released, for all systems, into target/dist. An hour on two cores. For
    /// single systems, build only the program and the library.
    Dist {
        #[command(flatten)]
        args: dist::Args,
        /// Also build the plugin for 2024.2 and newer, by Gradle; not signed.
        #[arg(long)]
        gradle: bool,
    },
    /// Replace the plugin that `dist --gradle` has built with the signed one.
    DistSigned { zip: PathBuf },
    /// Run the artefacts of `dist`: with the real client, and in a JVM; by QEMU and Wine where needed.
    DistTest {
        #[command(flatten)]
        args: dist::Args,
        /// Leave out the libraries.
        #[arg(long)]
        program_only: bool,
    },
    /// Pack the program as it is tested for npm, and install it from a registry on this machine.
    Npm,
    /// Publish the packages of `dist --gradle` to npm. After the first version only its workflow may.
    /// After an error it goes on where it was.
    NpmPublish {
        /// Publish the packages in this folder instead, as the tests do to a registry of theirs.
        #[arg(long, value_name = "FOLDER")]
        packages: Option<PathBuf>,
        /// Only list the packages.
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the section of this version in CHANGELOG.md, if TAG is its tag.
    ReleaseNotes { tag: String },
    /// Build the IDE platform (2018.3) that the plugin is compiled, run and tested with.
    Platform,
}

impl Command {
    /// Returns what the command needs. It is checked before the command begins.
    fn needs(&self) -> Vec<Needs> {
        use needs::{BARE, CLIENT, DISPLAY, GRADLE, NEOVIM, NPM, PLUGIN, ROBOT, TESTS, WORKFLOWS};
        match self {
            Self::CheckLibraries { .. } | Self::ReleaseNotes { .. } => vec![],
            Self::Npm => vec![CLIENT, NPM],
            Self::NpmPublish { .. }
            | Self::DistSigned { .. }
            | Self::Test { portable: true, .. } => vec![CLIENT],
            Self::Test { .. } => vec![WORKFLOWS, PLUGIN, CLIENT, DISPLAY, ROBOT, TESTS],
            Self::Demo { quick: true, .. } => vec![CLIENT, NEOVIM],
            Self::Demo { .. } => vec![CLIENT, NEOVIM, PLUGIN, DISPLAY, ROBOT],
            Self::BenchIde { .. } | Self::TestIde { .. } => vec![PLUGIN, CLIENT, DISPLAY, ROBOT],
            Self::Bare { .. } => vec![BARE, CLIENT],
            Self::Run { ide, .. } => {
                let plugin = if ide.is_some() { GRADLE } else { PLUGIN };
                if display::is_there() { vec![plugin] } else { vec![plugin, DISPLAY] }
            }
            Self::Dist { args, gradle } => args.needs(*gradle),
            Self::DistTest { args, program_only } => args.needs_of_tests(*program_only),
            Self::Plugin { .. } | Self::Platform => vec![PLUGIN],
        }
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result {
    let sh = Shell::new()?;
    // Not canonical: npm can't run in a canonical path of Windows.
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    sh.change_dir(checkout.ok_or("the sources of this program lie in no checkout")?);
    needs::ensure(&sh, &args.command.needs(), args.yes)?;
    match &args.command {
        Command::Test { portable: true, .. } => test::test_portable(&sh),
        Command::Test { client_version, .. } if !client_version.is_empty() => {
            test::step("the real client", || e2e::test_clients(&sh, client_version))
        }
        Command::Test { long, only, .. } => test::test(&sh, *long, only.as_deref()),
        Command::Demo { quick: true, .. } => e2e::quick_demo(&sh, false),
        Command::Demo { screenshots, .. } => e2e::demo(&sh, *screenshots),
        Command::Bare { commands, as_root } => bare::run(&sh, commands, *as_root),
        Command::BenchIde { only } => e2e::bench_ide(&sh, only.as_deref()),
        Command::Run { project, ide } => run::run(&sh, project, ide.as_deref()),
        Command::TestIde { ide, only } => test_ide::run(&sh, ide, only.as_deref()),
        Command::Plugin { release: true } => {
            plugin::release(&sh, &kotlin::release_library(&sh)?).map(drop)
        }
        Command::Plugin { .. } => plugin::zip(&sh),
        Command::CheckLibraries { native, all } => check_libraries(native, *all),
        Command::Dist { args, gradle } => dist::dist(&sh, args, *gradle),
        Command::DistSigned { zip } => dist::take_signed(&sh, zip),
        Command::DistTest { args, program_only } => dist::test(&sh, args, *program_only),
        Command::Npm => dist::npm::test(&sh),
        Command::NpmPublish { packages, dry_run } => {
            dist::npm::publish(&sh, packages.as_deref(), *dry_run)
        }
        Command::ReleaseNotes { tag } => {
            println!("{}", changelog::notes(&sh, tag)?);
            Ok(())
        }
        Command::Platform => platform::build(&sh),
    }
}

fn check_libraries(native: &Path, all: bool) -> Result {
    let missing = natives::check(native)?;
    if missing.is_empty() {
        println!("there is a library for every system");
    } else if all {
        return Err(format!("no library for {}", missing.join(", ")).into());
    } else {
        println!("no library for {}", missing.join(", "));
    }
    Ok(())
}
