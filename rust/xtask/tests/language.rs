//! Counts words that make a sentence need a second reading, in comments and documents.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

/// The most hits in 1,000 words.
const MAX_PER_1000: usize = 1;

/// Returns whether the word at an index is a hit.
type IsHit = fn(words: &[&str], at: usize) -> bool;

/// The kinds of words, by their names in a message.
const KINDS: [(&str, IsHit); 3] = [
    ("`what` and the like as a noun", |words, at| {
        matches!(words[at], "what" | "whatever" | "whoever" | "whomever")
    }),
    ("tell, told", |words, at| matches!(words[at], "tell" | "tells" | "told" | "telling")),
    ("in which, of which, …", |words, at| {
        const PREPOSITIONS: [&str; 12] =
            ["in", "of", "by", "to", "from", "for", "with", "on", "at", "under", "after", "below"];
        words[at] == "which" && at > 0 && PREPOSITIONS.contains(&words[at - 1])
    }),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn extension(file: &str) -> &str {
    file.rsplit('.').next().unwrap_or_default()
}

/// Returns the comments of a source file, or a document without its code.
fn prose(file: &str, text: &str) -> String {
    let marks: &[&str] = match extension(file) {
        "md" => return without_code(text),
        "lua" => &["--"],
        "rs" | "kt" | "kts" | "java" | "mjs" => &["//", "/*", "*"],
        _ => return String::new(),
    };
    let comments = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let trailing = line.split_once(" // ").map(|(_, comment)| comment);
        marks.iter().find_map(|mark| line.strip_prefix(mark)).or(trailing)
    });
    without_code(&comments.collect::<Vec<_>>().join("\n"))
}

/// Returns a text without code blocks and without code in backticks.
fn without_code(text: &str) -> String {
    let outside =
        |text: &str, fence: &str| text.split(fence).step_by(2).collect::<Vec<_>>().join(" X ");
    outside(&outside(text, "```"), "`")
}

/// Returns the project's files and their texts.
fn texts() -> Vec<(String, String)> {
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let list = cmd!(sh, "git ls-files --cached --others --exclude-standard").quiet().read();
    let files = list.unwrap();
    let text =
        |file: &str| Some((file.to_owned(), std::fs::read_to_string(root().join(file)).ok()?));
    files.lines().filter_map(text).collect()
}

#[test]
fn comments_and_documents_are_plain() {
    let mut words_in_all = 0;
    let mut hits = vec![Vec::new(); KINDS.len()];
    for (file, text) in texts() {
        let prose = prose(&file, &text).to_lowercase();
        let words: Vec<_> = prose
            .split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’')
            .filter(|word| !word.is_empty())
            .collect();
        words_in_all += words.len();
        for ((_, is_hit), hits) in KINDS.iter().zip(&mut hits) {
            hits.extend((0..words.len()).filter(|at| is_hit(&words, *at)).map(|_| file.clone()));
        }
    }
    assert!(words_in_all > 10_000, "only {words_in_all} words were found");
    for ((kind, _), hits) in KINDS.iter().zip(hits) {
        let most = words_in_all * MAX_PER_1000 / 1000;
        assert!(hits.len() <= most, "{kind}: {} in {words_in_all} words: {hits:#?}", hits.len());
    }
}
