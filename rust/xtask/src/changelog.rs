//! Reads the section of the released version from CHANGELOG.md.

use xshell::Shell;

use crate::Result;

/// Returns the section of the version, if `tag` is the version's tag.
pub(crate) fn notes(sh: &Shell, tag: &str) -> Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    if tag != format!("v{version}") {
        return Err(format!("the version is {version}, the tag {tag}").into());
    }
    let notes = section(&sh.read_file("CHANGELOG.md")?, version).map(str::to_owned);
    Ok(notes.ok_or_else(|| format!("CHANGELOG.md has no section {version}"))?)
}

/// Returns the text below the heading of a version. The heading may be a link and have a date.
fn section<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let sections = changelog.split("\n## ").skip(1);
    sections.into_iter().find_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        let name = heading.trim_start_matches('[').split([']', ' ']).next()?;
        (name == version && !text.trim().is_empty()).then_some(text.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_version_has_the_text_below_its_heading() {
        let changelog = "# Changelog\n\n## Unreleased\n\n- c\n\n## [1.10.0] - 2026-01-02\n\n### Added\n\n- b\n\n## 1.1.0\n\n- a\n\n## 1.0.0\n";
        assert_eq!(section(changelog, "1.10.0"), Some("### Added\n\n- b"));
        assert_eq!(section(changelog, "1.1.0"), Some("- a"));
        assert_eq!(section(changelog, "1.0.0"), None, "nothing is said of it");
        assert_eq!(section(changelog, "1.1"), None);
    }
}
