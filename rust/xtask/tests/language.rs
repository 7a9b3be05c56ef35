//! Finds words that make a sentence need a second reading, in documents and comments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

/// A file may have two hits of each kind, and one more in each 500 words.
const MAX_PER_FILE: usize = 2;
const WORDS_PER_HIT: usize = 500;

/// Returns whether the word at an index is a hit.
type IsHit = fn(words: &[&str], at: usize) -> bool;

/// The kinds of words, by their names in a message. Comments and documents have few of them.
const KINDS: [(&str, IsHit); 2] = [
    ("`what` and the like as a noun", |words, at| {
        // "It says what is kept" is an indirect question, and "what to do" is plain.
        const ASKING: [&str; 7] = ["say", "says", "show", "shows", "see", "know", "knows"];
        let is_question = at > 0 && ASKING.contains(&words[at - 1])
            || words.get(at + 1).is_some_and(|next| matches!(*next, "to" | "happens"));
        matches!(words[at], "what" | "whatever" | "whoever" | "whomever") && !is_question
    }),
    ("in which, of which, …", |words, at| {
        const PREPOSITIONS: [&str; 12] =
            ["in", "of", "by", "to", "from", "for", "with", "on", "at", "under", "after", "below"];
        words[at] == "which" && at > 0 && PREPOSITIONS.contains(&words[at - 1])
    }),
];

/// Words that no file has, neither in a sentence nor in a name. A message is sent and received.
const FORBIDDEN: [&str; 8] =
    ["hear", "heard", "hearing", "hears", "tell", "telling", "tells", "told"];

/// The file with the words themselves, and one whose change would build the test platform again.
const EXCEPTIONS: [&str; 2] =
    ["rust/xtask/tests/language.rs", "tools/platform183/check/PlatformCheck.java"];

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

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '’');
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the words of sentences and names, in lower case. `isSent` and `is_sent` have two each.
fn parts_of_names(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut last = ' ';
    for c in text.chars() {
        let is_next = !c.is_alphabetic() || c.is_uppercase() && last.is_lowercase();
        if is_next && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if c.is_alphabetic() {
            parts.last_mut().unwrap().extend(c.to_lowercase());
        }
        last = c;
    }
    parts
}

#[test]
fn no_name_and_no_sentence_has_a_forbidden_word() {
    let mut failures = Vec::new();
    for (file, text) in texts() {
        if EXCEPTIONS.contains(&file.as_str()) {
            continue;
        }
        let mut lines = vec![(0, file.as_str())];
        lines.extend((1..).zip(text.lines()));
        for (number, line) in lines {
            let parts = parts_of_names(line);
            if let Some(word) = FORBIDDEN.iter().find(|word| parts.iter().any(|part| part == *word))
            {
                failures.push(format!("{file}:{number}: {word}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_name_has_several_words() {
    let names = "notYetSent, is_shown; IDEHas NOT_READ 'open'";
    let words = ["not", "yet", "sent", "is", "shown", "idehas", "not", "read", "open"];
    let parts = parts_of_names(names);
    assert_eq!(parts[..words.len()], words);
}

#[test]
fn comments_and_documents_are_plain() {
    let mut words_in_all = 0;
    let mut failures = Vec::new();
    for (file, text) in texts() {
        let prose = prose(&file, &text).to_lowercase();
        let words = words(&prose);
        words_in_all += words.len();
        let most = MAX_PER_FILE + words.len() / WORDS_PER_HIT;
        for (kind, is_hit) in KINDS {
            let hits = (0..words.len()).filter(|at| is_hit(&words, *at)).count();
            if hits > most {
                failures.push(format!("{file}: {kind}: {hits} in {} words", words.len()));
            }
        }
    }
    assert!(words_in_all > 10_000, "only {words_in_all} words were found");
    assert!(failures.is_empty(), "{failures:#?}");
}
