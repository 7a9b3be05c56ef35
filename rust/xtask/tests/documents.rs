//! Checks the documents: their length, their sentences, and that the named files exist.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the documents that git tracks or would add, with their texts.
fn documents() -> Vec<(PathBuf, String)> {
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let list =
        cmd!(sh, "git ls-files --cached --others --exclude-standard *.md").quiet().read().unwrap();
    let texts = list.lines().map(|file| {
        let file = root().join(file);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        (file, text)
    });
    texts.collect()
}

#[test]
fn a_reader_gets_through_the_first_documents() {
    for (file, max_lines) in [("README.md", 120), ("ARCHITECTURE.md", 250), ("SECURITY.md", 40)] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let lines = text.lines().count();
        assert!(lines <= max_lines, "{file} has {lines} lines, more than {max_lines}");
    }
}

/// Returns the average number of words per sentence, without code, tables and headings.
fn mean_sentence(text: &str) -> usize {
    let mut in_code = false;
    let prose: String = text
        .lines()
        .filter(|line| {
            in_code ^= line.starts_with("```");
            !in_code && !line.starts_with(['#', '|', '`', '<', '!'])
        })
        // A list item ends a sentence.
        .map(|line| {
            if line.starts_with("- ") || line.is_empty() { ". " } else { " " }.to_owned() + line
        })
        .collect();
    let sentences =
        prose.split(['.', '!', '?', ':']).map(|sentence| sentence.split_whitespace().count());
    let sentences: Vec<_> = sentences.filter(|words| *words > 2).collect();
    let words: usize = sentences.iter().sum();
    words / sentences.len().max(1)
}

#[test]
fn sentences_are_short() {
    for (file, text) in documents() {
        let words = mean_sentence(&text);
        assert!(words <= 17, "{}: {words} words per sentence on average", file.display());
    }
}

#[test]
fn links_between_documents_lead_to_files() {
    for (file, text) in documents() {
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if target.is_empty()
                || target.starts_with("http")
                || target.contains(char::is_whitespace)
            {
                continue;
            }
            let path = file.parent().unwrap().join(target);
            assert!(path.exists(), "{} links to {target}", file.display());
        }
    }
}

/// Recipes and tables name files and folders relative to the root of the repository.
#[test]
fn paths_in_the_architecture_exist() {
    let folders = ["rust/", "plugin-kotlin/", "editors/", "e2e/", "docs/", "extension/", "tools/"];
    let mut paths = 0;
    for (file, text) in documents() {
        let name = file.strip_prefix(root()).unwrap();
        if name != Path::new("ARCHITECTURE.md") && !name.starts_with("docs/architecture") {
            continue;
        }
        for code in text.split('`').skip(1).step_by(2) {
            let is_path = folders.iter().any(|folder| code.starts_with(folder));
            if is_path && !code.contains(char::is_whitespace) {
                assert!(root().join(code).exists(), "{} names {code}", name.display());
                paths += 1;
            }
        }
    }
    assert!(paths > 50, "only {paths} paths were found");
}
