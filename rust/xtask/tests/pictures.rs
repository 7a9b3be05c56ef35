//! Checks the pictures of the documents: each is used, and shows no text that has changed since.
//! `cargo xtask demo --screenshots` renews them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::common::root;

/// The texts of the plugins that a picture shows, by their source file.
type ShownTexts = BTreeMap<String, Vec<String>>;

const DOCUMENTS: [&str; 3] = ["README.md", "docs/jetbrains.md", "editors/nvim/README.md"];

/// GitHub shows larger ones slowly or not at all.
const MAX_SIZE: u64 = 1_000_000;

fn shown_texts() -> BTreeMap<String, ShownTexts> {
    let file = root().join("docs/screenshots/texts.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Returns the names of the pictures, without their theme and extension.
fn pictures() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in fs::read_dir(root().join("docs/screenshots")).unwrap() {
        let path = file.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|extension| extension != "json") {
            let size = path.metadata().unwrap().len();
            assert!(size < MAX_SIZE, "{} has {size} bytes", path.display());
            names.insert(stem.trim_end_matches("-dark").to_owned());
        }
    }
    names
}

/// Returns the text of a line of the bundle as the picture shows it. If several keys have it, the picture may show
/// any of them.
fn value(line: &str) -> String {
    let (_, value) = line.split_once('=').unwrap();
    value.replace(['&', '_'], "")
}

#[test]
fn the_texts_in_pictures_have_not_changed() {
    let mut texts = 0;
    for (picture, sources) in shown_texts() {
        assert!(!sources.is_empty(), "no text of a plugin was found in the picture {picture}");
        for (source, shown) in sources {
            let source_text = fs::read_to_string(root().join(&source)).unwrap();
            for text in &shown {
                let is_there = if source.ends_with(".properties") {
                    let mut same = shown.iter().filter(|other| value(other) == value(text));
                    same.any(|text| source_text.lines().any(|line| line == text))
                } else {
                    source_text.contains(text)
                };
                assert!(
                    is_there,
                    "the picture {picture} shows a text that {source} no longer has: {text}\n\
                     Renew the pictures: cargo xtask demo --screenshots"
                );
                texts += 1;
            }
        }
    }
    assert!(texts > 30, "only {texts} texts were found");
}

#[test]
fn each_picture_is_used_and_has_its_texts() {
    let recorded: BTreeSet<_> = shown_texts().into_keys().collect();
    assert_eq!(pictures(), recorded, "the pictures, and those in texts.json");
    let documents = DOCUMENTS.map(|name| fs::read_to_string(root().join(name)).unwrap());
    for picture in recorded {
        let is_used = documents.iter().any(|text| {
            text.contains(&format!("screenshots/{picture}.")) // one theme, or the light one of two
        });
        assert!(is_used, "no document uses the picture {picture}");
    }
}
