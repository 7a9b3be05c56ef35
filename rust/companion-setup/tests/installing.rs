//! Tests that the plugin is installed into IDEs in one step, and removed again.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use crate::common::{Made, outcomes, plugin_zip, write};
use companion_setup::{Os, Outcome, Package, Report};
use serde_json::json;
use zip::ZipArchive;

const BUILD: &str = "251.23774.435";
const IDE: &str = "IntelliJ IDEA 2025.1";

/// Creates a machine with one IDE and a client whose IDE mode is on.
fn made() -> Made {
    let made = Made::new(Os::Linux);
    Made::ide(&made.root("opt/idea"), "IntelliJ IDEA", BUILD, "IntelliJIdea2025.1");
    write(made.home(".gemini/settings.json"), "{\"ide\": {\"enabled\": true}}");
    made
}

fn plugins(made: &Made) -> PathBuf {
    made.home(".local/share/JetBrains/IntelliJIdea2025.1")
}

/// Returns the version that an IDE would load from that folder.
fn version(plugin: &Path) -> String {
    fs::read_to_string(plugin.join("native/linux-x64/libcompanion_jni.so")).unwrap()
}

/// Returns the IDE's outcome and message.
fn ide(report: &Report) -> (Outcome, &str) {
    let step = report.steps.iter().find(|step| step.subject == IDE).unwrap();
    (step.outcome, &step.message)
}

/// Writes a plugin to a folder where an IDE has its plugins.
fn put(dir: &Path, id: &str, version: &str) {
    let name = dir.file_name().unwrap().to_str().unwrap();
    let mut zip = ZipArchive::new(Cursor::new(plugin_zip(name, id, version))).unwrap();
    fs::create_dir_all(dir.parent().unwrap()).unwrap();
    zip.extract(dir.parent().unwrap()).unwrap();
}

#[test]
fn it_is_installed_and_taken_away_again_without_a_trace() {
    let made = made();
    let messages = made.live(&made.package("1.2.3"), IDE, |plugin| {
        assert_eq!(plugin, plugins(&made).join("companion-for-gemini-cli"));
        assert_eq!(version(plugin), "1.2.3");
        assert!(plugin.join("lib/plugin.jar").is_file());
    });
    assert_eq!(messages[..2], ["install 1.2.3", "installed 1.2.3"]);
}

#[test]
fn one_that_the_user_removed_returns_only_by_name() {
    let mut made = made();
    let package = made.package("1.2.3");
    made.carry_out(&package);
    fs::remove_dir_all(plugins(&made).join("companion-for-gemini-cli")).unwrap();
    let before = made.files();
    let why =
        "you removed the plugin; to install it again, run gemini-companion setup 'intellij idea'";
    assert_eq!(ide(&made.plan(&package)), (Outcome::Skipped, why));
    assert_eq!(ide(&made.carry_out(&package)), (Outcome::Skipped, why));
    assert_eq!(made.files(), before);
    made.is_named = true;
    assert_eq!(ide(&made.carry_out(&package)), (Outcome::Done, "installed 1.2.3"));
    // The folder of plugins is gone too: the user removed the IDE and installed it again.
    made.is_named = false;
    fs::remove_dir_all(plugins(&made)).unwrap();
    assert_eq!(ide(&made.carry_out(&package)), (Outcome::Done, "installed 1.2.3"));
}

