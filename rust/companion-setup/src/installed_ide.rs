//! Finds the JetBrains IDEs of a machine, by their `product-info.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use companion_platform::real_path;
use serde::Deserialize;

use crate::install;
use crate::machine::{Machine, Os};
use crate::package::PLUGIN_ID;
use crate::plugins_dir::plugins_dir;

/// An installed IDE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ide {
    /// Such as `IntelliJ IDEA`.
    pub name: String,
    /// Such as `2025.1.2`.
    pub version: String,
    /// Such as `251.23774.435`.
    pub build: Build,
    /// The parent folder of its `bin`.
    pub home: PathBuf,
    /// Whether the IDE is running.
    pub is_running: bool,
    /// The name of its folders for settings and plugins.
    pub(crate) data_directory: String,
    /// The name of the folder that contains them.
    pub(crate) vendor: String,
    /// The prefix of the environment variable that names a file of properties.
    pub(crate) variables: Option<String>,
}

/// A build number. Its first part is the platform's branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Build(Vec<u32>);

impl Build {
    /// Parses `251.23774.435`, with or without a product code (`IU-251.…`). A `*` is larger than
    /// any number.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.rsplit_once('-').map_or(text, |(_, numbers)| numbers);
        let number = |part: &str| if part == "*" { Some(u32::MAX) } else { part.parse().ok() };
        numbers.split('.').map(number).collect::<Option<Vec<_>>>().map(Self)
    }
}

/// The fields of `product-info.json` that `setup` reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProductInfo {
    name: String,
    version: String,
    build_number: String,
    product_code: String,
    data_directory_name: String,
    #[serde(default = "jetbrains")]
    product_vendor: String,
    env_var_base_name: Option<String>,
}

fn jetbrains() -> String {
    "JetBrains".to_owned()
}

/// The branch of 2024.2, the oldest version that the plugin supports.
const OLDEST_BRANCH: u32 = 242;

/// Products that are not editors: Gateway, and the client of Remote Development.
const NO_EDITORS: [&str; 2] = ["GW", "JBC"];

/// The most subfolders of a folder that are searched.
const CHILDREN: usize = 2000;

impl Ide {
    /// Returns its name and version.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Returns whether it is a newer version of the IDE with that title, or of its Community Edition.
    /// Product names may begin alike, so a version must follow the name. Android Studio has a build
    /// number as its version.
    pub(crate) fn is_newer_version_of(&self, title: &str) -> bool {
        let version = |title: &str| {
            let rest = title.strip_prefix(&self.name)?;
            // JetBrains has replaced the free editions of IntelliJ IDEA and PyCharm by the others.
            let rest = rest.strip_prefix(" Community Edition").unwrap_or(rest);
            Build::parse(rest.split_whitespace().next()?)
        };
        version(title).is_some_and(|other| version(&self.title()) > Some(other))
    }

    /// Finds the IDEs in the usual folders, and the running ones. Sorts them by folder.
    pub fn find(machine: &Machine) -> Vec<Self> {
        let mut found = BTreeMap::new();
        let mut add = |ide: Self| {
            found.entry(real_path(&ide.home)).or_insert(ide);
        };
        for (dir, depth) in places(machine).into_iter().chain(toolbox_location(machine)) {
            search(machine, &dir, depth, &mut add);
        }
        for program in &machine.programs {
            // The program may be `bin/idea` or `jbr/bin/java`.
            let above = program.ancestors().skip(1).take(4);
            above.filter_map(|dir| Self::at(machine, dir)).take(1).for_each(&mut add);
        }
        found.into_values().collect()
    }

    /// Returns the version of the plugin that the IDE loads when it starts, if the plugin is
    /// installed.
    pub fn plugin(&self, machine: &Machine) -> Option<String> {
        install::copies(&plugins_dir(machine, self), PLUGIN_ID).1
    }

    /// Returns why the plugin does not support the IDE, if it is too old.
    pub fn too_old(&self) -> Option<String> {
        let is_old = self.build < Build(vec![OLDEST_BRANCH]);
        is_old.then(|| {
            format!("version {} is too old; the plugin needs 2024.2 or newer", self.version)
        })
    }

