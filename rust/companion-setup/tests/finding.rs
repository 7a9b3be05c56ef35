//! Tests that IDEs and their folders of plugins are found.

// Other systems' machines use paths of this system. On Windows a Unix PATH can't contain them.
#![cfg(unix)]

use std::path::{Path, PathBuf};

use crate::common::{Made, write};
use companion_setup::{Ide, Os, Outcome};
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
fn a_backend_of_remote_development_is_no_ide() {
    let mut made = Made::new(Os::Linux);
    let dist = made.home(".cache/JetBrains/RemoteDev/dist/abc_ideaIU-2025.1");
    let backend = Made::ide(&dist, "A", BUILD, "A1");
    made.machine.programs.push(write(backend.join("jbr/bin/java"), ""));
    assert_eq!(Ide::find(&made.machine), []);
    assert_eq!(Ide::at(&made.machine, &backend), None);
}

#[test]
fn a_flatpak_is_named_and_left_out() {
    let made = Made::new(Os::Linux);
    let files = "current/active/files";
    let system = made.root("var/lib/flatpak/app/com.jetbrains.IntelliJ-IDEA-Ultimate").join(files);
    Made::ide(&system.join("extra/IDEA-U"), "A of all", BUILD, "A1");
    let user = made.home(".local/share/flatpak/app/com.google.AndroidStudio").join(files);
    let studio = json!({ "productVendor": "Google" });
    Made::product(&user.join("studio"), "B of the user", BUILD, "B1", &studio);
    let plugins = |app: &str, name: &str| made.home(".var/app").join(app).join("data").join(name);
    assert_found(
        &made,
        &[
            ("A of all", plugins("com.jetbrains.IntelliJ-IDEA-Ultimate", "JetBrains/A1")),
            ("B of the user", plugins("com.google.AndroidStudio", "Google/B1")),
        ],
    );
    let report = made.carry_out(&made.package("1.0"));
    let steps = report.steps.iter().filter(|step| step.subject.ends_with(" 2025.1"));
    for step in steps {
        assert_eq!(step.outcome, Outcome::Skipped);
        assert!(
            step.message.starts_with("Gemini CLI can't find an editor in a Flatpak"),
            "{report}"
        );
    }
    assert!(!made.home(".var").exists());
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
        prepare(&mut made, &ide);
        let (_, dir) = found(&made).remove(0);
        dir.strip_prefix(&made.machine.root).unwrap().to_str().unwrap().to_owned()
    };
    let config = |made: &Made| made.home(".config/JetBrains/A1");
    let options = |dir: &str| format!("-Xmx2g\n-Didea.plugins.path={dir}\n# end\n");
    assert_eq!(one(&|_, _| ()), "home/me é/.local/share/JetBrains/A1");
    assert_eq!(
        one(&|made, _| {
            let data = made.root("data");
            made.set("XDG_DATA_HOME", data);
        }),
        "data/JetBrains/A1"
    );
    assert_eq!(
        one(&|_, ide| {
            write(ide.join("bin/idea.properties"), "# x\nidea.plugins.path = ${user.home}/p\n");
        }),
        "home/me é/p"
    );
    assert_eq!(
        one(&|_, ide| {
            write(ide.join("bin/idea.properties"), "idea.config.path=../config\n");
        }),
        "opt/idea/bin/../config/plugins"
    );
    assert_eq!(
        one(&|made, ide| {
            write(ide.join("bin/idea.properties"), "idea.plugins.path=~/of-bin\n");
            write(config(made).join("idea.properties"), "idea.plugins.path=~/of-config\n");
        }),
        "home/me é/of-config",
        "the user's file comes first"
    );
    assert_eq!(
        one(&|made, ide| {
            write(config(made).join("idea.properties"), "idea.plugins.path=~/of-config\n");
            let named = write(made.home("my.properties"), "idea.plugins.path=~/named\n");
            made.set("IDEA_PROPERTIES", named);
            write(ide.join("bin/idea64.vmoptions"), "-Xmx1g\n");
        }),
        "home/me é/named",
        "the variable's file comes before"
    );
    assert_eq!(
        one(&|made, ide| {
            write(ide.join("bin/idea64.vmoptions"), &options("$USER_HOME/of-ide"));
            write(config(made).join("idea64.vmoptions"), &options("$USER_HOME/of-user"));
            write(config(made).join("idea.properties"), "idea.plugins.path=~/of-config\n");
        }),
        "home/me é/of-user",
        "options count more than properties, the user's more than the IDE's"
    );
    assert_eq!(
        one(&|made, ide| {
            write(config(made).join("idea64.vmoptions"), &options("$USER_HOME/of-user"));
            write(ide.with_extension("vmoptions"), &options("$USER_HOME/of-toolbox"));
        }),
        "home/me é/of-toolbox"
    );
    assert_eq!(
        one(&|made, ide| {
            write(ide.with_extension("vmoptions"), &options("$USER_HOME/of-toolbox"));
            let named = write(made.home("my.vmoptions"), &options("$IDE_HOME/named"));
            made.set("IDEA_VM_OPTIONS", named);
        }),
        "opt/idea/named"
    );
}