#[test]
fn copies_that_a_newer_version_of_the_ide_has_made_are_taken_away_too() {
    let made = made();
    made.carry_out(&made.package("1.0"));
    let copy = |(folder, name, version, data, plugin): (&str, &str, &str, &str, &str)| {
        let more = json!({ "version": version });
        Made::product(&made.root(folder), name, BUILD, data, &more);
        let copy = plugins(&made).with_file_name(data).join("companion-for-gemini-cli");
        put(&copy, "dev.companion.gemini", plugin);
        copy
    };
    let newer = copy(("opt/2", "IntelliJ IDEA", "2025.2 EAP", "IntelliJIdea2025.2", "1.0"));
    let of_the_user = [
        ("opt/3", "IntelliJ IDEA", "2025.3", "IntelliJIdea2025.3", "another"),
        ("opt/4", "IntelliJ IDEA", "2024.3", "IntelliJIdea2024.3", "1.0"),
        ("opt/5", "IntelliJ IDEA Community Edition", "2025.2", "IdeaIC2025.2", "1.0"),
        ("opt/6", "PyCharm", "2025.2", "PyCharm2025.2", "1.0"),
    ]
    .map(copy);
    for (report, outcome) in
        [(made.plan_remove(), Outcome::Planned), (made.remove(), Outcome::Done)]
    {
        let expected = [(IDE, outcome), ("IntelliJ IDEA 2025.2 EAP", outcome)];
        assert_eq!(outcomes(&report), expected);
        assert_eq!(report.steps[1].path, newer);
    }
    assert!(!newer.exists());
    assert!(!plugins(&made).join("companion-for-gemini-cli").exists());
    for plugin in of_the_user {
        assert!(plugin.exists(), "{}", plugin.display());
    }
}

#[test]
fn a_copy_that_the_ide_in_place_of_a_community_edition_has_made_is_taken_away_too() {
    let made = Made::new(Os::Linux);
    let name = "IntelliJ IDEA Community Edition";
    Made::ide(&made.root("opt/idea"), name, BUILD, "IntelliJIdea2025.1");
    made.carry_out(&made.package("1.0"));
    fs::remove_dir_all(made.root("opt/idea")).unwrap();
    let more = json!({ "version": "2025.3" });
    Made::product(&made.root("opt/idea"), "IntelliJ IDEA", BUILD, "IntelliJIdea2025.3", &more);
    let dir = plugins(&made).with_file_name("IntelliJIdea2025.3");
    let copy = dir.join("companion-for-gemini-cli");
    put(&copy, "dev.companion.gemini", "1.0");
    made.remove();
    assert!(!copy.exists());
}

#[test]
fn a_copy_that_two_items_have_in_common_is_listed_once() {
    let made = made();
    let android_studio = |folder: &str, version: &str, data: &str| {
        let more = json!({ "version": version });
        Made::product(&made.root(folder), "Android Studio", BUILD, data, &more);
        plugins(&made).with_file_name(data).join("companion-for-gemini-cli")
    };
    android_studio("opt/1", "AI-251.1", "AndroidStudio2025.1.1");
    android_studio("opt/2", "AI-252.1", "AndroidStudio2025.2.1");
    made.carry_out(&made.package("1.0"));
    let copy = android_studio("opt/3", "AI-253.1", "AndroidStudio2025.3.1");
    put(&copy, "dev.companion.gemini", "1.0");
    for report in [made.plan_remove(), made.remove()] {
        let steps = report.steps.iter().filter(|step| step.path == copy);
        assert_eq!(steps.count(), 1, "{report}");
        assert_eq!(report.steps.len(), 4, "{report}");
    }
}

#[test]
fn one_that_the_user_replaced_stays() {
    let made = made();
    made.carry_out(&made.package("1.0"));
    let plugin = plugins(&made).join("companion-for-gemini-cli");
    put(&plugin, "dev.companion.gemini", "2.0");
    for report in [made.plan_remove(), made.remove()] {
        assert_eq!(ide(&report), (Outcome::Unchanged, "you changed it, so it stays"));
    }
    assert_eq!(version(&plugin), "2.0");
}

#[test]
fn an_older_copy_is_replaced_whatever_its_folder_is_called() {
    let made = made();
    put(&plugins(&made).join("companion-for-gemini-cli"), "dev.companion.gemini", "0.9");
    put(&plugins(&made).join("companion"), "dev.companion.gemini", "0.8");
    put(&plugins(&made).join("other"), "other.plugin", "0.8");
    let report = made.carry_out(&made.package("1.0"));
    assert_eq!(ide(&report).0, Outcome::Done);
    let mut there: Vec<_> = fs::read_dir(plugins(&made)).unwrap().flatten().collect();
    there.sort_by_key(fs::DirEntry::file_name);
    let there: Vec<_> = there.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(there, ["companion-for-gemini-cli", "other"]);
    assert_eq!(version(&plugins(&made).join("companion-for-gemini-cli")), "1.0");
}