    /// Returns the IDE in this folder; on macOS the folder is the `.app`, or the `Contents` in it.
    /// Ignores a backend of Remote Development, because the plugin starts no server there, and a Flatpak,
    /// which has its own folders for plugins and for temporary files, where clients do not look.
    pub fn at(machine: &Machine, dir: &Path) -> Option<Self> {
        let is_flatpak = dir.ancestors().any(|above| above.ends_with("flatpak/app"));
        if is_flatpak || dir.iter().any(|part| part == "RemoteDev") {
            return None;
        }
        let (home, info) = match machine.os {
            Os::MacOs if dir.ends_with("Contents") => (dir.to_owned(), dir.join("Resources")),
            Os::MacOs => (dir.join("Contents"), dir.join("Contents/Resources")),
            Os::Linux | Os::Windows => (dir.to_owned(), dir.to_owned()),
        };
        let file = info.join("product-info.json");
        let text = fs::read_to_string(&file).ok()?;
        let product: ProductInfo = match serde_json::from_str(&text) {
            Ok(product) => product,
            Err(error) => {
                log::warn!("{}: {error}", file.display());
                return None;
            }
        };
        if NO_EDITORS.contains(&product.product_code.as_str()) {
            return None;
        }
        Some(Self {
            name: product.name,
            version: product.version,
            build: Build::parse(&product.build_number)?,
            is_running: machine.runs_from(&home),
            home,
            data_directory: product.data_directory_name,
            vendor: product.product_vendor,
            variables: product.env_var_base_name,
        })
    }
}

/// Returns the folders to search for IDEs, and the depth of each search.
fn places(machine: &Machine) -> Vec<(PathBuf, usize)> {
    let home = |path: &str| machine.home.join(path);
    let root = |path: &str| machine.root.join(path);
    match machine.os {
        Os::Linux => vec![
            // `<app>`, in old versions `<app>/ch-0/<build>`
            (machine.dir("XDG_DATA_HOME", ".local/share").join("JetBrains/Toolbox/apps"), 3),
            (root("snap"), 2),
            (root("opt"), 2),
            (root("usr/local"), 1),
            (root("usr/share"), 1),
            (home("Applications"), 2),
            (home("apps"), 2),
            (home("opt"), 2),
            (home(".local/opt"), 2),
            (home(""), 1),
        ],
        Os::MacOs => vec![
            (home("Library/Application Support/JetBrains/Toolbox/apps"), 4),
            (root("Applications"), 2),
            (home("Applications"), 2),
        ],
        Os::Windows => {
            let local = machine.dir("LOCALAPPDATA", "AppData/Local");
            let mut places =
                vec![(local.join("JetBrains/Toolbox/apps"), 3), (local.join("Programs"), 2)];
            for variable in ["ProgramFiles", "ProgramFiles(x86)"] {
                let programs = machine.var(variable).map(Path::new);
                places.extend(programs.map(|dir| (dir.join("JetBrains"), 1)));
                places.extend(programs.map(|dir| (dir.join("Android"), 1)));
            }
            places
        }
    }
}

/// Returns the user's folder for IDEs of Toolbox, and the depth of the search: in `apps`, in old
/// versions in `apps/<app>/ch-0/<build>`, or next to it.
fn toolbox_location(machine: &Machine) -> Option<(PathBuf, usize)> {
    #[derive(Deserialize)]
    struct Settings {
        install_location: PathBuf,
    }
    let data = match machine.os {
        Os::Linux => machine.dir("XDG_DATA_HOME", ".local/share"),
        Os::MacOs => machine.home.join("Library/Application Support"),
        Os::Windows => machine.dir("LOCALAPPDATA", "AppData/Local"),
    };
    let text = fs::read_to_string(data.join("JetBrains/Toolbox/.settings.json")).ok()?;
    let Settings { install_location } = serde_json::from_str(&text).ok()?;
    Some((install_location, if machine.os == Os::MacOs { 5 } else { 4 }))
}

/// Searches for IDEs at most `depth` folders below `dir`.
fn search(machine: &Machine, dir: &Path, depth: usize, add: &mut impl FnMut(Ide)) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.take(CHILDREN).flatten() {
        let child = entry.path();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_hidden || !child.is_dir() {
            continue;
        }
        match Ide::at(machine, &child) {
            Some(ide) => add(ide),
            // A link could lead anywhere, or in a circle.
            None if depth > 1 && !child.is_symlink() => search(machine, &child, depth - 1, add),
            None => {}
        }
    }
}
