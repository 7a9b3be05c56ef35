//! `cargo xtask test`: everything that CI checks, in the order in which it is quick to fail.

use std::time::Instant;

use xshell::{Shell, cmd};

use crate::dist::npm;
use crate::{Result, check_libraries, current_api, e2e, kotlin, platform, tools, workflows};

/// What every system can run: Rust, and the program with the real client.
pub(crate) fn test_portable(sh: &Shell) -> Result {
    // These commands are for Debian, but for the few that this one is made of.
    let others = if cfg!(windows) { &["--exclude", "xtask"][..] } else { &[] };
    step("Rust tests", || {
        Ok(cmd!(sh, "cargo test --quiet --workspace {others...} --locked").run()?)
    })?;
    step("the real client", || e2e::test_released(sh, &e2e::build(sh)?))
}

pub(crate) fn test(sh: &Shell, long: bool) -> Result {
    // All runners of tests hand it on.
    let _long = sh.push_env("COMPANION_TEST_LONG", if long { "1" } else { "" });
    step("formatting", || Ok(cmd!(sh, "cargo fmt --all --check").run()?))?;
    step("lints", || {
        let lint =
            cmd!(sh, "cargo clippy --quiet --workspace --all-targets --all-features --locked");
        Ok(lint.args(["--", "-D", "warnings"]).run()?)
    })?;
    step("licences, sources, duplicates", || {
        let deny = tools::cargo_deny(sh)?;
        Ok(cmd!(sh, "{deny} --log-level error check licenses bans sources").run()?)
    })?;
    step("workflows", || workflows::lint(sh))?;
    step("the plugin for Neovim", || {
        let stylua = tools::stylua(sh)?;
        let _dir = sh.push_dir("editors/nvim");
        cmd!(sh, "{stylua} --check .").run()?;
        Ok(cmd!(sh, "luacheck --quiet --no-color .").run()?)
    })?;
    step("Rust tests", || Ok(cmd!(sh, "cargo test --quiet --workspace --locked").run()?))?;
    let built = sh.current_dir().join("target/dist/native");
    if built.exists() {
        step("the libraries that dist has built", || {
            check_libraries(&built, false)
                .map_err(|why| format!("{why}; build them again, or remove target/dist").into())
        })?;
    }
    step("the platform", || platform::build(sh))?;
    step("Kotlin", || kotlin::test(sh))?;
    step("the plugin on today's platform", || current_api::test(sh))?;
    step("the real client", || e2e::test(sh))?;
    step("the packages for npm", || npm::test(sh))?;
    step("the real client, with the server in a JVM", || e2e::test_on_jvm(sh))?;
    step("the real client, in a window of the IDE", || e2e::test_in_window(sh))?;
    println!("\nAll checks passed.");
    Ok(())
}

/// Runs a step, and says how long it took.
pub(crate) fn step(name: &str, run: impl FnOnce() -> Result) -> Result {
    println!("\n== {name}");
    let begun = Instant::now();
    run().map_err(|error| format!("{name}: {error}"))?;
    println!("== {name}: {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