#[test]
fn a_file_that_is_missing_or_changed_is_restored() {
    let made = made();
    let package = made.package("1.0");
    made.carry_out(&package);
    let library =
        plugins(&made).join("companion-for-gemini-cli/native/linux-x64/libcompanion_jni.so");
    for damage in [|path: &Path| fs::remove_file(path), |path: &Path| fs::write(path, "x")] {
        damage(&library).unwrap();
        assert_eq!(ide(&made.carry_out(&package)), (Outcome::Done, "installed 1.0 again"));
        assert_eq!(fs::read_to_string(&library).unwrap(), "1.0");
    }
}

#[test]
fn an_ide_that_runs_loads_it_at_its_next_start_and_keeps_what_it_has_loaded() {
    let mut made = made();
    let program = write(made.root("opt/idea/bin/idea"), "");
    made.machine.programs.push(program);
    let report = made.carry_out(&made.package("1.0"));
    let sentence = "installed 1.0; restart the IDE to load it";
    assert_eq!(ide(&report), (Outcome::Done, sentence));
    let newer = made.package("2.0");
    let report = made.carry_out(&newer);
    assert_eq!(ide(&report).0, Outcome::Failed, "{report}");
    assert!(ide(&report).1.contains("runs with version 1.0"), "{report}");
    assert_eq!(version(&plugins(&made).join("companion-for-gemini-cli")), "1.0");
    let removed = made.remove();
    assert_eq!(outcomes(&removed), [(IDE, Outcome::Failed)]);
    made.machine.programs.clear();
    assert_eq!(ide(&made.carry_out(&newer)), (Outcome::Done, "installed 2.0 in place of 1.0"));
    assert_eq!(outcomes(&made.remove()), [(IDE, Outcome::Done)]);
}

#[test]
fn an_ide_that_runs_keeps_what_it_has_loaded_though_another_shares_its_plugins() {
    let mut made = made();
    Made::ide(&made.root("opt/before"), "IntelliJ IDEA", BUILD, "IntelliJIdea2025.1");
    let program = write(made.root("opt/idea/bin/idea"), "");
    made.carry_out(&made.package("1.0"));
    made.machine.programs.push(program);
    assert_eq!(ide(&made.carry_out(&made.package("2.0"))).0, Outcome::Failed);
    assert_eq!(outcomes(&made.remove()), [(IDE, Outcome::Failed)]);
    assert_eq!(version(&plugins(&made).join("companion-for-gemini-cli")), "1.0");
}

#[test]
fn an_ide_that_is_too_old_is_left_out_and_two_versions_are_distinguished() {
    let mut made = made();
    Made::product(
        &made.root("opt/old"),
        "IntelliJ IDEA",
        "241.1",
        "IntelliJIdea2024.1",
        &json!({ "version": "2024.1" }),
    );
    Made::product(
        &made.root("opt/eap"),
        "IntelliJ IDEA",
        "261.1",
        "IntelliJIdea2026.1",
        &json!({ "version": "2026.1 EAP" }),
    );
    Made::ide(&made.root("opt/same"), "IntelliJ IDEA", BUILD, "IntelliJIdea2025.1");
    let report = made.carry_out(&made.package("1.0"));
    let expected = [
        ("IntelliJ IDEA 2026.1 EAP", Outcome::Done),
        (IDE, Outcome::Done),
        ("IntelliJ IDEA 2024.1", Outcome::Skipped),
        (IDE, Outcome::Skipped),
        ("Gemini CLI", Outcome::Unchanged),
    ];
    assert_eq!(outcomes(&report), expected, "{report}");
    let why = "IntelliJ IDEA 2024.1: version 2024.1 is too old; the plugin needs 2024.2 or newer\n";
    assert!(report.to_string().contains(why), "{report}");
    made.is_named = true;
    assert!(made.plan(&made.package("1.0")).to_string().contains(&format!(" FAIL  {why}")));
}

