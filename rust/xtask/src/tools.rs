//! Programs that the checks need and cargo does not bring.

use std::path::PathBuf;

use xshell::{Shell, cmd};

use crate::Result;

const CARGO_DENY: &str = "0.20.2";

/// cargo-deny, installed at first need into a cache outside the checkout.
pub(crate) fn cargo_deny(sh: &Shell) -> Result<PathBuf> {
    let root = cache_dir()?.join(format!("cargo-deny-{CARGO_DENY}"));
    let program = root.join("bin").join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        println!("installing cargo-deny {CARGO_DENY} into {}", root.display());
        let package = format!("cargo-deny@{CARGO_DENY}");
        cmd!(sh, "cargo install --quiet --locked {package} --root {root}").run()?;
    }
    Ok(program)
}

/// Where cargo builds.
pub(crate) fn target_dir(sh: &Shell) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    sh.current_dir().join(target)
}

/// Where downloads and builds that outlive a checkout are kept.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cache"));
    let cache = cache.or(home).ok_or("neither XDG_CACHE_HOME nor a home directory is known")?;
    Ok(cache.join("companion-for-gemini-cli"))
}
