//! Finds words that make a reader think of people where a message is meant.

use crate::common::files;

/// Words that no file has, neither in a sentence nor in a name. A message is sent and received.
const FORBIDDEN: [&str; 8] =
    ["hear", "heard", "hearing", "hears", "tell", "telling", "tells", "told"];

/// The file with the words themselves, and one whose change would build the test platform again.
const EXCEPTIONS: [&str; 2] =
    ["rust/xtask/tests/language.rs", "tools/platform183/check/PlatformCheck.java"];

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
    for (file, text) in files(&[""]) {
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
