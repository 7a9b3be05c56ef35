//! Checks the capitals of the JetBrains plugin's texts by JetBrains' guidelines: titles of actions
//! have them in each word, links and actions of notifications only in the first one.

use std::collections::BTreeMap;

use xshell::{Shell, cmd};

use crate::common::root;

/// Words that have a capital anywhere.
const NAMES: [&str; 6] = ["CLI", "Gemini", "Qwen", "IDE", "Local", "History"];

/// Links whose keys reach their components by a variable.
const LINKS: [&str; 8] = [
    "diff.back.show",
    "diff.show",
    "diff.previous",
    "diff.next",
    "diff.changed.show",
    "diff.reject.reason",
    "diff.apply",
    "diff.close",
];

/// Returns the texts of the bundle by their keys.
fn bundle() -> BTreeMap<String, String> {
    let file = "plugin-kotlin/src/main/resources/messages/CompanionBundle.properties";
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let texts = lines.filter_map(|line| line.split_once('='));
    let plain = |text: &str| text.replace("\\u2019", "’").replace("\\u2026", "…").replace('&', "");
    texts.map(|(key, text)| (key.to_owned(), plain(text))).collect()
}

/// Returns the keys of texts that the plugin's code gives to links and to actions of notifications.
fn keys_of_links() -> Vec<String> {
    const MAKERS: [&str; 6] = [
        "createActionLabel(",
        "NotificationAction.createSimple(",
        "LinkLabel.create(",
        "link(",
        "decision(",
        "switch(",
    ];
    let sh = Shell::new().unwrap();
    sh.change_dir(root());
    let files = cmd!(sh, "git ls-files plugin-kotlin/src/main/*.kt").quiet().read().unwrap();
    let mut keys: Vec<_> = LINKS.map(str::to_owned).into();
    for file in files.lines() {
        let code = std::fs::read_to_string(root().join(file)).unwrap();
        for maker in MAKERS {
            for call in code.split(maker).skip(1) {
                // Up to the block that runs when the user clicks.
                let arguments = call.split('{').next().unwrap();
                if !arguments.trim_start().starts_with(['m', '"']) {
                    continue;
                }
                let literals = arguments.split('"').skip(1).step_by(2);
                keys.extend(literals.map(str::to_owned));
            }
        }
    }
    keys
}

/// Returns the words of a text that decide about capitals.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"{},’'".contains(c));
    words.filter(|word| word.starts_with(char::is_alphabetic)).collect()
}

#[test]
fn links_and_actions_of_notifications_have_sentence_case() {
    let bundle = bundle();
    let mut links = 0;
    for key in keys_of_links() {
        // A link that names an action has the action's title.
        let Some(text) = bundle.get(&key).filter(|_| !key.starts_with("action.")) else { continue };
        let words = words(text);
        for word in words.iter().skip(1) {
            let is_lower = word.starts_with(char::is_lowercase) || NAMES.contains(word);
            assert!(is_lower, "{key}: {text} (the text of a link has no capital in {word})");
        }
        links += 1;
    }
    assert!(links > 20, "only {links} links were found");
}

#[test]
fn titles_of_actions_have_title_case() {
    // The small words of the platform's own check of titles (`StringUtil`).
    const SMALL: [&str; 28] = [
        "a", "an", "and", "as", "at", "by", "down", "for", "from", "if", "in", "into", "not", "of",
        "on", "onto", "or", "out", "over", "per", "nor", "the", "to", "up", "upon", "via", "with",
        "but",
    ];
    let mut titles = 0;
    for (key, text) in bundle() {
        let name = key.strip_prefix("action.");
        if name.and_then(|name| name.strip_suffix(".text")).is_none() {
            continue;
        }
        for word in words(&text) {
            let is_title = word.starts_with(char::is_uppercase) || SMALL.contains(&word);
            assert!(is_title, "{key}: {text} (the title of an action has a capital in {word})");
        }
        titles += 1;
    }
    assert!(titles > 15, "only {titles} titles were found");
}
