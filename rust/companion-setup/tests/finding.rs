//! Tests that IDEs and their folders of plugins are found.

// Other systems' machines use paths of this system. On Windows a Unix PATH can't contain them.
#![cfg(unix)]

use std::path::{Path, PathBuf};

use crate::common::{Made, write};
use companion_setup::{Ide, Os};
use serde_json::json;

/// Returns each IDE with its folder of plugins.
fn found(made: &Made) -> Vec<(String, PathBuf)> {
    let package = made.package("1.0.0");
    let report = made.plan(&package);
    let steps = report.steps.into_iter().filter(|step| step.subject.ends_with(" 2025.1"));
    let name = |subject: &str| subject.strip_suffix(" 2025.1").unwrap().to_owned();
    let dir = |path: PathBuf| path.parent().unwrap().to_owned();
    let mut found: Vec<_> = steps.map(|step| (name(&step.subject), dir(step.path))).collect();
    found.sort();
    found
}

fn assert_found(made: &Made, expected: &[(&str, PathBuf)]) {
    let expected = expected.iter().map(|(name, dir)| ((*name).to_owned(), dir.clone()));
    assert_eq!(found(made), expected.collect::<Vec<_>>());
}

const BUILD: &str = "251.23774.435";

#[test]
fn on_linux() {
    let made = Made::new(Os::Linux);
    let toolbox = made.home(".local/share/JetBrains/Toolbox/apps");
    Made::ide(&toolbox.join("IDEA-U/ch-0/251.1"), "A Toolbox 1", BUILD, "A1");
    Made::ide(&toolbox.join("intellij-idea-ultimate"), "B Toolbox 2", BUILD, "B1");
    Made::ide(&made.root("snap/pycharm/current"), "C snap", BUILD, "C1");
    Made::ide(&made.root("opt/jetbrains/idea"), "D opt", BUILD, "D1");
    Made::ide(&made.home("idea-IU-251"), "E unpacked at home", BUILD, "E1");
    Made::ide(&made.home("Applications/goland"), "F at home", BUILD, "F1");
    let studio = json!({ "productVendor": "Google", "productCode": "AI" });
    Made::product(
        &made.root("opt/android-studio"),
        "G Android Studio",
        BUILD,
        "AndroidStudio2025.1",
        &studio,
    );
    let gateway = json!({ "productCode": "GW" });
    Made::product(&made.root("opt/gateway"), "H Gateway", BUILD, "H1", &gateway);
    write(made.root("opt/broken/product-info.json"), "{");
    let data = |name: &str| made.home(".local/share/JetBrains").join(name);
    assert_found(
        &made,
        &[
            ("A Toolbox 1", data("A1")),
            ("B Toolbox 2", data("B1")),
            ("C snap", data("C1")),
            ("D opt", data("D1")),
            ("E unpacked at home", data("E1")),
            ("F at home", data("F1")),
            ("G Android Studio", made.home(".local/share/Google/AndroidStudio2025.1")),
        ],
    );
}

#[test]
fn where_toolbox_is_set_to_install() {
    for (os, folder) in [
        (Os::Linux, ".local/share/JetBrains/Toolbox"),
        (Os::MacOs, "Library/Application Support/JetBrains/Toolbox"),
        (Os::Windows, "AppData/Local/JetBrains/Toolbox"),
    ] {
        let made = Made::new(os);
        let location = made.root("big disk");
        let settings = json!({ "install_location": location });
        write(made.home(folder).join(".settings.json"), &settings.to_string());
        let home = |name: &str| match os {
            Os::MacOs => location.join(name).join("IDE.app"),
            Os::Linux | Os::Windows => location.join(name),
        };
        for (name, title) in [("apps/IDEA-U/ch-0/251.1", "A Toolbox 1"), ("GoLand", "B Toolbox 2")]
        {
            let info = if os == Os::MacOs { "Contents/Resources" } else { "" };
            Made::ide(&home(name).join(info), title, BUILD, "A1");
        }
        let names: Vec<_> = Ide::find(&made.machine).into_iter().map(|ide| ide.name).collect();
        assert_eq!(names, ["B Toolbox 2", "A Toolbox 1"], "{os:?}");
    }
}

#[test]
fn neither_a_backend_of_remote_development_nor_a_flatpak_is_an_ide() {
    for folder in [
        ".cache/JetBrains/RemoteDev/dist/abc_ideaIU-2025.1",
        ".local/share/flatpak/app/com.jetbrains.IntelliJ-IDEA-Ultimate/current/active/files/extra/idea",
    ] {
        let mut made = Made::new(Os::Linux);
        let ide = Made::ide(&made.home(folder), "A", BUILD, "A1");
        made.machine.programs.push(write(ide.join("jbr/bin/java"), ""));
        assert_eq!(Ide::find(&made.machine), [], "{folder}");
        assert_eq!(Ide::at(&made.machine, &ide), None, "also if the user names it");
    }
}

