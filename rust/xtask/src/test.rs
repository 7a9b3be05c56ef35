//! Runs all checks of CI, the quick ones first (`cargo xtask test`).

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
    let mut count = 0;
    let mut step = |name: &str, run: &mut dyn FnMut() -> Result| {
        if only.is_none_or(|only| name.contains(only)) {
            count += 1;
            self::step(name, run)
        } else {
            Ok(())
        }
    };
    // All test runners pass it on.
    let _long = sh.push_env("COMPANION_TEST_LONG", if long { "1" } else { "" });
    step("formatting", &mut || Ok(cmd!(sh, "cargo fmt --all --check").run()?))?;
    step("lints", &mut || {
        let lint =
            cmd!(sh, "cargo clippy --quiet --workspace --all-targets --all-features --locked");
        Ok(lint.args(["--", "-D", "warnings"]).run()?)
    })?;
    step("licences, sources, duplicates", &mut || {
        let deny = tools::cargo_deny(sh)?;
        Ok(cmd!(sh, "{deny} --log-level error check licenses bans sources").run()?)
    })?;
    step("workflows", &mut || workflows::lint(sh))?;
    step("the plugin for Neovim", &mut || {
        let (stylua, emmylua) = (tools::stylua(sh)?, tools::emmylua_check(sh)?);
        let _dir = sh.push_dir("editors/nvim");
        cmd!(sh, "{stylua} --check .").run()?;
        let _runtime = sh.push_env("VIMRUNTIME", e2e::neovim_runtime(sh)?);
        cmd!(sh, "{emmylua} --warnings-as-errors .").run()?;
        Ok(cmd!(sh, "luacheck --quiet --no-color .").run()?)
    })?;
    step("Rust tests", &mut || Ok(cmd!(sh, "cargo test --quiet --workspace --locked").run()?))?;
    let built = sh.current_dir().join("target/dist/native");
    if built.exists() {
        step("the libraries that dist has built", &mut || {
            check_libraries(&built, false)
                .map_err(|why| format!("{why}; build them again, or remove target/dist").into())
        })?;
    }
    step("the platform", &mut || platform::build(sh))?;
    step("Kotlin", &mut || kotlin::test(sh))?;
    step("the plugin on today's platform", &mut || current_api::test(sh))?;
    step("the real client", &mut || e2e::test(sh))?;
    step("the quick demo", &mut || e2e::quick_demo(sh))?;
    step("the packages for npm", &mut || npm::test(sh))?;
    step("the real client, with the server in a JVM", &mut || e2e::test_on_jvm(sh))?;
    step("the real client, in a window of the IDE", &mut || e2e::test_in_window(sh))?;
    match only {
        Some(only) if count == 0 => Err(format!("no step is called {only:?}").into()),
        Some(_) => Ok(()),
        None => {
            println!("\nAll checks passed.");
            Ok(())
        }
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
