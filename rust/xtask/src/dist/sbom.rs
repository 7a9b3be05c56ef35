//! Lists the parts of the program and the library (SBOM), in the format of `CycloneDX`.

use std::path::Path;

use xshell::{Shell, cmd};

use super::VERSION;
use crate::{Result, tools};

/// Writes one for each of them. The plugin has nothing but the library and our own classes.
pub(super) fn write(sh: &Shell, to: &Path) -> Result {
    let cyclonedx = tools::cargo_cyclonedx(sh)?;
    for (package, name) in
        [("companion-cli", "gemini-companion"), ("companion-jni", "companion-jni")]
    {
        let manifest = format!("rust/{package}/Cargo.toml");
        // Beside each manifest below this one; `--target all` covers the needs of any system.
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
        // Where the sources lie here is nobody's matter, and would make each machine's another.
        let here = format!("path+file://{}", sh.current_dir().display());
        let sbom = sbom.replace(&here, "path+file://");
        sh.write_file(to.join(format!("{name}-{VERSION}.cdx.json")), sbom)?;
    }
    Ok(())
}