#[test]
fn on_macos() {
    let made = Made::new(Os::MacOs);
    let info = |app: PathBuf| app.join("Contents/Resources");
    let support = made.home("Library/Application Support");
    let toolbox = support.join("JetBrains/Toolbox/apps/IDEA-U/ch-0/251.1/IntelliJ IDEA.app");
    Made::ide(&info(toolbox), "A Toolbox 1", BUILD, "A1");
    Made::ide(&info(made.root("Applications/PyCharm.app")), "B Applications", BUILD, "B1");
    Made::ide(&info(made.home("Applications/GoLand EAP.app")), "C at home", BUILD, "C1");
    let plugins = |name: &str| support.join("JetBrains").join(name).join("plugins");
    assert_found(
        &made,
        &[
            ("A Toolbox 1", plugins("A1")),
            ("B Applications", plugins("B1")),
            ("C at home", plugins("C1")),
        ],
    );
}

#[test]
fn on_windows() {
    let mut made = Made::new(Os::Windows);
    let [local, roaming, programs] =
        ["home/L", "home/R", "Program Files"].map(|path| made.root(path));
    for (name, dir) in
        [("LOCALAPPDATA", &local), ("APPDATA", &roaming), ("ProgramFiles", &programs)]
    {
        made.set(name, dir);
    }
    Made::ide(&local.join("JetBrains/Toolbox/apps/IDEA-U/ch-0/251.1"), "A Toolbox 1", BUILD, "A1");
    Made::ide(&local.join("Programs/IntelliJ IDEA Ultimate"), "B Toolbox 2", BUILD, "B1");
    Made::ide(&programs.join("JetBrains/PyCharm 2025.1"), "C Program Files", BUILD, "C1");
    let plugins = |name: &str| roaming.join("JetBrains").join(name).join("plugins");
    assert_found(
        &made,
        &[
            ("A Toolbox 1", plugins("A1")),
            ("B Toolbox 2", plugins("B1")),
            ("C Program Files", plugins("C1")),
        ],
    );
}

#[test]
fn one_that_runs_is_found_wherever_it_is() {
    let mut made = Made::new(Os::Linux);
    let ide = Made::ide(&made.root("srv/tools/my/idea"), "A", BUILD, "A1");
    assert_eq!(Ide::find(&made.machine), []);
    made.machine.programs.push(write(ide.join("jbr/bin/java"), ""));
    let [found] = &Ide::find(&made.machine)[..] else { panic!("it is there once") };
    assert!(found.is_running);
}

#[test]
fn the_folder_for_plugins_can_be_set() {
    let one = |prepare: &dyn Fn(&mut Made, &Path)| {
        let mut made = Made::new(Os::Linux);
        let ide = Made::ide(&made.root("opt/idea"), "A", BUILD, "A1");
        prepare(&mut made, &ide.join("bin/idea.properties"));
        let (_, dir) = found(&made).remove(0);
        dir.strip_prefix(&made.machine.root).unwrap().to_str().unwrap().to_owned()
    };
    let of_config = |made: &Made| {
        let file = made.home(".config/JetBrains/A1/idea.properties");
        write(file, "idea.plugins.path=~/of-config\n");
    };
    assert_eq!(one(&|_, _| ()), "home/me é/.local/share/JetBrains/A1");
    assert_eq!(one(&|made, _| made.set("XDG_DATA_HOME", made.root("data"))), "data/JetBrains/A1");
    for (properties, expected) in [
        ("# x\nidea.plugins.path = ${user.home}/p\n", "home/me é/p"),
        ("idea.config.path=../config\n", "opt/idea/bin/../config/plugins"),
        ("#idea.plugins.path=/x\n", "home/me é/.local/share/JetBrains/A1"),
    ] {
        assert_eq!(one(&|_, of_ide| drop(write(of_ide, properties))), expected);
    }
    let of_both = one(&|made, of_ide| {
        write(of_ide, "idea.plugins.path=~/of-ide\n");
        of_config(made);
    });
    assert_eq!(of_both, "home/me é/of-config", "the user's file comes first");
    let of_variable = one(&|made, _| {
        of_config(made);
        let named = write(made.home("my.properties"), "idea.plugins.path=~/named\n");
        made.set("IDEA_PROPERTIES", named);
    });
    assert_eq!(of_variable, "home/me é/named", "the variable's file comes before");
}
