//! Checks that versions which occur in several builds are the same in all of them.

use crate::common::read;

/// Returns the text of the first element with this name.
fn element<'a>(pom: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = pom.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

#[test]
fn maven_and_gradle_build_with_the_same_versions() {
    let catalog: toml::Table = read("gradle/libs.versions.toml").parse().unwrap();
    let versions = catalog["versions"].as_table().unwrap();
    let plugin = read("plugin-kotlin/pom.xml");
    let current_api = read("tools/current-api/pom.xml");
    for (pom, shared) in [(&plugin, ["kotlin", "junit"].as_slice()), (&current_api, &["kotlin"])] {
        for name in shared {
            let version = versions[*name].as_str();
            assert_eq!(element(pom, &format!("{name}.version")), version, "{name}");
        }
        // Compares all other versions that both the catalog and a pom contain.
        for (name, version) in versions {
            let other = element(pom, &format!("{name}.version"));
            assert!(
                other.is_none() || other == version.as_str(),
                "{name}: {other:?}, not {version:?}"
            );
        }
    }
}

/// Otherwise the plugin is offered to products that lack these modules.
#[test]
fn the_released_plugin_names_the_modules_that_it_uses() {
    let plugin = read("plugin-kotlin/src/current/resources/META-INF/plugin.xml");
    for module in ["platform", "lang", "vcs"] {
        let line = format!("<depends>com.intellij.modules.{module}</depends>");
        assert!(plugin.contains(&line), "{line}");
    }
}

#[test]
fn the_product_has_one_version() {
    let cargo: toml::Table = read("Cargo.toml").parse().unwrap();
    let version = cargo["workspace"]["package"]["version"].as_str().unwrap();
    let pom = "plugin-kotlin/pom.xml";
    assert_eq!(element(&read(pom), "version"), Some(version), "{pom}");
    let gradle = read("gradle.properties");
    assert!(gradle.lines().any(|line| line == format!("version = {version}")), "gradle.properties");
    for manifest in MANIFESTS {
        assert_eq!(json(manifest)["version"], version, "{manifest}");
    }
}

/// The manifests of the extension, for each CLI.
const MANIFESTS: [&str; 2] = ["extension/gemini-extension.json", "extension/qwen-extension.json"];

fn json(file: &str) -> serde_json::Value {
    serde_json::from_str(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn the_extension_is_the_same_for_both_clis_but_for_the_hooks() {
    let [gemini, mut qwen] = MANIFESTS.map(json);
    assert_eq!(qwen.as_object_mut().unwrap().remove("hooks").unwrap(), "hooks/qwen-code.json");
    assert_eq!(gemini, qwen);
}
