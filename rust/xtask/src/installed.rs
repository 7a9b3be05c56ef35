//! Reads name, build and launcher of an installed IDE.

use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::Shell;

use crate::Result;

/// The oldest branch that the plugin runs on: 2024.2.
const OLDEST: u32 = 242;

/// The branch of the platform that the tests build.
const TESTED: u32 = 183;

/// An IDE in its home folder.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) home: PathBuf,
    /// For example "`WebStorm` 2024.2.1, build 242.21829.149".
    pub(crate) name: String,
    branch: u32,
    /// The program that starts it; `None` for the platform of 2018.3.
    pub(crate) launcher: Option<PathBuf>,
    /// The prefix of its environment variables.
    pub(crate) variable: String,
}

impl Installed {
    /// # Errors
    /// If `home` has no IDE, or one that the plugin does not support.
    pub(crate) fn read(sh: &Shell, home: &Path) -> Result<Self> {
        let mac = home.join("Contents/Resources");
        let folder = if mac.exists() { mac } else { home.to_path_buf() };
        let file = folder.join("product-info.json");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (product, build, launcher, variable) = if file.exists() {
            let info: Value = serde_json::from_str(&sh.read_file(&file)?)
                .map_err(|error| format!("{} can't be read: {error}", file.display()))?;
            let missing = |field| format!("{} has no {field}", file.display());
            let launcher = text(&info["launch"][0]["launcherPath"]);
            let launcher = launcher.ok_or_else(|| missing("launcherPath"))?;
            let build = text(&info["buildNumber"]).ok_or_else(|| missing("buildNumber"))?;
            let names =
                [&info["name"], &info["version"]].map(|name| text(name).unwrap_or_default());
            let variable = text(&info["envVarBaseName"]).unwrap_or_else(|| "IDEA".to_owned());
            (names.join(" "), build, Some(folder.join(launcher)), variable)
        } else {
            let build = sh.read_file(home.join("build.txt")).map_err(|_| {
                format!("{} is not the home of an IDE: it has no product-info.json", home.display())
            })?;
            let build = build.trim().rsplit('-').next().unwrap_or_default().to_owned();
            ("IntelliJ Platform".to_owned(), build, None, "IDEA".to_owned())
        };
        let branch = build.split('.').next().and_then(|branch| branch.parse().ok());
        let branch = branch.ok_or_else(|| format!("{build} is not the number of a build"))?;
        if branch < OLDEST && branch != TESTED {
            return Err(
                format!("{product}, build {build}, is too old: take 2024.2 or newer").into()
            );
        }
        let name = format!("{product}, build {build}");
        Ok(Self { home: home.to_owned(), name, branch, launcher, variable })
    }

    /// Returns whether it is the platform that the tests build.
    pub(crate) fn is_tested_platform(&self) -> bool {
        self.branch == TESTED
    }

    /// Returns the jars of the platform and of its terminal.
    pub(crate) fn jars(&self, sh: &Shell) -> Result<Vec<PathBuf>> {
        let contents = self.home.join("Contents");
        let root = if contents.exists() { &contents } else { &self.home };
        let folders =
            ["lib", "lib/modules", "plugins/terminal/lib", "plugins/terminal/lib/modules"];
        let mut jars = Vec::new();
        for folder in folders.map(|folder| root.join(folder)) {
            if folder.exists() {
                jars.extend(sh.read_dir(folder)?);
            }
        }
        jars.retain(|file| file.extension() == Some("jar".as_ref()));
        Ok(jars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a home with this file. Returns the message of an error.
    fn read(name: &str, text: &str) -> std::result::Result<Installed, String> {
        let sh = Shell::new().expect("there is a current folder");
        let home = sh.create_temp_dir().expect("there is space");
        sh.write_file(home.path().join(name), text).expect("there is space");
        Installed::read(&sh, home.path()).map_err(|error| error.to_string())
    }

    fn info(build: &str) -> String {
        format!(
            r#"{{"name": "WebStorm", "version": "2024.2.1", "buildNumber": "{build}",
                "envVarBaseName": "WEBIDE", "launch": [{{"launcherPath": "bin/webstorm"}}]}}"#
        )
    }

    #[test]
    fn an_ide_says_its_name_its_launcher_and_its_variable() {
        for folder in ["", "Contents/Resources/"] {
            let file = format!("{folder}product-info.json");
            let ide = read(&file, &info("242.21829.149")).expect("it is an IDE");
            assert_eq!(ide.name, "WebStorm 2024.2.1, build 242.21829.149");
            assert!(
                ide.launcher.is_some_and(|file| file.ends_with(format!("{folder}bin/webstorm")))
            );
            assert_eq!(ide.variable, "WEBIDE");
        }
        let ide = read("build.txt", "IC-183.5153.4\n").expect("it is the platform of the tests");
        assert!(ide.is_tested_platform());
        assert_eq!(ide.name, "IntelliJ Platform, build 183.5153.4");
    }

    #[test]
    fn other_folders_are_refused_with_a_sentence() {
        let too_old = "WebStorm 2024.2.1, build 233.1.2, is too old: take 2024.2 or newer";
        for (name, text, expected) in [
            ("other.txt", "", "is not the home of an IDE: it has no product-info.json"),
            ("product-info.json", &*info("233.1.2"), too_old),
            ("product-info.json", "{}", "product-info.json has no launcherPath"),
            ("product-info.json", "{", "product-info.json can't be read: "),
            ("product-info.json", &*info("x"), "x is not the number of a build"),
        ] {
            let refusal = read(name, text).expect_err("it is none");
            assert!(refusal.contains(expected), "{refusal}");
        }
    }
}
