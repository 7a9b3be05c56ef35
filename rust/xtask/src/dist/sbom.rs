//! Lists the parts of the program and the library (SBOM), in the format of `CycloneDX`.

use std::path::Path;

use xshell::{Shell, cmd};

use super::VERSION;
use crate::{Result, tools};

/// Writes one file for each of them. The plugin contains only the library and its own classes.
pub(super) fn write(sh: &Shell, to: &Path) -> Result {
    let cyclonedx = tools::cargo_tool(sh, "cargo-cyclonedx", "0.5.9")?;
    for (package, name) in
        [("companion-cli", "gemini-companion"), ("companion-jni", "companion-jni")]
    {
        let manifest = format!("rust/{package}/Cargo.toml");
        // The tool writes a file next to each manifest. `--target all` includes the dependencies
        // for all systems.
        let made = "sbom-in-the-making";
        let options = ["--quiet", "--format", "json", "--spec-version", "1.5", "--target", "all"];
        cmd!(sh, "{cyclonedx} cyclonedx {options...} --manifest-path {manifest}")
            .args(["--override-filename", made])
            .env("SOURCE_DATE_EPOCH", super::source_date(sh)?)
            .run()?;
        let mut sbom = None;
        for krate in sh.read_dir("rust")? {
            let file = krate.join(format!("{made}.json"));
            if file.exists() {
                if krate.ends_with(package) {
                    sbom = Some(sh.read_file(&file)?);
                }
                sh.remove_path(file)?;
            }
        }
        let sbom = sbom.ok_or_else(|| format!("cargo cyclonedx has said nothing of {package}"))?;
        // Removes the path of the sources, which is private and differs between machines.
        let here = format!("path+file://{}", sh.current_dir().display());
        let sbom = sbom.replace(&here, "path+file://");
        sh.write_file(to.join(format!("{name}-{VERSION}.cdx.json")), sbom)?;
    }
    Ok(())
}
