//! The plugin as it is released, as far as that can be checked where it can't be built.
//!
//! What is checked, and against what, says `tools/current-api/README.md`.

use xshell::{Shell, cmd};

use crate::{Result, kotlin, platform};

const TOOL: &str = "tools/current-api";
const OUTPUT: &str = "target/current-api";
const MEMBERS: &str = "plugin-kotlin/platform-members.txt";

/// Compiles it, and looks at what it refers to in the platform.
pub(crate) fn test(sh: &Shell) -> Result {
    let home = platform::platform(sh)?;
    sh.remove_path(OUTPUT)?;
    kotlin::maven(sh, &format!("{TOOL}/pom.xml"), &["compile"])?;
    Ok(cmd!(sh, "python3 {TOOL}/members.py {OUTPUT}/classes {home} {MEMBERS}").run()?)
}
