//! Runs all checks of CI, the quick ones first (`cargo xtask test`).

use std::fs::File;
use std::path::PathBuf;
use std::process::Child;
use std::time::Instant;

use xshell::{Shell, cmd};

use crate::dist::npm;
use crate::{Result, check_libraries, current_api, e2e, kotlin, platform, tools, workflows};

/// The steps that every system can run: Rust, and the program with the real client.
pub(crate) fn test_portable(sh: &Shell) -> Result {
    // The developer's commands are for Debian, except for the few that this command uses.
    let others = if cfg!(windows) { &["--exclude", "xtask"][..] } else { &[] };
    step("Rust tests", || {
        Ok(cmd!(sh, "cargo test --quiet --workspace {others...} --locked").run()?)
    })?;
    step("the real client", || e2e::test_released(sh, &e2e::build(sh)?))
}

/// Runs all steps, or those whose names contain `only`.
pub(crate) fn test(sh: &Shell, long: bool, only: Option<&str>) -> Result {
    // All test runners pass it on.
    let _long = sh.push_env("COMPANION_TEST_LONG", if long { "1" } else { "" });
    let mut steps = Steps { sh, only, long, count: 0 };
    let platform = steps.start_beside("the platform", LAST)?;
    steps.run("formatting", || Ok(cmd!(sh, "cargo fmt --all --check").run()?))?;
    steps.run("lints", || {
        let lint =
            cmd!(sh, "cargo clippy --quiet --workspace --all-targets --all-features --locked");
        lint.args(["--", "-D", "warnings"]).run()?;
        // The tests need features that a release does not have.
        Ok(cmd!(sh, "cargo check --quiet -p companion-cli -p companion-jni --locked").run()?)
    })?;
    steps.run("licences, sources, duplicates", || {
        let deny = tools::cargo_tool(sh, "cargo-deny", "0.20.2")?;
        Ok(cmd!(sh, "{deny} --log-level error check licenses bans sources").run()?)
    })?;
    steps.run("workflows", || workflows::lint(sh))?;
    steps.run("the plugin for Neovim", || {
        let stylua = tools::cargo_tool(sh, "stylua", "2.6.0")?;
        let emmylua = tools::cargo_tool(sh, "emmylua_check", "0.25.1")?;
        let _dir = sh.push_dir("editors/nvim");
        cmd!(sh, "{stylua} --check .").run()?;
        let _runtime = sh.push_env("VIMRUNTIME", e2e::neovim_runtime(sh)?);
        cmd!(sh, "{emmylua} --warnings-as-errors .").run()?;
        Ok(cmd!(sh, "luacheck --quiet --no-color .").run()?)
    })?;
    let kotlin = steps.start_beside("Kotlin", SECOND)?;
    steps.run("Rust tests", || Ok(cmd!(sh, "cargo test --quiet --workspace --locked").run()?))?;
    let built = sh.current_dir().join("target/dist/native");
    if built.exists() {
        steps.run("the libraries that dist has built", || {
            check_libraries(&built, false)
                .map_err(|why| format!("{why}; build them again, or remove target/dist").into())
        })?;
    }
    steps.run("the packages for npm", || npm::test(sh))?;
    steps.finish(platform, "the platform", || platform::build(sh))?;
    steps.finish(kotlin, "Kotlin", || kotlin::test(sh))?;
    // Alone: a hook gives up after 300 ms, which a busy machine needs.
    steps.run("the real client", || e2e::test(sh))?;
    // The window tests repeat what the demo shows in an IDE.
    let demo: fn(&Shell, bool) -> Result = if long { e2e::demo } else { e2e::quick_demo };
    steps.run("the demo", || demo(sh, false))?;
    let current = steps.start_beside("the plugin on today's platform", LAST)?;
    steps.run("the real client, in a window of the IDE", || e2e::test_in_window(sh))?;
    steps.finish(current, "the plugin on today's platform", || current_api::test(sh, long))?;
    match only {
        Some(only) if steps.count == 0 => Err(format!("no step is called {only:?}").into()),
        Some(_) => Ok(()),
        None => {
            println!("\nAll checks passed.");
            Ok(())
        }
    }
}

struct Steps<'a> {
    sh: &'a Shell,
    only: Option<&'a str>,
    long: bool,
    /// The steps that have run.
    count: usize,
}

impl Steps<'_> {
    fn run(&mut self, name: &str, run: impl FnOnce() -> Result) -> Result {
        if self.only.is_some_and(|only| !name.contains(only)) {
            return Ok(());
        }
        self.count += 1;
        step(name, run)
    }

    /// Starts a step beside the next ones. `None` if only some steps are to run.
    fn start_beside(&self, name: &str, niceness: &str) -> Result<Option<Beside>> {
        if self.only.is_some() {
            return Ok(None);
        }
        Beside::start(self.sh, name, niceness, self.long).map(Some)
    }

    /// Waits for a step that was started, or runs it.
    fn finish(
        &mut self,
        started: Option<Beside>,
        name: &str,
        run: impl FnOnce() -> Result,
    ) -> Result {
        match started {
            Some(beside) => beside.finish(),
            None => self.run(name, run),
        }
    }
}

/// The niceness of a step in which nothing is due within a time. It gets what the others leave.
const LAST: &str = "19";

/// The niceness of a step that waits for answers in time. On a processor that it shares with one
/// process of the others, it gets a quarter.
const SECOND: &str = "5";

/// A step in a process of its own.
struct Beside {
    name: String,
    process: Child,
    log: PathBuf,
}

impl Beside {
    fn start(sh: &Shell, name: &str, niceness: &str, is_long: bool) -> Result<Self> {
        let log = tools::target_dir(sh).join(format!("test-{}.log", name.replace(' ', "-")));
        let output = File::create(&log)?;
        let option = if is_long { &["--long"][..] } else { &[] };
        let arguments = [&["test", "--only", name], option].concat();
        let mut command = tools::xtask_beside(sh, niceness, &arguments);
        let process = command.stdout(output.try_clone()?).stderr(output).spawn()?;
        Ok(Self { name: name.to_owned(), process, log })
    }

    /// Waits for the step, and prints its output.
    fn finish(mut self) -> Result {
        let status = self.process.wait()?;
        print!("{}", String::from_utf8_lossy(&std::fs::read(&self.log)?));
        if status.success() { Ok(()) } else { Err(format!("{}: {status}", self.name).into()) }
    }
}

/// Runs a step, and prints its duration.
pub(crate) fn step(name: &str, run: impl FnOnce() -> Result) -> Result {
    println!("\n== {name}");
    let begun = Instant::now();
    run().map_err(|error| format!("{name}: {error}"))?;
    println!("== {name}: {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
