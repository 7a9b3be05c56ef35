//! Checks the plugin's icons: each for the old and the new look of IDEs, both light and dark.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::common::root;

const MAPPINGS: &str = "src/current/resources/CompanionIconMappings.json";
const OLD: &str = "src/main/resources/icons";
const NEW: &str = "src/current/resources/icons/expui";

/// New IDEs recolour these colours of an icon, and no others.
const LIGHT: [&str; 4] = ["#6C707E", "#A8ADBD", "#55A76A", "#E55765"];
const DARK: [&str; 4] = ["#CED0D6", "#6F737A", "#5FAD65", "#DB5C5C"];

fn plugin() -> PathBuf {
    root().join("plugin-kotlin")
}

fn names(folder: &str) -> BTreeSet<String> {
    let files = fs::read_dir(plugin().join(folder)).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// The main toolbar and the tool windows of the new look use a larger icon, if there is one.
const TOOLBAR: &str = "@20x20";

#[test]
fn each_icon_has_a_dark_one_and_a_new_one() {
    let old = names(OLD);
    let (toolbar, new): (BTreeSet<_>, BTreeSet<_>) =
        names(NEW).into_iter().partition(|name| name.contains(TOOLBAR));
    assert_eq!(new, old);
    let larger = ["companion", "changes"]
        .into_iter()
        .flat_map(|icon| ["", "_dark"].map(|theme| format!("{icon}{TOOLBAR}{theme}.svg")));
    assert_eq!(toolbar, larger.collect());
    let (dark, light): (BTreeSet<_>, BTreeSet<_>) =
        old.into_iter().partition(|name| name.ends_with("_dark.svg"));
    assert_eq!(dark, light.iter().map(|name| name.replace(".svg", "_dark.svg")).collect());

    let text = fs::read_to_string(plugin().join(MAPPINGS)).unwrap();
    let mappings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mapped = mappings["icons"]["expui"].as_object().unwrap();
    assert_eq!(mapped.keys().cloned().collect::<BTreeSet<_>>(), light);
    assert!(mapped.iter().all(|(new, old)| *old == format!("icons/{new}")), "{text}");
}

#[test]
fn new_icons_have_the_size_and_the_colours_of_the_new_look() {
    for name in names(NEW) {
        let text = fs::read_to_string(plugin().join(NEW).join(&name)).unwrap();
        let size = if name.contains(TOOLBAR) { 20 } else { 16 };
        assert!(text.contains(&format!(r#"width="{size}" height="{size}""#)), "{name}");
        let palette = if name.ends_with("_dark.svg") { DARK } else { LIGHT };
        for colour in text.match_indices('#').map(|(at, _)| &text[at..at + 7]) {
            assert!(palette.contains(&colour), "{name}: {colour}");
        }
    }
}