#[test]
fn a_newer_one_stays() {
    let made = made();
    made.carry_out(&made.package("1.10.0"));
    let report = made.carry_out(&made.package("1.9.0"));
    assert_eq!(ide(&report), (Outcome::Skipped, "1.10.0 is installed, which is newer"));
    assert_eq!(version(&plugins(&made).join("companion-for-gemini-cli")), "1.10.0");

    for names in [["a", "b"], ["b", "a"]] {
        let made = self::made();
        for (name, version) in names.iter().zip(["1.0.0", "2.0.0"]) {
            put(&plugins(&made).join(name), "dev.companion.gemini", version);
        }
        let report = made.carry_out(&made.package("1.5.0"));
        assert_eq!(ide(&report), (Outcome::Skipped, "2.0.0 is installed, which is newer"));
    }
}

#[test]
fn what_was_there_stays_if_the_new_one_can_not_be_unpacked() {
    let made = made();
    made.carry_out(&made.package("1.0"));
    let before = made.files();
    let mut broken = plugin_zip("companion-for-gemini-cli", "dev.companion.gemini", "2.0.0-long");
    let at = broken.windows(10).position(|bytes| bytes == b"2.0.0-long").unwrap();
    let at = at + broken[at + 1..].windows(10).position(|bytes| bytes == b"2.0.0-long").unwrap();
    broken[at + 5] ^= 1;
    let file = made.root("broken.zip");
    fs::write(&file, broken).unwrap();
    let report = made.carry_out(&Package::open(&file).unwrap());
    assert_eq!(ide(&report).0, Outcome::Failed, "{report}");
    assert_eq!(made.files(), before);
}

#[test]
fn of_several_zips_the_newest_that_can_be_read_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("bin/gemini-companion");
    let put = |name: &str, version: &str| {
        let name = format!("companion-for-gemini-cli-{name}.zip");
        let zip = plugin_zip("companion-for-gemini-cli", "dev.companion.gemini", version);
        fs::write(dir.path().join(name), zip).unwrap();
    };
    let found = || Package::find(Some(dir.path()), &program).map(Option::unwrap);
    fs::write(dir.path().join("companion-for-gemini-cli-9.zip"), "no zip").unwrap();
    assert!(found().unwrap_err().to_string().contains("cli-9.zip"));
    for (name, version) in [("b", "1.9.0"), ("c", "1.10.0"), ("a", "1.2.0")] {
        put(name, version);
    }
    assert_eq!(found().unwrap().version(), "1.10.0");
}

#[cfg(unix)]
#[test]
fn links_and_foreign_folders_are_refused() {
    let linked = made();
    let elsewhere = linked.root("elsewhere");
    put(&elsewhere, "dev.companion.gemini", "0.9");
    fs::create_dir_all(plugins(&linked)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, plugins(&linked).join("companion-for-gemini-cli"))
        .unwrap();
    let report = linked.carry_out(&linked.package("1.0"));
    assert_eq!(ide(&report).0, Outcome::Failed);
    assert!(ide(&report).1.contains("link"), "{report}");
    assert_eq!(version(&elsewhere), "0.9");

    let foreign = made();
    put(&plugins(&foreign).join("companion-for-gemini-cli"), "other.plugin", "3.0");
    let report = foreign.carry_out(&foreign.package("1.0"));
    assert_eq!(ide(&report).0, Outcome::Failed);
    assert!(ide(&report).1.contains("another plugin"), "{report}");
}

#[test]
fn other_files_are_not_taken_for_the_plugin() {
    let made = made();
    let open = |name: &str, content: &[u8]| {
        let file = made.root(name);
        fs::write(&file, content).unwrap();
        Package::open(&file).unwrap_err().to_string()
    };
    assert!(open("no.zip", b"no zip").contains("no.zip"));
    let out = crate::common::zip(&[("../x/lib/a.jar", b"")]);
    assert!(open("out.zip", &out).contains("leads out"));
    let two = crate::common::zip(&[("a/x", b""), ("b/x", b"")]);
    assert!(open("two.zip", &two).contains("exactly one folder"));
    let none = crate::common::zip(&[("a/lib/x.jar", b"")]);
    assert!(open("none.zip", &none).contains("no jar"));
    let other = plugin_zip("other", "other.plugin", "1.0");
    assert!(open("other.zip", &other).contains("it contains the plugin other.plugin"));
    let missing = Package::open(&made.root("missing.zip")).unwrap_err().to_string();
    assert!(missing.contains("missing.zip"), "{missing}");
}
