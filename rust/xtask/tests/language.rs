//! Finds words that make a sentence need a second reading, in documents, comments and texts.

use xshell::{Shell, cmd};

use crate::common::root;

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

/// Further kinds. Texts of the products have none of these, and none of [`KINDS`].
const KINDS_IN_TEXTS: [(&str, IsHit); 2] = [
    ("is none of, is no, nobody", |words, at| {
        let before = at.checked_sub(1).map(|at| words[at]);
        words[at] == "nobody"
            || words[at] == "none" && before == Some("is") && words.get(at + 1) == Some(&"of")
            || words[at] == "no" && before == Some("is") && !asserts_absence(words, at)
    }),
    ("anew, but for", |words, at| {
        words[at] == "anew" || words[at] == "but" && words.get(at + 1) == Some(&"for")
    }),
];

/// Words that no file has, neither in a sentence nor in a name. A message is sent and received.
const FORBIDDEN: [&str; 8] =
    ["hear", "heard", "hearing", "hears", "tell", "telling", "tells", "told"];

/// The file with the words themselves, and one whose change would build the test platform again.
const EXCEPTIONS: [&str; 2] =
    ["rust/xtask/tests/language.rs", "tools/platform183/check/PlatformCheck.java"];

/// Returns whether `is no` has the usual meaning: "there is no", "is no longer".
fn asserts_absence(words: &[&str], at: usize) -> bool {
    words.get(at + 1) == Some(&"longer") || at > 1 && words[at - 2] == "there"
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

/// Returns the texts of a product's file that users and models read: the values of a bundle, a help, a
/// user's document, a plugin's description, or the string literals of a source file.
fn product_texts(file: &str, text: &str) -> Vec<String> {
    const PRODUCTS: [&str; 13] = [
        "editors/",
        "extension/",
        "npm/",
        "plugin-kotlin/src/current/",
        "plugin-kotlin/src/main/",
        "rust/companion-cli/src/",
        "rust/companion-client/src/",
        "rust/companion-core/src/",
        "rust/companion-jni/src/",
        "rust/companion-platform/src/",
        "rust/companion-protocol/src/",
        "rust/companion-server/src/",
        "rust/companion-setup/src/",
    ];
    // The manuals of users, without the page for developers of editors.
    let is_manual = file == "README.md"
        || file != "docs/editor-protocol.md"
            && file.strip_prefix("docs/").is_some_and(|name| !name.contains('/'));
    match extension(file) {
        "md" if is_manual => return vec![without_code(text)],
        // The help of the program, whose source is doc comments.
        "snap" if file.ends_with("help.snap") => return vec![without_placeholders(text)],
        _ => {}
    }
    let is_test = ["/tests/", "tests.rs", "fuzz", "/snapshots/"];
    let is_product = PRODUCTS.iter().any(|product| file.starts_with(product));
    if !is_product || is_test.iter().any(|part| file.contains(part)) {
        return Vec::new();
    }
    match extension(file) {
        "properties" => {
            let values = text.lines().filter(|line| !line.starts_with('#'));
            values.filter_map(|line| Some(line.split_once('=')?.1.to_owned())).collect()
        }
        "txt" => vec![without_placeholders(&without_code(text))],
        "md" => vec![without_code(text)],
        "xml" => vec![text.split_once("<description>").map_or("", |(_, rest)| rest).to_owned()],
        "lua" => literals(text, "--", &['"', '\'']),
        "json" | "kt" => literals(text, "//", &['"']),
        "rs" => literals(text.split("#[cfg(test)]\nmod").next().unwrap(), "//", &['"']),
        _ => Vec::new(),
    }
}

/// Returns the string literals of a source file, without their placeholders.
fn literals(text: &str, comment: &str, quotes: &[char]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c| quotes.contains(&c) || comment.starts_with(c)) {
        let from_here = &rest[at..];
        let first = from_here.chars().next().unwrap();
        if from_here.starts_with(comment) {
            rest = from_here.split_once('\n').map_or("", |(_, next)| next);
        } else if !quotes.contains(&first) {
            rest = &from_here[first.len_utf8()..];
        } else if rest[..at].ends_with(['\'', '\\']) && first == '"' {
            // The character `'"'`.
            rest = &from_here[1..];
        } else {
            let is_raw = comment == "//" && rest[..at].ends_with(['r', '#']);
            let end = end_of_literal(&from_here[1..], first, is_raw);
            found.push(without_placeholders(&from_here[1..=end]));
            rest = &from_here[(end + 2).min(from_here.len())..];
        }
    }
    found
}

/// Returns the length of a literal whose opening quote was read.
fn end_of_literal(text: &str, quote: char, is_raw: bool) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return at;
        }
        is_escaped = c == '\\' && !is_escaped && !is_raw;
    }
    text.len()
}

/// Replaces `{name}` and `$name` by a word, and escapes such as `\n` by a space.
fn without_placeholders(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = literal;
    while let Some(at) = rest.find(['{', '$', '\\']) {
        text.push_str(&rest[..at]);
        let from_here = &rest[at..];
        text.push_str(if from_here.starts_with('\\') { " " } else { "x" });
        let end = match from_here.as_bytes()[0] {
            b'{' => from_here.find('}').map_or(1, |end| end + 1),
            b'\\' => 1 + from_here[1..].chars().next().map_or(0, char::len_utf8),
            _ => from_here[1..].find(|c: char| !c.is_alphanumeric()).map_or(1, |end| end + 1),
        };
        rest = &from_here[end..];
    }
    text + rest
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

#[test]
fn texts_of_the_products_are_plain() {
    let mut words_in_all = 0;
    let mut failures = Vec::new();
    for (file, text) in texts() {
        for text in product_texts(&file, &text) {
            // A literal without a space is a name, and not a text.
            if !text.trim().contains(' ') {
                continue;
            }
            let text = text.to_lowercase();
            let words = words(&text);
            words_in_all += words.len();
            for (kind, is_hit) in KINDS.iter().chain(&KINDS_IN_TEXTS) {
                if let Some(at) = (0..words.len()).find(|at| is_hit(&words, *at)) {
                    let near = words[at.saturating_sub(4)..(at + 4).min(words.len())].join(" ");
                    failures.push(format!("{file}: {kind}: … {near} …"));
                }
            }
        }
    }
    assert!(words_in_all > 10_000, "only {words_in_all} words were found");
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn literals_are_found_in_source_files() {
    let rust = r#"// "no"
let quote = '"'; say("it {name} a\n\"b\""); // "no"
say("two \
    lines");"#;
    assert_eq!(literals(rust, "//", &['"']), ["it x a  b ", "two      lines"]);
    let lua = "-- 'no'\nsay('a \"b\"', \"it's\")";
    assert_eq!(literals(lua, "--", &['"', '\'']), ["a \"b\"", "it's"]);
    assert_eq!(literals("\"a $name b\"", "//", &['"']), ["a x b"]);
}
